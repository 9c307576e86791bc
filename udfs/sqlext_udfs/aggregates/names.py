"""Tell whether two names of aggregates are the same text, however it was written."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: A quoted text, a comment or white space, a word, or any other character.
_PART = re.compile(r"""('(?:[^'\\]|\\.|'')*'|"[^"]*"|`[^`]*`)|(/\*.*?\*/|--[^\n]*|\s+)|(\w+)|(.)""", re.DOTALL)
#: Relations that the compiler has named by their numbers.
_NUMBERED = re.compile(r"__q\d+\.")


def plain_name(name: str) -> str:
    """Return a name without white space and comments that mean nothing."""
    made: list[str] = []
    word = False
    for quoted, gap, letters, other in _PART.findall(name):
        if gap:
            continue
        if letters and word:
            made.append(" ")
        made.append(quoted or letters or other)
        word = bool(letters)
    return "".join(made)


def loose_name(name: str) -> str:
    """Return a name also without the case of letters and quotes of identifiers: it may be that of another aggregate."""
    return _NUMBERED.sub("", plain_name(name)).replace("`", "").casefold()


def plain_names(names: Sequence[str]) -> list[str]:
    """Return plain names; the names as they are where two of them would be the same."""
    made = [plain_name(name) for name in names]
    return made if len(set(made)) == len(made) else list(names)

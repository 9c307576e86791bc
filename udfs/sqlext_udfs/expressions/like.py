"""LIKE: patterns as regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable


def like_patterns(escape: str) -> Callable[[str | None, str | None], bool | None]:
    """Return the function of a text and a pattern; NULL if one of them is. Each pattern is compiled once."""
    known: dict[str, re.Pattern[str]] = {}

    def like(text: str | None, pattern: str | None) -> bool | None:
        if text is None or pattern is None:
            return None
        if pattern not in known:
            known[pattern] = like_pattern(pattern, escape)
        return known[pattern].fullmatch(text) is not None

    return like


def like_pattern(pattern: str, escape: str) -> re.Pattern[str]:
    """Return what the whole of a text must match: ``%`` is any text, ``_`` one character.

    Args:
        pattern: SQL's.
        escape: makes the character behind it an ordinary one; empty for none.
    """
    parts, position = [], 0
    while position < len(pattern):
        sign = pattern[position]
        if escape and sign == escape and position + 1 < len(pattern):
            position += 1
            parts.append(re.escape(pattern[position]))
        else:
            parts.append({"%": ".*", "_": "."}.get(sign) or re.escape(sign))
        position += 1
    # DOTALL: % and _ also stand for line ends.
    return re.compile("".join(parts), re.DOTALL)

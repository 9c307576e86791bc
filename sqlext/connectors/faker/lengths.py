"""Say how long a text can be that is made of a regular expression."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

#: A value has no more characters, words or elements: a larger number is a mistake, or an attack.
MOST = 1_000_000
#: ``rstr`` repeats no more often what may be repeated without end.
_UNBOUNDED = 100


def longest(pattern: str) -> int:
    """Return how many characters a text can have at most that ``rstr`` makes of a regular expression."""
    try:
        parser: Any = import_module("re._parser")
    except ModuleNotFoundError:  # Python 3.10
        parser = import_module("sre_parse")
    return _of_parts(parser.parse(pattern), int(parser.MAXREPEAT))


def _of_parts(parts: Iterable[tuple[object, Any]], endless: int) -> int:
    return sum(_of_one(str(kind), said, endless) for kind, said in parts)


def _of_one(kind: str, said: Any, endless: int) -> int:
    if kind.endswith("_REPEAT"):
        least, most, inner = said
        return _of_parts(inner, endless) * (max(int(least), _UNBOUNDED) if int(most) == endless else int(most))
    if kind == "BRANCH":
        return max(_of_parts(branch, endless) for branch in said[1])
    if kind in ("SUBPATTERN", "ATOMIC_GROUP"):
        return _of_parts(said[-1] if kind == "SUBPATTERN" else said, endless)
    # What stands again is counted as a long text; what it really is depends on the group.
    return MOST // 1000 if kind == "GROUPREF" else 1

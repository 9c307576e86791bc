"""What conditions and measures look at, besides the rows of the match itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import NamedTuple

from sqlext_udfs.expressions.trees import Cell, MatchNumber, Running
from sqlext_udfs.matching.specification import MatchSpecification


class Reach(NamedTuple):
    """How many rows before a match, and behind the row that is taken, are looked at (PREV, NEXT)."""

    back: int
    ahead: int


def reach_of(specification: MatchSpecification) -> Reach:
    """Return how far a specification looks.

    Where matches are numbered, the last row before a match is kept in any case: it carries the number.
    """
    parts = _parts((specification.conditions, specification.measures))
    shifts = [part.shift for part in parts if isinstance(part, Cell)]
    numbered = any(isinstance(m, MatchNumber) for m in specification.measures)
    return Reach(max([*(-s for s in shifts), int(numbered), 0]), max([*shifts, 0]))


def values_of(specification: MatchSpecification) -> frozenset[int]:
    """Return the numbers of the values that conditions look at."""
    parts = list(_parts(specification.conditions))
    return frozenset(p.value for p in parts if isinstance(p, (Cell, Running)) and p.value is not None)


def _parts(node: object) -> Iterator[object]:
    """Yield a tree and all below it."""
    yield node
    below = node if isinstance(node, tuple) else ()
    if is_dataclass(node):
        below = tuple(getattr(node, f.name) for f in fields(node))
    for part in below:
        yield from _parts(part)

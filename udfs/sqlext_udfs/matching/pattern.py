"""Represent PATTERN of MATCH_RECOGNIZE as a small tree.

A state in a checkpoint holds the names of these classes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Variable:
    """One row for which the condition of a variable holds; ``number`` counts variables from 0."""

    number: int


@dataclass(frozen=True, slots=True)
class Concatenation:
    """One after the other."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several (``|``); of two that match the one that stands first is preferred."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """As often as ``least`` to ``most`` (None: any number), as often as possible if ``greedy``, else as rarely."""

    of: Pattern
    least: int
    most: int | None
    greedy: bool = True


Pattern = Variable | Concatenation | Choice | Repeat


def most_rows(pattern: Pattern) -> int | None:
    """Return how many rows a match can have, None if any number."""
    if isinstance(pattern, Variable):
        return 1
    if isinstance(pattern, Repeat):
        inner = most_rows(pattern.of)
        # This bounds the state: EXPLAIN and sqlext.unbounded-state go by it.
        return None if inner is None or pattern.most is None else inner * pattern.most
    counts = [most_rows(item) for item in pattern.items]
    known = [c for c in counts if c is not None]
    if len(known) < len(counts):
        return None
    return max(known, default=0) if isinstance(pattern, Choice) else sum(known)

"""What rows of a partition can match, one after the other: PATTERN of MATCH_RECOGNIZE as a small tree."""

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
    """One of several; of two that match the one that stands first is preferred."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """As often as ``least`` to ``most`` (None: any number), as often as possible if ``greedy``, else as rarely."""

    of: Pattern
    least: int
    most: int | None
    greedy: bool = True


Pattern = Variable | Concatenation | Choice | Repeat

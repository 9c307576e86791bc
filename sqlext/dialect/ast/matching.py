"""Define the clauses of MATCH_RECOGNIZE as parsed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.dialect.ast.expressions import Expr, Node
from sqlext.source import Span


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """Something that rows can match, one after the other."""


@dataclass(frozen=True, slots=True)
class PatternVariable(Pattern):
    """``A``: one row."""

    name: str


@dataclass(frozen=True, slots=True)
class PatternSequence(Pattern):
    """``A B C``."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class PatternChoice(Pattern):
    """``A | B``: of two that match, the one written first is preferred."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class PatternPermutation(Pattern):
    """``PERMUTE(A, B)``: all of them in any order."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class PatternExclusion(Pattern):
    """``{- A -}``: matched, but left out of ALL ROWS PER MATCH."""

    of: Pattern


@dataclass(frozen=True, slots=True)
class PatternAnchor(Pattern):
    """``^`` or ``$``: the partition's first or last row."""

    symbol: str


@dataclass(frozen=True, slots=True)
class PatternQuantified(Pattern):
    """``A* A+ A? A{n} A{n,} A{n,m} A{,m}``; ``most`` is None without a bound. With a ``?`` behind it is reluctant."""

    of: Pattern
    least: int
    most: int | None
    reluctant: bool = False


@dataclass(frozen=True, slots=True)
class Measure(Node):
    """``[FINAL | RUNNING] expr AS name``; ``semantics`` is empty where nothing is said."""

    expr: Expr
    name: str
    semantics: str = ""


@dataclass(frozen=True, slots=True)
class RowsPerMatch(Node):
    """``ONE ROW PER MATCH``, ``ALL ROWS PER MATCH [SHOW EMPTY MATCHES | OMIT EMPTY MATCHES | WITH UNMATCHED ROWS]``.

    ``option`` is ``SHOW``, ``OMIT``, ``UNMATCHED`` or empty.
    """

    all: bool
    option: str = ""


@dataclass(frozen=True, slots=True)
class AfterMatch(Node):
    """``AFTER MATCH SKIP ...``; ``to`` is ``PAST LAST ROW``, ``NEXT ROW``, ``FIRST`` or ``LAST`` (of ``variable``)."""

    to: str
    variable: str | None = None
    variable_span: Span | None = None


@dataclass(frozen=True, slots=True)
class Subset(Node):
    """``S = (A, B)``: a name for the rows of several variables."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VariableDefinition(Node):
    """``A AS condition``."""

    name: str
    condition: Expr

"""Expressions over the rows of a match: what DEFINE and MEASURES ask that no single row knows.

What depends on one row alone is computed by SQL before the operator, in a column of its own: a ``Cell`` says of which
row of the match that column is wanted. So these trees have only what combines rows.

A *group* is a set of variables whose rows are looked at together: group ``i`` is variable ``i``; after the variables
comes the group of all of them (a column without a variable), then those of SUBSET.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of one row.

    Attributes:
        value: the number of the column (``MatchSpecification.values``).
        group: among whose rows to look.
        first: whether to count from the first of them, else back from the last.
        offset: how far: FIRST(A.x, 1) is the second row of A, LAST(A.x, 1) the last but one.
        shift: how many rows of the partition to go on from there, NEXT; negative: back, PREV.
        final: whether all of the match is looked at, and not only what is up to the row that is given out.
    """

    value: int
    group: int
    first: bool = False
    offset: int = 0
    shift: int = 0
    final: bool = True


@dataclass(frozen=True, slots=True)
class Classifier:
    """CLASSIFIER(): the name of the variable that a row was matched by; of the group's last row."""

    group: int
    final: bool = True


@dataclass(frozen=True, slots=True)
class MatchNumber:
    """MATCH_NUMBER(): which match of its partition it is, from 1."""


Measure = Cell | Classifier | MatchNumber


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal. ``decimal``: the value is the text of a DECIMAL."""

    value: bool | int | float | str | None
    decimal: bool = False


@dataclass(frozen=True, slots=True)
class Compare:
    """``= <> < <= > >=``, and ``<=>``, which takes NULL for a value."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Number:
    """A numeric type: ``root`` is TINYINT ... BIGINT, FLOAT, DOUBLE or DECIMAL."""

    root: str
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``+ - * / %`` with the result's type."""

    op: str
    left: Expression
    right: Expression
    result: Number


@dataclass(frozen=True, slots=True)
class Negate:
    """``-x``."""

    operand: Expression
    result: Number


@dataclass(frozen=True, slots=True)
class Fitted:
    """A DECIMAL with fewer digits of its fraction, so that it has one type with other values; rounded half up."""

    operand: Expression
    to: Number


@dataclass(frozen=True, slots=True)
class And:
    """All hold (three-valued)."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One holds (three-valued)."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """It does not hold (three-valued)."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Is:
    """``x IS NULL | TRUE | FALSE | UNKNOWN``: never NULL itself."""

    operand: Expression
    test: str


@dataclass(frozen=True, slots=True)
class Like:
    """``x LIKE pattern``: ``%`` and ``_``; ``escape`` is one character or empty."""

    operand: Expression
    pattern: Expression
    escape: str = ""


@dataclass(frozen=True, slots=True)
class When:
    """``WHEN condition THEN result``."""

    condition: Expression
    result: Expression


@dataclass(frozen=True, slots=True)
class Case:
    """``CASE WHEN ... ELSE ... END``."""

    whens: tuple[When, ...]
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Coalesce:
    """The first that is not NULL."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Extreme:
    """GREATEST (``op`` is ``>=``) or LEAST (``<=``); ``skips_nulls``: of what is not NULL, else NULL if one is."""

    op: str
    items: tuple[Expression, ...]
    skips_nulls: bool


@dataclass(frozen=True, slots=True)
class Running:
    """An aggregate over the rows of a group so far: ``count``, ``sum``, ``min`` or ``max``.

    ``value`` is None for COUNT(*). A sum has the type ``result``; count and extremes need none.
    """

    function: str
    value: int | None
    group: int
    result: Number | None = None


Expression = (
    Cell
    | Constant
    | Compare
    | Arithmetic
    | Negate
    | Fitted
    | And
    | Or
    | Not
    | Is
    | Like
    | Case
    | Coalesce
    | Extreme
    | Running
)

"""Describe what a match operator finds, and turn the description into JSON and back.

The JSON is an argument of the operator. It holds the names of the classes here and in ``pattern`` and
``expressions.trees``, so these keep their names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple, cast

from sqlext_udfs.expressions import trees
from sqlext_udfs.expressions.trees import Cell, Expression, MatchNumber, Measure, Running
from sqlext_udfs.matching import pattern as match_pattern
from sqlext_udfs.matching.pattern import Pattern

# Of the JSON: another version is refused. Raise it when a field changes its meaning.
VERSION = 1
#: Where matching goes on after a match (``Skip.to``).
PAST_LAST, NEXT, FIRST, LAST = "PAST LAST ROW", "NEXT ROW", "FIRST", "LAST"


@dataclass(frozen=True, slots=True)
class Skip:
    """AFTER MATCH SKIP: behind the match, to its second row, or to the first or last row of a group."""

    to: str = PAST_LAST
    group: int = -1


@dataclass(frozen=True, slots=True)
class Order:
    """A further column of ORDER BY; ``nulls_first`` None: where they sort as the least value."""

    column: int
    descending: bool = False
    nulls_first: bool | None = None


@dataclass(frozen=True, slots=True)
class Total:
    """An aggregate of a measure over the rows of a group.

    Attributes:
        group: of variables.
        function, distinct, parameters: as in ``AggregateCall``.
        inputs: numbers of values.
        final: as in ``Cell``.
    """

    group: int
    function: str
    inputs: tuple[int, ...] = ()
    distinct: bool = False
    parameters: tuple[tuple[str, Any], ...] = ()
    final: bool = True


@dataclass(frozen=True, slots=True)
class MatchSpecification:
    """The operator's input columns by position, and what is looked for in them.

    Attributes:
        keys: how many of the first columns are the key (PARTITION BY), of any type that can be compared.
        variables: the names of the pattern's variables.
        pattern: over their numbers.
        conditions: of each variable, None where any row will do.
        values: the columns that conditions and measures look at, by their numbers there.
        subsets: the variables of each SUBSET; their groups come behind that of all variables.
        measures, totals: what a match gives, in this order.
        time: BIGINT of milliseconds (UTC): the rowtime, or when the row came; None where nobody asks.
        event_time: whether rows are taken in the order of ``time``, each when the watermark has passed it; else as
            they come.
        order: further columns to order by.
        skip: where to go on after a match.
        within: milliseconds; the first and the last row of a match are less than this apart.
        standard: SQL:2016's rule of preference (backtracking), else Flink's (greedy is possessive, and the match that
            is complete first counts).
        wraps: whether integers wrap around and division of floating-point numbers by zero is infinite (Flink).
        all_rows: ALL ROWS PER MATCH: a row comes out for each row of a match.
        empty: whether matches of no row give a row.
    """

    keys: int
    variables: tuple[str, ...]
    pattern: Pattern
    conditions: tuple[Expression | None, ...]
    values: tuple[int, ...]
    measures: tuple[Measure, ...] = ()
    totals: tuple[Total, ...] = ()
    subsets: tuple[tuple[int, ...], ...] = ()
    time: int | None = None
    event_time: bool = True
    order: tuple[Order, ...] = ()
    skip: Skip = Skip()
    within: int | None = None
    standard: bool = False
    wraps: bool = True
    all_rows: bool = False
    empty: bool = True

    def groups(self) -> list[tuple[int, ...]]:
        """Return the groups that each variable's rows are in: its own, that of all, and those of SUBSETs."""
        everything = len(self.variables)
        return [
            (v, everything, *(everything + 1 + i for i, members in enumerate(self.subsets) if v in members))
            for v in range(everything)
        ]

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return len(self.variables) + 1 + len(self.subsets)


# The field of a JSON object that names its class.
_KIND = "is"
_CLASSES: dict[str, type[Any]] = {
    name: value
    for space in (vars(match_pattern), vars(trees), globals())
    for name, value in tuple(space.items())
    if isinstance(value, type) and is_dataclass(value)
}


def specification_to_json(specification: MatchSpecification) -> str:
    """Return a specification as JSON text: the same text for equal ones."""
    # Sorted keys and fixed separators below: fingerprints compare this text.
    data = {"version": VERSION, "match": _plain(specification)}
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def specification_from_json(text: str) -> MatchSpecification:
    """Return the specification that ``specification_to_json`` wrote.

    Raises:
        ValueError: if a version that this code does not know wrote it.
    """
    data = json.loads(text)
    if data.get("version") != VERSION:
        raise ValueError(f"a match of version {data.get('version')} cannot be read, this is version {VERSION}")
    return cast("MatchSpecification", _value(data["match"]))


def expression_to_json(expression: Expression) -> str:
    """Return an expression as JSON text."""
    return json.dumps(_plain(expression), sort_keys=True, separators=(",", ":"))


def expression_from_json(text: str) -> Expression:
    """Return the expression that ``expression_to_json`` wrote."""
    return cast("Expression", _value(json.loads(text)))


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {_KIND: type(value).__name__} | {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _value(data: object) -> object:
    if isinstance(data, dict):
        of = _CLASSES[data[_KIND]]
        return of(**{name: _value(item) for name, item in data.items() if name != _KIND})
    return tuple(_value(item) for item in data) if isinstance(data, list) else data


class MatchReach(NamedTuple):
    """How far conditions and measures look beside the rows of the match (PREV, NEXT).

    Attributes:
        back: how many rows before the first row of a match.
        ahead: how many rows behind the row that is taken.
    """

    back: int
    ahead: int


def reach_of(specification: MatchSpecification) -> MatchReach:
    """Return how far a specification looks.

    Where matches are numbered, the last row before a match is kept in any case: it carries the number.
    """
    parts = _parts((specification.conditions, specification.measures))
    shifts = [part.shift for part in parts if isinstance(part, Cell)]
    numbered = any(isinstance(m, MatchNumber) for m in specification.measures)
    return MatchReach(max([*(-s for s in shifts), int(numbered), 0]), max([*shifts, 0]))


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

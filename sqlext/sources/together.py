"""Find what operators on the same rows do alike: windows with the same keys, times, policy and filters.

They differ in their aggregates alone. So rows are filtered, grouped and combined once, with the aggregates of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pyarrow as pa

from sqlext.sources.packed import PackedWork, Together
from sqlext.sources.program import Program, Stage, Stages
from sqlext_udfs.expressions.columns import Expression
from sqlext_udfs.making import NeedsSparkError, known_without_spark
from sqlext_udfs.windows.making import specification_of
from sqlext_udfs.windows.shares import Sharing, combined
from sqlext_udfs.windows.specification import WindowSpecification

#: The function of windows, and the only one whose work is shared.
_WINDOW = "window"


class Worked(NamedTuple):
    """What is done with the rows of a table for one operator.

    Attributes:
        program: makes the operator's input.
        function, arguments: the operator's, as a plan says them.
        types: of the columns that go in.
        buckets: into how many its state is cut.
    """

    program: Program
    function: str
    arguments: Mapping[str, Any]
    types: tuple[pa.DataType, ...]
    buckets: int


def works_together(given: Sequence[Worked]) -> list[Together]:
    """Return the works of operators on the same table that are alike: each of at least two, by their places."""
    groups: list[list[_Window]] = []
    for window in (w for number, worked in enumerate(given) if (w := _window(number, worked)) is not None):
        same = next((g for g in groups if g[0].alike == window.alike), None)
        if same is None:
            groups.append([window])
        else:
            same.append(window)
    made = (_made(group) for group in groups if len(group) > 1)
    return [work for work in made if work is not None]


@dataclass(frozen=True)
class _Window:
    """Windows whose work may be done with that of others.

    Attributes:
        number: its place.
        specification: what is computed.
        stages: the SELECTs below.
        alike: what must be the same.
    """

    number: int
    worked: Worked
    specification: WindowSpecification
    stages: Stages
    alike: tuple[object, ...]


def _window(number: int, worked: Worked) -> _Window | None:
    program = worked.program
    if worked.function != _WINDOW or worked.arguments.get("fill") is not None or len(program.branches) != 1:
        return None
    try:
        of = specification_of(worked.arguments, known_without_spark)
    except NeedsSparkError:
        return None
    if (of.row, of.kind, of.ttl) != (None, None, None):
        return None
    (stages,) = program.branches
    *below, last = stages
    places = _read(of)
    # What can fail for one of them must not fail for the others.
    if any(e.fails for i, (_, e) in enumerate(last.columns) if i not in places):
        return None
    computed = program.computed.columns if program.computed is not None else ()
    failing = tuple((name, e) for name, e in computed if e.fails)
    read, plain = tuple(last.columns[i][1] for i in places), replace(of, aggregates=())
    alike = (plain, program.rowtime, failing, tuple(below), last.where, read, worked.buckets)
    # Texts are compared too: -0.0 is equal to 0.0.
    return _Window(number, worked, of, stages, (*alike, repr(alike)))


def _read(of: WindowSpecification) -> list[int]:
    """Return the places of the columns that all must have alike: keys, times, and what triggers look at."""
    times = (of.time, of.gap, of.start, of.end, *of.values)
    return [*range(of.keys), *(place for place in times if place is not None)]


def _made(group: Sequence[_Window]) -> Together | None:
    """Return the work of windows that are alike; None where rows must reach one of them as they are."""
    columns: list[Expression] = []
    asked = []
    for window in group:
        places = tuple(_place_in(columns, expression) for _, expression in window.stages[-1].columns)
        asked.append(Sharing(window.specification, window.worked.types, places))
    first = group[0]
    # Keys and times stand at the same places for all; they do not where one expression is two of them.
    if any(each.places[i] != i for each in asked for i in _read(first.specification)):
        return None
    made = combined(asked, [c.type for c in columns])
    if made is None:
        return None
    operator, shares = made
    work = PackedWork(_program(group, columns), operator, first.specification.keys, first.worked.buckets)
    return Together(work, tuple(replace(share, member=group[share.member].number) for share in shares))


def _place_in(columns: list[Expression], expression: Expression) -> int:
    """Return the place of an expression among columns, where it is put if it is not there."""
    known = (n for n, c in enumerate(columns) if c == expression and repr(c) == repr(expression))
    place = next(known, len(columns))
    if place == len(columns):
        columns.append(expression)
    return place


def _program(group: Sequence[_Window], columns: Sequence[Expression]) -> Program:
    programs = [window.worked.program for window in group]
    # Computed columns are the table's, by their names.
    computed = {name: e for p in programs if p.computed is not None for name, e in p.computed.columns}
    last = replace(group[0].stages[-1], columns=tuple((f"c{i}", e) for i, e in enumerate(columns)))
    return replace(
        programs[0],
        computed=Stage(tuple(computed.items()), keeps=True) if computed else None,
        branches=((*group[0].stages[:-1], last),),
    )

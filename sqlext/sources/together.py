"""Find what operators on the same rows do alike: windows over the same times with the same filters.

Where they differ in their aggregates alone, rows are filtered, grouped and combined once, with the aggregates of all.
Where one has fewer keys or wider slices, its partial results are made of the other's.
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
from sqlext_udfs.windows.panes.slices import Slicing
from sqlext_udfs.windows.shares import Sharing, combined, is_exact, slices_of
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
    return [work for family in _families(groups) for work in _works(family)]


def _families(groups: Sequence[list[_Window]]) -> list[list[list[_Window]]]:
    """Return groups of windows that are alike, each with those behind it whose results are made of its own."""
    families: list[list[list[_Window]]] = []
    # Most keys and narrowest slices first: what is made of others stands behind them.
    for group in sorted(groups, key=lambda g: (-g[0].specification.keys, g[0].slicing.width if g[0].slicing else 0)):
        finer = next((f for f in families if all(w.is_made_of(f[0][0]) for w in group)), None)
        if finer is None:
            families.append([group])
        else:
            finer.append(group)
    return families


def _works(family: Sequence[Sequence[_Window]]) -> list[Together]:
    """Return the one work of a family, or those of its groups where it has none."""
    if sum(map(len, family)) == 1:
        return []
    made = _made(family)
    if made is not None:
        return [made]
    return [work for group in family if len(family) > 1 for work in _works([group])]


@dataclass(frozen=True)
class _Window:
    """Windows whose work may be done with that of others.

    Attributes:
        number: its place.
        specification: what is computed.
        stages: the SELECTs below.
        rows: what must be the same for windows that are made of others: rows and times.
        alike: what must be the same for windows that differ in their aggregates alone.
        slicing: its slices, where others may be made of them.
    """

    number: int
    worked: Worked
    specification: WindowSpecification
    stages: Stages
    rows: tuple[object, ...]
    alike: tuple[object, ...]
    slicing: Slicing | None

    @property
    def keys(self) -> list[tuple[Expression, str]]:
        """What it groups by; texts are compared too: -0.0 is equal to 0.0."""
        return [(e, repr(e)) for _, e in self.stages[-1].columns[: self.specification.keys]]

    def is_made_of(self, finer: _Window) -> bool:
        """Return whether its partial results are joined ones of another."""
        if self.slicing is None or finer.slicing is None or self.rows != finer.rows:
            return False
        # What can fail for one of them must not fail for the other.
        more = [key for key in finer.keys if key not in self.keys]
        if any(e.fails for e, _ in more) or any(key not in finer.keys for key in self.keys):
            return False
        return self.slicing.are_made_of(finer.slicing) and is_exact(self.specification, self.worked.types)


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
    rows = (program.rowtime, failing, tuple(below), last.where)
    alike = (*rows, plain, read, worked.buckets)
    time = last.columns[of.time][1] if of.time is not None else None
    of_slices = (*rows, time, repr((*rows, time)))
    # Texts are compared too: -0.0 is equal to 0.0.
    return _Window(number, worked, of, stages, of_slices, (*alike, repr(alike)), slices_of(of))


def _read(of: WindowSpecification) -> list[int]:
    """Return the places of the columns that all must have alike: keys, times, and what triggers look at."""
    times = (of.time, of.gap, of.start, of.end, *of.values)
    return [*range(of.keys), *(place for place in times if place is not None)]


def _made(family: Sequence[Sequence[_Window]]) -> Together | None:
    """Return the work of a family of windows; None where rows must reach one of them as they are."""
    columns: list[Expression] = []
    windows, finest = [window for group in family for window in group], family[0]
    asked = []
    for number, window in enumerate(windows):
        places = tuple(_place_in(columns, expression) for _, expression in window.stages[-1].columns)
        of = window.worked
        asked.append(Sharing(window.specification, of.types, places, of.buckets, coarser=number >= len(finest)))
    first = finest[0]
    # Keys and times stand at the same places for all that are alike; they do not where one expression is two of them.
    if any(each.places[i] != i for each in asked if not each.coarser for i in _read(first.specification)):
        return None
    made = combined(asked, [c.type for c in columns])
    if made is None:
        return None
    operator, shares = made
    work = PackedWork(_program(windows, columns), operator, first.specification.keys, first.worked.buckets)
    return Together(work, tuple(replace(share, member=windows[share.member].number) for share in shares))


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

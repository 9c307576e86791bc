"""What is made of rows in the worker before Spark sees them: computed columns, the checks of the rowtime, filters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.connectors.row_bounds import ColumnBounds, Known, bounds_of, can_fail, may_hold
from sqlext.connectors.splits import LooksAtFields, SplitReader
from sqlext.errors import SqlExtError
from sqlext.sources.arrow_types import fields_at
from sqlext.sources.times import Times
from sqlext_udfs.expressions.columns import Column, Expression, FieldOf, Rows, selected

#: ``table.exec.source.rowtime-null-handling``.
Nulls = Literal["fail", "drop", "skip_watermark"]


@dataclass(frozen=True)
class Rowtime:
    """The event time of a table.

    Attributes:
        column: the column, an instant in microseconds.
        name: how messages call it.
        nulls: ``table.exec.source.rowtime-null-handling``.
        since_1970: whether a time before that fails, as Spark's watermark would drop the row unseen.
    """

    column: str
    name: str
    nulls: Nulls = "fail"
    since_1970: bool = True


@dataclass
class Facts:
    """What a slice turned out to hold.

    Attributes:
        rows: how many rows were read.
        largest: the largest event time, microseconds since 1970 UTC; None without rows or event time.
        smallest: the smallest one.
        times: sums up all of them, if anybody asks for that.
    """

    rows: int = 0
    largest: int | None = None
    smallest: int | None = None
    times: Times | None = None

    def add(self, rows: int, smallest: int | None = None, largest: int | None = None) -> None:
        """Count more rows; they have times or not."""
        self.rows += rows
        if smallest is not None and largest is not None:
            self.smallest = smallest if self.smallest is None else min(smallest, self.smallest)
            self.largest = largest if self.largest is None else max(largest, self.largest)


@dataclass(frozen=True)
class Stage:
    """One SELECT: the columns that it computes of the rows for which ``where`` holds.

    ``keeps``: the columns before stay beside the computed ones.
    """

    columns: tuple[tuple[str, Expression], ...]
    where: Expression | None = None
    keeps: bool = False


#: SELECTs above a table, innermost first.
Stages = tuple[Stage, ...]


@dataclass(frozen=True)
class Program:
    """Rows as the source has them to rows as an operator takes them.

    Attributes:
        computed: computed columns of the table, added to its own.
        rowtime: checked, counted and, as the largest of all rows, handed on to Spark's watermark.
        branches: what is made of them, each of all rows: a join of a table with itself has two. All end with the same
            columns.
    """

    computed: Stage | None
    rowtime: Rowtime | None
    branches: tuple[Stages, ...]

    def run(self, batch: pa.RecordBatch, facts: Facts) -> Iterator[dict[str, pa.Array]]:
        """Yield of each branch the columns of its last stage, which are at least one.

        Raises:
            SqlExtError: RUN-001 for a rowtime that is NULL, RUN-002 for one before 1970, RUN-041 for a number that is
                too large.
        """
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        rows = batch.num_rows
        if self.computed is not None:
            columns, rows = after(self.computed, columns, rows)
        if self.rowtime is not None:
            columns, rows = _checked(self.rowtime, columns, rows, facts)
        else:
            facts.add(rows)
        for stages in self.branches:
            made, left = columns, rows
            for stage in stages:
                made, left = after(stage, made, left)
            yield made

    def looked_at(self) -> dict[str, pa.DataType]:
        """Return the columns of which it looks at some fields alone: their types with these."""
        types: dict[str, pa.DataType] = {}
        paths: dict[str, list[tuple[str, ...]]] = {}
        for expression in self._over_the_table():
            for column, path in fields_read(expression):
                types[column.name] = column.type
                paths.setdefault(column.name, []).append(path)
        if self.rowtime is not None:
            paths.setdefault(self.rowtime.column, []).append(())
        found = {name: fields_at(of, paths[name]) for name, of in types.items()}
        return {name: of for name, of in found.items() if of != types[name]}

    def narrowed(self, reader: SplitReader) -> SplitReader:
        """Return a reader of its table without the fields that it does not look at, where that can leave some out."""
        fields = self.looked_at()
        return reader.looking_at(fields) if fields and isinstance(reader, LooksAtFields) else reader

    def _over_the_table(self) -> Iterator[Expression]:
        """Yield the expressions that may read columns of the table."""
        for stages in self.branches:
            for stage in (*((self.computed,) if self.computed is not None else ()), *stages):
                yield from (expression for _, expression in stage.columns)
                if stage.where is not None:
                    yield stage.where
                if not stage.keeps:
                    break

    @property
    def filters(self) -> bool:
        """Whether there are rows that it may leave out."""
        return all(any(stage.where is not None for stage in stages) for stages in self.branches)

    def passes(self, facts: Facts, known: Known, rows: int) -> bool:
        """Count rows that need not be read, if no row can come through and none can fail; return whether that is so.

        Args:
            facts: where they are counted.
            known: the bounds of columns that the source has.
            rows: how many they are.
        """
        if self.computed is not None:
            # Rows that would fail the query must be read, so that it fails.
            if _can_fail(self.computed, known):
                return False
            known = {**known, **_bounds_after(self.computed, known)}
        times = known.get(self.rowtime.column) if self.rowtime is not None else None
        if self.rowtime is not None and (times is None or not _sound(self.rowtime, times)):
            return False
        if not all(_holds_back(stages, known) for stages in self.branches):
            return False
        dropped = times.nulls if times is not None and self.rowtime is not None and self.rowtime.nulls == "drop" else 0
        facts.add(rows - dropped, *(times.span or ()) if times is not None else ())
        if facts.times is not None and times is not None and times.span is not None:
            facts.times.between(*times.span, rows - times.nulls)
        return True


def fields_read(expression: Expression) -> Iterator[tuple[Column, tuple[str, ...]]]:
    """Yield the columns that an expression reads, and the path to the field that it reads of each: empty for all."""
    path: tuple[str, ...] = ()
    of = expression
    while isinstance(of, FieldOf):
        path, (of,) = (of.name, *path), of.inputs
    if isinstance(of, Column):
        yield of, path
    else:
        for operand in of.inputs:
            yield from fields_read(operand)


def _holds_back(stages: Stages, known: Known) -> bool:
    """Return whether a condition holds for none of the rows, and no SELECT up to it can fail."""
    for stage in stages:
        if stage.where is not None:
            # A row for which the condition fails must be read, whatever else is known of it.
            if can_fail(stage.where, known):
                return False
            if not may_hold(stage.where, known):
                return True
        if _can_fail(stage, known):
            return False
        known = {**(known if stage.keeps else {}), **_bounds_after(stage, known)}
    return False


def _bounds_after(stage: Stage, known: Known) -> dict[str, ColumnBounds]:
    found = {name: bounds_of(expression, known) for name, expression in stage.columns}
    return {name: bounds for name, bounds in found.items() if bounds is not None}


def _can_fail(stage: Stage, known: Known) -> bool:
    return any(can_fail(expression, known) for _, expression in stage.columns)


def _sound(rowtime: Rowtime, times: ColumnBounds) -> bool:
    """Return whether no row fails for its time."""
    early = times.span is not None and times.span[0] < 0 and rowtime.since_1970
    return not early and not (times.nulls and rowtime.nulls == "fail")


def after(stage: Stage, columns: dict[str, pa.Array], rows: int) -> tuple[dict[str, pa.Array], int]:
    """Return what a SELECT makes of columns, and how many rows are left."""
    if stage.where is not None:
        places = selected(stage.where.evaluate(Rows.of(columns, rows)))
        if places is not None:
            # ``take`` copies, so only columns that are still needed are taken.
            read = frozenset().union(*(e.columns() for _, e in stage.columns))
            taken = pa.array(places)
            columns = {n: c.take(taken) for n, c in columns.items() if stage.keeps or n in read}
            rows = len(places)
    there = Rows.of(columns, rows)
    made = {name: expression.evaluate(there) for name, expression in stage.columns}
    return ({**columns, **made} if stage.keeps else made), rows


def _checked(
    rowtime: Rowtime, columns: dict[str, pa.Array], rows: int, facts: Facts
) -> tuple[dict[str, pa.Array], int]:
    times = columns[rowtime.column]
    if times.null_count and rowtime.nulls == "fail":
        raise SqlExtError("RUN-001", f"rowtime {rowtime.name} is NULL")
    if times.null_count and rowtime.nulls == "drop":
        places = pa.array(np.flatnonzero(times.is_valid().to_numpy(zero_copy_only=False)))
        columns = {n: c.take(places) for n, c in columns.items()}
        times, rows = columns[rowtime.column], len(places)
    span = pc.min_max(times.view(pa.int64())).as_py()
    if rowtime.since_1970 and span["min"] is not None and span["min"] < 0:
        raise SqlExtError("RUN-002", f"rowtime {rowtime.name} lies before 1970, where Spark's watermark begins")
    facts.add(rows, span["min"], span["max"])
    if facts.times is not None:
        facts.times.take(times.drop_null().view(pa.int64()).to_numpy())
    return columns, rows

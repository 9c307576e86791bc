"""Compute the rows of a query in this process, all at once: at the end of time, without state."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import pyarrow as pa

from sqlext.connectors.splits import Offset, SplitReader
from sqlext.rewrite.arrow.in_process import LocalScript, LocalStep, Operated, Queried
from sqlext.rewrite.script.model import ArrowView, ReadView
from sqlext.sources.program import Facts, Program
from sqlext.sources.tables import reader_of
from sqlext.stores.location import Location
from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.operator import BucketOperator, Clock
from sqlext_udfs.kernel.table_codec import decode_rows

#: Files are read one after the other: a small input has nothing to share out.
TASKS = 1


@dataclass(frozen=True)
class Computed:
    """The rows of a query, how many rows were read for them, and how far each table was read, by split."""

    rows: pa.Table
    read: int
    ends: Mapping[str, Offset] = field(default_factory=dict)


class ReadRows(NamedTuple):
    """The rows of a table's view, how many rows of the table were read for them, and how far, by split."""

    table: pa.Table
    read: int
    end: Offset = MappingProxyType({})


def computed(script: LocalScript, sources: Location | None, given: Mapping[str, ReadRows] | None = None) -> Computed:
    """Return the rows of a query over all that its tables have now.

    Args:
        script: the query.
        sources: a folder for what readers remember of this run; None where all views are given.
        given: views whose rows are there already.

    Raises:
        SqlExtError: RUN-... for rows that cannot be read or computed, OPT-009 where nothing lies at a path.
    """
    run = _Run(sources, int(clock.time() * 1000), given or {})
    for step in script.steps:
        run.tables[step.view] = run.made(step)
    return Computed(script.query.run(run.tables), run.facts.rows, run.ends)


@dataclass
class _Run:
    sources: Location | None
    now: int
    given: Mapping[str, ReadRows]
    tables: dict[str, pa.Table] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
    ends: dict[str, Offset] = field(default_factory=dict)

    def made(self, step: LocalStep) -> pa.Table:
        """Return the rows of a view."""
        match step:
            case ReadView() | ArrowView():
                return self._read(step)
            case Queried():
                return step.query.run(self.tables)
            case Operated():
                return self._operated(step)

    def _read(self, step: ReadView | ArrowView) -> pa.Table:
        if step.view in self.given:
            self.facts.add(self.given[step.view].read)
            self.ends[step.table.name.name] = self.given[step.view].end
            return self.given[step.view].table
        assert isinstance(step, ReadView), "packed rows are given"
        assert self.sources is not None, "a reader has a folder"
        reader = opened(step, self.sources)
        try:
            start = reader.initial()
            end = self.ends[step.table.name.name] = reader.latest(start, None)
            pieces = reader.slices(start, end)
            return rows_read(step, (batch for piece in pieces for batch in reader.read(piece)), self.facts)
        finally:
            reader.close()

    def _operated(self, step: Operated) -> pa.Table:
        """Return what an operator gives in one step at the end of time; all keys are one bucket."""
        operator, _, columns = step.operator
        schema = pa.schema(list(columns))
        rows = self.tables[step.input]
        if not rows.num_rows:
            return schema.empty_table()
        buckets = [operator.gathered(b) for b in _unpacked(rows)] if step.packed else [gathered(operator, rows)]
        end = Clock(Clock.END, None, self.now)
        made = (operator.step(operator.empty(), bucket, end).out for bucket in buckets)
        parts = [out.rename_columns(schema.names).cast(schema) for out in made if out.num_columns]
        return pa.concat_tables(parts) if parts else schema.empty_table()


def gathered(operator: BucketOperator[Any], rows: pa.Table) -> pa.Table:
    """Return what a step of an operator takes of rows that are all of one bucket."""
    given = positional(rows)
    partial = operator.partial(given.append_column("bucket", pa.repeat(pa.scalar(0, pa.int16()), given.num_rows)))
    told = operator.for_each(partial)
    mine = partial.select(range(partial.num_columns - 1))
    return operator.gathered([mine] if told is None else [told, mine])


def _unpacked(packed: pa.Table) -> list[list[pa.Table]]:
    """Return what has come to each bucket."""
    buckets: dict[int, list[pa.Table]] = {}
    for bucket, rows in zip(packed["bucket"].to_pylist(), chain(*packed["rows"].chunks), strict=True):
        buckets.setdefault(bucket, []).append(decode_rows(memoryview(rows.as_buffer())))
    return list(buckets.values())


def opened(step: ReadView, sources: Location) -> SplitReader:
    """Return the reader of a table; ``sources`` is a folder for what readers remember of this run."""
    return reader_of(step.table).reader(step.table, step.needed, sources.below(step.view), TASKS)


def rows_read(step: ReadView, batches: Iterable[pa.RecordBatch], facts: Facts) -> pa.Table:
    """Return rows that a reader gives as the columns of the table's view; they are counted."""
    gathered = Gathered(step, facts)
    for batch in batches:
        gathered.take(batch)
    return gathered.rows().table


class Gathered:
    """Makes the columns of a table's view of rows that a reader gives, and counts them in ``facts``."""

    def __init__(self, step: ReadView, facts: Facts | None = None) -> None:
        self._program = cast(Program, step.program)
        ((stage,),) = self._program.branches
        self._schema = pa.schema([(name, value.type) for name, value in stage.columns])
        self._facts = facts if facts is not None else Facts()
        self._made: list[pa.RecordBatch] = []

    def take(self, batch: pa.RecordBatch) -> None:
        """Take rows."""
        for columns in self._program.run(batch, self._facts) if batch.num_rows else ():
            self._made.append(pa.record_batch(list(columns.values()), self._schema))

    def rows(self, end: Offset = MappingProxyType({})) -> ReadRows:
        """Return all rows that were taken; ``end`` is how far the table was read."""
        return ReadRows(pa.Table.from_batches(self._made, self._schema), self._facts.rows, end)


def positional(table: pa.Table) -> pa.Table:
    """Return a table as operators take it: columns in one piece, called by their places."""
    return pa.table([whole(c) for c in table.columns], [f"c{i}" for i in range(table.num_columns)])

"""Compute the rows of a query in this process, all at once: at the end of time, without state."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sqlext.connectors.splits import Offset
from sqlext.local.joined import read_joined
from sqlext.local.reading import ReadRows, read_views
from sqlext.rewrite.arrow.in_process import Joined, LocalScript, LocalStep, Operated, Queried
from sqlext.rewrite.arrow.joined import joined_where_read
from sqlext.rewrite.script.model import ArrowView, ReadView
from sqlext.sources.joined import OtherSides
from sqlext.stores.location import Location
from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.operator import BucketOperator, Clock
from sqlext_udfs.kernel.packing import by_bucket


@dataclass(frozen=True)
class Computed:
    """The rows of a query, how many rows were read for them, and how far each table was read, by split."""

    rows: pa.Table
    read: int
    ends: Mapping[str, Offset] = field(default_factory=dict)


def computed(script: LocalScript, sources: Location | None, given: Mapping[str, ReadRows] | None = None) -> Computed:
    """Return the rows of a query over all that its tables have now.

    Args:
        script: the query.
        sources: a folder for what readers remember of this run; None where all views are given.
        given: views whose rows are there already.

    Raises:
        SqlExtError: RUN-... for rows that cannot be read or computed, OPT-009 where nothing lies at a path.
        WorkFailedError: for what partial work refuses.
    """
    run = _Run(sources, int(clock.time() * 1000), given or {})
    for step in script.steps if given else joined_where_read(script):
        run.tables[step.view] = run.made(step)
    return Computed(script.query.run(run.tables), run.rows, run.ends)


@dataclass
class _Run:
    sources: Location | None
    now: int
    given: Mapping[str, ReadRows]
    tables: dict[str, pa.Table] = field(default_factory=dict)
    rows: int = 0
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
            case Joined():
                return self._joined(step)

    def _read(self, step: ReadView | ArrowView) -> pa.Table:
        found = self.given.get(step.view)
        if found is None:
            assert self.sources is not None, "a reader has a folder"
            (found,) = read_views([step], step.needed, self.sources.below(step.view))
        self.rows += found.read
        self.ends[step.table.name.name] = found.end
        return found.table

    def _operated(self, step: Operated) -> pa.Table:
        """Return what an operator gives in one step at the end of time; all keys are one bucket."""
        operator, _, columns = step.operator
        schema = pa.schema(list(columns))
        rows = self.tables[step.input]
        if not rows.num_rows:
            return schema.empty_table()
        buckets = [operator.gathered(b) for b in by_bucket(rows)] if step.packed else [gathered(operator, rows)]
        end = Clock(Clock.END, None, self.now)
        made = (operator.step(operator.empty(), bucket, end).out for bucket in buckets)
        parts = [out.rename_columns(schema.names).cast(schema) for out in made if out.num_columns]
        return pa.concat_tables(parts) if parts else schema.empty_table()

    def _joined(self, step: Joined) -> pa.Table:
        """Return what an operator gives of rows that are joined where they are read."""
        assert self.sources is not None, "a reader has a folder"
        others = []
        for join, (query, packed) in zip(step.work.joins, step.others, strict=True):
            rows = query.run(self.tables)
            parts = [part for bucket in by_bucket(rows) for part in bucket] if packed else [rows]
            others.append(pa.concat_tables([join.schema.empty_table(), *parts]))
        sides = OtherSides.of(step.work, others, self.now)
        found = read_joined(step.read, step.work, sides, self.sources.below(step.read.view))
        self.rows += found.read
        self.ends[step.read.table.name.name] = found.end
        operator, _, columns = step.operator
        schema = pa.schema(list(columns))
        if found.rows is None:
            return schema.empty_table()
        out = operator.step(operator.empty(), found.rows, Clock(Clock.END, None, self.now)).out
        return out.rename_columns(schema.names).cast(schema) if out.num_columns else schema.empty_table()


def gathered(operator: BucketOperator[Any], rows: pa.Table) -> pa.Table:
    """Return what a step of an operator takes of rows that are all of one bucket."""
    given = positional(rows)
    partial = operator.partial(given.append_column("bucket", pa.repeat(pa.scalar(0, pa.int16()), given.num_rows)))
    told = operator.for_each(partial)
    mine = partial.select(range(partial.num_columns - 1))
    return operator.gathered([mine] if told is None else [told, mine])


def positional(table: pa.Table) -> pa.Table:
    """Return a table as operators take it: columns in one piece, called by their places."""
    return pa.table([whole(c) for c in table.columns], [f"c{i}" for i in range(table.num_columns)])

"""Join the rows of a table where they are read, with all rows of the other sides, and do an operator's partial work.

Each row of the table that is read gives its own pairs, so slices are joined one by one. Where the operator above
combines values of this table alone, its rows are combined by what the joins look at before they are joined: each pair
then hands on a partial result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext.sources.program import Facts, Program, Stage, Stages, after
from sqlext.sources.stream import Read
from sqlext_udfs.joins.operator import JoinOperator
from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.kernel.operator import BucketOperator, Clock
from sqlext_udfs.kernel.partial_work import PATIENCE, PartialWork
from sqlext_udfs.windows.panes.columns import PARTIAL, is_partial

Columns = tuple[tuple[str, pa.DataType], ...]
# A join looks at all rows of the other side: as many times more are joined at once.
_TIMES = 4
# Of more rows of another side all slices are joined at once: each would look at all of them.
_MOST = 1 << 20
# Partial results of a slice that wait for those of others, to be joined once for all.
_FEW = 1 << 16
# The share of rows that is left, from which on combining them before the join is in vain.
_MANY = 0.5


@dataclass(frozen=True)
class JoinStep:
    """A join with rows that are there already, and the SELECTs above it.

    Attributes:
        operator: joins.
        side: of the rows that come from below.
        given: columns of its input; those that rows do not have are NULL, or ``side``.
        names: of what comes out of it.
        stages: what is made of that.
        made: the columns that the last of these gives.
    """

    operator: JoinOperator
    side: int
    given: Columns
    names: tuple[str, ...]
    stages: Stages
    made: Columns

    @property
    def schema(self) -> pa.Schema:
        """The columns of its input."""
        return pa.schema(list(self.given))

    def prepared(self, rows: pa.Table) -> pa.Table:
        """Return rows of a side, columns of the join's input, as the join takes them."""
        there = set(rows.column_names)
        columns = [whole(rows[n]) if n in there else self._absent(n, of, rows.num_rows) for n, of in self.given]
        table = pa.table(columns, self.schema)
        return self.operator.gathered([without_bucket(self.operator.partial(with_bucket(table)))])

    def _absent(self, name: str, of: pa.DataType, rows: int) -> pa.Array:
        is_side = name == self.given[self.operator.specification.side][0]
        return pa.repeat(pa.scalar(self.side, of), rows) if is_side else pa.nulls(rows, of)

    def of(self, rows: pa.Table, other: pa.Table, now: int) -> pa.Table:
        """Return what the SELECTs make of the pairs.

        Args:
            rows: columns of the join's input.
            other: what ``prepared`` made of the other side.
            now: the batch clock (ms).
        """
        given = pa.concat_tables([self.prepared(rows), other])
        out = self.operator.step(self.operator.empty(), given, Clock(Clock.END, None, now)).out
        columns = dict(zip(self.names, (whole(c) for c in out.columns), strict=True))
        count = out.num_rows
        for stage in self.stages:
            columns, count = after(stage, columns, count)
        made = [pa.nulls(count, of) if pa.types.is_null(columns[n].type) else columns[n] for n, of in self.made]
        return pa.table(made, pa.schema(list(self.made)))


@dataclass(frozen=True)
class EarlyWork:
    """How rows are combined before they are joined.

    Attributes:
        rows: makes the columns of ``operator`` of those of the first join's input.
        operator: combines them by what the joins and the SELECTs above look at.
        first: makes the first join's input of partial results.
        joins: hand partial results on.
    """

    rows: Stage
    operator: BucketOperator[Any]
    first: Stage
    joins: tuple[JoinStep, ...]

    def of(self, rows: pa.Table) -> pa.Table | None:
        """Return partial results of rows; None where they must be joined as they are."""
        columns, count = after(self.rows, _columns(rows), rows.num_rows)
        made = self.operator.partial(pa.table({**columns, "bucket": _buckets(count)}))
        return made if is_partial(made) else None


@dataclass(frozen=True)
class JoinedWork:
    """What is done with rows of a table where they are read.

    Attributes:
        program: makes what rows have of the first join's input.
        given: its columns.
        joins: one after the other.
        operator: the semantics of the operator above.
        early: how rows are combined before they are joined, where they can be.
    """

    program: Program
    given: Columns
    joins: tuple[JoinStep, ...]
    operator: BucketOperator[Any]
    early: EarlyWork | None = None


@dataclass(frozen=True)
class OtherSides:
    """What rows are joined with: of each join the other side, as it takes it, for rows and for partial results."""

    plain: tuple[pa.Table, ...]
    early: tuple[pa.Table, ...]
    now: int

    @classmethod
    def of(cls, work: JoinedWork, rows: Sequence[pa.Table], now: int) -> OtherSides:
        """Return rows, columns of the joins' inputs, as the joins take them."""
        early = work.early.joins if work.early is not None else ()
        plain, combined = ([j.prepared(r) for j, r in zip(joins, rows, strict=False)] for joins in (work.joins, early))
        return cls(tuple(plain), tuple(combined), now)

    @property
    def patience(self) -> int:
        """How many rows are joined at once."""
        return max(PATIENCE, _TIMES * self._largest)

    @property
    def few(self) -> bool:
        """Whether slices are joined one by one."""
        return self._largest <= _MOST

    @property
    def _largest(self) -> int:
        most: int = max(table.num_rows for table in self.plain)
        return most


@dataclass
class JoinedSlice:
    """What came of a slice.

    Attributes:
        facts: what it turned out to hold.
        early: partial results that are not joined yet.
        plain: rows that are not joined yet.
        made: what the operator above takes, with a bucket behind.
    """

    facts: Facts = field(default_factory=Facts)
    early: list[pa.Table] = field(default_factory=list)
    plain: list[pa.Table] = field(default_factory=list)
    made: list[pa.Table] = field(default_factory=list)


def slice_joined(work: JoinedWork, others: OtherSides, read: Read) -> JoinedSlice:
    """Return what comes of a slice; raises as the program, the joins and the operator do."""
    taking = _Taking(work, others)
    program, facts = work.program, taking.found.facts
    schema = pa.schema(list(work.given))
    passes = (lambda known, rows: program.passes(facts, known, rows)) if program.filters else None
    for batch in read(passes):
        for columns in program.run(batch, facts) if batch.num_rows else ():
            taking.take(pa.record_batch(list(columns.values()), schema))
    return taking.rest()


def gathered(work: JoinedWork, others: OtherSides, slices: Sequence[JoinedSlice]) -> pa.Table | None:
    """Return what a step of the operator above takes; None where nothing came."""
    early = [table for each in slices for table in each.early]
    plain = [table for each in slices for table in each.plain]
    made = [*_joined_early(work, others, early), *(table for each in slices for table in each.made)]
    if plain:
        made.append(work.operator.partial(with_bucket(_joined(work, others, pa.concat_tables(plain)))))
    there = [table for table in made if table.num_rows]
    if not there:
        return None
    tables = []
    for table in there:
        told = work.operator.for_each(table)
        tables += [*([] if told is None else [told]), without_bucket(table)]
    return work.operator.gathered(tables)


@dataclass
class _Taking:
    work: JoinedWork
    others: OtherSides
    found: JoinedSlice = field(default_factory=JoinedSlice)
    _waiting: list[pa.RecordBatch] = field(default_factory=list)
    _combines: bool = True

    def __post_init__(self) -> None:
        self._above = PartialWork(self.work.operator, _one_bucket)

    def take(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows:
            self._waiting.append(batch)
        if sum(b.num_rows for b in self._waiting) >= self.others.patience:
            self._work()

    def rest(self) -> JoinedSlice:
        if self._waiting:
            self._work()
        found = self.found
        found.early = _merged(self.work, found.early)
        if self.others.few and sum(t.num_rows for t in found.early) > _FEW:
            self._join_early()
        found.made += [table for table, _ in self._above.rest()]
        return found

    def _work(self) -> None:
        rows, self._waiting = pa.Table.from_batches(self._waiting), []
        if self._combined(rows):
            return
        if not self.others.few:
            self.found.plain.append(rows)
            return
        rows = _joined(self.work, self.others, rows)
        for batch in with_bucket(rows).combine_chunks().to_batches():
            self.found.made += [table for table, _ in self._above.take(batch)]

    def _combined(self, rows: pa.Table) -> bool:
        """Combine rows before they are joined; return whether that could be done."""
        early = self.work.early
        if early is None or not self._combines:
            return False
        try:
            made = early.of(rows)
        except SqlExtError:  # of rows, perhaps, that match nothing: then nothing fails
            made = None
        if made is None:
            self._combines = False
            return False
        self._combines = made.num_rows <= _MANY * rows.num_rows
        self.found.early.append(made)
        if sum(t.num_rows for t in self.found.early) > PATIENCE:
            self.found.early = _merged(self.work, self.found.early)
            if self.others.few and sum(t.num_rows for t in self.found.early) > PATIENCE // 2:
                self._join_early()
        return True

    def _join_early(self) -> None:
        self.found.made += _joined_early(self.work, self.others, self.found.early)
        self.found.early = []


def _joined(work: JoinedWork, others: OtherSides, rows: pa.Table) -> pa.Table:
    """Return what the operator above takes of rows of the first join's input."""
    for join, other in zip(work.joins, others.plain, strict=True):
        rows = join.of(rows, other, others.now)
    return rows


def _merged(work: JoinedWork, tables: list[pa.Table]) -> list[pa.Table]:
    """Return partial results that are not joined yet as fewer."""
    if work.early is None or len(tables) < 2:
        return tables
    try:
        return [work.early.operator.partial(pa.concat_tables(tables))]
    except SqlExtError:  # a sum of rows, perhaps, that match nothing
        return tables


def _joined_early(work: JoinedWork, others: OtherSides, tables: list[pa.Table]) -> list[pa.Table]:
    """Return the partial results of the operator above that are made of others."""
    if work.early is None or not tables:
        return []
    rows = pa.concat_tables(_merged(work, tables))
    columns, _ = after(work.early.first, _columns(rows), rows.num_rows)
    made = pa.table(columns)
    for join, other in zip(work.early.joins, others.early, strict=True):
        made = join.of(made, other, others.now)
    made = made.rename_columns([f"{PARTIAL}{n}" for n in range(made.num_columns)])
    return [work.operator.partial(with_bucket(made))] if made.num_rows else []


def with_bucket(rows: pa.Table) -> pa.Table:
    """Return rows as of one bucket, which is the last column."""
    return rows.append_column("bucket", _buckets(rows.num_rows))


def _buckets(rows: int) -> pa.Array:
    return pa.array(np.zeros(rows, np.int16))


def without_bucket(rows: pa.Table) -> pa.Table:
    """Return rows without their last column."""
    return rows.select(range(rows.num_columns - 1))


def _columns(rows: pa.Table) -> dict[str, pa.Array]:
    return {name: whole(rows[name]) for name in rows.column_names}


def _one_bucket(rows: pa.Table) -> Ints:
    return np.zeros(rows.num_rows, np.int64)

"""Read tables for queries of this process: a table once for all its views, its slices side by side in threads."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc

from sqlext.connectors.splits import Offset, Passes, Slice, SplitReader
from sqlext.local.memory import keep_freed_memory
from sqlext.local.turns import short_turns
from sqlext.rewrite.script.model import ArrowView, ReadView
from sqlext.sources.packed import (
    FAILURE,
    MEMBER,
    READ,
    SHARED_SCHEMA,
    PackedWork,
    SharedWork,
    Together,
    WorkFailedError,
)
from sqlext.sources.program import Facts, Program
from sqlext.sources.stream import Work
from sqlext.sources.tables import reader_of
from sqlext.sources.together import Worked, works_together
from sqlext.stores.location import Location
from sqlext_udfs.making import made
from sqlext_udfs.windows.shares import Share

T = TypeVar("T")
#: All keys are one bucket: an operator does one step.
_BUCKETS = 1
_PACKED = ("bucket", "rows", "now")


class ReadRows(NamedTuple):
    """The rows of a table's view, how many rows of the table were read for them, and how far, by split."""

    table: pa.Table
    read: int
    end: Offset = MappingProxyType({})


class UnwantedError(Exception):
    """Nobody waits for the rows of a table any more."""


class MemberRows(NamedTuple):
    """The packed rows of one of several views, or why there are none."""

    rows: ReadRows
    failure: str | None


def opened(step: ReadView | ArrowView, sources: Location) -> SplitReader:
    """Return the reader of a table; ``sources`` is a folder for what readers remember of this run."""
    return reader_of(step.table).reader(step.table, step.needed, sources.below(step.view), 1)


def read_views(
    views: Sequence[ReadView | ArrowView],
    needed: Sequence[str],
    sources: Location,
    is_wanted: Callable[[], bool] = lambda: True,
) -> Sequence[ReadRows]:
    """Return the rows of each view of a table, which is read and decoded once; what is the same in views is one.

    Args:
        views: at least one; all are of the same table.
        needed: the columns that any of them looks at, in the table's order.
        sources: a folder for what readers remember of this run.
        is_wanted: asked before each slice: whether somebody still waits for the rows.

    Raises:
        SqlExtError: RUN-... for rows that cannot be read or computed, OPT-009 where nothing lies at a path.
        WorkFailedError: for what partial work refuses.
        UnwantedError: where nobody waits any more.
    """
    same = [next(n for n, first in enumerate(views) if _makes(first) == _makes(view)) for view in views]
    reading = _Reading({number: views[number] for number in dict.fromkeys(same)})
    table = views[0].table
    reader = reading.narrowed(reader_of(table).reader(table, needed, sources, threads()))

    def take(own: SplitReader, piece: Slice) -> _Taken:
        if not is_wanted():
            raise UnwantedError
        return reading.taken(own, piece)

    taken, end = in_slices(reader, take)
    rows = reading.rows(taken, end)
    return [rows[number] for number in same]


def in_slices(reader: SplitReader, take: Callable[[SplitReader, Slice], T]) -> tuple[list[T], Offset]:
    """Return what comes of the slices of all that a reader has now, in their order, and how far it was read.

    Args:
        reader: is closed.
        take: is called side by side, with a reader of its own.
    """
    keep_freed_memory()
    # What a reader has opened belongs to one thread.
    fresh = copy.deepcopy(reader)
    try:
        start = reader.initial()
        end = reader.latest(start, None)
        pieces = list(reader.slices(start, end))
        with short_turns(), ThreadPoolExecutor(threads()) as pool:
            taken = list(pool.map(lambda piece: take(copy.deepcopy(fresh), piece), pieces))
    finally:
        reader.close()
    return taken, end


def rows_read(step: ReadView, batches: Iterable[pa.RecordBatch], facts: Facts) -> pa.Table:
    """Return rows that a reader gives as the columns of the table's view; they are counted."""
    gathered = _Gathered(step, facts)
    for batch in batches:
        gathered.take(batch)
    return gathered.table


def member_rows(packed: pa.Table, members: Collection[int]) -> dict[int, MemberRows]:
    """Return the packed rows of views that were worked on together (``SHARED``), by the numbers of the views."""
    found = {}
    for member in members:
        mine = packed.filter(pc.equal(packed[MEMBER], member))
        failure = next((text for text in mine[FAILURE].to_pylist() if text is not None), None)
        rows = mine.filter(pc.is_valid(mine["rows"])).select(_PACKED)
        found[member] = MemberRows(ReadRows(rows, pc.sum(mine[READ]).as_py() or 0), failure)
    return found


def worked(step: ArrowView, buckets: int) -> Worked:
    """Return what is done with a view's rows where they are read."""
    types = cast("tuple[pa.DataType, ...]", step.types)
    return Worked(cast(Program, step.program), step.function, dict(step.arguments), types, buckets)


class _Taken(NamedTuple):
    """What came of a slice: rows of plain views with how many were read for them, and packed rows of all others."""

    plain: Mapping[int, ReadRows]
    packed: Sequence[pa.RecordBatch]


@dataclass(frozen=True)
class _Reading:
    """What is done with the rows of a table, for views by their numbers."""

    views: Mapping[int, ReadView | ArrowView]

    @cached_property
    def _packing(self) -> Mapping[int, ArrowView]:
        return {number: view for number, view in self.views.items() if isinstance(view, ArrowView)}

    @cached_property
    def _work(self) -> Work:
        numbers = list(self._packing)
        found = works_together([worked(view, _BUCKETS) for view in self._packing.values()])
        works = [Together(of.work, tuple(_renumbered(share, numbers) for share in of.shares)) for of in found]
        done = {share.member for of in works for share in of.shares}
        works += [Together(_alone(view), (Share(n),)) for n, view in self._packing.items() if n not in done]
        return SharedWork(tuple(works)) if works else Work()

    def narrowed(self, reader: SplitReader) -> SplitReader:
        """Return a reader without fields that nobody looks at, where there is one view alone."""
        view, *others = self.views.values()
        return reader if others else cast(Program, view.program).narrowed(reader)

    def taken(self, reader: SplitReader, piece: Slice) -> _Taken:
        """Return what comes of a slice."""
        gathered = {n: _Gathered(view, Facts()) for n, view in self.views.items() if isinstance(view, ReadView)}

        def read(passes: Passes | None) -> Iterator[pa.RecordBatch]:
            # Rows that a plain view gives are all read.
            for batch in reader.read(piece, None if gathered else passes):
                for view in gathered.values():
                    view.take(batch)
                yield batch

        packed = [batch for batch in self._work.process(piece.split, read, piece.part) if self._packing]
        return _Taken({n: ReadRows(view.table, view.facts.rows) for n, view in gathered.items()}, packed)

    def rows(self, taken: Sequence[_Taken], end: Offset) -> Mapping[int, ReadRows]:
        """Return the rows of each view, slices in their order; raises as ``read_views``."""
        found = {}
        for number, view in self.views.items():
            if isinstance(view, ReadView):
                parts = [each.plain[number] for each in taken]
                empty = _Gathered(view, Facts()).table
                found[number] = ReadRows(
                    pa.concat_tables([empty, *(p.table for p in parts)]), sum(p.read for p in parts)
                )
        packed = pa.Table.from_batches([batch for each in taken for batch in each.packed], SHARED_SCHEMA)
        for number, (rows, failure) in member_rows(packed, self._packing).items():
            if failure is not None:
                raise WorkFailedError(failure)
            found[number] = rows
        return {number: rows._replace(end=end) for number, rows in found.items()}


class _Gathered:
    """Makes the columns of a table's view of rows that a reader gives, and counts them in ``facts``."""

    def __init__(self, step: ReadView, facts: Facts) -> None:
        self._program = cast(Program, step.program)
        ((stage,),) = self._program.branches
        self._schema = pa.schema([(name, value.type) for name, value in stage.columns])
        self.facts = facts
        self._made: list[pa.RecordBatch] = []

    def take(self, batch: pa.RecordBatch) -> None:
        """Take rows."""
        for columns in self._program.run(batch, self.facts) if batch.num_rows else ():
            self._made.append(pa.record_batch(list(columns.values()), self._schema))

    @property
    def table(self) -> pa.Table:
        """All rows that were taken."""
        return pa.Table.from_batches(self._made, self._schema)


def _makes(step: ReadView | ArrowView) -> tuple[object, ...]:
    """Return what a view makes of the table's rows, whatever it is called."""
    if isinstance(step, ReadView):
        return step.program, step.columns
    # Texts are compared too: -0.0 is equal to 0.0.
    return step.program, step.types, step.function, repr((step.program, step.arguments))


def _renumbered(share: Share, numbers: Sequence[int]) -> Share:
    return replace(share, member=numbers[share.member])


def _alone(step: ArrowView) -> PackedWork:
    of = worked(step, _BUCKETS)
    here = made(of.function, of.arguments, [f"c{i}" for i in range(len(of.types))], of.types)
    return PackedWork(of.program, here.operator, here.keys, _BUCKETS)


def threads() -> int:
    """Return how many slices are read side by side: as many as this process has processors."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

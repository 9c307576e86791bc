"""Read faker tables: a position is a time, and a micro-batch has the rows of the time since the one before."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from sqlext.connectors.faker.fields import fake_fields
from sqlext.connectors.faker.reader.rows import FakeRows
from sqlext.connectors.readers import OwnSource, Unread
from sqlext.connectors.splits import Limit, Offset, Passes, Slice, SplitReader
from sqlext.extras import package
from sqlext.stores.location import Location
from sqlext_catalog.model import Column, Table

_SPLIT = "rows"
#: Rows of a task, and of one Arrow batch.
_ROWS, _BATCH = 10_000, 1_000
#: A micro-batch has the rows of this time at most: what a query that was away has missed is not made.
_MOST_MS = 10_000
#: In the folder of what the reader must remember: where the query began.
_INITIAL = "initial.json"
_DEFAULT_RATE = 10_000


def _now() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class FakePart(Slice):
    """Rows by their numbers.

    Attributes:
        first, count: the number of the first one, and how many they are.
        at: the time of the first one, in milliseconds since 1970.
        rate: how many there are a second; 0: all have one time.
    """

    first: int
    count: int
    at: int
    rate: int


@dataclass(frozen=True)
class FakeReader:
    """Makes the rows of a table.

    Attributes:
        rows: makes them.
        rate: how many there are a second.
        count: how many there are; None: without end.
        state: a folder of the query, where its beginning is kept; None: it is not.
        clock: tells the time in milliseconds since 1970.
    """

    rows: FakeRows
    rate: int
    count: int | None = None
    state: Location | None = None
    clock: Callable[[], int] = _now

    def initial(self) -> Offset:
        """Return where a new query begins; asked again, the same."""
        if self.count is not None:
            return {}
        kept: dict[str, int] | None = self.state.json(_INITIAL) if self.state is not None else None
        if kept is not None:
            return kept
        found = {_SPLIT: self.clock()}
        if self.state is not None:
            self.state.put(_INITIAL, json.dumps(found))
        return found

    def latest(self, start: Offset, limit: Limit | None) -> Offset:
        """Return the time now; where rows are counted, the time when all were made."""
        if self.count is not None and _SPLIT in start:
            return start
        return {_SPLIT: max(self.clock(), start.get(_SPLIT, 0))}

    def slices(self, start: Offset, end: Offset) -> Sequence[Slice]:
        """Return the rows between two times, in parts for tasks."""
        if _SPLIT not in end or start.get(_SPLIT) == end[_SPLIT]:
            return []
        if self.count is not None:
            return [] if _SPLIT in start else list(self._parts(end[_SPLIT], 0, self.count, 0))
        begin = max(start.get(_SPLIT, 0), end[_SPLIT] - _MOST_MS)
        first, behind = (at * self.rate // 1000 for at in (begin, end[_SPLIT]))
        return list(self._parts(end[_SPLIT], first, behind, self.rate))

    def _parts(self, end: int, first: int, behind: int, rate: int) -> Iterator[FakePart]:
        for part, number in enumerate(range(first, behind, _ROWS)):
            at = number * 1000 // rate if rate else end
            yield FakePart(_SPLIT, end, part, number, min(_ROWS, behind - number), at, rate)

    def read(self, piece: Slice, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part; see ``SplitReader.read``.

        Raises:
            SqlExtError: RUN-072 for a value that is not of its column's type.
        """
        assert isinstance(piece, FakePart)
        begin = dt.datetime.fromtimestamp(piece.at / 1000, dt.timezone.utc)
        apart = dt.timedelta(seconds=1 / piece.rate if piece.rate else 0)
        for place in range(0, piece.count, _BATCH):
            numbers = range(place, min(place + _BATCH, piece.count))
            yield self.rows.batch(piece.first + place, [begin + n * apart for n in numbers])

    def commit(self, end: Offset) -> None:
        """Do nothing: rows are made anew."""

    def close(self) -> None:
        """Do nothing: nothing is open."""


class FakerTables:
    """The ``TableReader`` of made-up rows."""

    def why_not(self, table: Table) -> str:
        """Return nothing: any table is read."""
        return ""

    def source(self, table: Table, state: Location | None, tasks: int) -> OwnSource:
        """Return the table's rows; see ``TableReader.source``.

        Raises:
            SqlExtError: ENV-011 without the library Faker.
        """
        for needed in ("faker", "rstr"):
            package(needed, "faker", "connector 'faker'")
        count = table.option("number-of-rows")
        rows = FakeRows(fake_fields(table))
        rate = int(table.option("rows-per-second") or _DEFAULT_RATE)
        reader = FakeReader(rows, rate, int(count) if count is not None else None, state)
        return OwnSource(reader, rows.schema)

    def require(self, table: Table) -> None:
        """Refuse: operators take no made-up rows as they are read; see ``TableReader.require``."""
        raise Unread("made-up rows have no columns that Arrow decodes")

    def column(self, table: Table, column: Column) -> pa.DataType:
        """Refuse; see ``require``."""
        raise Unread("made-up rows have no columns that Arrow decodes")

    def reader(self, table: Table, needed: Sequence[str], state: Location, tasks: int) -> SplitReader:
        """Refuse; see ``require``."""
        raise Unread("made-up rows have no columns that Arrow decodes")

    def limit(self, table: Table) -> Limit | None:
        """Return that a micro-batch takes what there is."""
        return None


READER = FakerTables()

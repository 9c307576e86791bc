"""Find rows of a table in this process, with where they lie: the file or split, and their number in it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.local.micro_batches import Piece, pieces_read
from sqlext.plan.lineage.tests import Equal, IsTrue, MayReach, Near, Reaching, Test, Within, range_of
from sqlext.plan.nodes import WindowKind, WindowSpec
from sqlext.rewrite.arrow.in_process import LocalScript
from sqlext.stores.location import Location

Matching = Callable[[pa.Table], pa.Table]
"""The rows among some that are sought."""


@dataclass(frozen=True)
class FoundRow:
    """A row, and where it lies.

    Attributes:
        origin: its file, or its split.
        number: its position in its split where it has one; else its number there, from 1, of those that can be read.
        row: itself, as the table's view has it.
    """

    origin: str
    number: int
    row: pa.Table


def found_rows(script: LocalScript, sources: Location, tests: Sequence[Test], zone: str) -> Iterator[FoundRow]:
    """Yield the rows of a table of which a query makes what passes tests, in the order in which a stream reads them.

    Args:
        script: the query, over this table alone, which works row by row.
        sources: a folder for what readers remember of this run.
        tests: of the query's columns.
        zone: whose wall clock windows of instants have.
    """

    def matching(rows: pa.Table) -> pa.Table:
        return rows.filter(passing(rows, tests, zone))

    before: Counter[str] = Counter()
    for piece in pieces_read(script, sources):
        for number in _numbers(piece, matching, 0, piece.rows.num_rows):
            place = before[piece.origin] + number + 1 if piece.positions is None else piece.positions[number].as_py()
            yield FoundRow(piece.origin, place, piece.rows.slice(number, 1))
        before[piece.origin] += piece.rows.num_rows


def _numbers(piece: Piece, matching: Matching, start: int, count: int) -> Iterator[int]:
    """Yield which of some rows give one that is sought, by halves: what a query leaves out has no number."""
    found = matching(piece.run(start, count)).num_rows if count else 0
    if found in (0, count):  # a row gives one row at most
        yield from range(start, start + found)
        return
    half = count // 2
    yield from _numbers(piece, matching, start, half)
    yield from _numbers(piece, matching, start + half, count - half)


def passing(rows: pa.Table, tests: Sequence[Test], zone: str) -> pa.Array:
    """Return which rows pass tests of their columns."""
    mask = pa.repeat(pa.scalar(True), rows.num_rows)
    for test in tests:
        column = rows.column(test.column)
        mask = pc.and_(mask, pc.fill_null(_passed(column, test, zone), False))
    return mask


def _passed(column: pa.ChunkedArray, test: Test, zone: str) -> pa.ChunkedArray:
    match test:
        case Equal():
            return _equal(column, test.value)
        case Within():
            return _within(column, test, zone)
        case Reaching():
            return _reaching(column, test, zone)
        case MayReach():
            return _may_reach(column, test, zone)
        case Near():
            return _near(column, test)
        case IsTrue():
            return column


def _equal(column: pa.ChunkedArray, sought: pa.Scalar) -> pa.ChunkedArray:
    if not sought.is_valid:
        return column.is_null()
    if pa.types.is_nested(column.type):  # Arrow does not compare them: they tell no rows apart
        return column.is_valid()
    if pa.types.is_floating(sought.type) and math.isnan(sought.as_py()):
        return pc.is_nan(column)
    # What a sink has is what was cast to its type.
    return pc.equal(column.cast(sought.type, safe=False), sought)


def _within(column: pa.ChunkedArray, test: Within, zone: str) -> pa.ChunkedArray:
    return _between(column, test.spec, zone, *window_of(test, zone))


def _may_reach(column: pa.ChunkedArray, test: MayReach, zone: str) -> pa.ChunkedArray:
    start, end = window_of(test.above, zone)
    if start is not None:
        start = None if test.longest is None else start - timedelta(milliseconds=test.longest)
    return _between(column, test.above.spec, zone, start, end)


def _between(
    column: pa.ChunkedArray, spec: WindowSpec, zone: str, start: datetime | None, end: datetime | None
) -> pa.ChunkedArray:
    zone = spec.wall_clock or zone
    clock = column if column.type.tz is None else pc.local_timestamp(column.cast(pa.timestamp("us", zone)))
    mask = column.is_valid()
    if start is not None:
        mask = pc.and_(mask, pc.greater_equal(clock, pa.scalar(start, clock.type)))
    return mask if end is None else pc.and_(mask, pc.less(clock, pa.scalar(end, clock.type)))


def clock_passes(clock: int, test: Within | MayReach, zone: str) -> bool:
    """Whether the clock of a micro-batch lies in a window of processing time, or before its end.

    Args:
        clock: in ms since 1970 UTC.
        zone: whose wall clock the bounds of the window have.
    """
    column = pa.chunked_array([pa.array([clock], pa.timestamp("ms", "UTC"))])
    return bool(_passed(column, test, zone)[0].as_py())


def _near(column: pa.ChunkedArray, test: Near) -> pa.ChunkedArray:
    clock = column.cast(pa.timestamp("us"), safe=False)
    time = test.time.cast(pa.timestamp("us", test.time.type.tz)).cast(pa.timestamp("us"), safe=False).as_py()
    mask = column.is_valid()
    if test.before is not None:
        first = pa.scalar(time - timedelta(milliseconds=test.before), clock.type)
        mask = pc.and_(mask, pc.greater_equal(clock, first))
    if test.after is None:
        return mask
    return pc.and_(mask, pc.less_equal(clock, pa.scalar(time + timedelta(milliseconds=test.after), clock.type)))


def _reaching(column: pa.ChunkedArray, test: Reaching, zone: str) -> pa.ChunkedArray:
    """Return for which times a window ends behind the start of the other, and not behind its end."""
    spec = test.spec
    zone = spec.wall_clock or zone
    clock = column if column.type.tz is None else pc.local_timestamp(column.cast(pa.timestamp("us", zone)))
    times = clock.cast(pa.timestamp("ms"), safe=False).cast(pa.int64()).fill_null(0).to_numpy()
    start, end = window_of(test.above, zone)
    if spec.kind is WindowKind.SLIDE:  # a window may end at each time from the row's on, less than the size behind it
        first = times if start is None else np.full(len(times), _ms(start))
        behind = np.full(len(times), True) if end is None else times < _ms(end)
        return pc.and_(column.is_valid(), pa.chunked_array([pa.array((times > first - spec.size) & behind)]))
    # Windows end at a grid; the last window of a time is as long as they are.
    cumulates = spec.kind is WindowKind.CUMULATE
    last = (times - spec.offset) // spec.size * spec.size + spec.offset + spec.size if cumulates else times + spec.size
    highest = last if end is None else np.minimum(last, _ms(end))
    lowest = times if start is None else np.maximum(times, _ms(start))
    origin = spec.offset if cumulates else spec.offset + spec.size
    found = (highest - origin) // spec.slide * spec.slide + origin
    return pc.and_(column.is_valid(), pa.chunked_array([pa.array(found > lowest)]))


def _ms(wall: datetime) -> int:
    return (wall - datetime(1970, 1, 1)) // timedelta(milliseconds=1)  # noqa: DTZ001 - a wall clock


def window_of(test: Within, zone: str) -> tuple[datetime | None, datetime | None]:
    """Return the wall clocks at which a window begins and ends, as far as they are known; see ``found_rows``."""
    zone = test.spec.wall_clock or zone
    return range_of(test.spec, {bound: _wall_clock(value, zone) for bound, value in test.bounds.items()})


def _wall_clock(time: pa.Scalar, zone: str) -> Any:
    """Return a time as a wall clock: that of a zone, for an instant."""
    if time.is_valid and time.type.tz is not None:
        time = pc.local_timestamp(time.cast(pa.timestamp("us", zone)))
    return time.as_py()

"""Read the tables of a query that has no end, micro-batch by micro-batch, in this process."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import pyarrow as pa

from sqlext.connectors.registry import connector_of
from sqlext.connectors.splits import Limit, Offset, Slice, SplitReader
from sqlext.local.memory import keep_freed_memory
from sqlext.local.reading import rows_read, threads
from sqlext.local.shared_files import SharedFiles
from sqlext.local.shared_streams import SharedStream
from sqlext.rewrite.arrow.in_process import LocalScript
from sqlext.rewrite.script.model import ReadView
from sqlext.sources.program import Facts
from sqlext.sources.stream import Holds, SplitStream
from sqlext.sources.tables import reader_of
from sqlext.sources.times import Times
from sqlext.stores.location import Location
from sqlext.watermarks.inputs import WHOLE, Input
from sqlext.watermarks.keeper import Seen
from sqlext.watermarks.sketch import SplitTimes

T = TypeVar("T")
U = TypeVar("U")
#: The most that a micro-batch takes of a table that says no limit: it lies in memory at once.
_MOST_ROWS, _MOST_BYTES = 500_000, 64 << 20

#: A table that several queries of a job read together.
SharedTable = SharedStream | SharedFiles
#: How far each table was read, by its view, whatever stands above it (``ReadView.scan``).
Places = Mapping[str, Offset]


class InputRows(NamedTuple):
    """What a micro-batch had of an input.

    Attributes:
        seen: of each of its splits.
        parts: the times of its rows.
        rows: how many they are.
    """

    seen: Sequence[Seen]
    parts: Sequence[SplitTimes]
    rows: int


@dataclass(frozen=True)
class BatchRows:
    """What a micro-batch has read.

    Attributes:
        tables: the rows of each table, by their view.
        inputs: what is to know of the times of each input, by its name.
        rows: how many rows were read.
    """

    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    inputs: Mapping[str, InputRows] = field(default_factory=dict)
    rows: int = 0


class TableStreams:
    """The tables of a query.

    Args:
        script: the query.
        sources: a folder for what readers remember.
        places: how far they were read.
        shared: those that others read too, by their views.
    """

    def __init__(
        self,
        script: LocalScript,
        sources: Location,
        places: Places,
        shared: Mapping[str, SharedTable] = MappingProxyType({}),
    ) -> None:
        inputs = {kept.source: kept.input for kept in script.script.kept}
        self._tables = [
            _TableStream(view, inputs.get(view.scan), sources, shared.get(view.view)) for view in script.reads
        ]
        self.places: dict[str, Offset] = dict(places)
        keep_freed_memory()

    def begin(self) -> None:
        """Find where tables begin that nobody has read, and where those end that have an end.

        Raises:
            SqlExtError: RUN-... for a table that cannot be reached, OPT-009 where nothing lies at a path.
        """
        for table in self._tables:
            found = table.begin()
            self.places.setdefault(table.view.scan, found)

    def ahead(self) -> Places | None:
        """Return how far the next micro-batch can go; None if nothing has come."""
        found = {t.view.scan: t.ahead(self.places[t.view.scan]) for t in self._tables}
        return found if found != self.places else None

    def splits(self, places: Places) -> Mapping[str, Collection[str]]:
        """Return the splits of inputs whose splits have a time of their own, by the names of inputs."""
        return {t.input.name: places[t.view.scan] for t in self._tables if t.input is not None and t.by_split}

    def take(self, ends: Places) -> BatchRows:
        """Return the rows up to some places, from which the next micro-batch begins.

        Raises:
            SqlExtError: RUN-... for rows that cannot be read.
        """
        tables, inputs, rows = {}, {}, 0
        for table in self._tables:
            start, end = self.places[table.view.scan], ends[table.view.scan]
            if start == end:
                continue
            found, facts = table.rows(start, end)
            tables[table.view.view] = found
            rows += sum(each.rows for _, each in facts)
            if table.input is not None:
                inputs[table.input.name] = _input_rows(facts, by_split=table.by_split)
        self.places = dict(ends)
        return BatchRows(tables, inputs, rows)

    def committed(self) -> None:
        """Let readers forget what will not be read again."""
        for table in self._tables:
            table.reader.commit(self.places[table.view.scan])

    def hold(self, held: Mapping[str, frozenset[str]]) -> None:
        """Let splits of inputs wait, which run ahead of others (``watermark alignment``)."""
        for table in self._tables:
            if table.input is not None and table.input.name in held:
                table.holds.held = held[table.input.name]

    @property
    def ended(self) -> Sequence[str]:
        """The names of inputs that have an end, and have given all."""
        return [t.input.name for t in self._tables if t.input is not None and t.has_ended(self.places[t.view.scan])]

    def by_name(self, places: Places) -> Mapping[str, Offset]:
        """Return places by the names of tables."""
        return {t.view.table.name.name: places[t.view.scan] for t in self._tables}

    @cached_property
    def noted(self) -> Mapping[str, Mapping[str, object]]:
        """What tells tables from others in their place, by their names (``TablePlaces.noted``)."""
        tables = {t.view.table.name.name: t.view.table for t in self._tables}
        places = {name: connector_of(table).table_places() for name, table in tables.items()}
        return {name: found.noted(tables[name]) for name, found in places.items() if found is not None}

    @property
    def has_files(self) -> bool:
        """Whether it looks for files: a folder is not listed as often as a topic is asked."""
        return any(not t.by_split for t in self._tables)

    def close(self) -> None:
        """Give free what readers have opened."""
        for table in self._tables:
            table.close()


class _Made(NamedTuple):
    """The rows of a slice as the view's columns."""

    rows: pa.Table
    split: str
    facts: Facts


@dataclass
class _Held:
    """Splits that wait; each micro-batch is looked at before the next one begins."""

    stream: SplitStream | None = None
    held: frozenset[str] = frozenset()

    def read(self) -> Holds:
        given = self.stream.given if self.stream is not None else None
        return Holds(sorted(self.held), [given] if given is not None else [])


class _TableStream:
    """A table.

    Attributes:
        view: of its rows.
        input: what is declared of its time, if anything.
        by_split: whether its splits have a time of their own.
    """

    def __init__(self, view: ReadView, declared: Input | None, sources: Location, shared: SharedTable | None) -> None:
        self.view = view
        self.input = declared
        self.by_split = connector_of(view.table).has_splits(view.table)
        self.holds = _Held()
        self._sources = sources
        self._shared = shared if isinstance(shared, SharedStream) else None
        self._files = shared if isinstance(shared, SharedFiles) else None
        self._bounded = connector_of(view.table).bounded(view.table)

    @cached_property
    def reader(self) -> SplitReader:
        view = self.view
        return reader_of(view.table).reader(view.table, view.needed, self._sources.below(view.scan), 1)

    @cached_property
    def _stream(self) -> SplitStream:
        aligned = self.input is not None and self.input.alignment is not None
        stream = SplitStream(self.reader, self.holds if aligned else None)
        self.holds.stream = stream
        return stream

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(threads(), "sqlext read")

    @cached_property
    def _limit(self) -> Limit:
        own = reader_of(self.view.table).limit(self.view.table)
        return own or (Limit("rows", _MOST_ROWS) if self.by_split else Limit("bytes", _MOST_BYTES))

    def begin(self) -> Offset:
        if self._bounded:
            self._stream.stop_at_what_is_there()
        return self._stream.initial()

    def ahead(self, start: Offset) -> Offset:
        if self._shared is not None:
            return self._shared.ahead(start, self._limit)
        return self._stream.latest(start, self._limit)

    def has_ended(self, place: Offset) -> bool:
        return self._stream.is_through(place)

    def rows(self, start: Offset, end: Offset) -> tuple[pa.Table, list[tuple[str, Facts]]]:
        """Return what lies between two places, and what each slice had."""
        given = self._shared.rows(start, end) if self._shared is not None else None
        if given is None:
            found = self._side_by_side(self._read, list(self.reader.slices(start, end)))
        else:
            found = self._side_by_side(lambda of: self._made(of.split, of.batches), given)
        empty = rows_read(self.view, (), Facts())
        return pa.concat_tables([empty, *(rows for rows, _, _ in found)]), [(s, facts) for _, s, facts in found]

    def _side_by_side(self, work: Callable[[T], U], pieces: Sequence[T]) -> list[U]:
        return list(self._pool.map(work, pieces)) if len(pieces) > 1 else [work(piece) for piece in pieces]

    def _read(self, piece: Slice) -> _Made:
        # What a reader has opened belongs to one thread.
        batches = copy.copy(self.reader).read(piece) if self._files is None else self._files.rows(piece)
        return self._made(piece.split, batches)

    def _made(self, split: str, batches: Iterable[pa.RecordBatch]) -> _Made:
        facts = Facts(times=Times())
        return _Made(rows_read(self.view, batches, facts), split, facts)

    def close(self) -> None:
        if "reader" in self.__dict__:
            self.reader.close()
        if "_pool" in self.__dict__:
            self._pool.shutdown()


def _input_rows(facts: Sequence[tuple[str, Facts]], *, by_split: bool) -> InputRows:
    every, splits = Facts(), dict[str, Facts]()
    parts = []
    for split, of in facts:
        name = split if by_split else WHOLE
        assert of.times is not None
        parts.append(SplitTimes(name, of.times.points()))
        for known in (every, splits.setdefault(name, Facts())):
            known.add(of.rows, of.smallest, of.largest)
    first = _millis(every.smallest)
    seen = [Seen(_millis(known.largest), known.rows, name, first) for name, known in splits.items()]
    return InputRows(seen, [part for part in parts if part.points], every.rows)


def _millis(micros: int | None) -> int | None:
    # Rounded down, also before 1970.
    return None if micros is None else micros // 1000

"""Keep the open groups of a window operator: one row for each, typed columns, sorted by key, start and end.

Groups are read only where a step touches them. What a trigger knows is one column per number (``triggers.program``).
Only USING and WHEN have JSON, because their state belongs to the user.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.operator import Wakeup
from sqlext_udfs.windows.groups.assignment import Assignments
from sqlext_udfs.windows.groups.group import CLOSED, WindowGroup
from sqlext_udfs.windows.panes.rows import Ints
from sqlext_udfs.windows.policy import KeepDelta, Policy
from sqlext_udfs.windows.triggers.moment import MAX
from sqlext_udfs.windows.triggers.program import WORD_BITS, TriggerProgram

# Of the form of the table. Raise it when a column changes its meaning.
VERSION = 1
_META = b"window_state"
# The column of each kind of slot (``TriggerLayout.kinds``).
_TYPES = {"int": pa.int64(), "float": pa.float64(), "json": pa.string()}


@dataclass(frozen=True, slots=True)
class WindowState:
    """What an engine keeps between steps.

    Attributes:
        table: the open groups, also those that ONCE has closed.
        next_segment: the number of the next segment.
        last_row: the batch clock (ms) of the last step that had rows; None before.
    """

    table: pa.Table
    next_segment: int = 0
    last_row: int | None = None

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def numbers(self, column: str) -> Ints:
        """Return a column of integers without NULLs, without a copy."""
        return np.asarray(self.table.column(column).combine_chunks().to_numpy(zero_copy_only=False), np.int64)

    def open(self) -> Ints:
        """Return the rows of groups that may still give panes."""
        return np.flatnonzero((self.numbers("flags") & CLOSED) == 0).astype(np.int64)

    def wakeup(self, timeout: int | None = None) -> Wakeup:
        """Return the next deadlines; a window's expiry is one, and so is the policy's timeout."""
        if not len(self):
            return Wakeup()
        event, processing = int(self.numbers("event").min()), int(self.numbers("processing").min())
        if timeout is not None and self.last_row is not None and len(self.open()):
            processing = min(processing, self.last_row + timeout)
        return Wakeup(event, None if processing == MAX else processing)

    def segments(self) -> list[int]:
        """Return all segments that open groups hold."""
        column = self.table.column("segments").combine_chunks()
        return [s for s in (column.flatten() if pa.types.is_list(column.type) else column).to_pylist() if s is not None]

    def encode(self) -> pa.Table:
        """Return the state as a table; it says its version and has no other form than its columns."""
        facts = {"version": VERSION, "next_segment": self.next_segment, "last_row": self.last_row}
        return self.table.replace_schema_metadata({_META: json.dumps(facts)})

    @classmethod
    def decode(cls, table: pa.Table) -> WindowState:
        """Return the state that ``encode`` wrote.

        Raises:
            ValueError: if a version that this code does not know wrote it.
        """
        facts = json.loads((table.schema.metadata or {}).get(_META, b"{}"))
        if facts.get("version") != VERSION:
            raise ValueError(f"window state of version {facts.get('version')} cannot be read, this is {VERSION}")
        return cls(table.replace_schema_metadata(None).combine_chunks(), facts["next_segment"], facts["last_row"])


class StateLayout:
    """Convert groups to rows of a policy's state and back.

    Args:
        policy: whose state it is.
        program: its compiled trigger, which says what bits and slots there are.
    """

    def __init__(self, policy: Policy, program: TriggerProgram) -> None:
        self.program = program
        self.marks = policy.evictor is not None
        self.whole_marks = not isinstance(policy.evictor, KeepDelta)
        int64, segment = pa.int64(), pa.int64()
        columns: list[tuple[str, pa.DataType]] = [(n, int64) for n in ("key", "start", "end", "flags", "index", "spec")]
        # Names and order of all columns are the form of the state.
        columns += [("rows", int64), ("earliest", int64), ("latest", int64), ("event", int64), ("processing", int64)]
        columns += [(f"bits_{i}", int64) for i in range(program.words)]
        columns += [(f"slot_{i}", _TYPES[kind]) for i, kind in enumerate(program.kinds)]
        columns += [("segments", pa.list_(segment) if self.marks else segment)]
        if self.marks:
            columns += [("marks", pa.list_(int64 if self.whole_marks else pa.float64()))]
        self.schema = pa.schema(columns)

    def empty(self) -> WindowState:
        """Return the state of no groups."""
        return WindowState(self.schema.empty_table())

    def groups(self, state: WindowState, rows: Ints) -> list[WindowGroup]:
        """Return the groups in some rows of the state."""
        columns = state.table.take(pa.array(rows)).to_pydict()
        return [self._group(columns, i, int(origin)) for i, origin in enumerate(rows)]

    def _group(self, columns: dict[str, list[Any]], i: int, origin: int) -> WindowGroup:
        slots = [self._read(kind, columns[f"slot_{n}"][i]) for n, kind in enumerate(self.program.kinds)]
        group = WindowGroup(columns["key"][i], columns["start"][i], columns["end"][i], slots)
        # Python's integers have no width, so a trigger of any size has one number of bits.
        group.bits = sum(columns[f"bits_{n}"][i] << (n * WORD_BITS) for n in range(self.program.words))
        group.flags, group.index = columns["flags"][i], columns["index"][i]
        group.spec, group.rows = columns["spec"][i], columns["rows"][i]
        group.earliest, group.latest = columns["earliest"][i], columns["latest"][i]
        group.origin = origin
        segments = columns["segments"][i]
        if not self.marks:
            group.held = [] if segments is None else [segments]
        else:
            group.held = segments
            group.marks = dict(zip(segments, columns["marks"][i], strict=True))
        return group

    def table(self, groups: Sequence[WindowGroup], deadlines: Iterable[tuple[int, int]]) -> pa.Table:
        """Return groups as rows, each with its next deadlines of watermark and clock."""
        names = ("key", "start", "end", "flags", "index", "spec", "rows", "earliest", "latest")
        columns: dict[str, list[Any]] = {name: [getattr(g, name) for g in groups] for name in names}
        pairs = list(deadlines)
        columns["event"] = [event for event, _ in pairs]
        columns["processing"] = [processing for _, processing in pairs]
        mask = (1 << WORD_BITS) - 1
        for n in range(self.program.words):
            columns[f"bits_{n}"] = [g.bits >> (n * WORD_BITS) & mask for g in groups]
        for n, kind in enumerate(self.program.kinds):
            columns[f"slot_{n}"] = [self._written(kind, g.slots[n]) for g in groups]
        if self.marks:
            columns["segments"] = [g.held for g in groups]
            columns["marks"] = [[self._mark(g.marks[s]) for s in g.held] for g in groups]
        else:
            columns["segments"] = [g.held[0] if g.held else None for g in groups]  # what the caller has put together
        return pa.table([pa.array(columns[f.name], f.type) for f in self.schema], schema=self.schema)

    def replaced(self, state: WindowState, gone: Ints, new: pa.Table) -> pa.Table:
        """Return the table without some rows and with others, sorted."""
        # Groups that were touched leave; those that stay are among the new rows.
        stays = np.ones(len(state), bool)
        stays[gone] = False
        old = state.table.filter(pa.array(stays)) if len(gone) else state.table
        if not new.num_rows:
            return old.combine_chunks()
        if not old.num_rows:
            places = np.zeros(new.num_rows, np.int64)
        else:
            kept = WindowState(old)
            places = find(kept, *(np.asarray(new.column(n)) for n in ("key", "start", "end")))
        # Both tables are sorted: the new rows are put in their places, and nothing is sorted again.
        order = np.insert(np.arange(old.num_rows), places, np.arange(new.num_rows) + old.num_rows)
        return pa.concat_tables([old, new]).combine_chunks().take(pa.array(order)).combine_chunks()

    @staticmethod
    def _read(kind: str, value: Any) -> Any:
        return json.loads(value) if kind == "json" and value is not None else value

    @staticmethod
    def _written(kind: str, value: Any) -> Any:
        return json.dumps(value) if kind == "json" and value is not None else value

    def _mark(self, mark: float | None) -> float | None:
        return int(mark) if self.whole_marks and mark is not None else mark


def find(state: WindowState, key: Ints, start: Ints, end: Ints) -> Ints:
    """Return the place of each group in the state, or where it would be: one binary search for all at once."""
    keys, starts, ends = (state.numbers(n) for n in ("key", "start", "end"))
    low, high = np.searchsorted(keys, key, "left"), np.searchsorted(keys, key, "right")
    while (open_ := low < high).any():
        middle = np.minimum((low + high) // 2, max(len(keys) - 1, 0))
        before = (starts[middle] < start) | ((starts[middle] == start) & (ends[middle] < end))
        low = np.where(open_ & before, middle + 1, low)
        high = np.where(open_ & ~before, middle, high)
    return np.asarray(low, np.int64)


def due(state: WindowState, watermark: int, now: int, *, strict: bool) -> Ints:
    """Return the rows of groups that have a deadline now.

    Args:
        state: the open groups.
        watermark, now: watermark and batch clock (ms).
        strict: whether a deadline of the clock comes only after its time.
    """
    processing = state.numbers("processing")
    by_clock = processing < now if strict else processing <= now
    return np.flatnonzero((state.numbers("event") <= watermark) | by_clock).astype(np.int64)


def same_groups(state: WindowState, places: Ints, groups: Assignments) -> Ints:
    """Return the places of ``find`` where the group is there, and -1 for the others."""
    if not len(state):
        return np.full(len(places), -1, np.int64)
    at = np.minimum(places, len(state) - 1)
    keys, starts, ends = (state.numbers(n) for n in ("key", "start", "end"))
    found = (places < len(state)) & (keys[at] == groups.key) & (starts[at] == groups.start) & (ends[at] == groups.end)
    return np.where(found, at, -1).astype(np.int64)

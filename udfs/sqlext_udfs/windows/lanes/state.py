"""Keep the state of a bucket whose groups are decided on all at once: a row for each group."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.aggregates.accumulator import Types
from sqlext_udfs.aggregates.aggregation import Aggregation
from sqlext_udfs.kernel.arrow_numpy import table_of, taken, whole
from sqlext_udfs.kernel.dividing import Wanted, rows_of_keys
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.kernel.operator import Wakeup
from sqlext_udfs.kernel.table_codec import decode_state, encode_state
from sqlext_udfs.windows.compiled import CompiledPolicy
from sqlext_udfs.windows.lanes.columns import Lanes
from sqlext_udfs.windows.lanes.firing import initial_slots
from sqlext_udfs.windows.policy_json import trigger_to_json
from sqlext_udfs.windows.triggers.moment import MAX

# Where version and ``arrived`` stand: in the metadata of the table.
FACTS = b"sqlext.groups"
_VERSION = 1
_NAMED = "aggregates"
# How many columns ``Lanes.numbers`` gives.
_LANE_COLUMNS = 6


@dataclass(frozen=True)
class LaneState:
    """The windows of a bucket, by column; one entry of each column is one group.

    Attributes:
        keys: its key.
        start: of its window (ms); MIN without window.
        event, processing: its next deadlines (ms): the watermark, and the batch clock.
        lanes: what its trigger knows.
        partials: partial results of its contents.
        written: the last row written of it, in RETRACTING mode; else no columns.
        arrived: how many rows have come.
    """

    keys: list[pa.Array]
    start: Ints
    event: Ints
    processing: Ints
    lanes: Lanes
    partials: list[pa.Array]
    written: list[pa.Array]
    arrived: int = 0

    def __len__(self) -> int:
        return len(self.start)

    def take(self, places: Ints) -> LaneState:
        """Return the groups at some places."""
        return LaneState(
            _taken(self.keys, places),
            self.start[places],
            self.event[places],
            self.processing[places],
            self.lanes.take(places),
            _taken(self.partials, places),
            _taken(self.written, places),
            self.arrived,
        )

    def and_(self, others: LaneState) -> LaneState:
        """Return these groups and others behind them."""
        if not len(self):
            return others
        if not len(others):
            return replace(self, arrived=others.arrived)
        return LaneState(
            _both(self.keys, others.keys),
            np.concatenate([self.start, others.start]),
            np.concatenate([self.event, others.event]),
            np.concatenate([self.processing, others.processing]),
            self.lanes.and_(others.lanes),
            _both(self.partials, others.partials),
            _both(self.written, others.written),
            others.arrived,
        )

    def wakeup(self) -> Wakeup:
        """Return the next deadlines."""
        if not len(self):
            return Wakeup()
        processing = int(self.processing.min())
        return Wakeup(int(self.event.min()), None if processing == MAX else processing)


class LaneStates:
    """Make the states of one policy, and turn them into bytes and back.

    Args:
        plan: the policy.
        keys, written: the types of the columns.
        aggregation: what is kept of the rows.
    """

    def __init__(self, plan: CompiledPolicy, keys: Types, aggregation: Aggregation, written: Types) -> None:
        self._initial = initial_slots(plan.program.initial)
        self._trigger = trigger_to_json(plan.policy.trigger)
        self._aggregation = aggregation
        self._types = (keys, aggregation.partial_types, written)

    def fresh(self, keys: list[pa.Array], start: Ints, end: Ints) -> LaneState:
        """Return groups that begin now."""
        count = len(start)
        lanes = Lanes.fresh(end, self._initial)
        partials, written = ([pa.nulls(count, t) for t in types] for types in self._types[1:])
        never = np.full(count, MAX)
        return LaneState(keys, start, never, never, lanes, partials, written)

    def empty(self) -> LaneState:
        """Return no groups."""
        nothing = np.zeros(0, np.int64)
        return self.fresh([pa.nulls(0, t) for t in self._types[0]], nothing, nothing)

    def encode(self, state: LaneState) -> bytes:
        """Return a state as bytes."""
        g = state.lanes
        numbers = [state.start, state.event, state.processing, *g.numbers(), *g.slots]
        narrow = [_narrow(n) for n in numbers]
        # ``decode`` reads the columns one by one in this order: it is the form of the state.
        columns = [*state.keys, *state.partials, *state.written, *narrow, pa.array(g.held)]
        facts = {
            "version": _VERSION,
            "arrived": state.arrived,
            _NAMED: self._aggregation.named,
            "trigger": self._trigger,
        }
        return encode_state(table_of(columns).replace_schema_metadata({FACTS: json.dumps(facts)}))

    def decode(self, data: bytes) -> LaneState:
        """Return the state of bytes.

        Raises:
            SqlExtError: RUN-030 if a version that this code does not know wrote it.
        """
        return self._read(decode_state(data))

    def of_encoded(self, data: bytes, wanted: Wanted) -> LaneState:
        """Return some keys of the state of bytes; numbers of the others are not made wide."""
        return self._read(rows_of_keys(decode_state(data), range(len(self._types[0])), wanted))

    def _read(self, table: pa.Table) -> LaneState:
        facts = json.loads((table.schema.metadata or {}).get(FACTS, b"{}"))
        if facts.get("version") != _VERSION:
            raise SqlExtError(
                "RUN-030",
                f"the state of windows has version {facts.get('version')}, this is version {_VERSION}",
                hint="DROP QUERY starts the query anew",
            )
        columns = iter(whole(c) for c in table.columns)
        # An older version wrote no names.
        named = facts.get(_NAMED, ())
        # All columns but for the others: three deadlines, the groups' numbers, slots and marks.
        others = len(self._types[0]) + len(self._types[2]) + 3 + _LANE_COLUMNS + len(self._initial) + 1
        widths = (len(self._types[0]), table.num_columns - others, len(self._types[2]))
        keys, partials, written = ([next(columns) for _ in range(width)] for width in widths)
        partials = self._aggregation.moved(named, partials, table.num_rows)
        start, event, processing = (_wide(next(columns)) for _ in range(3))
        end, flags, index, spec, rows, bits = (_wide(next(columns)) for _ in range(_LANE_COLUMNS))
        slots = [_wide(next(columns)) for _ in self._initial]
        # Copies, as all numbers here: a step changes them in place, and Arrow's memory may not be written to.
        held: Bools = np.array(next(columns).to_numpy(zero_copy_only=False), np.bool_)
        lanes = Lanes(end, flags, index, spec, rows, bits, slots, held, np.zeros(len(start), np.bool_))
        return LaneState(keys, start, event, processing, lanes, partials, written, facts["arrived"])


def _narrow(numbers: Ints) -> pa.Array:
    """Return a column of numbers in the least space: most are small, or all the same."""
    if len(numbers) and (numbers == numbers[0]).all():
        return pa.DictionaryArray.from_arrays(np.zeros(len(numbers), np.int8), numbers[:1])
    limits = np.iinfo(np.int32)
    small = len(numbers) > 0 and int(numbers.min()) >= limits.min and int(numbers.max()) <= limits.max
    return pa.array(numbers.astype(np.int32) if small else numbers)


def _wide(column: pa.Array) -> Ints:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return np.array(column.to_numpy(), np.int64)


def _taken(columns: list[pa.Array], places: Ints) -> list[pa.Array]:
    return [taken(c, places) for c in columns]


def _both(ones: list[pa.Array], others: list[pa.Array]) -> list[pa.Array]:
    return [pa.concat_arrays([a, b]) for a, b in zip(ones, others, strict=True)]

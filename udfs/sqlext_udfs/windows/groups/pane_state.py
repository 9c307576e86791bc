"""Keep the state of a bucket of windows under any policy: triggers, keys, contents, and what was written."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.errors import SqlExtError
from sqlext_udfs.aggregates.aggregation import Aggregation, Named
from sqlext_udfs.kernel.arrow_numpy import integers, table_of, whole
from sqlext_udfs.kernel.dividing import Wanted, places_of
from sqlext_udfs.kernel.key_numbers import KeyNumbers
from sqlext_udfs.kernel.table_codec import decode_state, encode_state, nested, unnested
from sqlext_udfs.windows.groups.state import WindowState
from sqlext_udfs.windows.panes.segments import Segments
from sqlext_udfs.windows.panes.written_rows import WrittenRows

# Where version, ``next_key`` and ``arrived`` stand: in the metadata of the table.
FACTS = b"sqlext.panes"
_VERSION = 1
_NAMED = "aggregates"


@dataclass(frozen=True)
class PaneState:
    """The windows of a bucket, group by group.

    Attributes:
        triggers: the open groups, as the trigger engine keeps them.
        keys: the values of their keys.
        segments: partial results of what they hold.
        written: the last row written of each open window, in RETRACTING mode.
        arrived: how many rows have come: the place of the next one in the order of arrival.
    """

    triggers: WindowState
    keys: KeyNumbers
    segments: Segments
    written: WrittenRows
    arrived: int = 0


def encode(state: PaneState, named: Named, trigger: str) -> bytes:
    """Return a state as bytes: four tables in one, with the names of the aggregates.

    Args:
        state: the windows.
        named: the aggregates.
        trigger: under which they are kept, as JSON.
    """
    written = state.written
    # The order of the tables, and of their columns, is the form of the state.
    tables = (
        state.triggers.encode(),
        table_of([pa.array(state.keys.numbers), *state.keys.columns]),
        table_of([pa.array(state.segments.numbers), *state.segments.partials]),
        table_of([pa.array(c) for c in (written.key, written.start, written.end)] + written.columns),
    )
    facts = {
        "version": _VERSION,
        "next_key": state.keys.next,
        "arrived": state.arrived,
        _NAMED: named,
        "trigger": trigger,
    }
    return encode_state(nested(tables).replace_schema_metadata({FACTS: json.dumps(facts)}))


def decode(data: bytes, aggregation: Aggregation) -> PaneState:
    """Return the state that ``encode`` wrote, for these aggregates.

    Raises:
        SqlExtError: RUN-030 if a version that this code does not know wrote it.
    """
    parts = decode_state(data)
    facts = json.loads((parts.schema.metadata or {}).get(FACTS, b"{}"))
    if facts.get("version") != _VERSION:
        raise SqlExtError(
            "RUN-030",
            f"the state of windows has version {facts.get('version')}, this is version {_VERSION}",
            hint="DROP QUERY starts the query anew",
        )
    triggers, keys, segments, written = unnested(parts)
    (numbers, *columns), (of, *partials), (key, start, end, *rows) = map(_columns, (keys, segments, written))
    return PaneState(
        WindowState.decode(triggers),
        KeyNumbers(tuple(columns), integers(numbers), facts["next_key"]),
        Segments(integers(of), aggregation.moved(facts.get(_NAMED, ()), partials, segments.num_rows)),
        WrittenRows(integers(key), integers(start), integers(end), rows),
        facts["arrived"],
    )


def of_keys(state: PaneState, wanted: Wanted) -> PaneState:
    """Return the windows of some keys."""
    keys = state.keys
    places = places_of(wanted(keys.columns, len(keys.numbers)))
    mine = keys.numbers[places]
    of = np.isin(state.triggers.numbers("key"), mine)
    triggers = replace(state.triggers, table=state.triggers.table.filter(pa.array(of)).combine_chunks())
    segments = state.segments.without(np.setdiff1d(state.segments.numbers, triggers.segments()).tolist())
    written = state.written.take(np.flatnonzero(np.isin(state.written.key, mine)))
    return PaneState(triggers, keys.only(mine), segments, written, state.arrived)


def joined(one: PaneState, other: PaneState) -> PaneState:
    """Return the windows of both, whose keys differ: the other's keys and segments get numbers behind those of one."""
    keys, segments = one.keys.next, one.triggers.next_segment
    table = _renumbered(other.triggers.table, {"key": keys, "segments": segments})
    last = [t.last_row for t in (one.triggers, other.triggers) if t.last_row is not None]
    triggers = WindowState(
        pa.concat_tables([one.triggers.table, table]).combine_chunks(),
        segments + other.triggers.next_segment,
        max(last, default=None),
    )
    columns = (pa.concat_arrays(pair) for pair in zip(one.keys.columns, other.keys.columns, strict=True))
    numbers = np.concatenate([one.keys.numbers, other.keys.numbers + keys])
    return PaneState(
        triggers,
        KeyNumbers(tuple(columns), numbers, keys + other.keys.next),
        one.segments.with_(replace(other.segments, numbers=other.segments.numbers + segments)),
        one.written.and_(replace(other.written, key=other.written.key + keys)),
        max(one.arrived, other.arrived),
    )


def _renumbered(table: pa.Table, by: dict[str, int]) -> pa.Table:
    """Return a table with numbers added to those of some columns, also to those in lists."""
    for name, more in by.items():
        column = whole(table.column(name))
        if pa.types.is_list(column.type):
            # Flattened values begin where the first list does, which the offsets of a slice do not.
            offsets = pc.subtract(column.offsets, column.offsets[0])
            added = pa.ListArray.from_arrays(offsets, pc.add(column.flatten(), more), column.type)
        else:
            added = pc.add(column, more)
        table = table.set_column(table.schema.get_field_index(name), table.schema.field(name), added)
    return table


def used_keys(triggers: WindowState, written: WrittenRows) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the numbers of keys of which something is known."""
    # A row that may be taken back needs its key, also where nothing else is known of the group.
    return np.union1d(triggers.numbers("key"), written.key)


def _columns(table: pa.Table) -> list[pa.Array]:
    return [whole(c) for c in table.columns]

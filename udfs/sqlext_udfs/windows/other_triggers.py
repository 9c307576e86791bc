"""Read the state of windows that were kept under another trigger.

State says which trigger it was written under. What a group holds does not depend on that. What its trigger knew stays
where it is the same but for numbers; else it begins anew, with the rows to come. Of AFTER WATERMARK that holds for
EARLY and LATE, each for itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.arrow_numpy import integers, taken, whole
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.kernel.key_numbers import KeyNumbers
from sqlext_udfs.kernel.table_codec import facts_of
from sqlext_udfs.windows.compiled import CompiledPolicy
from sqlext_udfs.windows.groups.group import DONE
from sqlext_udfs.windows.groups.pane_state import FACTS as PANES
from sqlext_udfs.windows.groups.pane_state import PaneState
from sqlext_udfs.windows.groups.state import WindowState
from sqlext_udfs.windows.lanes.columns import NONE, Lanes
from sqlext_udfs.windows.lanes.state import FACTS as LANES
from sqlext_udfs.windows.lanes.state import LaneState
from sqlext_udfs.windows.panes.segments import Segments
from sqlext_udfs.windows.panes.written_rows import WrittenRows
from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.policy_json import trigger_from_json
from sqlext_udfs.windows.policy_state import carries
from sqlext_udfs.windows.specification import PANE_COLUMNS
from sqlext_udfs.windows.triggers.program import WORD_BITS
from sqlext_udfs.windows.triggers.tree import AfterWatermark, Trigger

_FACTS = (LANES, PANES)
#: The types of the rows that RETRACTING keeps.
Types = list[pa.DataType]


def other_trigger(data: bytes, policy: Policy) -> Trigger | None:
    """Return the trigger of a policy under which a state was written, where the policy's own must be told from it.

    Args:
        data: the state as bytes.
        policy: the windows' policy now.
    """
    now, known = policy.trigger, facts_of(data)
    text = next((json.loads(known[name]).get("trigger") for name in _FACTS if name in known), None)
    # An older version did not say it; a query that it began keeps its trigger.
    before = trigger_from_json(text) if text is not None else now
    return None if before == now or _is_kept(before, now) else before


def _is_kept(before: Trigger, now: Trigger) -> bool:
    """Whether all that a trigger knows stays."""
    if isinstance(before, AfterWatermark) and isinstance(now, AfterWatermark):
        return all(getattr(before, p) == getattr(now, p) or _carries(before, now, p) for p in ("early", "late"))
    return carries(before, now)


def _carries(before: AfterWatermark, now: AfterWatermark, phase: str) -> bool:
    return carries(getattr(before, phase), getattr(now, phase))


def under(state: PaneState, before: CompiledPolicy, now: CompiledPolicy) -> PaneState:
    """Return a state as it is under another trigger.

    Args:
        state: the windows, group by group.
        before: the policy that they were kept under.
        now: one that differs in the trigger alone.
    """
    table = state.triggers.table
    kept = [_group(g.bits, g.slots, g.flags, before, now) for g in before.layout.groups(state.triggers, _all(table))]
    columns = {name: table.column(name) for name in table.column_names if not name.startswith(("bits_", "slot_"))}
    mask = (1 << WORD_BITS) - 1
    for n in range(now.program.words):
        columns[f"bits_{n}"] = [bits >> (n * WORD_BITS) & mask for bits, _ in kept]
    for n, kind in enumerate(now.program.kinds):
        columns[f"slot_{n}"] = [_written(kind, slots[n]) for _, slots in kept]
    schema = now.layout.schema
    made = pa.table([_column(columns[f.name], f.type) for f in schema], schema=schema)
    triggers = WindowState(made, state.triggers.next_segment, state.triggers.last_row)
    return PaneState(triggers, state.keys, state.segments, state.written, state.arrived)


def group_by_group(state: LaneState, plan: CompiledPolicy, written: Types) -> PaneState:
    """Return the state of all groups at once as one that is kept group by group.

    Args:
        state: the windows.
        plan: the policy that they are kept under.
        written: the types of the rows that RETRACTING keeps.
    """
    g, count = state.lanes, len(state)
    numbers, keys = KeyNumbers.none([k.type for k in state.keys]).of(state.keys, count)
    segments = np.where(g.held, np.cumsum(g.held) - 1, NONE)
    columns: dict[str, Any] = {"key": numbers, "start": state.start, "end": g.end, "flags": g.flags}
    columns |= {"index": g.index, "spec": g.spec, "rows": g.rows, "event": state.event, "processing": state.processing}
    columns |= {"bits_0": g.bits, "segments": pa.array(segments, mask=~g.held)}
    columns |= {f"slot_{n}": pa.array(slot, mask=slot == NONE) for n, slot in enumerate(g.slots)}
    columns |= dict.fromkeys(("earliest", "latest"), pa.nulls(count, pa.int64()))
    schema = plan.layout.schema
    table = pa.table([_column(columns[f.name], f.type) for f in schema], schema=schema)
    order = np.lexsort((g.end, state.start, numbers))
    held = np.flatnonzero(g.held)
    rows = WrittenRows.none(written)
    if state.written:
        # A pane's number is never NULL in a row that was written.
        there = np.flatnonzero(state.written[1 - len(PANE_COLUMNS)].is_valid().to_numpy(zero_copy_only=False))
        of = [taken(c, there) for c in state.written]
        rows = WrittenRows(numbers[there], state.start[there], g.end[there], of)
    return PaneState(
        WindowState(table.take(pa.array(order)).combine_chunks(), len(held)),
        keys,
        Segments(np.arange(len(held)), [taken(p, held) for p in state.partials]),
        rows,
        state.arrived,
    )


def all_at_once(state: PaneState, fresh: Callable[[list[pa.Array], Ints, Ints], LaneState]) -> LaneState:
    """Return a state that is kept group by group as one of all groups at once.

    Args:
        state: the windows.
        fresh: makes groups of keys, starts and ends (ms) that begin now.
    """
    table = state.triggers.table
    numbers, start, end, event, processing = (
        integers(table.column(n)) for n in ("key", "start", "end", "event", "processing")
    )
    made = fresh(state.keys.values(numbers), start, end)
    segments = whole(table.column("segments"))
    held = np.asarray(segments.is_valid().to_numpy(zero_copy_only=False))
    places = np.searchsorted(state.segments.numbers, integers(pc.fill_null(segments, 0)))
    partials = [taken(p, np.where(held, places, -1)) for p in state.segments.partials]
    flags, index, spec, rows, bits = (
        integers(table.column(n)).copy() for n in ("flags", "index", "spec", "rows", "bits_0")
    )
    slots = [
        integers(pc.fill_null(whole(table.column(f"slot_{n}")), NONE)).copy() for n in range(len(made.lanes.slots))
    ]
    lanes = Lanes(end.copy(), flags, index, spec, rows, bits, slots, held.copy(), np.zeros(len(start), np.bool_))
    return LaneState(
        made.keys, start, event, processing, lanes, partials, _of_groups(made, state, numbers), state.arrived
    )


def _of_groups(made: LaneState, state: PaneState, numbers: Ints) -> list[pa.Array]:
    """Return the row written of each group."""
    if not made.written:
        return []
    rows = {key: n for n, key in enumerate(zip(state.written.key, state.written.start, state.written.end, strict=True))}
    places = np.array([rows.get(key, -1) for key in zip(numbers, made.start, made.lanes.end, strict=True)], np.int64)
    return [taken(c, places) for c in state.written.columns]


def _group(
    bits: int, slots: list[Any], flags: int, before: CompiledPolicy, now: CompiledPolicy
) -> tuple[int, list[Any]]:
    """Return what a trigger knows of a group, of what another one knew."""
    old, new = before.policy.trigger, now.policy.trigger
    made, values = 0, list(now.program.initial)
    if not (isinstance(old, AfterWatermark) and isinstance(new, AfterWatermark)):
        return made, values
    for phase in ("early", "late"):
        if not _carries(old, new, phase):
            continue
        theirs, ours = (plan.program.phases[phase] for plan in (before, now))
        made |= (bits >> theirs.bit & (1 << theirs.bits) - 1) << ours.bit
        values[ours.slot : ours.slot + ours.slots] = slots[theirs.slot : theirs.slot + theirs.slots]
    # Behind the on-time pane LATE has the word. Without LATE the trigger had begun afresh then.
    over = bits & before.program.over if old.late is not None else flags & DONE
    if new.late is not None and over:
        made |= now.program.over
    return made, values


def _all(table: pa.Table) -> Ints:
    return np.arange(table.num_rows)


def _written(kind: str, value: Any) -> Any:
    return json.dumps(value) if kind == "json" and value is not None else value


def _column(values: Any, of: pa.DataType) -> pa.Array:
    return whole(values).cast(of) if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, of)

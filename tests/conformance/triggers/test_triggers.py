"""Every recorded case gives the panes that Beam or Flink gave, step by step."""

from __future__ import annotations

from typing import Any

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.policy_json import policy_from_json, policy_to_json
from sqlext_udfs.windows.triggers.rules import continuation
from tests.window_simulation import Pane, Row, Simulation, Step

from .beam_text import beam_text
from .clauses import Tree, render_emit
from .policies import policy_of

Comparable = list[tuple[Any, ...]]


def test_beam(beam_case: Tree) -> None:
    """Panes with all that Beam says of them, and what it dropped."""
    simulation = Simulation(_policy(beam_case))
    for number, step in enumerate(beam_case["steps"]):
        out = _beam_step(simulation, step)
        where = f"{render_emit(beam_case)}\nstep {number}: {step['op']} {step.get('to', step.get('elements'))}"
        assert _sorted(map(_beam_pane, out.panes)) == _sorted(map(_beam_expected, step["expected"])), where
        dropped = step.get("dropped", {})
        assert out.late_windows == dropped.get("droppedDueToLateness", 0), where
        assert out.closed_windows == dropped.get("droppedDueToClosedWindow", 0), where


def test_continuation(beam_case: Tree) -> None:
    """What EMIT CONTINUE means for a grouping over this one (EMIT.md section 3)."""
    expected = beam_case["continuation_trigger"].replace("DefaultTrigger", "AfterWatermark.pastEndOfWindow()")
    assert beam_text(continuation(policy_of(beam_case).trigger)) == expected.replace("Never.NeverTrigger", "Never")


def test_flink(flink_case: Tree) -> None:
    """Panes, late rows, and no state where Flink has none."""
    simulation = Simulation(_policy(flink_case))
    session = "session" in flink_case["assigner"]["type"]
    for number, step in enumerate(flink_case["steps"]):
        out = _flink_step(simulation, step, flink_case)
        where = f"{render_emit(flink_case)}\nstep {number}: {step}"
        expected = [_flink_expected(pane, in_order=not session) for pane in step.get("expected", [])]
        assert _sorted(_flink_pane(pane, in_order=not session) for pane in out.panes) == _sorted(expected), where
        late = [{"key": row.key, "value": row.value, "ts": row.ts} for row in out.late]
        assert (late if flink_case["side_output_late"] else []) == step.get("late_side_output", []), where
        assert (0 if flink_case["side_output_late"] else len(late)) == step.get("late_records_dropped", 0), where
        if not any(step.get(n) for n in ("event_timers", "processing_timers", "state_entries")):
            assert not len(simulation.state), where


def _policy(case: Tree) -> Any:
    policy = policy_of(case)
    assert policy_from_json(policy_to_json(policy)) == policy
    return policy


def _beam_step(simulation: Simulation, step: Tree) -> Step:
    if step["op"] == "input":
        return simulation.rows(*(Row(e["key"], e["value"], e["ts"]) for e in step["elements"]))
    if step["op"] == "watermark":
        return simulation.to_watermark(_instant(step["to"]))
    if step["op"] == "sync_clock":
        return simulation.rows()  # a micro-batch is always in step with itself (M12)
    return simulation.to_clock(step["to"])


def _beam_pane(pane: Pane) -> tuple[Any, ...]:
    window = "GLOBAL" if pane.window is None else [pane.window[0], pane.window[1] - 1]
    timestamp = "GLOBAL_END" if pane.timestamp is None else pane.timestamp
    values = sorted(pane.values)
    return pane.key, window, values, timestamp, pane.index, pane.spec, pane.timing, pane.first, pane.last


def _beam_expected(pane: Tree) -> tuple[Any, ...]:
    names = ("timestamp", "index", "non_speculative_index", "timing", "is_first", "is_last")
    return pane["key"], pane["window"], sorted(pane["values"]), *(pane[name] for name in names)


def _flink_step(simulation: Simulation, step: Tree, case: Tree) -> Step:
    if step["op"] == "element":
        gap = _gap(case["assigner"].get("gap_rule"), step["key"], step["value"])
        return simulation.rows(Row(step["key"], step["value"], step["ts"], (float(step["value"]),), gap))
    if step["op"] == "watermark":
        return simulation.to_watermark(_instant(step["to"]))
    if step["op"] == "clock":
        return simulation.to_clock(step["to"])
    assert step["op"] == "snapshot_restore"  # every step goes through bytes
    return simulation.rows()


def _gap(rule: Tree | None, key: str, value: Any) -> int | None:
    if rule is None:
        return None
    of_key = rule[key]
    return int(of_key.get(str(value), of_key["default"]) if isinstance(of_key, dict) else of_key)


def _flink_pane(pane: Pane, *, in_order: bool) -> tuple[Any, ...]:
    window = "GLOBAL" if pane.window is None else list(pane.window)
    timestamp = "MAX" if pane.timestamp is None else pane.timestamp
    return pane.key, window, list(pane.values) if in_order else sorted(pane.values), timestamp


def _flink_expected(pane: Tree, *, in_order: bool) -> tuple[Any, ...]:
    # After a merge Flink's order is that of its buffers; ours is that of arrival.
    values = pane["values"] if in_order else sorted(pane["values"])
    return pane["key"], pane["window"], values, pane["timestamp"]


def _instant(to: int | str) -> int:
    return Clock.END if to == "MAX" else int(to)


def _sorted(panes: Any) -> Comparable:
    return sorted(panes, key=repr)

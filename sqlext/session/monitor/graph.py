"""Say how many rows the steps of a plan have, how far their time is, and what they keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlext.plan.explain import APPEND
from sqlext.plan.steps import SINK, PlanStep
from sqlext.session.monitor.views import EdgeView, NodeView
from sqlext.watermarks.history import OperatorState, Sample


def nodes_of(steps: Sequence[PlanStep], sample: Sample | None) -> list[NodeView]:
    """Return the steps with what a sample says of them."""
    states = _states(steps, sample.operators if sample is not None else ())
    rows = _rows(steps, sample) if sample is not None else {}
    return [_node(step, sample, states.get(step.number), rows.get(step.number)) for step in steps]


def edges_of(steps: Sequence[PlanStep]) -> list[EdgeView]:
    """Return which step gives its rows to which."""
    return [EdgeView(read, step.number) for step in steps for read in step.reads]


def _states(steps: Sequence[PlanStep], operators: Sequence[OperatorState]) -> dict[int, OperatorState]:
    """Return the states of steps, by number.

    Spark lists operators in the order of the plan. A step may need several of them: then nobody knows whose each is.
    """
    keeping = [s.number for s in steps if s.stateful]
    return dict(zip(keeping, operators, strict=True)) if len(keeping) == len(operators) else {}


def _node(step: PlanStep, sample: Sample | None, state: OperatorState | None, rows: int | None) -> NodeView:
    watermark, activity = (sample.watermark if sample is not None else None), None
    if sample is not None and step.input is not None and step.input in sample.inputs:
        watermark, activity = sample.inputs[step.input]
    return NodeView(
        step.number,
        step.step,
        step.detail,
        step.changelog,
        step.stateful,
        rows,
        watermark,
        activity,
        state.rows if state is not None else None,
        state.size if state is not None else None,
        state.updated if state is not None else None,
        state.dropped if state is not None else None,
    )


def _rows(steps: Sequence[PlanStep], sample: Sample) -> Mapping[int, int]:
    """Return how many rows steps gave, by number: what was counted, and what follows from it."""
    scans = [s for s in steps if not s.reads]
    rows = {s.number: sample.rows_out for s in steps if s.step == SINK}
    for scan in scans:
        # The only source gave all rows that were read.
        counted = sample.read.get(scan.input or "", sample.rows_in if len(scans) == 1 else None)
        if counted is not None:
            rows[scan.number] = counted
    # Those that read others come first: what a step took, another gave.
    for step in steps:
        if step.number in rows and step.changelog == APPEND and (step.row_by_row or step.step == SINK):
            rows |= {read: rows[step.number] for read in step.reads if read not in rows}
    for step in reversed(steps):
        if step.row_by_row and step.number not in rows and step.reads[0] in rows:
            rows[step.number] = rows[step.reads[0]]
    return rows

"""Say how many rows the steps of a plan have, how far their time is, and what they keep."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.plan.steps import SINK, PlanStep
from sqlext.session.monitor.views import EdgeView, NodeView
from sqlext.watermarks.history import OperatorState, Sample


def nodes_of(steps: Sequence[PlanStep], sample: Sample | None) -> list[NodeView]:
    """Return the steps with what a sample says of them."""
    states = _states(steps, sample.operators if sample is not None else ())
    return [_node(step, sample, states.get(step.number)) for step in steps]


def edges_of(steps: Sequence[PlanStep]) -> list[EdgeView]:
    """Return which step gives its rows to which."""
    return [EdgeView(read, step.number) for step in steps for read in step.reads]


def _states(steps: Sequence[PlanStep], operators: Sequence[OperatorState]) -> dict[int, OperatorState]:
    """Return the states of steps, by number.

    Spark lists operators in the order of the plan. A step may need several of them: then nobody knows whose each is.
    """
    keeping = [s.number for s in steps if s.stateful]
    return dict(zip(keeping, operators, strict=True)) if len(keeping) == len(operators) else {}


def _node(step: PlanStep, sample: Sample | None, state: OperatorState | None) -> NodeView:
    watermark, activity = (sample.watermark if sample is not None else None), None
    if sample is not None and step.input is not None and step.input in sample.inputs:
        watermark, activity = sample.inputs[step.input]
    return NodeView(
        step.number,
        step.step,
        step.detail,
        step.changelog,
        step.stateful,
        _rows(step, sample),
        watermark,
        activity,
        state.rows if state is not None else None,
        state.size if state is not None else None,
        state.updated if state is not None else None,
        state.dropped if state is not None else None,
    )


def _rows(step: PlanStep, sample: Sample | None) -> int | None:
    if sample is None:
        return None
    if step.step == SINK:
        return sample.rows_out
    return sample.read.get(step.input) if step.input is not None else None

"""Every recorded case through the whole operator: partial results before the shuffle, state as bytes, aggregates."""

from __future__ import annotations

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.windows.policy import Policy, Session
from tests.operator_runs import VALUE, Out, Run, specification
from tests.operator_runs import Row as InputRow
from tests.window_simulation import Pane, Row, Step

from . import test_triggers
from .clauses import Tree

_AGGREGATES = (AggregateCall("collect_list", (VALUE,)), AggregateCall("count"), AggregateCall("sum", (VALUE,)))
_DELETE = 3


class _Operator:
    """What the tests of the trigger engine drive, with the operator in its place."""

    def __init__(self, policy: Policy, *, late: bool) -> None:
        gap = isinstance(policy.window, Session) and policy.window.gap is None
        self.run = Run(specification(policy, _AGGREGATES, late=late, gap=gap))

    @property
    def state(self) -> range:
        """Return something as long as the state has groups."""
        return range(self.run.open_groups)

    def rows(self, *rows: Row) -> Step:
        """Bring rows."""
        return self._step([InputRow(r.key, r.value, r.ts or 0, r.gap, _numbers(r)) for r in rows])

    def to_watermark(self, watermark: int) -> Step:
        """Move the watermark on."""
        return self._step([], watermark=watermark)

    def to_clock(self, now: int) -> Step:
        """Move the batch clock on."""
        return self._step([], now=now)

    def _step(self, rows: list[InputRow], watermark: int | None = None, now: int | None = None) -> Step:
        run = self.run
        late, closed, kept = run.dropped_late, run.dropped_closed, len(run.late)
        panes = [_pane(out) for out in run.step(rows, watermark, now)]
        too_late = [Row(str(r.key), r.row["value"], r.row["ts"]) for r in run.late[kept:]]
        return Step(panes, too_late, [], run.dropped_late - late, run.dropped_closed - closed, None)  # type: ignore[arg-type]


def test_beam(beam_case: Tree, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Panes with all that Beam says of them; a row that is late for one of two windows is not dropped here."""
    monkeypatch.setattr(test_triggers, "Simulation", lambda policy: _Operator(policy, late=False))
    test_triggers.test_beam(beam_case)


def test_flink(flink_case: Tree, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Panes, the rows of the late table, and no state where Flink has none."""
    monkeypatch.setattr(test_triggers, "Simulation", lambda policy: _Operator(policy, late=True))
    test_triggers.test_flink(flink_case)


def _numbers(row: Row) -> tuple[float | None, float | None]:
    return (row.numbers[0] if row.numbers else None), None


def _pane(out: Out) -> Pane:
    values, count, total = out.results
    assert (count, total or 0) == (len(values), sum(values))
    meta = (out.index, out.spec, out.timing, out.first, out.last, out.timestamp)
    return Pane(str(out.key), out.window, tuple(values), *meta, before=False, retract=out.kind == _DELETE)

"""A third of the recorded cases end to end: EMIT text, Spark, one step per micro-batch, the clock as rows.

Which third: as many as a third of each engine's cases, at equal distances among those that Spark can run, by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.stepped_queries import run_together

from .clauses import Tree, render_emit
from .spark_runs import CaseQuery
from .spark_text import unsayable
from .trigger_files import are_own, trigger_cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STATE_OF_FLINK = ("event_timers", "processing_timers", "state_entries")
Runs = dict[str, CaseQuery]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give ``spark_beam`` and ``spark_flink`` the chosen cases of their form, ``not_on_spark`` those that are none."""
    cases = sorted(trigger_cases(metafunc.config), key=lambda case: str(case["name"]))
    if "not_on_spark" in metafunc.fixturenames:
        others = [c for c in cases if unsayable(c) is not None]
        metafunc.parametrize("not_on_spark", others, ids=[c["name"] for c in others])
    for fixture, mark in (("spark_beam", "window_fn"), ("spark_flink", "assigner")):
        if fixture in metafunc.fixturenames:
            chosen = _third([c for c in cases if mark in c])
            marks = [pytest.mark.sampled] if are_own(metafunc.config) else []
            metafunc.parametrize(fixture, [pytest.param(c, id=c["name"], marks=marks) for c in chosen])


def _third(cases: list[Tree]) -> list[Tree]:
    possible = [c for c in cases if unsayable(c) is None]
    count = min(math.ceil(len(cases) / 3), len(possible))
    return [possible[i * len(possible) // count] for i in range(count)]


@pytest.fixture(scope="module")
def runs(spark: SparkSession, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Run all cases that are asked for, side by side."""
    folder = tmp_path_factory.mktemp("triggers")
    found = {case["name"]: CaseQuery(case, spark, folder / case["name"]) for case in _asked_for(request.session.items)}
    run_together(list(found.values()))
    return found


def _asked_for(items: list[pytest.Item]) -> Iterator[Tree]:
    for item in items:
        parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        yield from (case for name, case in parameters.items() if name in ("spark_beam", "spark_flink"))


def test_beam(spark_beam: Tree, runs: Runs) -> None:
    """Panes with all that Beam says of them, and how many rows it dropped."""
    run = _finished(runs[spark_beam["name"]])
    for number, (step, outcome) in enumerate(zip(spark_beam["steps"], run.outcomes, strict=True)):
        where = f"{render_emit(spark_beam)}\nstep {number}: {step}"
        found = _sorted(_beam_pane(run.shown(row)) for row in outcome.rows)
        assert found == _sorted(map(_beam_expected, step["expected"])), where
        assert outcome.dropped == sum(step.get("dropped", {}).values()), where


def test_flink(spark_flink: Tree, runs: Runs) -> None:
    """Panes, late rows, and no state where Flink has none."""
    run = _finished(runs[spark_flink["name"]])
    in_order = "session" not in spark_flink["assigner"]["type"]
    for number, (step, outcome) in enumerate(zip(spark_flink["steps"], run.outcomes, strict=True)):
        where = f"{render_emit(spark_flink)}\nstep {number}: {step}"
        expected = [_flink_expected(pane, in_order=in_order) for pane in step.get("expected", [])]
        found = _sorted(_flink_pane(run.shown(row), in_order=in_order) for row in outcome.rows)
        assert found == _sorted(expected), where
        if step["op"] == "element":  # with a watermark go leftovers that Flink does not count
            assert outcome.dropped == step.get("late_records_dropped", 0), where
        if not any(step.get(name) for name in _STATE_OF_FLINK):
            assert outcome.state_rows == 0, where
    late = [row for step in spark_flink["steps"] for row in step.get("late_side_output", [])]
    assert _sorted(map(str, run.late())) == _sorted(map(str, late))


def test_not_on_spark(not_on_spark: Tree) -> None:
    """Say why a case cannot be run there."""
    pytest.skip(str(unsayable(not_on_spark)))


def _finished(run: CaseQuery) -> CaseQuery:
    if run.failure is not None:
        raise run.failure
    return run


def _beam_pane(row: list[Any]) -> tuple[Any, ...]:
    key, *window, values, index, spec, timing, first, last, timestamp = row
    shown = [window[0], window[1] - 1] if window else "GLOBAL"
    at = "GLOBAL_END" if timestamp is None else timestamp
    return key, shown, sorted(values), at, index, spec, timing, first, last


def _beam_expected(pane: Tree) -> tuple[Any, ...]:
    names = ("timestamp", "index", "non_speculative_index", "timing", "is_first", "is_last")
    return pane["key"], pane["window"], sorted(pane["values"]), *(pane[name] for name in names)


def _flink_pane(row: list[Any], *, in_order: bool) -> tuple[Any, ...]:
    windowed = len(row) > 2  # a key and values
    key, window, values = row[0], row[1:3] if windowed else "GLOBAL", row[3 if windowed else 1]
    return key, window, values if in_order else sorted(values), row[4] if windowed else "MAX"


def _flink_expected(pane: Tree, *, in_order: bool) -> tuple[Any, ...]:
    # After a merge Flink's order is that of its buffers; ours is that of arrival.
    values = pane["values"] if in_order else sorted(pane["values"])
    return pane["key"], pane["window"], values, pane["timestamp"]


def _sorted(panes: Any) -> list[tuple[Any, ...]]:
    return sorted(panes, key=repr)

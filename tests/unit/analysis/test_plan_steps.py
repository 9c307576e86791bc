"""The steps of a plan as a graph: numbers, who reads whom, what keeps state, the names of inputs."""

from __future__ import annotations

import json

from sqlext.plan.steps import PlanStep, steps_of

from .conftest import Analysis

WINDOW = "TABLE(TUMBLE(TABLE visits, DESCRIPTOR(vt), INTERVAL '1' MINUTE))"


def test_a_chain(flink: Analysis) -> None:
    plan = flink.plan(f"SELECT page, COUNT(*) FROM {WINDOW} GROUP BY page, window_start, window_end")
    steps = steps_of(plan, "snk")
    assert [s.step for s in steps] == ["Sink", "Aggregate", "AssignWindows", "Scan"]
    assert [s.reads for s in steps] == [(1,), (2,), (3,), ()]
    assert [s.stateful for s in steps] == [False, True, False, False]
    assert [s.input for s in steps] == [None, None, None, "visits"]
    assert [PlanStep.from_json(json.loads(json.dumps(s.to_json()))) for s in steps] == list(steps)


def test_a_table_that_is_read_twice_and_one_that_is_no_stream(flink: Analysis) -> None:
    steps = steps_of(
        flink.plan(
            "SELECT a.page FROM visits AS a JOIN visits AS b ON a.page = b.page"
            " AND b.vt BETWEEN a.vt AND a.vt + INTERVAL '1' MINUTE"
        ),
        "snk",
    )
    assert [s.input for s in steps if s.step == "Scan"] == ["visits", "visits#2"]
    (join,) = [s for s in steps if len(s.reads) == 2]
    assert join.stateful
    assert [steps[n].step for n in join.reads] == ["Scan", "Scan"]
    still = steps_of(flink.plan("SELECT country, COUNT(*) FROM users GROUP BY country"), "snk")
    assert [(s.stateful, s.input) for s in still if s.step in ("Aggregate", "Scan")] == [(False, None), (False, None)]

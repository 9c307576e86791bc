"""EMIT of an as-of join: which clauses it takes, and what becomes of them."""

from __future__ import annotations

from typing import Any

import pytest

from sqlext.plan.base import walk
from sqlext.plan.joins import StreamJoin
from sqlext.rewrite.script.model import OperatorView

from .conftest import Analysis

ON = "c.user_name = v.user_name"
JOIN = f"""SELECT c.user_name, c.ts, v.page FROM clicks c LEFT ASOF JOIN visits v
  MATCH_CONDITION ({{}}) TOLERANCE INTERVAL '5' SECOND ON {ON} EMIT {{}}"""


def _join(analysis: Analysis, query: str) -> StreamJoin:
    return next(n for n in walk(analysis.plan(query)) if isinstance(n, StreamJoin))


def _bound(analysis: Analysis, query: str) -> tuple[Any, ...]:
    compiled = analysis.run(query)
    assert compiled is not None
    steps = [s for s in compiled.script.steps if isinstance(s, OperatorView) and s.function == "join"]
    specification: Any = dict(steps[-1].arguments)["specification"]
    bound: tuple[Any, ...] = dict(specification)["bound"]
    return bound


@pytest.mark.parametrize(
    ("emit", "early", "lateness"),
    [
        ("CHANGES", True, 0),
        ("EVERY ROW", True, 0),
        ("ON UPDATE", True, 0),
        ("CHANGELOG EVERY ROW", True, 0),
        ("EVERY ROW RETRACTING", True, 0),
        ("CHANGES ALLOW LATENESS 1m", True, 60_000),
        ("AFTER WATERMARK EARLY EVERY ROW", True, 0),
        ("AFTER WATERMARK EARLY EVERY ROW LATE EVERY ROW ALLOW LATENESS 1m", True, 60_000),
        ("AFTER WATERMARK LATE EVERY ROW ALLOW LATENESS 1m", False, 60_000),
        ("ALLOW LATENESS 1m", False, 60_000),
        ("AFTER WATERMARK", False, 0),
    ],
)
@pytest.mark.parametrize(("condition", "hold"), [("c.ts >= v.vt", 0), ("NEAREST(c.ts, v.vt)", 5000)])
def test_what_a_clause_means(flink: Analysis, emit: str, early: bool, lateness: int, condition: str, hold: int) -> None:
    query = JOIN.format(condition, emit)
    join = _join(flink, query)
    assert join.match is not None
    assert (join.match.early, join.match.lateness) == (early, lateness)
    assert join.changelog == (early or lateness > 0)
    # A window above waits for the last correction.
    assert join.hold == hold + lateness
    assert flink.times(query) == {"ts": "ROWTIME"}
    assert _bound(flink, query)[4:] == ((early, lateness) if early or lateness else ())


def test_in_batch_mode_there_is_one_result(flink: Analysis) -> None:
    flink.run("SET 'execution.runtime-mode' = 'batch'")
    query = JOIN.format("c.ts >= v.vt", "CHANGES")
    assert _join(flink, query).changelog is False
    flink.refuse(JOIN.format("c.ts >= v.vt", "EVERY 5 ROWS"), "EMIT-123")


def test_the_clause_of_a_grouping_is_that_of_its_groups(flink: Analysis) -> None:
    query = f"""SELECT c.user_name, COUNT(v.page) FROM clicks c LEFT ASOF JOIN visits v
      MATCH_CONDITION (c.ts >= v.vt) ON {ON} GROUP BY c.user_name EMIT EVERY 5 ROWS"""
    assert _join(flink, query).changelog is False


def test_a_grouping_reads_the_changes(flink: Analysis) -> None:
    inner = JOIN.format("c.ts >= v.vt", "CHANGES")
    flink.plan(f"SELECT page, COUNT(*) AS n FROM ({inner}) GROUP BY page")
    flink.plan(f"""SELECT window_start, page, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE ({inner}), DESCRIPTOR(ts),
      INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, page""")


@pytest.mark.parametrize("words", ["({})", "({}) JOIN users u ON u.user_name = c.user_name"])
def test_the_join_may_stand_in_parentheses(flink: Analysis, words: str) -> None:
    join = f"clicks c ASOF JOIN visits v MATCH_CONDITION (c.ts >= v.vt) ON {ON}"
    assert _join(flink, f"SELECT v.page FROM {words.format(join)} EMIT CHANGES").changelog


def test_a_view_keeps_the_clause(flink: Analysis) -> None:
    flink.run(f"CREATE VIEW priced AS {JOIN.format('c.ts >= v.vt', 'CHANGES')}")
    assert flink.plan("SELECT * FROM priced").changelog


@pytest.mark.parametrize(
    "emit",
    [
        "EVERY 5 ROWS",
        "EVERY 5s",
        "ON WINDOW CLOSE",
        "AFTER WATERMARK WITH DELAY 5s",
        "AFTER WATERMARK EARLY EVERY 5s",
        "AFTER WATERMARK LATE EVERY 5s ALLOW LATENESS 1m",
        "CHANGES DISCARDING",
        "ONCE AFTER WATERMARK",
        "EVERY ROW KEEP LAST 5 ROWS",
        "FILL FOR 1m",
        "NEVER",
    ],
)
def test_what_is_refused(flink: Analysis, emit: str) -> None:
    error = flink.refuse(JOIN.format("c.ts >= v.vt", emit), "EMIT-123")
    assert error.span is not None
    assert error.hint is not None
    assert error.hint.startswith("EMIT CHANGES")


def test_a_join_that_looks_ahead_without_limit_is_refused_all_the_same(flink: Analysis) -> None:
    query = f"SELECT v.page FROM clicks c ASOF JOIN visits v MATCH_CONDITION (c.ts <= v.vt) ON {ON} EMIT CHANGES"
    flink.refuse(query, "JOIN-022")


def test_another_as_of_join_does_not_take_the_changes(flink: Analysis) -> None:
    once = f"clicks c ASOF JOIN visits v MATCH_CONDITION (c.ts >= v.vt) ON {ON}"
    query = f"SELECT v.page FROM {once} ASOF JOIN visits w MATCH_CONDITION (c.ts >= w.vt) EMIT CHANGES"
    flink.refuse(query, "JOIN-021")


def test_a_sink_that_only_appends_is_refused(flink: Analysis) -> None:
    flink.run(
        "CREATE TABLE log (u STRING, ts TIMESTAMP(3), page STRING) WITH ('connector' = 'filesystem', "
        "'path' = '/out/log', 'format' = 'json')"
    )
    query = JOIN.format("c.ts >= v.vt", "CHANGES")
    flink.refuse(f"INSERT INTO log {query}", "SINK-004")

"""FILL: which groupings take it, what it asks of the operator, and what is refused."""

from __future__ import annotations

import pytest

from sqlext.plan.base import walk
from sqlext.plan.explain import as_text
from sqlext.plan.grouping import Aggregate
from sqlext.rewrite.script.model import OperatorView

from .conftest import Analysis

ROWS = "FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
BOUNDS = "GROUP BY window_start, window_end"
BY = "GROUP BY user_name, window_start, window_end"
QUERY = f"SELECT user_name, COUNT(*) AS n, MAX(amount) AS most {ROWS} {BY}"


KEYED = f"{QUERY} EMIT"


def filling(tables: Analysis, query: str) -> dict[str, object]:
    """Return the fields of what the operator is told."""
    compiled = tables.run(query)
    assert compiled is not None
    (step,) = [s for s in compiled.script.steps if isinstance(s, OperatorView)]
    return dict(dict(step.arguments)["fill"])


def test_operator_is_told(flink: Analysis) -> None:
    told = filling(flink, f"{QUERY} EMIT FILL FOR 2h")
    assert told["length"] == 7_200_000
    assert (told["size"], told["step"], told["zone"]) == (3_600_000, 3_600_000, None)
    assert (told["carries"], told["joins"]) == (False, False)
    assert filling(flink, f"{QUERY} EMIT FILL FOR 2h WITH (most = 0)")["carries"] is False
    assert filling(flink, f"{QUERY} EMIT FILL FOR 2h WITH (MOST = LAST)")["carries"] is True
    assert filling(flink, f"{QUERY} EMIT FILL FOR 2h WITH (most = LINEAR)")["joins"] is True


def test_days_of_a_zone_are_cut_by_its_wall_clock(flink: Analysis) -> None:
    flink.run("SET 'table.local-time-zone' = 'Europe/Berlin'")
    days = "FROM TABLE(TUMBLE(TABLE instants, DESCRIPTOR(rt), INTERVAL '1' DAY))"
    told = filling(flink, f"SELECT k, COUNT(*) {days} GROUP BY k, window_start, window_end EMIT FILL FOR 7d")
    assert (told["zone"], told["walls"]) == ("Europe/Berlin", True)


def test_same_operator_in_batch_mode(flink: Analysis) -> None:
    streamed = filling(flink, f"{QUERY} EMIT FILL FOR 2h WITH (most = LAST)")
    flink.run("SET 'execution.runtime-mode' = 'batch'")
    assert filling(flink, f"{QUERY} EMIT FILL FOR 2h WITH (most = LAST)") == streamed


def test_aggregates_but_counts_can_be_null(flink: Analysis) -> None:
    query = f"SELECT COUNT(*) AS n, COALESCE(MAX(amount), 0) AS most {ROWS} {BY}"
    nullable = [
        [c.type.nullable for c in flink.plan(text).columns if c.type is not None]
        for text in (query, f"{query} EMIT FILL FOR 2h WITH (most = NULL)")
    ]
    assert nullable == [[False, False], [False, True]]


def test_rows_that_wait_are_behind_the_watermark(flink: Analysis) -> None:
    for value, lag in (("LAST", 0), ("LINEAR", 7_200_000)):
        plan = flink.plan(f"{QUERY} EMIT FILL FOR 2h WITH (most = {value})")
        assert next(n for n in walk(plan) if isinstance(n, Aggregate)).lag == lag


def test_explain_says_what_bounds_its_state(flink: Analysis) -> None:
    text = as_text(flink.plan(f"{QUERY} EMIT FILL FOR 2h"))
    assert (
        "of each key its last window with rows, until the watermark is 7200000 ms behind the end of that window" in text
    )
    assert "at most 5,000,000 windows without rows at once in a task" in text
    assert "EMIT FILL: Spark has no operator that gives these rows" in text


def test_how_many_may_come_at_once_is_set(flink: Analysis) -> None:
    flink.run("SET 'sqlext.fill.limit' = '1000'")
    for query in ("FILL FOR 2h", "FILL FOR EACH KEY OF clicks"):
        assert filling(flink, f"{KEYED} {query}")["limit"] == 1000
    flink.refuse("SET 'sqlext.fill.limit' = '0'", "OPT-011", "'0'")


def test_keys_of_a_table_come_behind_the_rows(flink: Analysis) -> None:
    told = filling(flink, f"{KEYED} FILL FOR EACH KEY OF clicks WITH (most = LAST)")
    assert (told["length"], told["carries"]) == (0, True)
    assert isinstance(told["table"], int)
    text = as_text(flink.plan(f"{KEYED} FILL FOR EACH KEY OF clicks"))
    assert "each key of clicks, for ever" in text


def test_rows_that_change_take_it_alone(flink: Analysis) -> None:
    flink.run(
        "CREATE TABLE changes (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        "WITH ('connector' = 'filesystem', 'path' = '/in/changes', 'format' = 'debezium-json')"
    )
    query = (
        "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE changes, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
        "GROUP BY window_start, window_end EMIT"
    )
    assert filling(flink, f"{query} FILL FOR 2h")["length"] == 7_200_000
    flink.refuse(f"{query} ON WINDOW CLOSE FILL FOR 2h", "WINDOW-012")


@pytest.mark.parametrize(
    ("query", "code", "at"),
    [
        ("SELECT user_name, COUNT(*) FROM clicks GROUP BY user_name EMIT FILL FOR 1h", "EMIT-119", "FILL"),
        (f"SELECT COUNT(*) {ROWS.replace('TUMBLE', 'SESSION')} {BOUNDS} EMIT FILL FOR 1h", "EMIT-119", "FILL"),
        (f"SELECT COUNT(*) {ROWS.replace('ts', 'pt')} {BOUNDS} EMIT FILL FOR 1h", "EMIT-119", "FILL"),
        (f"{QUERY} EMIT AFTER WATERMARK EARLY EVERY 2 ROWS FILL FOR 1h", "EMIT-119", "FILL"),
        (f"{QUERY} EMIT AFTER WATERMARK ALLOW LATENESS 1m FILL FOR 1h", "EMIT-119", "FILL"),
        (f"{QUERY} EMIT FILL FOR 59m", "EMIT-120", "FILL"),
        (f"{QUERY} EMIT FILL FOR 1h WITH (least = 0)", "EMIT-121", "least"),
        (f"{QUERY} EMIT FILL FOR 1h WITH (user_name = 'x')", "EMIT-121", "user_name"),
        (f"{QUERY} EMIT FILL FOR 1h WITH (n = 'x')", "EMIT-121", "'x'"),
        (f"{QUERY} EMIT FILL FOR 1h WITH (most = 0.5)", "EMIT-121", "0.5"),
        (f"{KEYED} FILL FOR EACH KEY OF nowhere", "NAME-002", "nowhere"),
        (f"{KEYED} FILL FOR EACH KEY OF instants", "EMIT-124", "instants"),
        (f"SELECT COUNT(*) {ROWS} {BOUNDS} EMIT FILL FOR EACH KEY OF clicks", "EMIT-124", "clicks"),
        (f"{KEYED} FILL FOR EACH KEY OF clicks WITH (most = LINEAR)", "EMIT-121", "most = LINEAR"),
        (f"SELECT MAX(user_name) AS u {ROWS} {BY} EMIT FILL FOR 1h WITH (u = LINEAR)", "EMIT-121", "u = LINEAR"),
    ],
)
def test_refused(flink: Analysis, query: str, code: str, at: str) -> None:
    flink.refuse(query, code, at)


_FILES = "WITH ('connector' = 'filesystem', 'path' = '/in/keys', 'format' = '{}')"


@pytest.mark.parametrize(
    ("keys", "query", "at"),
    [
        ("CREATE TABLE t (user_name STRING) " + _FILES.format("debezium-json"), KEYED, "t"),
        ("CREATE VIEW t AS SELECT user_name, COUNT(*) AS n FROM clicks GROUP BY user_name", KEYED, "t"),
        ("CREATE TABLE t (user_name INT) " + _FILES.format("json"), KEYED, "t"),
        ("CREATE TABLE t (item STRING) " + _FILES.format("json"), KEYED, "t"),
        (
            "CREATE TABLE t (user_name STRING) " + _FILES.format("json"),
            f"SELECT UPPER(user_name) AS u, COUNT(*) {ROWS} GROUP BY UPPER(user_name), window_start, window_end EMIT",
            "UPPER(user_name)",
        ),
    ],
    ids=["changes", "an operator", "another type", "another name", "computed"],
)
def test_a_table_without_such_keys_is_refused(flink: Analysis, keys: str, query: str, at: str) -> None:
    flink.run(keys)
    flink.refuse(f"{query} FILL FOR EACH KEY OF t", "EMIT-124", at)

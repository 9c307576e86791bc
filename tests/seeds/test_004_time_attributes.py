"""Apache Flink SQL, time attributes: every statement of the page.

The page's queries count DISTINCT users in windows. What becomes of a DataStream there is not on this page's SQL.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlext
from sqlext.rewrite.compiler.boundedness import streaming_scans
from sqlext.session.offline.compilation import compile_source, new_state
from sqlext.source import SourceText
from tests.stepped_queries import Move, SteppedQuery, rows_of, run_together

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.session.api import Session

FILES = "'connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json'"
#: The same files, looked at again and again: a source without an end.
UNBOUNDED = FILES + ", 'source.monitor-interval' = '1 s'"

ON_TIMESTAMP = """CREATE TABLE user_actions (
  user_name STRING,
  data STRING,
  user_action_time TIMESTAMP(3),
  -- declare user_action_time as event time attribute and use 5 seconds delayed watermark strategy
  WATERMARK FOR user_action_time AS user_action_time - INTERVAL '5' SECOND
) WITH (%s);
"""
ON_TIMESTAMP_LTZ = """CREATE TABLE user_actions (
  user_name STRING,
  data STRING,
  ts BIGINT,
  time_ltz AS TO_TIMESTAMP_LTZ(ts, 3),
  -- declare time_ltz as event time attribute and use 5 seconds delayed watermark strategy
  WATERMARK FOR time_ltz AS time_ltz - INTERVAL '5' SECOND
) WITH (%s);
"""
PROCESSING_TIME = """CREATE TABLE user_actions (
  user_name STRING,
  data STRING,
  user_action_time AS PROCTIME() -- declare an additional field as a processing time attribute
) WITH (%s);
"""
USERS = """SELECT TUMBLE_START({0}, INTERVAL '10' MINUTE), COUNT({1} user_name)
FROM user_actions
GROUP BY TUMBLE({0}, INTERVAL '10' MINUTE);
"""

ACTIONS = [("ann", "08:00:07"), ("bob", "08:09:59"), ("ann", "08:09:58"), ("ann", "08:10:00"), ("cid", "08:31:00")]
PER_TEN_MINUTES = [("08:00", 3), ("08:10", 1), ("08:30", 1)]
DISTINCT_USERS = [("08:00", 2), ("08:10", 1), ("08:30", 1)]

OPTIONS = {
    "emit strategy": {"scan.watermark.emit.strategy": "on-event"},
    "idle timeout": {"scan.watermark.idle-timeout": "1min"},
    "alignment": {
        "scan.watermark.alignment.group": "alignment-group-1",
        "scan.watermark.alignment.max-drift": "1min",
        "scan.watermark.alignment.update-interval": "1s",
    },
}
each_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


@pytest.fixture
def offline(tmp_path: Path) -> Session:
    """Return a session that never starts Spark: definitions and refusals need none."""
    return sqlext.connect(catalog=tmp_path / "catalog")


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Write the actions, in the order in which they came; both tables read the same file."""
    (tmp_path / "in").mkdir()
    rows = [
        {
            "user_name": name,
            "user_action_time": f"2020-04-15 {time}",
            "ts": int(datetime.fromisoformat(f"2020-04-15T{time}+00:00").timestamp() * 1000),
        }
        for name, time in ACTIONS
    ]
    (tmp_path / "in" / "actions.json").write_text("\n".join(map(json.dumps, rows)))
    return {"IN": str(tmp_path / "in")}


def written(options: dict[str, str]) -> str:
    """Return options as they stand in WITH (...) and in a hint."""
    return ", ".join(f"'{key}'='{value}'" for key, value in options.items())


def refusal(session: Session, script: str) -> sqlext.SqlExtError:
    with pytest.raises(sqlext.SqlExtError) as refused:
        session.run(script, {"IN": "/data"})
    return refused.value


def attributes(session: Session) -> list[tuple[object, ...]]:
    """Return the time attributes as DESCRIBE shows them."""
    described = session.sql("DESCRIBE user_actions").rows
    return [(name, kind) for name, kind, *_ in described if "TIME*" in str(kind)]


# Event time


@pytest.mark.parametrize(
    ("table", "column", "shown"),
    [
        (ON_TIMESTAMP, "user_action_time", "TIMESTAMP(3) *ROWTIME*"),
        (ON_TIMESTAMP_LTZ, "time_ltz", "TIMESTAMP_LTZ(3) *ROWTIME*"),
        (PROCESSING_TIME, "user_action_time", "TIMESTAMP_LTZ(3) *PROCTIME*"),
    ],
    ids=["timestamp", "timestamp_ltz", "proctime"],
)
def test_time_attributes_are_declared_and_shown(offline: Session, table: str, column: str, shown: str) -> None:
    offline.run(table % FILES, {"IN": "/data"})
    assert attributes(offline) == [(column, shown)]


@pytest.mark.parametrize(
    ("table", "column"),
    [(ON_TIMESTAMP, "user_action_time"), (ON_TIMESTAMP_LTZ, "time_ltz")],
    ids=["timestamp", "timestamp_ltz"],
)
def test_users_per_ten_minutes(session: Session, variables: dict[str, str], table: str, column: str) -> None:
    result = session.run(table % FILES + USERS.format(column, ""), variables)[-1]
    expected = [(datetime.fromisoformat(f"2020-04-15 {start}"), n) for start, n in PER_TEN_MINUTES]
    assert sorted(result.rows) == expected
    assert result.query is not None


@pytest.mark.parametrize(
    ("table", "column"),
    [(ON_TIMESTAMP, "user_action_time"), (ON_TIMESTAMP_LTZ, "time_ltz")],
    ids=["timestamp", "timestamp_ltz"],
)
def test_distinct_users_per_ten_minutes(session: Session, variables: dict[str, str], table: str, column: str) -> None:
    result = session.run(table % FILES + USERS.format(column, "DISTINCT"), variables)[-1]
    expected = [(datetime.fromisoformat(f"2020-04-15 {start}"), n) for start, n in DISTINCT_USERS]
    assert sorted(result.rows) == expected


def test_distinct_users_by_processing_time(spark: SparkSession, tmp_path: Path) -> None:
    clock = "SET 'sqlext.clock' = '${CLOCK}';"
    script = PROCESSING_TIME % UNBOUNDED + clock + USERS.format("user_action_time", "DISTINCT")
    eight = datetime(2020, 4, 15, 8)
    moves = [
        Move([{"user_name": name} for name in ("ann", "bob", "ann")], clock=eight + timedelta(minutes=3)),
        Move([{"user_name": "ann"}], clock=eight + timedelta(minutes=9)),
        Move(clock=eight + timedelta(minutes=10)),
    ]
    query = SteppedQuery(spark, tmp_path, script, moves)
    run_together([query])
    assert rows_of(query) == [[], [], [(eight, 2)]]


# Introduction: what a time attribute is


WINDOW = """SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE actions, DESCRIPTOR(t), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;"""


@pytest.mark.parametrize(
    "view",
    [
        "SELECT user_action_time AS t FROM user_actions",
        "SELECT user_action_time AS t, user_name FROM user_actions WHERE user_name <> 'bob'",
        "SELECT t FROM (SELECT user_action_time AS t FROM user_actions)",
        "SELECT user_action_time AS t FROM user_actions UNION ALL SELECT user_action_time FROM user_actions",
    ],
)
def test_it_stays_one_while_it_is_passed_on(offline: Session, view: str) -> None:
    offline.run(f"{ON_TIMESTAMP % FILES} CREATE VIEW actions AS {view};", {"IN": "/data"})
    assert ("t", "TIMESTAMP(3) *ROWTIME*") in [row[:2] for row in offline.sql("DESCRIBE actions").rows]
    assert "window(" in offline.rewrite(WINDOW)


@pytest.mark.parametrize(
    "expression",
    [
        "user_action_time + INTERVAL '1' SECOND",
        "CAST(user_action_time AS TIMESTAMP(3))",
        "COALESCE(user_action_time, TIMESTAMP '2020-01-01 00:00:00')",
    ],
)
def test_it_is_a_plain_timestamp_when_computed_with(offline: Session, expression: str) -> None:
    table = ON_TIMESTAMP % FILES
    offline.run(f"{table} CREATE VIEW actions AS SELECT {expression} AS t FROM user_actions;", {"IN": "/data"})
    error = refusal(offline, WINDOW)
    assert error.code.startswith("TIME-")
    assert "`t`" in str(error)


def test_computing_with_it_is_allowed(session: Session, variables: dict[str, str]) -> None:
    query = "SELECT user_action_time + INTERVAL '1' SECOND AS later FROM user_actions WHERE user_name = 'cid';"
    result = session.run(ON_TIMESTAMP % FILES + query, variables)[-1]
    assert result.rows == [(datetime(2020, 4, 15, 8, 31, 1),)]


def test_a_plain_timestamp_cannot_stand_for_one(offline: Session) -> None:
    table = "CREATE TABLE user_actions (user_name STRING, user_action_time TIMESTAMP(3)) WITH (%s);"
    error = refusal(offline, table % FILES + USERS.format("user_action_time", ""))
    assert error.code.startswith("TIME-")


# Advanced watermarks: accepted, stored and shown; bounded sources need none of them


@each_option
def test_table_options_are_stored_and_shown(offline: Session, options: dict[str, str]) -> None:
    offline.run(ON_TIMESTAMP % f"{FILES}, {written(options)}", {"IN": "/data"})
    shown = offline.sql("SHOW CREATE TABLE user_actions").rows[0][0]
    for key, value in options.items():
        assert f"'{key}' = '{value}'" in shown
    (table,) = [r for r in offline._state.catalog.snapshot().relations() if r.name.name == "user_actions"]
    assert options.items() <= dict(table.options).items()  # type: ignore[union-attr]


def test_options_are_in_the_information_schema(session: Session) -> None:
    options = {key: value for each in OPTIONS.values() for key, value in each.items()}
    session.run(ON_TIMESTAMP % f"{FILES}, {written(options)}", {"IN": "/data"})
    query = "SELECT option_name, option_value FROM information_schema.options WHERE option_name LIKE 'scan.watermark.%'"
    assert dict(session.sql(query).rows) == options


@each_option
def test_a_bounded_source_takes_table_options_and_hints(
    session: Session, variables: dict[str, str], options: dict[str, str]
) -> None:
    query = f"SELECT user_name FROM user_actions /*+ OPTIONS({written(options)}) */ WHERE user_name = 'cid';"
    result = session.run(ON_TIMESTAMP % f"{FILES}, {written(options)}" + query, variables)[-1]
    assert result.rows == [("cid",)]


def option_of_scan(hints: str) -> str | None:
    """Return the idle timeout that a query with these hints reads its table by; the table says one minute."""
    script = ON_TIMESTAMP % f"{FILES}, 'scan.watermark.idle-timeout'='1min'" + f"SELECT data FROM user_actions {hints};"
    state = new_state(None)
    *_, (_, [compiled]) = compile_source(SourceText.of(script.replace("${IN}", "/data")), state)
    (scan,) = streaming_scans(compiled.plan)
    return scan.table.option("scan.watermark.idle-timeout")


@pytest.mark.parametrize(
    ("hints", "value"),
    [
        ("", "1min"),
        ("/*+ OPTIONS('scan.watermark.idle-timeout'='2min') */", "2min"),
        ("/*+ OPTIONS('scan.watermark.idle-timeout'='2min'), OPTIONS('scan.watermark.idle-timeout'='3min') */", "2min"),
    ],
    ids=["table", "hint beats table", "first hint wins"],
)
def test_a_hint_beats_the_table_and_the_first_hint_wins(hints: str, value: str) -> None:
    assert option_of_scan(hints) == value


@pytest.mark.parametrize(
    "option",
    [
        "'scan.watermark.emit.strategy'='sometimes'",
        "'scan.watermark.idle-timeout'='soon'",
        "'scan.watermark.idle'='1s'",
    ],
)
def test_a_wrong_option_is_refused_where_the_table_is_used(offline: Session, option: str) -> None:
    error = refusal(offline, ON_TIMESTAMP % f"{FILES}, {option}" + "SELECT data FROM user_actions;")
    assert error.code.startswith("OPT-")


@pytest.mark.parametrize(
    "setting",
    [
        ("pipeline.auto-watermark-interval", "200 ms"),
        ("table.exec.source.idle-timeout", "1 min"),
        ("pipeline.watermark-alignment.allow-unaligned-source-splits", "true"),
    ],
)
def test_the_page_s_settings_are_stored_and_shown(offline: Session, setting: tuple[str, str]) -> None:
    offline.sql("SET '{}' = '{}'".format(*setting))
    assert setting in offline.sql("SET").rows

"""The examples of seed document 004 (Flink SQL: time attributes): definitions and propagation."""

from __future__ import annotations

import pytest

from .conftest import Analysis

SOURCE = "WITH ('connector' = 'datagen')"
ACTIONS = "CREATE TABLE user_actions (user_name STRING, data STRING, {}) " + SOURCE
LEGACY = """SELECT TUMBLE_START({0}, INTERVAL '10' MINUTE) AS s, COUNT(user_name) AS n FROM user_actions
GROUP BY TUMBLE({0}, INTERVAL '10' MINUTE)"""


def test_a_rowtime_of_type_timestamp(flink: Analysis) -> None:
    flink.run(ACTIONS.format("t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '5' SECOND"))
    assert flink.columns("SELECT t FROM user_actions") == {"t": "TIMESTAMP(3) *ROWTIME*"}
    assert flink.columns(LEGACY.format("t")) == {"s": "TIMESTAMP(3)", "n": "BIGINT"}


def test_a_rowtime_of_type_timestamp_ltz(flink: Analysis) -> None:
    rowtime = "ts BIGINT, t AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR t AS t - INTERVAL '5' SECOND"
    flink.run(ACTIONS.format(rowtime))
    assert flink.columns("SELECT t FROM user_actions") == {"t": "TIMESTAMP_LTZ(3) *ROWTIME*"}
    flink.run(LEGACY.format("t"))


def test_a_proctime_column(flink: Analysis) -> None:
    flink.run(ACTIONS.format("t AS PROCTIME()"))
    assert flink.columns("SELECT t FROM user_actions") == {"t": "TIMESTAMP_LTZ(3) *PROCTIME*"}
    assert flink.columns(LEGACY.format("t"))


def test_it_stays_one_while_it_is_passed_on(flink: Analysis) -> None:
    flink.run(ACTIONS.format("t TIMESTAMP(3), WATERMARK FOR t AS t"))
    flink.run("CREATE VIEW a AS SELECT t AS u FROM user_actions; CREATE VIEW b AS SELECT u AS w FROM a")
    assert flink.times("SELECT w FROM b") == {"w": "ROWTIME"}


def test_it_is_a_plain_timestamp_when_computed_with(flink: Analysis) -> None:
    flink.run(ACTIONS.format("t TIMESTAMP(3), WATERMARK FOR t AS t"))
    assert flink.times("SELECT t + INTERVAL '0' SECOND AS u FROM user_actions") == {}


def test_a_plain_timestamp_is_refused_where_a_time_attribute_is_needed(flink: Analysis) -> None:
    flink.run(ACTIONS.format("t TIMESTAMP(3)"))
    error = flink.refuse(LEGACY.format("t"), "TIME-001")
    assert error.hint == "declare WATERMARK FOR t AS t - INTERVAL '5' SECOND on its table"


@pytest.mark.parametrize(
    "option",
    [
        "'scan.watermark.emit.strategy' = 'on-event'",
        "'scan.watermark.idle-timeout' = '1 min'",
    ],
)
def test_watermark_options_reach_the_scan(flink: Analysis, option: str) -> None:
    flink.run(
        "CREATE TABLE user_actions (user_name STRING, t TIMESTAMP(3), WATERMARK FOR t AS t) "
        f"WITH ('connector' = 'datagen', {option})"
    )
    compiled = flink.run(LEGACY.format("t"))
    assert compiled is not None
    (kept,) = compiled.script.kept
    assert kept.input.idle == (60_000 if "idle" in option else None)


def test_a_hint_beats_the_table_and_the_first_hint_wins(flink: Analysis) -> None:
    flink.run(ACTIONS.format("t TIMESTAMP(3), WATERMARK FOR t AS t"))
    hints = "/*+ OPTIONS('number-of-rows' = '1'), OPTIONS('number-of-rows' = '2') */"
    compiled = flink.run(f"SELECT * FROM user_actions {hints}")
    assert compiled is not None
    assert compiled.script.sources[0].table.option("number-of-rows") == "1"

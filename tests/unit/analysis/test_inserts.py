"""INSERT: columns, types, and what a sink cannot take."""

from __future__ import annotations

import pytest

from .conftest import Analysis

SINKS = """
CREATE TABLE strict (k STRING NOT NULL, n INT) WITH ('connector' = 'blackhole');
CREATE TABLE files (user_name STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '/out', 'format' = 'json');
CREATE TABLE keyed (user_name STRING, n BIGINT, PRIMARY KEY (user_name) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '/out/keyed');
CREATE TABLE plain_delta (user_name STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '/out/plain');
CREATE TABLE computed (a INT, b AS a + 1) WITH ('connector' = 'blackhole');
CREATE VIEW v AS SELECT amount FROM clicks;
"""


@pytest.fixture
def sinks(flink: Analysis) -> Analysis:
    flink.run(SINKS)
    return flink


@pytest.mark.parametrize(
    ("statement", "code", "at"),
    [
        ("INSERT INTO nowhere SELECT 1", "NAME-002", "nowhere"),
        ("INSERT INTO v SELECT 1", "SINK-006", "v SELECT"),
        ("INSERT INTO snk SELECT 'a'", "SINK-001", "SELECT 'a'"),
        ("INSERT INTO snk SELECT 'a', 1, 2", "SINK-001", "SELECT 'a'"),
        ("INSERT INTO snk SELECT 'a', ARRAY[1]", "SINK-002", "ARRAY[1]"),
        ("INSERT INTO snk (user_name, m) SELECT 'a', 1", "NAME-003", "m"),
        ("INSERT INTO computed (b) SELECT 1", "NAME-003", "b"),
        ("INSERT INTO strict (n) SELECT 1", "SINK-007", "strict"),
        ("INSERT OVERWRITE snk SELECT user_name, 1 FROM clicks", "SINK-005", "INSERT"),
        ("INSERT INTO files SELECT user_name, COUNT(*) FROM clicks GROUP BY user_name", "SINK-004", "SELECT"),
    ],
)
def test_refused(sinks: Analysis, statement: str, code: str, at: str) -> None:
    sinks.refuse(statement, code, at)


@pytest.mark.parametrize(
    ("statement", "mode"),
    [
        ("INSERT INTO files SELECT user_name, 1 FROM clicks", "append"),
        ("INSERT INTO keyed SELECT user_name, 1 FROM clicks", "upsert"),
        ("INSERT INTO keyed SELECT user_name, COUNT(*) FROM clicks GROUP BY user_name", "upsert"),
        ("INSERT INTO plain_delta SELECT user_name, COUNT(*) FROM clicks GROUP BY user_name", "upsert"),
        ("INSERT INTO snk SELECT user_name, COUNT(*) FROM clicks GROUP BY user_name", "append"),
        ("INSERT INTO files SELECT country, COUNT(*) FROM users GROUP BY country", "append"),
    ],
)
def test_how_the_sink_is_written(sinks: Analysis, statement: str, mode: str) -> None:
    compiled = sinks.run(statement)
    assert compiled is not None
    assert compiled.insert is not None
    assert compiled.insert.mode == mode


def test_final_state(sinks: Analysis) -> None:
    text = "SET 'sqlext.sink.updates' = 'final-state';"
    text += "INSERT INTO files SELECT user_name, COUNT(*) FROM clicks GROUP BY user_name"
    compiled = sinks.run(text)
    assert compiled is not None
    assert compiled.insert is not None
    assert compiled.insert.mode == "final-state"


def test_columns_are_put_in_the_sinks_order(sinks: Analysis) -> None:
    compiled = sinks.run("INSERT INTO files (n, user_name) SELECT amount, user_name FROM clicks")
    assert compiled is not None
    assert compiled.script.outputs == (("user_name", "user_name"), ("CAST(amount AS BIGINT)", "n"))


def test_metadata_that_the_columns_leave_out_is_not_written(flink: Analysis) -> None:
    """Flink writes NULL there, and Kafka the time of the broker; a column that is written is refused as ever."""
    flink.run(
        "CREATE TABLE topic (at_ TIMESTAMP(3) METADATA FROM 'timestamp', n DECIMAL(10, 2), WATERMARK FOR at_ AS at_) "
        "WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'kafka:9092', 'format' = 'json');"
    )
    flink.run("INSERT INTO topic (n) SELECT CAST(1 AS DECIMAL(10, 2))")
    flink.refuse("INSERT INTO topic SELECT LOCALTIMESTAMP, CAST(1 AS DECIMAL(10, 2))", "OPT-007")

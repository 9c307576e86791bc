"""What can run in Spark's real-time mode, why the rest cannot, and that the rest is refused before it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.session.drafts import RunOptions
from sqlext.session.offline.commands import explanations
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.planning import plan_source
from sqlext.source import SourceText

_TOPIC = "'connector' = 'kafka', 'topic' = '{}', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json'"
TABLES = f"""
CREATE TABLE src (k BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ({_TOPIC.format("src")});
CREATE TABLE ends (k BIGINT, v INT) WITH ({_TOPIC.format("ends")}, 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE files (k BIGINT, v INT)
WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE TABLE `out` (k BIGINT, v INT) WITH ({_TOPIC.format("out")});
CREATE TABLE once (k BIGINT, v INT) WITH ({_TOPIC.format("once")}, 'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'x');
CREATE TABLE keyed (k BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
  'topic' = 'keyed', 'properties.bootstrap.servers' = 'h:1', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE letters (text STRING, reason STRING) WITH ('connector' = 'print');
CREATE VIEW doubled AS SELECT k, v * 2 AS v FROM src;
"""
SET = "SET 'sqlext.trigger.real-time' = '5 s';"
TAKEN = [
    "INSERT INTO `out` SELECT k, v FROM src",
    "INSERT INTO `out` SELECT k, ABS(v) FROM (SELECT * FROM src AS a WHERE v > 1) AS b WHERE k IS NOT NULL",
    "INSERT INTO `out` SELECT * FROM doubled",
]
REFUSED = [
    (
        "INSERT INTO keyed SELECT k, COUNT(*) FROM src GROUP BY k",
        "it has more than SELECT and WHERE over one topic (Aggregate)",
    ),
    ("INSERT INTO `out` SELECT DISTINCT k, v FROM src", "it has more than SELECT and WHERE over one topic"),
    (
        "INSERT INTO `out` SELECT a.k, b.v FROM src AS a JOIN src AS b ON a.k = b.k",
        "it has more than SELECT and WHERE over one topic",
    ),
    (
        "INSERT INTO `out` SELECT k, v FROM src UNION ALL SELECT k, v FROM src",
        "it has more than SELECT and WHERE over one topic",
    ),
    ("INSERT INTO `out` SELECT k, v FROM files", "`files`: connector 'filesystem' is read in micro-batches"),
    ("INSERT INTO `out` SELECT k, v FROM ends", "its input has an end"),
    ("INSERT INTO once SELECT k, v FROM src", "`once`: records are written exactly once by transactions of ours"),
    ("INSERT INTO keyed SELECT k, CAST(v AS BIGINT) FROM src", "its rows replace others"),
]


def explained(folder: Path, settings: str, insert: str) -> str:
    """Return what EXPLAIN says of an INSERT."""
    session = sqlext.connect(catalog=str(folder))
    return str(session.run(f"{TABLES}{settings}EXPLAIN {insert};")[-1].rows[0][0])


@pytest.mark.parametrize("insert", TAKEN)
def test_taken(tmp_path: Path, insert: str) -> None:
    found = explained(tmp_path, SET, insert)
    assert "real-time mode: rows go through as they come, at least once; the place is noted each 5000 ms" in found
    assert "Trigger:" not in explained(tmp_path / "other", "", insert)
    source = SourceText.of(f"{TABLES}{SET}{insert};")
    assert "real-time mode: rows go" in explanations(source, new_state(tmp_path / "offline").fork())[0]


@pytest.mark.parametrize(("insert", "reason"), REFUSED)
def test_refused(tmp_path: Path, insert: str, reason: str) -> None:
    assert f"real-time mode is not possible: {reason}" in explained(tmp_path, SET, insert)
    text = f"{TABLES}{SET}\n{insert};"
    with pytest.raises(SqlExtError) as refused:
        plan_source(SourceText.of(text), new_state(tmp_path / "catalog").fork(), RunOptions("sql"))
    assert (refused.value.code, refused.value.line) == ("OPT-041", text.count("\n") + 1)
    assert reason in refused.value.message
    assert "RESET" in (refused.value.hint or "")


def test_shorter_than_spark_takes(tmp_path: Path) -> None:
    found = explained(tmp_path, SET.replace("5 s", "1 s"), TAKEN[0])
    assert "not possible: a batch lasts at least 5000 ms, not 1000" in found


def test_rows_beside(tmp_path: Path) -> None:
    found = explained(tmp_path, f"{SET}SET 'sqlext.dead-letters.table' = 'letters';", TAKEN[0])
    assert "not possible: rows go to `letters` beside its own" in found

"""Small micro-batches into Delta tables are committed in the driver: with the rows that Spark's own commits give."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from connectors.tables import table
from pyspark.sql import DataFrame, SparkSession

import sqlext
from sqlext.connectors.delta.sink.tables import DeltaSink
from sqlext.connectors.registry import connector_of
from sqlext.plan.nodes import EXISTS
from sqlext.sinks.base import SinkContext
from sqlext.sinks.few_rows import NOTHING, Few
from sqlext.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIME,
    TIMESTAMP_LTZ3,
    LogicalType,
    array,
    decimal,
    timestamp,
)
from tests.workspace import Workspace

KV = {"k": STRING, "v": INT}
CHANGES = f"k STRING, v INT, {EXISTS} BOOLEAN"
FEW = Few(100, 1 << 25)
DRIVER, SPARK = "delta-rs", "Apache-Spark"


def sink_of(
    session: SparkSession,
    path: Path,
    columns: dict[str, LogicalType] | None = None,
    *,
    few: Few = FEW,
    mode: str = "upsert",
    options: dict[str, str] | None = None,
    key: tuple[str, ...] = ("k",),
    exists: str | None = EXISTS,
) -> DeltaSink:
    """Return an opened sink."""
    given = {"connector": "delta", "path": str(path)} | (options or {})
    definition = table(columns or KV, given, primary_key=key if mode == "upsert" else (), name="snk")
    zone = session.conf.get("spark.sql.session.timeZone") or "UTC"
    context = SinkContext("q", "1", mode=mode, keys=key, exists=exists, zone=zone, few=few)  # type: ignore[arg-type]
    sink = DeltaSink(connector_of(definition).write_spec(definition), context)
    sink.open(session)
    return sink


def changes(session: SparkSession, *values: tuple[Any, ...]) -> DataFrame:
    """Return a batch: key, value, whether the row is there."""
    return session.createDataFrame(list(values), CHANGES)


def rows_of(session: SparkSession, path: Path) -> list[tuple[Any, ...]]:
    """Return the rows that Spark reads."""
    return sorted((tuple(r) for r in session.read.format("delta").load(str(path)).collect()), key=repr)


def writers(session: SparkSession, path: Path) -> Sequence[str]:
    """Return who made the commits of batches, oldest first."""
    found = session.sql(f"DESCRIBE HISTORY delta.`{path}`").where("operation IN ('MERGE', 'WRITE')")
    engines = [r[0] for r in found.orderBy("version").select("engineInfo").collect()]
    return [DRIVER if engine.startswith(DRIVER) else engine.partition("/")[0] for engine in engines]


EVERYTHING = {
    "a": timestamp(6),
    "b": TIMESTAMP_LTZ3,
    "c": TIME,
    "d": decimal(10, 2),
    "e": DATE,
    "f": DOUBLE,
    "g": BOOLEAN,
    "y": BYTES,
    "n": STRING,
    "k": BIGINT,
}
EVERYTHING_SQL = """
SELECT TIMESTAMP_NTZ '2024-03-10 02:30:00.120001' a, TIMESTAMP '2024-03-10 02:30:00Z' b, TIME '10:00:00' c,
  CAST(4 AS DECIMAL(10, 2)) d, DATE '1582-10-01' e, CAST('NaN' AS DOUBLE) f, true g, CAST('hi' AS BINARY) y,
  CAST(NULL AS STRING) n, id k FROM range(7)
UNION ALL SELECT TIMESTAMP_NTZ '9999-12-31 23:59:59.999999', TIMESTAMP '0001-01-03 00:00:00Z', NULL, NULL,
  DATE '9999-12-31', -0.0D, NULL, CAST('' AS BINARY), '', NULL
"""


@pytest.mark.parametrize("mode", ["append", "upsert"])
def test_rows_of_all_types_are_those_of_sparks_commit(zoned: SparkSession, tmp_path: Path, mode: str) -> None:
    rows = zoned.sql(EVERYTHING_SQL)
    for name, few in (("driver", FEW), ("spark", NOTHING)):
        sink = sink_of(zoned, tmp_path / name, EVERYTHING, few=few, mode=mode, exists=None)
        for batch in range(2):
            sink.write_new(rows, batch)
    assert writers(zoned, tmp_path / "driver") == [DRIVER] * 2
    assert writers(zoned, tmp_path / "spark") == [SPARK] * 2
    found = rows_of(zoned, tmp_path / "driver")
    assert len(found) == (16 if mode == "append" else 8)
    assert repr(found) == repr(rows_of(zoned, tmp_path / "spark"))


def test_both_ways_know_each_others_batches(session: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "d"
    here, spark = (sink_of(session, path, few=few) for few in (FEW, NOTHING))
    expected = {}
    for batch, sink in enumerate((here, spark, here, here, spark)):
        given = changes(session, ("a", batch, True), (f"k{batch}", batch, True), (f"k{batch - 1}", 0, batch % 2 == 0))
        sink.write(given, batch)
        expected |= {"a": batch, f"k{batch}": batch} | ({f"k{batch - 1}": 0} if batch % 2 == 0 else {})
        if batch % 2:
            expected.pop(f"k{batch - 1}")
        for again in (here, spark):
            again.write(changes(session, ("a", -1, True)), batch)
        assert rows_of(session, path) == sorted(expected.items())
    assert writers(session, path) == [DRIVER, SPARK, DRIVER, DRIVER, SPARK]


def test_appends_of_both_ways_are_found_again(session: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "d"
    given = session.createDataFrame([("a", 1)], "k STRING, v INT")
    here, spark = (sink_of(session, path, few=few, mode="append", exists=None) for few in (FEW, NOTHING))
    for batch, sink in enumerate((here, spark, here)):
        sink.write_new(given, batch)
        for again in (here, spark):
            again.write(given, batch)
    assert rows_of(session, path) == [("a", 1)] * 3
    assert writers(session, path) == [DRIVER, SPARK, DRIVER]


def test_many_rows_are_sparks_and_the_next_batches_too(session: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "d"
    sink = sink_of(session, path, few=Few(3, 1 << 25))
    many = changes(session, *((str(n), n, True) for n in range(4))).repartition(2)
    for batch, rows in enumerate((many.limit(3), many, *[many.limit(1)] * 11)):
        sink.write_new(rows, batch)
    assert writers(session, path) == [DRIVER, *[SPARK] * 11, DRIVER]
    assert len(rows_of(session, path)) == 4


def test_a_batch_is_computed_once_whoever_commits_it(session: SparkSession, tmp_path: Path) -> None:
    for name, few in (("few", FEW), ("many", Few(1, 1 << 25)), ("large", Few(100, 0))):
        sink = sink_of(session, tmp_path / name, few=few)
        sink.write_new(changes(session, ("a", 0, True), ("b", 0, True)), 0)
        seen = session.sparkContext.accumulator(0)

        def counted(rows: Any, seen: Any = seen) -> Any:
            for batch in rows:
                seen.add(batch.num_rows)
                yield batch

        sink.write_new(changes(session, ("a", 1, True), ("b", 2, True)).mapInArrow(counted, CHANGES), 1)
        assert rows_of(session, tmp_path / name) == [("a", 1), ("b", 2)]
        assert seen.value == 2


_FEATURES = {
    "deletion vectors": {"delta.enableDeletionVectors": "true"},
    "change feed": {"delta.enableChangeDataFeed": "true"},
    "column mapping": {"delta.columnMapping.mode": "name"},
    "row tracking": {"delta.enableRowTracking": "true"},
    "widening": {"delta.enableTypeWidening": "true"},
    "commit times": {"delta.enableInCommitTimestamps": "true"},
    "compaction": {"delta.autoOptimize.autoCompact": "true"},
}


@pytest.mark.parametrize("feature", list(_FEATURES))
def test_a_table_with_a_feature_is_merged_by_spark(session: SparkSession, tmp_path: Path, feature: str) -> None:
    path = tmp_path / "d"
    sink = sink_of(session, path, options=_FEATURES[feature])
    for batch in range(2):
        sink.write_new(changes(session, ("a", batch, True), (None, batch, True), ("b", 0, batch == 0)), batch)
    assert rows_of(session, path) == [("a", 1), (None, 1)]
    assert DRIVER not in writers(session, path)


_MADE = {
    "check": ("k STRING, v INT", "", "ADD CONSTRAINT positive CHECK (v >= 0)"),
    "required": ("k STRING NOT NULL, v INT", "", ""),
    "partitions": ("k STRING, v INT", "PARTITIONED BY (k)", ""),
    "clusters": ("k STRING, v INT", "CLUSTER BY (k)", ""),
}


@pytest.mark.parametrize("kind", list(_MADE))
def test_a_table_of_others_is_merged_by_spark(session: SparkSession, tmp_path: Path, kind: str) -> None:
    path, (columns, layout, then) = tmp_path / "d", _MADE[kind]
    session.sql(f"CREATE TABLE delta.`{path}` ({columns}) USING DELTA {layout}")
    if then:
        session.sql(f"ALTER TABLE delta.`{path}` {then}")
    sink = sink_of(session, path)
    for batch in range(2):
        sink.write_new(changes(session, ("a", batch, True), ("b", 0, batch == 0)), batch)
    assert rows_of(session, path) == [("a", 1)]
    assert DRIVER not in writers(session, path)
    if kind in ("check", "required"):
        with pytest.raises(Exception, match=r"DELTA_(VIOLATE_CONSTRAINT|NOT_NULL_CONSTRAINT)"):
            sink.write_new(changes(session, (None if kind == "required" else "a", -1, True)), 2)
        assert rows_of(session, path) == [("a", 1)]


def test_nested_columns_are_sparks(session: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "d"
    sink = sink_of(session, path, {"k": STRING, "v": array(INT)}, mode="append", exists=None)
    sink.write_new(session.sql("SELECT 'a' k, array(1) v"), 0)
    assert (rows_of(session, path), writers(session, path)) == ([("a", [1])], [SPARK])


def test_a_batch_after_optimize_and_vacuum(session: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "d"
    sink = sink_of(session, path)
    for batch in range(12):
        sink.write_new(changes(session, (str(batch), batch, True), ("0", batch, True)), batch)
    session.sql(f"OPTIMIZE delta.`{path}`")
    session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    session.sql(f"VACUUM delta.`{path}` RETAIN 0 HOURS")
    sink.write_new(changes(session, ("5", 50, True), ("0", 0, False)), 12)
    assert rows_of(session, path) == sorted([*((str(n), n) for n in range(1, 12) if n != 5), ("5", 50)], key=repr)
    assert set(writers(session, path)) == {DRIVER}


def test_a_path_that_is_another_table_to_spark(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a cluster whose file system is another one: this process has a table of that path, too."""
    sink, other = sink_of(session, tmp_path / "d"), sink_of(session, tmp_path / "other")
    monkeypatch.setattr(DeltaSink, "_target", other._target)
    sink.write_new(changes(session, ("a", 1, True)), 0)
    assert rows_of(session, tmp_path / "d") == []
    assert writers(session, tmp_path / "other") == [SPARK]


# --- whole queries ------------------------------------------------------------------------------------------------

_EARLY = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT, PRIMARY KEY (k, w) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
INSERT INTO counts SELECT k, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY ROW;
"""


@pytest.mark.parametrize("rows", ["10000", "0"])
def test_a_query_goes_on_the_other_way(workspace: Workspace, rows: str) -> None:
    other = "0" if rows == "10000" else "10000"
    for turn, most in enumerate((rows, other)):
        workspace.put(f"{turn}.csv", "a,1,1", f"b,1,{turn}")
        query = workspace.run(f"SET 'sqlext.sink.local-rows' = '{most}';", _EARLY)[-1].query
        query.process_available()
        query.stop()
    assert [(k, n) for k, _, n in workspace.delta()] == [("a", "2"), ("b", "2")]
    found = writers(workspace.spark, workspace.folder / "out" / "counts")
    assert set(found) == {DRIVER, SPARK}
    assert found == sorted(found, reverse=rows == "10000")


def test_explain_says_who_commits(workspace: Workspace) -> None:
    explained = _EARLY.replace("INSERT INTO", "EXPLAIN INSERT INTO")
    most = "micro-batches of up to 10000 rows are committed in the driver, larger ones by Spark"
    assert f"Sink:\n  {most}\n" in workspace.run(explained)[-1].rows[0][0]
    off = workspace.run("SET 'sqlext.sink.local-rows' = '0';", explained)[-1].rows[0][0]
    assert "Sink:\n  micro-batches are committed by Spark: 'sqlext.sink.local-rows' is 0" in off
    query = workspace.run(_EARLY)[-1].query
    query.stop()
    path = workspace.folder / "out" / "counts"
    workspace.spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    told = workspace.run(explained)[-1].rows[0][0]
    assert "micro-batches are committed by Spark: what the Delta table has: changeDataFeed" in told


def test_the_option_takes_numbers(workspace: Workspace) -> None:
    with pytest.raises(sqlext.SqlExtError) as refused:
        workspace.run("SET 'sqlext.sink.local-rows' = 'many';")
    assert refused.value.code == "OPT-011"

"""DataFrames in and out: registered as tables with time attributes, and results that go on as DataFrames."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as f

from sqlext.errors import SqlExtError
from tests.workspace import COUNTS, EVENTS, Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = ("a,1,1", "b,2,3", "a,3,12", "a,4,25")
PER_WINDOW = [
    ("a", "2024-01-01 00:00:00", "1", "1"),
    ("a", "2024-01-01 00:00:10", "1", "3"),
    ("a", "2024-01-01 00:00:20", "1", "4"),
    ("b", "2024-01-01 00:00:00", "1", "2"),
]
INTO_COUNTS = """
INSERT INTO counts
SELECT k, window_start, COUNT(*), SUM(CAST(v AS BIGINT))
FROM TABLE(TUMBLE(TABLE frame, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
"""
CUMULATED = """
SELECT k, window_end, SUM(v) AS total
FROM TABLE(CUMULATE(TABLE frame, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end
"""


def streaming(workspace: Workspace, kind: str = "TIMESTAMP_NTZ") -> DataFrame:
    """Return the input files as a streaming DataFrame of the user's own Spark session."""
    return workspace.spark.readStream.schema(f"k STRING, v INT, ts {kind}").csv(str(workspace.input))


def written(frame: DataFrame, workspace: Workspace, name: str) -> list[tuple[Any, ...]]:
    """Write what there is of a streaming DataFrame, by Spark's own means, and return all rows so far, sorted."""
    out, checkpoint = str(workspace.folder / name), str(workspace.folder / f"{name}.checkpoint")
    query = frame.writeStream.format("parquet").option("checkpointLocation", checkpoint)
    query.trigger(availableNow=True).start(out).awaitTermination()
    rows = frame.sparkSession.read.parquet(out).collect()
    return sorted(tuple(map(str, row)) for row in rows)


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_NTZ"])
def test_a_streaming_dataframe_is_a_table_with_time_attributes(workspace: Workspace, kind: str) -> None:
    workspace.put("1.csv", *ROWS)
    session = workspace.session()
    session.register(
        streaming(workspace, kind), "frame", rowtime="ts", watermark="2 seconds", proctime="pt", bounded=True
    )
    types = {row[0]: row[1] for row in session.sql("DESCRIBE frame").rows}
    shown = "TIMESTAMP(3)" if kind == "TIMESTAMP_NTZ" else "TIMESTAMP_LTZ(3)"
    assert types == {"k": "STRING", "v": "INT", "ts": f"{shown} *ROWTIME*", "pt": "TIMESTAMP_LTZ(3) *PROCTIME*"}
    workspace.run(COUNTS, INTO_COUNTS, session=session)
    assert workspace.delta() == PER_WINDOW


def test_a_static_dataframe_is_a_snapshot(workspace: Workspace) -> None:
    workspace.put("1.csv", *ROWS)
    frame = workspace.spark.read.schema("k STRING, v INT, ts TIMESTAMP").csv(str(workspace.input))
    names = workspace.spark.createDataFrame([("a", "Ada"), ("b", "Bo")], "k STRING, name STRING").cache()
    session = workspace.session()
    session.register(frame, "frame", rowtime="ts", watermark=timedelta(seconds=2))
    session.register(names, "names")
    workspace.run(COUNTS, INTO_COUNTS, session=session)
    assert workspace.delta() == PER_WINDOW
    session.register(streaming(workspace), "events", rowtime="ts", bounded=True)
    joined = session.sql("SELECT name, v FROM events JOIN names ON events.k = names.k")
    assert sorted(joined.rows) == [("Ada", 1), ("Ada", 3), ("Ada", 4), ("Bo", 2)]
    assert names.storageLevel.useMemory
    assert [t.name for t in workspace.spark.catalog.listTables("global_temp") if t.database == "global_temp"] == []


def test_a_table_is_a_dataframe_with_its_watermark(workspace: Workspace) -> None:
    workspace.put("1.csv", *ROWS)
    session = workspace.session()
    workspace.run(EVENTS, session=session)
    frame = session.table("events")
    assert frame.isStreaming
    assert dict(frame.dtypes)["ts"] == "timestamp"
    counts = frame.groupBy(f.window("ts", "10 seconds"), "k").count().select("window.start", "k", "count")
    # The watermark is at 23 s: Spark gives out the windows before it and keeps the last one open.
    assert written(counts, workspace, "closed") == [
        ("2024-01-01 00:00:00", "a", "1"),
        ("2024-01-01 00:00:00", "b", "1"),
        ("2024-01-01 00:00:10", "a", "1"),
    ]


def test_a_result_goes_on_with_the_time_of_its_windows(workspace: Workspace) -> None:
    workspace.put("1.csv", *ROWS, "a,5,70")
    session = workspace.session()
    session.register(streaming(workspace), "frame", rowtime="ts", watermark="2 s")
    sums = session.query(
        "SELECT k, window_time, SUM(v) AS total FROM TABLE(TUMBLE(TABLE frame, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
        "GROUP BY k, window_start, window_end, window_time"
    )
    assert sums.isStreaming
    assert sums.columns == ["k", "window_time", "total"]
    per_minute = sums.groupBy(f.window("window_time", "1 minute")).agg(f.sum("total").alias("total"))
    assert written(per_minute.select("window.start", "total"), workspace, "minutes") == [("2024-01-01 00:00:00", "10")]


def test_a_query_of_an_operator_goes_on_from_its_checkpoint(workspace: Workspace) -> None:
    session = workspace.session()
    session.register(streaming(workspace), "frame", rowtime="ts", watermark="0 s")
    workspace.put("1.csv", "a,1,1", "a,2,7")
    first = [("a", "2024-01-01 00:00:05", "1")]
    assert written(session.query(CUMULATED), workspace, "sums") == first
    workspace.put("2.csv", "a,4,8", "a,0,20")
    assert written(session.query(CUMULATED), workspace, "sums") == [*first, ("a", "2024-01-01 00:00:10", "7")]


def test_changes_go_on_as_rows(workspace: Workspace) -> None:
    workspace.put("1.csv", "a,1,1", "a,2,2")
    session = workspace.session()
    session.register(streaming(workspace), "frame")
    session.sql("CREATE TEMPORARY VIEW sums AS SELECT k, SUM(v) AS total FROM frame GROUP BY k")
    with pytest.raises(SqlExtError) as caught:
        session.table("sums")
    assert caught.value.code == "SINK-010"
    changes = session.query("SELECT * FROM TO_CHANGELOG(TABLE sums)")
    expected = [("INSERT", "a", "1"), ("UPDATE_AFTER", "a", "3"), ("UPDATE_BEFORE", "a", "1")]
    assert written(changes, workspace, "changes") == expected


def test_static_results_and_those_of_spark_alone(workspace: Workspace) -> None:
    session = workspace.session()
    session.spark.range(3).createOrReplaceTempView("numbers")
    assert [r[0] for r in session.query("SELECT id FROM numbers WHERE id > 0").collect()] == [1, 2]
    assert session.table("numbers").count() == 3
    session.register(session.spark.range(4), "four")
    assert session.table("four").agg(f.sum("id")).first()[0] == 6
    session.register(session.spark.range(2), "four", replace=True)
    assert session.table("default_catalog.default_database.four").count() == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"rowtime": "tss"}, "TIME-010"),
        ({"rowtime": "k"}, "TIME-011"),
        ({"rowtime": "ts", "watermark": "-5 seconds"}, "TIME-015"),
        ({"rowtime": "ts", "watermark": "soon"}, "TIME-015"),
        ({"rowtime": "ts", "watermark": timedelta(seconds=-1)}, "TIME-015"),
        ({"watermark": "5 seconds"}, "TIME-016"),
        ({"proctime": "v"}, "DDL-001"),
        ({"name": "taken"}, "CAT-001"),
        ({"name": "no_such_database.t"}, "CAT-002"),
        ({"bounded": True}, "OPT-017"),
    ],
)
def test_refusals(workspace: Workspace, arguments: dict[str, Any], code: str) -> None:
    frame = workspace.spark.createDataFrame([], "k STRING, v INT, ts TIMESTAMP")
    session = workspace.session()
    session.register(frame, "taken")
    with pytest.raises(SqlExtError) as caught:
        session.register(frame, **{"name": "t", **arguments})
    assert caught.value.code == code
    assert session.sql("SHOW TABLES").rows == [("taken",)]


def test_a_query_is_no_statement_and_a_dataframe_no_table_for_others(workspace: Workspace) -> None:
    session = workspace.session()
    for text in ("SHOW TABLES", "SET 'sqlext.bounded' = 'finish'", "SELECT 1; SELECT 2"):
        with pytest.raises(SqlExtError) as caught:
            session.query(text)
        assert caught.value.code == "PARSE-021"
    session.sql("CREATE TABLE lost (v INT) WITH ('connector' = 'dataframe', 'dataframe' = 'x')")
    with pytest.raises(SqlExtError) as caught:
        session.sql("SELECT * FROM lost")
    assert caught.value.code == "OPT-016"

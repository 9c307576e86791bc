"""``sqlext.install``: our statements in ``spark.sql``, Spark's own ones untouched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import ParseException

import sqlext
from sqlext.errors import SqlExtError
from tests.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.session.api import Session

EVENTS = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
"""
PER_KEY = """
SELECT k, SUM(v) AS total FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY k, window_start, window_end
"""


@pytest.fixture
def own(workspace: Workspace) -> Iterator[SparkSession]:
    """Return a Spark session of the test's own, with the table ``events``, installed."""
    spark = workspace.spark.newSession()
    sqlext.install(spark, workspace.folder / "catalog")
    spark.sql(EVENTS.format(path=workspace.input))
    yield spark
    sqlext.uninstall(spark)


def test_definitions_queries_and_jobs(own: SparkSession, workspace: Workspace) -> None:
    workspace.put("1.csv", "a,1,1", "a,2,3", "b,4,12")
    assert [r.asDict() for r in own.sql("DESCRIBE events").select("name", "type").collect()][2] == {
        "name": "ts",
        "type": "TIMESTAMP(3) *ROWTIME*",
    }
    streaming = own.sql(PER_KEY)
    assert streaming.isStreaming
    assert streaming.sparkSession is own
    created = own.sql(
        f"CREATE TABLE sums (k STRING, total BIGINT) WITH ('connector' = 'delta', 'path' = '{workspace.folder}/sums')"
    )
    assert created.columns == []
    own.sql(f"INSERT INTO sums {PER_KEY}")
    assert sorted(tuple(r) for r in own.read.format("delta").load(f"{workspace.folder}/sums").collect()) == [
        ("a", 3),
        ("b", 4),
    ]
    assert own.sql("SHOW QUERIES").select("status").first()[0] == "finished"
    assert "Aggregate" in own.sql(f"EXPLAIN {PER_KEY}").first()[0]


def test_what_is_not_ours_goes_to_spark_untouched(own: SparkSession) -> None:
    own.range(3).createOrReplaceTempView("numbers")
    assert own.sql("SELECT id FROM numbers WHERE id > :x", args={"x": 1}).collect()[0][0] == 2
    assert own.sql("SELECT id FROM {df} WHERE id > {x}", df=own.range(5), x=3).collect()[0][0] == 4
    assert "sqlext" not in own.sql("SELECT id FROM numbers")._jdf.queryExecution().toString()
    own.sql("CREATE TABLE plain (a INT) USING parquet")
    try:
        own.sql("INSERT INTO plain VALUES (1)")
        assert [r.tableName for r in own.sql("SHOW TABLES").collect() if not r.isTemporary] == ["plain"]
        assert own.sql("DESCRIBE plain").first()[0] == "a"
    finally:
        own.sql("DROP TABLE plain")
    own.sql("SET spark.sql.shuffle.partitions = 3")
    assert own.conf.get("spark.sql.shuffle.partitions") == "3"
    with pytest.raises(ParseException):
        own.sql("MERGE INTO numbers")


def test_mistakes_in_ours(own: SparkSession) -> None:
    codes = {
        "CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FR ts AS ts) WITH ('connector' = 'print')": "PARSE",
        "SELECT nothing FROM events": "NAME-003",
        "SELEC * FROM numbers": "PARSE",
    }
    for text, code in codes.items():
        with pytest.raises(SqlExtError) as caught:
            own.sql(text)
        assert caught.value.code.startswith(code)
    with pytest.raises(SqlExtError) as caught:
        own.sql("SELECT * FROM events WHERE v > :x", args={"x": 1})
    assert caught.value.code == "PARSE-022"


def test_uninstall_undoes_it(own: SparkSession) -> None:
    session: Session = sqlext.install(own)
    assert sqlext.install(own) is session
    sqlext.uninstall(own)
    sqlext.uninstall(own)
    assert "sql" not in vars(own)
    assert own.sql("SELECT 1").first()[0] == 1
    with pytest.raises(ParseException):
        own.sql(EVENTS.format(path="/in"))

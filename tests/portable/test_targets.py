"""Databricks SQL and pipeline projects as text: what is said, and what is refused where it cannot be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.session.offline.commands import rewrite_file, rewrite_project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = """
CREATE TABLE orders (item STRING, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
"""
PER_MINUTE = """
CREATE TABLE per_minute (item STRING, m TIMESTAMP(3), total DOUBLE, PRIMARY KEY (item, m) NOT ENFORCED)
PARTITIONED BY (item) WITH ('connector' = 'delta', 'path' = 'out');
INSERT INTO per_minute SELECT item, window_start, SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY item, window_start, window_end;
"""
SINK = "CREATE TABLE s (item STRING) WITH ('connector' = '{}', {});\nINSERT INTO s SELECT item FROM orders;\n"


def written(text: str, tmp_path: Path, target: str) -> str:
    script = tmp_path / "script.sql"
    script.write_text(text)
    return rewrite_file(script, {"IN": str(tmp_path / "in")}, target=target)


def refusal(text: str, tmp_path: Path, target: str) -> SqlExtError:
    with pytest.raises(SqlExtError) as caught:
        written(text, tmp_path, target)
    assert caught.value.line is not None
    return caught.value


def test_databricks_sql(tmp_path: Path) -> None:
    text = written(ORDERS + PER_MINUTE, tmp_path, "databricks")
    assert text.startswith("SET TIME ZONE 'UTC';\n")
    assert "CREATE OR REFRESH STREAMING TABLE per_minute PARTITIONED BY (item) AS\nWITH sqlext_orders AS (" in text
    assert f"FROM STREAM read_files('{tmp_path}/in', format => 'json', schema => 'item STRING, amount DOUBLE" in text
    assert "WATERMARK ts DELAY OF INTERVAL '10' SECOND" in text
    assert "heartbeat" not in text
    assert "-- PRIMARY KEY (item, m) is not kept here" in text


def test_kafka_and_delta_in_databricks_sql(tmp_path: Path) -> None:
    text = written(
        """
        CREATE TABLE k (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:9092',
          'format' = 'json', 'scan.startup.mode' = 'earliest-offset', 'properties.sasl.jaas.config' = 'env:JAAS');
        CREATE TABLE d (a INT) WITH ('connector' = 'delta', 'table-name' = 'lake.d');
        CREATE TABLE p (a INT) WITH ('connector' = 'delta', 'path' = '/lake/p', 'scan.mode' = 'snapshot');
        SELECT a FROM k UNION ALL SELECT a FROM d;
        SELECT d.a FROM d JOIN p ON d.a = p.a;
        """,
        tmp_path,
        "databricks",
    )
    assert "STREAM read_kafka(bootstrapServers => 'b:9092', subscribe => 't'" in text
    assert "JAAS" not in text
    assert "-- option 'properties.sasl.jaas.config' is a secret and left out" in text
    assert "STREAM lake.d" in text
    assert "FROM delta.`/lake/p`" in text


def test_what_changes_is_a_materialized_view(tmp_path: Path) -> None:
    text = written(ORDERS + "SELECT item, COUNT(*) AS n FROM orders GROUP BY item;", tmp_path, "databricks")
    assert "CREATE OR REFRESH MATERIALIZED VIEW query_1 AS" in text
    assert "STREAM" not in text


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("DDL-041", "SELECT item, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts) AS n FROM orders;"),
        ("DDL-041", "SELECT DISTINCT item FROM orders;"),
        ("DDL-042", SINK.format("kafka", "'topic' = 't', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json'")),
        ("DDL-042", 2 * SINK.format("delta", "'path' = 'out'").partition("\n")[2] + "SELECT 1 AS a;"),
        ("DDL-042", "CREATE TABLE r (v BIGINT, at TIMESTAMP_LTZ(3)) WITH ('connector' = 'rate');\nSELECT v FROM r;"),
    ],
)
def test_what_databricks_sql_cannot_say(tmp_path: Path, code: str, text: str) -> None:
    sink = SINK.format("delta", "'path' = 'out'").partition("\n")[0] if text.startswith("INSERT") else ""
    error = refusal(ORDERS + sink + text, tmp_path, "databricks")
    assert error.code == code, error.render()
    assert error.hint


@pytest.mark.parametrize("target", ["databricks", "pipelines"])
def test_what_only_a_reader_of_ours_reads(tmp_path: Path, target: str) -> None:
    text = """
        CREATE TABLE t (v BIGINT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 't');
        SELECT v FROM t;
    """
    error = refusal(text, tmp_path, target)
    assert (error.code, "`t` has no reader of Spark's" in error.message) == ("DDL-042", True)


def test_a_stateful_query_over_what_its_pipeline_writes(tmp_path: Path) -> None:
    text = """
        CREATE TABLE first (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'delta', 'path' = 'first');
        CREATE TABLE last (item STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = 'last');
        INSERT INTO first SELECT item, ts FROM orders;
        INSERT INTO last SELECT item, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts) FROM first;
    """
    error = refusal(ORDERS + text, tmp_path, "pipelines")
    assert (error.code, "`first`" in error.message) == ("DDL-042", True)
    assert error.hint == "put it into a pipeline of its own, over the table `first`"


def test_a_project_names_secrets_and_keeps_the_definitions(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(
        """
        CREATE TABLE k (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:9092',
          'format' = 'json', 'scan.startup.mode' = 'earliest-offset', 'properties.sasl.jaas.config' = 'env:JAAS');
        CREATE VIEW v AS SELECT a FROM k WHERE a > 0;
        CREATE TABLE plain (a INT) WITH ('connector' = 'delta', 'path' = 'plain');
        CREATE TABLE different (a INT) WITH ('connector' = 'delta', 'path' = 'different');
        INSERT INTO plain SELECT a FROM v;
        INSERT INTO different SELECT DISTINCT a FROM v;
        """
    )
    files = {path.relative_to(tmp_path / "out").as_posix(): path for path in rewrite_project(script, tmp_path / "out")}
    readers = files["transformations/readers.py"].read_text()
    compile(readers, "readers.py", "exec")
    assert "os.environ['JAAS']" in readers
    operators = files["transformations/different.py"].read_text()
    compile(operators, "different.py", "exec")
    assert "CREATE VIEW v AS" in operators
    assert "the stateful function `distinct`" in operators
    assert "INSERT INTO plain" not in operators
    assert "clock/start.txt" in files


def test_views_of_the_catalog_come_behind_what_they_read(tmp_path: Path) -> None:
    session = sqlext.connect(catalog=tmp_path / "catalog")
    views = "CREATE VIEW z AS SELECT item AS a FROM orders; CREATE VIEW a AS SELECT a AS z FROM z;"
    session.run(ORDERS + views, {"IN": "in"})
    script = tmp_path / "job.sql"
    script.write_text(SINK.format("delta", "'path' = 'out'").replace("item FROM orders", "DISTINCT z FROM a"))
    files = rewrite_project(script, tmp_path / "out", catalog=tmp_path / "catalog")
    text = next(f for f in files if f.name == "s.py").read_text()
    assert re.findall(r"CREATE (?:TABLE|VIEW)\S* (?:\S+\.)?`?(\w+)`?", text) == ["orders", "z", "a", "s"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(ORDERS + PER_MINUTE)
    with pytest.raises(SqlExtError, match="cannot write") as caught:
        rewrite_project(script, script, {"IN": "in"})
    assert caught.value.code == "RUN-013"


@pytest.mark.slow
def test_sparks_own_answer(spark: SparkSession, tmp_path: Path) -> None:
    """Spark analyses the CREATE as far as its parser goes, and runs the query: the rows are sqlext's."""
    (tmp_path / "in").mkdir()
    times = ("10:00:01", "10:00:50", "10:01:30", "10:03:00")
    lines = [f'{{"item": "pen", "amount": 2.0, "ts": "2024-01-01 {time}"}}\n' for time in times]
    (tmp_path / "in" / "1.json").write_text("".join(lines))
    text = written(ORDERS + PER_MINUTE, tmp_path, "databricks")
    own = spark.newSession()
    stream = own.readStream.schema("item STRING, amount DOUBLE, ts TIMESTAMP").json(str(tmp_path / "in"))
    stream.createOrReplaceTempView("files")
    create = re.sub(r"read_files\(.*\)", "files", text[text.index("CREATE") :].rstrip().rstrip(";"))
    with pytest.raises(Exception, match="CREATE_PIPELINE_DATASET_QUERY_EXECUTION"):
        own.sql(create.replace("CREATE OR REFRESH", "CREATE"))
    query = own.sql(create.partition(" AS\n")[2]).writeStream.format("memory").queryName("per_minute")
    query.trigger(availableNow=True).start().awaitTermination()
    theirs = sorted(map(tuple, own.table("per_minute").collect()))

    session = sqlext.connect(spark, catalog=str(tmp_path / "catalog"))
    session.sql("SET 'sqlext.bounded' = 'catch-up'")
    session.run((ORDERS + PER_MINUTE).replace("'out'", f"'{tmp_path}/out'"), {"IN": str(tmp_path / "in")})
    assert theirs == sorted(map(tuple, spark.read.format("delta").load(f"{tmp_path}/out").collect()))
    assert len(theirs) == 2

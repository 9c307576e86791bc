"""Dead letters of a query whose checkpoint, sink and letters lie in an object store: once each, and replayed once."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from pyspark.sql import SparkSession

import sqlext
from tests.s3_server import BUCKET, S3Server
from tests.s3_spark import s3a_session
from tests.sinks.test_dead_letters import ANY_LINE, BAD_VALUE, LETTERS
from tests.workspace import Workspace

TABLES = """
SET 'sqlext.bounded' = 'catch-up';
SET 'sqlext.source' = '${READER}';
CREATE TABLE IF NOT EXISTS events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${URL}/in', 'format' = 'csv');
CREATE TABLE IF NOT EXISTS kept (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${URL}/kept');
"""
INSERT = "INSERT INTO kept SELECT k, 12 / v FROM events;"


class _AtUrl:
    """One query and all that it has, in an object store."""

    def __init__(self, spark: SparkSession, workspace: Workspace, s3: S3Server, reader: str) -> None:
        self.url = f"s3a://{BUCKET}/{uuid.uuid4().hex}"
        self.spark, self.workspace, self.s3 = spark, workspace, s3
        self.variables = {"URL": self.url, "OUT": self.url, "READER": reader}

    def run(self, *script: str) -> list[Any]:
        """Run a script in a session of its own."""
        session = sqlext.connect(self.spark, catalog=self.workspace.folder / "catalog", settings=self.s3.settings)
        letters = LETTERS.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS").replace(
            "read_at", "letter STRING, read_at"
        )
        text = "\n".join((TABLES, letters, *script))
        return session.run(text, variables=self.variables, checkpoint=f"{self.url}/checkpoints")

    def put(self, name: str, *lines: str) -> None:
        """Write an input file."""
        text = self.spark.createDataFrame([(line,) for line in lines], "value STRING").coalesce(1)
        text.write.mode("append").text(f"{self.url}/in/{name}")

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """Return the rows of a table, sorted."""
        found = self.spark.read.format("delta").load(f"{self.url}/{name}").collect()
        return sorted(tuple(row) for row in found)


@pytest.mark.parametrize("reader", [pytest.param("spark", marks=pytest.mark.costly), "arrow"])
def test_each_letter_is_kept_and_comes_back_once(
    spark: SparkSession, workspace: Workspace, s3: S3Server, reader: str
) -> None:
    connected = s3a_session(spark, s3)
    for name, value in s3.settings.items():
        connected.conf.set(name, value)
    query = _AtUrl(connected, workspace, s3, reader)
    query.put("", "a,1,2024-01-01 00:00:01.000", ANY_LINE, "b,0,2024-01-01 00:00:05.000")
    query.run(INSERT)
    query.run(INSERT)
    assert query.rows("kept") == [("a", 12)]
    letters = [(row[1], row[2], row[6]) for row in query.rows("letters")]
    assert letters == [("decode", "RUN-066", BAD_VALUE), ("expression", "RUN-040", "12 / v: division by zero")]
    query.put("", "c,4,2024-01-01 00:00:41.000", "c,y,2024-01-01 00:00:44.000")
    query.run(INSERT)
    assert query.rows("kept") == [("a", 12), ("c", 3)]
    assert [row[1] for row in query.rows("letters")].count("decode") == 2
    query.run("REPLAY letters WHERE cause = 'expression' SET v = 6;")
    query.run(INSERT)
    query.run(INSERT)
    assert query.rows("kept") == [("a", 12), ("b", 2), ("c", 3)]

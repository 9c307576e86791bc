"""Queries on Spark with a catalog at a URL: their places lie beside it, or where they are told to."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import sqlext
from sqlext import Session
from sqlext.stores.location import Location
from tests.s3_server import BUCKET, S3Server
from tests.s3_spark import s3a_session

TABLES = """
CREATE TABLE words (word STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{folder}/in', 'format' = 'json');
CREATE TABLE seen (word STRING) WITH ('connector' = 'delta', 'path' = '{folder}/out');
"""
QUERY = "INSERT INTO seen SELECT word FROM words;"


@pytest.fixture
def url() -> str:
    """A place where nothing lies."""
    return f"s3://{BUCKET}/{uuid.uuid4().hex}"


@pytest.fixture
def session(spark: SparkSession, url: str, s3: S3Server, tmp_path: Path) -> Session:
    """A session whose catalog lies there, by the settings of Spark's session."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"word": "a", "ts": "2024-01-01 00:00:00"}\n')
    own = s3a_session(spark, s3)
    for name, value in s3.settings.items():
        own.conf.set(name, value)
    session = sqlext.connect(own, url)
    session.run(TABLES.format(folder=tmp_path))
    return session


def test_information_schema_and_its_versions(session: Session) -> None:
    tables = "SELECT table_name FROM information_schema.tables {} WHERE table_schema = 'default_database' ORDER BY 1"
    assert session.sql(tables.format("")).rows == [("seen",), ("words",)]
    assert session.sql(tables.format("VERSION AS OF 0")).rows == [("words",)]


def test_batches_and_selects_need_no_checkpoint(session: Session) -> None:
    assert session.sql("SELECT word FROM words").rows == [("a",)]
    session.run(f"SET 'execution.runtime-mode' = 'batch'; {QUERY}")
    assert session.sql("SELECT word FROM seen").rows == [("a",)]


def test_a_stream_keeps_its_place_beside_the_catalog(session: Session, url: str, s3: S3Server) -> None:
    for _ in range(2):
        session.run(f"SET 'sqlext.bounded' = 'catch-up'; {QUERY}")
        assert session.sql("SELECT word FROM seen").rows == [("a",)]
    (record,) = session.catalog.snapshot().queries()
    assert record.checkpoint.startswith(url.replace("s3://", "s3a://") + "/queries/")
    other = sqlext.connect(catalog=url, settings=s3.settings)
    assert other.watermarks.why(record.name)
    other.drop_query(record.name)
    assert list(Location.of(f"{url}/queries", s3.settings).names()) == []


def test_a_stream_of_another_checkpoint(session: Session, url: str, s3: S3Server, tmp_path: Path) -> None:
    session.run(QUERY, checkpoint=tmp_path / "checkpoints")
    assert session.sql("SELECT word FROM seen").rows == [("a",)]
    # Another process knows the query by its record, and where its place is.
    other = sqlext.connect(catalog=url, settings=s3.settings)
    (record,) = other.catalog.snapshot().queries()
    assert (record.status, record.writes.split(".")[-1]) == ("finished", "seen")
    assert Path(record.checkpoint).parent.parent == tmp_path / "checkpoints"
    assert other.watermarks.why(record.name)
    session.sql(f"DROP QUERY `{record.name}`")
    assert list((tmp_path / "checkpoints").iterdir()) == []
    assert other.catalog.snapshot().queries() == []


def test_a_materialized_view_lies_beside_the_catalog(session: Session, url: str, s3: S3Server) -> None:
    """Its source, its rows, its state and the catalog: nothing is local."""
    place = Location.of(url, s3.settings)
    place.put("in/1.json", '{"word": "a", "ts": "2024-01-01 00:00:00"}\n')
    source = TABLES.format(folder=url).split(";")[0].replace("words", "said")
    view = "CREATE MATERIALIZED VIEW IF NOT EXISTS totals AS SELECT word, COUNT(*) AS n FROM said GROUP BY word;"
    script = f"SET 'sqlext.bounded' = 'catch-up'; {view}"
    session.run(f"{source};{script}")
    assert session.sql("SELECT * FROM totals").rows == [("a", 1)]
    place.put("in/2.json", '{"word": "a", "ts": "2024-01-01 00:00:01"}\n{"word": "b", "ts": "2024-01-01 00:00:02"}\n')
    session.run(script)
    assert sorted(session.sql("SELECT * FROM totals").rows) == [("a", 2), ("b", 1)]
    assert {name.partition("/")[0] for name in place.names()} == {"definitions", "in", "queries", "tables"}
    session.run("DROP MATERIALIZED VIEW totals;")
    assert {name.partition("/")[0] for name in place.names()} == {"definitions", "in"}

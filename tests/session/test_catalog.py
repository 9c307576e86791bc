"""The catalog as users of a Session meet it: asked in SQL, asked for the past, found by a database's name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ONE = "CREATE TABLE a (x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')"
TWO = "CREATE TABLE b (y INT) WITH ('connector' = 'datagen')"


def names(session: sqlext.session.api.Session, source: str) -> list[str]:
    """Return the table names that a view of the information schema lists."""
    return sorted(r[0] for r in session.sql(f"SELECT table_name FROM {source}").rows)


def test_definitions_are_rows(spark: SparkSession, tmp_path: Path) -> None:
    session = sqlext.connect(spark, tmp_path)
    session.run(f"{ONE}; {TWO};")
    assert names(session, "information_schema.tables") == ["a", "b"]
    rows = session.sql("SELECT column_name FROM information_schema.time_attributes WHERE table_name = 'a'").rows
    assert rows == [("ts",)]


def test_an_earlier_version_of_the_definitions(spark: SparkSession, tmp_path: Path) -> None:
    session = sqlext.connect(spark, tmp_path)
    session.sql(ONE)
    version = session.catalog.snapshot().version
    session.run(f"{TWO}; ALTER TABLE a DROP WATERMARK;")
    assert names(session, f"information_schema.tables VERSION AS OF {version}") == ["a"]
    assert names(session, "information_schema.watermarks") == []
    assert names(session, f"information_schema.watermarks VERSION AS OF {version}") == ["a"]
    assert len(session.catalog.history()) == len({v.version for v in session.catalog.history()}) >= 3


def test_a_version_that_never_was(spark: SparkSession, tmp_path: Path) -> None:
    session = sqlext.connect(spark, tmp_path)
    session.sql(ONE)
    with pytest.raises(sqlext.SqlExtError) as caught:
        session.sql("SELECT * FROM information_schema.tables VERSION AS OF 999")
    assert caught.value.code == "CAT-034"


def test_two_sessions_share_a_catalog(spark: SparkSession, tmp_path: Path) -> None:
    first, second = sqlext.connect(spark, tmp_path), sqlext.connect(spark, tmp_path)
    first.sql(ONE)
    assert second.sql("SHOW TABLES").rows == [("a",)]
    second.sql("ALTER TABLE a SET ('number-of-rows' = '3')")
    assert "number-of-rows" in first.sql("SHOW CREATE TABLE a").rows[0][0]


def test_the_catalog_of_a_database(spark: SparkSession, tmp_path: Path) -> None:
    location = tmp_path / "warehouse of a database"
    spark.sql(f"CREATE DATABASE sqlext_catalog_test LOCATION '{location}'")
    try:
        sqlext.connect(spark, "sqlext_catalog_test").sql(ONE)
        assert sqlext.connect(spark, "sqlext_catalog_test").sql("SHOW TABLES").rows == [("a",)]
        assert (location / "_sqlext").is_dir()
    finally:
        spark.sql("DROP DATABASE sqlext_catalog_test CASCADE")


def test_a_database_where_no_catalog_can_lie(spark: SparkSession, tmp_path: Path) -> None:
    """Hadoop's own file system of links has one. A database may be moved there without being asked for its folder."""
    spark.sql(f"CREATE DATABASE far_away LOCATION '{(tmp_path / 'near').as_uri()}'")
    spark.sql("ALTER DATABASE far_away SET LOCATION 'viewfs://of-tests/there/far_away'")
    try:
        with pytest.raises(sqlext.SqlExtError) as refused:
            sqlext.connect(spark, "far_away")
    finally:
        spark.sql(f"ALTER DATABASE far_away SET LOCATION '{(tmp_path / 'near').as_uri()}'")
        spark.sql("DROP DATABASE far_away")
    assert refused.value.code == "CAT-037"
    assert refused.value.message.startswith("database `far_away` lies at viewfs://of-tests/there/far_away")
    assert "s3a://" in (refused.value.hint or "")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_name_is_refused_with_close_matches(spark: SparkSession, tmp_path: Path) -> None:
    session = sqlext.connect(spark, tmp_path)
    session.run("CREATE TABLE orders (x INT) WITH ('connector' = 'datagen')")
    with pytest.raises(sqlext.SqlExtError) as caught:
        session.sql("SELECT * FROM order_s")
    assert caught.value.code == "NAME-002"
    assert "orders" in (caught.value.hint or "")

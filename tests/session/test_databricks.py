"""What Databricks' rules do to a session: nothing here runs on Databricks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.databricks import RUNTIME, PlatformRules
from sqlext.session import api
from sqlext.session.notices import CatchUpNotice

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE events (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{0}/in', 'format' = 'csv', 'source.monitor-interval' = '1s');
CREATE TABLE counted (started TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{0}/out', 'format' = 'json');
"""
WINDOWS = """SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end"""


def minutes(folder: Path, name: str, *numbers: int) -> None:
    """Write a file with a row in each of some minutes."""
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / name).write_text("".join(f"a,2024-01-01 10:{n:02d}:00\n" for n in numbers))


def test_a_folder_of_the_machine_is_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RUNTIME, "17.3")
    session = sqlext.connect(spark, tmp_path)
    assert session.check("SELECT 1;") == []
    with pytest.raises(SqlExtError, match="the catalog cannot lie at") as refused:
        session.sql("SELECT 1")
    assert refused.value.code == "ENV-020"
    with pytest.raises(SqlExtError, match="checkpoints cannot lie at"):
        session.run("SELECT 1;", checkpoint=tmp_path)
    assert [f.code for f in session.doctor().missing] == ["ENV-020"]


def test_an_endless_query_catches_up(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = frozenset({"spark.sql.ansi.enabled", "spark.sql.session.timeZone"})
    rules = PlatformRules("This platform", endless=False, settings=settings)
    monkeypatch.setattr(api, "platform_rules", lambda _: rules)
    minutes(tmp_path, "a.csv", 0, 2)
    script = TABLES.format(tmp_path) + f"INSERT INTO counted {WINDOWS};"

    def rows() -> list[int]:
        with pytest.warns(CatchUpNotice, match="This platform takes no query without an end"):
            done = sqlext.connect(spark, tmp_path / "catalog").run(script)[-1]
        assert done.query is not None
        done.query.await_termination()
        assert any("takes no query without an end" in text for text in done.notices)
        return sorted(row.n for row in spark.read.json(f"{tmp_path}/out").collect())

    assert rows() == [1]
    minutes(tmp_path, "b.csv", 2, 4)
    # The window that was open goes on.
    assert rows() == [1, 2]


def test_a_query_that_began_without_an_end_goes_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that began on a cluster, and is scheduled on serverless compute later."""
    minutes(tmp_path, "a.csv", 0, 2)
    script = TABLES.format(tmp_path) + f"INSERT INTO counted {WINDOWS};"
    session = sqlext.connect(spark, tmp_path / "catalog")
    began = session.run(script)[-1].query
    assert began is not None
    began.process_available()
    session.stop()
    monkeypatch.setattr(api, "platform_rules", lambda _: PlatformRules("This platform", endless=False))
    minutes(tmp_path, "b.csv", 2, 4)
    with pytest.warns(CatchUpNotice):
        done = sqlext.connect(spark, tmp_path / "catalog").run(script)[-1].query
    assert done is not None
    done.await_termination()
    assert sorted(row.n for row in spark.read.json(f"{tmp_path}/out").collect()) == [1, 2]


def test_an_endless_select_shows_what_is_there(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "platform_rules", lambda _: PlatformRules("This platform", endless=False))
    minutes(tmp_path, "a.csv", 0, 1)
    session = sqlext.connect(spark)
    session.run(TABLES.format(tmp_path))
    with pytest.warns(CatchUpNotice):
        result = session.sql("SELECT k FROM events")
    assert result.query is not None
    result.query.await_termination()
    assert result.rows == [("a",), ("a",)]

"""A Delta table that lacks the last commit of a stopped query is refused, whoever has made that commit."""

from __future__ import annotations

import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sqlext import SqlExtError
from tests.workspace import Workspace

_SCRIPT = """
SET 'sqlext.bounded' = 'catch-up';
CREATE TABLE IF NOT EXISTS events (k STRING, v INT, ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
CREATE TABLE IF NOT EXISTS plain (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/plain');
CREATE TABLE IF NOT EXISTS totals (k STRING, v BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/totals');
BEGIN STATEMENT SET;
INSERT INTO plain SELECT k, v FROM events;
INSERT INTO totals SELECT k, SUM(v) FROM events GROUP BY k;
END;
"""
_BY = {"the driver": "", "Spark": "SET 'sqlext.sink.local-rows' = '0';"}
_TABLES = ("plain", "totals")


class _Job:
    """A job that has read two files of three, in a batch each."""

    def __init__(self, spark: SparkSession, folder: Path, by: str) -> None:
        self.workspace, self._by = Workspace(spark, folder), by
        for name, row in (("a.csv", "a,1,1"), ("b.csv", "b,2,2")):
            self.workspace.put(name, row)
            self.run()
        self.workspace.put("c.csv", "a,4,3")

    def run(self) -> None:
        self.workspace.run(_BY[self._by], _SCRIPT)

    def commits(self, table: str) -> list[Path]:
        return sorted((self.workspace.folder / "out" / table / "_delta_log").glob("*.json"))

    def rows(self) -> tuple[list[tuple[str, ...]], ...]:
        return tuple(self.workspace.delta(name) for name in _TABLES)


@pytest.mark.parametrize("by", _BY)
def test_the_last_commit_is_gone(spark: SparkSession, tmp_path: Path, by: str) -> None:
    job = _Job(spark, tmp_path, by)
    for table in _TABLES:
        last = job.commits(table)[-1]
        kept = last.read_bytes()
        last.unlink()
        before = job.rows()
        with pytest.raises(SqlExtError, match=re.escape(f"`{last}` is not there")) as refused:
            job.run()
        assert refused.value.code == "RUN-096"
        assert job.rows() == before  # nothing has run
        last.write_bytes(kept)  # what the hint says first
    job.run()
    assert job.rows() == ([("a", "1"), ("a", "4"), ("b", "2")], [("a", "5"), ("b", "2")])


@pytest.mark.parametrize("by", _BY)
def test_it_goes_on_without_these_rows(spark: SparkSession, tmp_path: Path, by: str) -> None:
    job = _Job(spark, tmp_path, by)
    for table in _TABLES:
        job.commits(table)[-1].unlink()
    for table in _TABLES:
        with pytest.raises(SqlExtError) as refused:
            job.run()
        found = re.search(r"remove `([^`]+)`", refused.value.hint or "")
        assert found is not None
        Path(found[1]).unlink()
        # What Spark keeps beside a commit: the hint says so.
        left = list((tmp_path / "out" / table / "_delta_log").glob(".*2.json.crc"))
        assert bool(left) == ("the files of later versions" in (refused.value.hint or ""))
        for file in (*left, *(tmp_path / "out" / table / "_delta_log").glob("*2.crc*")):
            file.unlink()
    job.run()
    assert job.rows() == ([("a", "1"), ("a", "4")], [("a", "5")])


@pytest.mark.parametrize("by", _BY)
def test_a_table_that_was_restored_or_made_anew(spark: SparkSession, tmp_path: Path, by: str) -> None:
    job = _Job(spark, tmp_path, by)
    own = spark.newSession()
    for table in _TABLES:
        own.sql(f"RESTORE TABLE delta.`{tmp_path}/out/{table}` TO VERSION AS OF 1").collect()
    job.run()
    assert job.rows() == ([("a", "1"), ("a", "4")], [("a", "5")])
    for table in _TABLES:
        shutil.rmtree(tmp_path / "out" / table)
    job.workspace.put("d.csv", "d,8,4")
    job.run()
    assert job.rows() == ([("d", "8")], [("d", "8")])


def test_a_database_that_was_put_back(spark: SparkSession, tmp_path: Path) -> None:
    workspace = Workspace(spark, tmp_path)
    script = """
    SET 'sqlext.bounded' = 'catch-up';
    CREATE TABLE IF NOT EXISTS events (k STRING, v INT, ts TIMESTAMP(3))
    WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
    CREATE TABLE IF NOT EXISTS stored (k STRING, v INT)
    WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:${OUT}.db', 'table-name' = 'stored');
    INSERT INTO stored SELECT k, v FROM events;
    """
    stored, kept = tmp_path / "out.db", tmp_path / "kept.db"
    for name, row in (("a.csv", "a,1,1"), ("b.csv", "b,2,2")):
        if stored.exists():
            shutil.copy(stored, kept)
        workspace.put(name, row)
        workspace.run(script)
    workspace.put("c.csv", "c,3,3")
    whole = stored.read_bytes()
    shutil.copy(kept, stored)
    with pytest.raises(SqlExtError, match="has written micro-batch 1, and the table `sqlext_batches`") as refused:
        workspace.run(script)
    assert refused.value.code == "RUN-096"
    stored.write_bytes(whole)
    workspace.run(script)
    with sqlite3.connect(stored) as database:
        assert sorted(database.execute("SELECT k, v FROM stored")) == [("a", 1), ("b", 2), ("c", 3)]
    # One that was made anew is another one.
    stored.unlink()
    workspace.put("d.csv", "d,4,4")
    workspace.run(script)
    with sqlite3.connect(stored) as database:
        assert database.execute("SELECT k, v FROM stored").fetchall() == [("d", 4)]

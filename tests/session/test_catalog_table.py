"""A catalog that is a Delta table of Spark's own catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import sqlext
from sqlext import SqlExtError
from sqlext.spark.catalog_table import TableStore
from sqlext.types import INT
from sqlext_catalog import ddl
from sqlext_catalog.model import DEFAULT_CATALOG, DEFAULT_DATABASE, Column, ObjectName, Table
from sqlext_catalog.snapshot import Change, Snapshot

NAME = "spark_catalog.of_catalogs.sqlext"
WORDS = "CREATE TABLE words (word STRING) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json')"


@pytest.fixture
def name(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a table that is not there, in a schema that is; nothing may be made in the working directory."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    spark.sql(f"CREATE SCHEMA of_catalogs LOCATION '{tmp_path / 'warehouse'}'")
    yield NAME
    spark.sql("DROP SCHEMA of_catalogs CASCADE")
    assert list(here.iterdir()) == []


def table(name: str) -> Table:
    return Table(ObjectName(DEFAULT_CATALOG, DEFAULT_DATABASE, name), (Column("a", INT),))


def names(snapshot: Snapshot) -> list[str]:
    return [r.name.name for r in snapshot.relations()]


def test_sessions_share_it(spark: SparkSession, name: str, tmp_path: Path) -> None:
    one, other = sqlext.connect(spark, name), sqlext.connect(spark, name)
    assert one.sql("SHOW TABLES").rows == []
    assert not spark.catalog.tableExists(name)
    one.sql(WORDS.format(tmp_path / "in"))
    one.sql("CREATE VIEW v AS SELECT word FROM words")
    assert other.sql("SHOW TABLES").rows == [("v",), ("words",)]
    other.sql("DROP VIEW v")
    assert one.catalog.lookup(["v"]) is None
    assert [names(one.catalog.at_version(n)) for n in (0, 1, 2)] == [["words"], ["v", "words"], ["words"]]
    said = [(v.version, v.operation.split()[0]) for v in one.catalog.history()]
    assert said == [(2, "DROP"), (1, "CREATE"), (0, "CREATE")]
    rows = one.sql("SELECT table_name FROM information_schema.tables VERSION AS OF 1 WHERE table_name < 'z'").rows
    assert sorted(rows) == [("v",), ("words",)]
    assert one.doctor().findings


def test_what_has_no_place_beside_it_is_refused(spark: SparkSession, name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"word": "a"}\n')
    session = sqlext.connect(spark, name)
    session.sql(WORDS.format(tmp_path / "in"))
    assert session.sql("SELECT word FROM words").rows == [("a",)]
    with pytest.raises(SqlExtError) as refused:
        session.sql("CREATE MATERIALIZED VIEW m AS SELECT word FROM words")
    assert refused.value.code == "CAT-041"
    sink = f"CREATE TABLE seen (word STRING) WITH ('connector' = 'delta', 'path' = '{tmp_path / 'out'}');"
    with pytest.raises(SqlExtError) as refused:
        session.run(f"{sink} INSERT INTO seen SELECT word FROM words;")
    assert refused.value.code == "RUN-028"
    assert names(session.catalog.snapshot()) == ["words"]
    session.run(f"{sink} INSERT INTO seen SELECT word FROM words;", checkpoint=tmp_path / "checkpoints")
    assert session.sql("SELECT word FROM seen").rows == [("a",)]
    (record,) = sqlext.connect(spark, name).catalog.snapshot().queries()
    assert record.status == "finished"


def test_a_commit_that_was_slower_is_made_again(spark: SparkSession, name: str) -> None:
    raced: list[int] = []

    def late(snapshot: Snapshot) -> Sequence[Change]:
        raced.append(snapshot.version)
        if len(raced) < 3:
            TableStore(spark, name).commit(ddl.create(table(f"t{len(raced)}")), "CREATE")
        return ddl.create(table("late"))(snapshot)

    store = TableStore(spark, name)
    store.commit(late, "CREATE")
    assert raced == [-1, 0, 1]
    assert names(store.snapshot()) == ["late", "t1", "t2"]


def test_commits_at_once_lose_nothing(spark: SparkSession, name: str) -> None:
    TableStore(spark, name).commit(ddl.create(table("t")), "CREATE")

    def commit(n: int) -> None:
        TableStore(spark, name).commit(ddl.create(table(f"t{n}")), f"CREATE {n}")

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(commit, range(3)))
    store = TableStore(spark, name)
    assert names(store.snapshot()) == ["t", "t0", "t1", "t2"]
    assert sorted(v.operation for v in store.history()) == ["CREATE", "CREATE 0", "CREATE 1", "CREATE 2"]


def test_another_table_is_none(spark: SparkSession, name: str) -> None:
    spark.range(3).write.format("delta").saveAsTable(name)
    with pytest.raises(SqlExtError) as refused:
        sqlext.connect(spark, name).sql("SHOW TABLES")
    assert refused.value.code == "CAT-030"
    assert name in refused.value.message

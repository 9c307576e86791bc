"""State in levels gives the same rows however often a query is stopped, killed, or loses the files of its levels."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from pyspark import SparkFiles

from sqlext_udfs.kernel.levelled import LevelRules
from sqlext_udfs.spark import buckets
from tests.stepped_queries import Move, SteppedQuery, run_together
from tests.workspace import EVENTS, Workspace

from .dying import run_and_die
from .operator_job import MOVES, OPERATORS, SMALL_LEVELS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JOB = "tests.restore.operator_job"
#: Of each form of state one.
_NAMES = ["top_n", "two_levels", "over", "join", "interval_join", "join_that_forgets"]
_IN_BUCKETS = """
CREATE TABLE IF NOT EXISTS totals (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/totals');
SET 'sqlext.bounded' = 'catch-up';
SET 'sqlext.state.buckets' = '%s';
INSERT INTO totals SELECT n || k, COUNT(*) FROM (SELECT k, CAST(COUNT(*) AS STRING) AS n FROM events GROUP BY k)
GROUP BY n || k;
"""


def rows(folder: Path) -> list[tuple[Any, ...]]:
    """Return what a query has written."""
    return sorted(tuple(map(str, row.values())) for row in DeltaTable(folder / "out").to_pyarrow_table().to_pylist())


def undisturbed(spark: SparkSession, folder: Path, name: str) -> list[tuple[Any, ...]]:
    """Return what a query gives that keeps its state as one value, and is never stopped."""
    query = SteppedQuery(spark, folder, OPERATORS[name].script, MOVES)
    run_together([query])
    assert query.failure is None, query.failure
    return rows(folder)


def go_on(spark: SparkSession, folder: Path, name: str, moves: list[Move], partitions: int) -> None:
    query = SteppedQuery(spark, folder, OPERATORS[name].script, moves)
    query.start({"spark.sql.shuffle.partitions": str(partitions)})
    for move in moves:
        query.put(move)
        query.settle()
    query.stop()


def forget_files() -> int:
    """Delete the files of all levels; return how many there were."""
    folder = Path(SparkFiles.getRootDirectory()) / "sqlext-levels"
    found = len(list(folder.glob("*")))
    shutil.rmtree(folder, ignore_errors=True)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", _NAMES)
def test_stopped_without_files_and_back_to_one_value(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    expected = undisturbed(spark, tmp_path / "whole", name)
    go_on(spark, tmp_path / "stopped", name, MOVES[:1], 3)
    monkeypatch.setattr(buckets, "RULES", SMALL_LEVELS)
    go_on(spark, tmp_path / "stopped", name, MOVES[1:3], 2)
    assert forget_files()
    go_on(spark, tmp_path / "stopped", name, MOVES[3:4], 3)
    monkeypatch.setattr(buckets, "RULES", LevelRules())
    go_on(spark, tmp_path / "stopped", name, MOVES[4:], 1)
    assert rows(tmp_path / "stopped") == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_levels", "join"])
def test_killed(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Killed when the next rows were there and not yet worked off, or just then; its files are those of another run."""
    expected = undisturbed(spark, tmp_path / "whole", name)
    settled, folder = 2, tmp_path / "killed"
    run_and_die(_JOB, name, folder, settled, "levels")
    monkeypatch.setattr(buckets, "RULES", SMALL_LEVELS)
    SteppedQuery(spark, folder, OPERATORS[name].script, MOVES[settled + 1 :]).go_on()
    assert rows(folder) == expected


@pytest.mark.slow
def test_other_buckets(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is divided into other buckets is all that the levels have."""
    monkeypatch.setattr(buckets, "RULES", SMALL_LEVELS)
    files = (["a,1,1", "b,2,2"], ["a,3,3", "c,4,4"], ["a,3,5", "d,4,6", "c,4,7"], ["d,4,8", "e,1,9"])
    for number, (lines, buckets_) in enumerate(zip(files, (3, 3, 5, 2), strict=True)):
        workspace.put(f"{number}.csv", *lines)
        workspace.run(EVENTS, _IN_BUCKETS % buckets_)
    assert workspace.delta("totals") == [("1b", "1"), ("1e", "1"), ("2c", "1"), ("2d", "1"), ("3a", "1")]

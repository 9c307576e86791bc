"""Each operator gives the same rows however often it is stopped, killed, or given other partitions."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable

from tests.stepped_queries import SteppedQuery, run_together

from .dying import run_and_die
from .operator_job import MOVES, OPERATORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

_JOB = "tests.restore.operator_job"
#: Of those whose operators are different inside, one each: a driver that is killed costs half a minute.
_KILLED = [
    "two_levels",
    "filled_windows_of_a_table",
    "over",
    "interval_join",
    "over_that_forgets",
    "join_that_forgets",
    "join_by_arrival",
]


def rows(folder: Path) -> list[tuple[Any, ...]]:
    """Return what a query has written."""
    return sorted(tuple(map(str, row.values())) for row in DeltaTable(folder / "out").to_pyarrow_table().to_pylist())


@pytest.fixture(scope="module")
def undisturbed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], SteppedQuery]:
    """Return how to run a query without a stop. It runs once, when the first test asks for it."""
    folder = tmp_path_factory.mktemp("undisturbed")

    @cache
    def run(name: str) -> SteppedQuery:
        query = SteppedQuery(spark, folder / name, OPERATORS[name].script, MOVES)
        run_together([query])
        return query

    return run


@pytest.mark.slow
@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", OPERATORS)
def test_stopped_and_restarted_with_other_partitions(
    spark: SparkSession, undisturbed: Callable[[str], SteppedQuery], tmp_path: Path, name: str
) -> None:
    whole = undisturbed(name)
    assert whole.failure is None, whole.failure
    assert rows(whole.folder)
    for partitions, part in (("3", MOVES[:3]), ("2", MOVES[3:])):
        query = SteppedQuery(spark, tmp_path, OPERATORS[name].script, part)
        query.start({"spark.sql.shuffle.partitions": partitions})
        for move in part:
            query.put(move)
            query.settle()
        query.stop()
    assert rows(tmp_path) == rows(whole.folder)


def test_the_clock_makes_a_difference(undisturbed: Callable[[str], SteppedQuery]) -> None:
    """Else the queries that forget would not be tested."""
    assert len(rows(undisturbed("join_that_forgets").folder)) < len(rows(undisturbed("join").folder))
    assert ("a", "7", "7") in rows(undisturbed("over_that_forgets").folder)
    assert ("a", "2", "None") in rows(undisturbed("join_by_arrival").folder)


@pytest.mark.slow
@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", _KILLED)
def test_killed(spark: SparkSession, undisturbed: Callable[[str], SteppedQuery], tmp_path: Path, name: str) -> None:
    """Killed when the next rows were there and not yet worked off, or just then."""
    settled = 2
    run_and_die(_JOB, name, tmp_path, settled)
    SteppedQuery(spark, tmp_path, OPERATORS[name].script, MOVES[settled + 1 :]).go_on()
    assert rows(tmp_path) == rows(undisturbed(name).folder)

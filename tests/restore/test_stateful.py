"""A query with EMIT gives the same panes however often it is stopped, killed, or given other partitions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable

import sqlext
from sqlext import SqlExtError
from tests.stepped_queries import SteppedQuery, run_together

from .dying import run_and_die
from .stateful_job import EMIT, LATER_MOVES, MOVES, SCRIPT, with_lateness

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JOB = "tests.restore.stateful_job"


def panes(folder: Path) -> list[tuple[Any, ...]]:
    """Return what a query has written."""
    rows = DeltaTable(folder / "out").to_pyarrow_table().to_pylist()
    return sorted(tuple(map(str, row.values())) for row in rows)


def go_through(query: SteppedQuery, settings: Mapping[str, str] | None = None) -> None:
    """Start a query, make its moves one by one, and stop it."""
    query.start(settings)
    for move in query.moves:
        query.put(move)
        query.settle()
    query.stop()


@pytest.fixture(scope="module")
def undisturbed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SteppedQuery:
    """Run the query without a stop."""
    query = SteppedQuery(spark, tmp_path_factory.mktemp("undisturbed"), SCRIPT, MOVES)
    run_together([query])
    if query.failure is not None:
        raise query.failure
    return query


def test_what_it_gives(undisturbed: SteppedQuery) -> None:
    """All kinds of panes."""
    found = [(key, start[17:19], *rest) for key, start, *rest in panes(undisturbed.folder)]
    assert found == [
        ("a", "00", "0", "EARLY", "2", "2", "1"),
        ("a", "00", "1", "EARLY", "3", "4", "2"),
        ("a", "00", "2", "ON_TIME", "4", "7", "3"),
        ("a", "00", "3", "LATE", "5", "9", "3"),
        ("a", "10", "0", "EARLY", "1", "7", "1"),
        ("a", "10", "1", "ON_TIME", "1", "7", "1"),
        ("a", "30", "0", "ON_TIME", "1", "4", "1"),
        ("b", "00", "0", "EARLY", "1", "5", "1"),
        ("b", "00", "1", "ON_TIME", "1", "5", "1"),
        ("b", "00", "2", "LATE", "2", "11", "2"),
        ("b", "10", "0", "ON_TIME", "1", "9", "1"),
        ("c", "10", "0", "EARLY", "1", "8", "1"),
        ("c", "10", "1", "ON_TIME", "1", "8", "1"),
    ]


def test_state_goes_away(undisturbed: SteppedQuery) -> None:
    """Counted where the watermark has moved: between, only buckets to which rows have come say how much they hold."""
    outcomes = undisturbed.outcomes
    assert [outcomes[i].state_rows for i in (0, 2, 5, 7)] == [2, 4, 0, 0]
    assert [o.dropped for o in outcomes] == [0, 0, 0, 0, 0, 0, 1, 0]


def test_stopped_and_restarted_with_other_partitions(
    spark: SparkSession, undisturbed: SteppedQuery, tmp_path: Path
) -> None:
    for partitions, part in (("1", MOVES[:2]), ("3", MOVES[2:5]), ("2", MOVES[5:])):
        query = SteppedQuery(spark, tmp_path, SCRIPT, part)
        go_through(query, {"spark.sql.shuffle.partitions": partitions})
    assert panes(tmp_path) == panes(undisturbed.folder)
    assert query.outcomes[-1].state_rows == 0


@pytest.mark.parametrize("settled", [1, 3])
def test_killed(spark: SparkSession, undisturbed: SteppedQuery, tmp_path: Path, settled: int) -> None:
    """Killed when the next rows were there and not yet worked off, or just then."""
    run_and_die(_JOB, tmp_path, settled)
    SteppedQuery(spark, tmp_path, SCRIPT, MOVES[settled + 1 :]).go_on()
    assert panes(tmp_path) == panes(undisturbed.folder)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (EMIT, f"{EMIT} DISCARDING", "EMIT was"),
    ],
    ids=["mode"],
)
def test_a_changed_query_is_refused(
    spark: SparkSession, undisturbed: SteppedQuery, old: str, new: str, named: str
) -> None:
    before = panes(undisturbed.folder)
    assert old in SCRIPT
    changed = SteppedQuery(spark, undisturbed.folder, SCRIPT.replace(old, new), [])
    with pytest.raises(SqlExtError) as refused:
        changed.start()
    assert refused.value.code == "RUN-020"
    assert named in refused.value.message
    assert panes(undisturbed.folder) == before


def test_a_changed_query_goes_on(spark: SparkSession, undisturbed: SteppedQuery, tmp_path: Path) -> None:
    """Other words for the same, one more aggregate, then another one in place of the sum: all else stays."""
    same = SCRIPT.replace("'5' SECOND", "5s").replace("EVERY 1 ROWS", "EVERY 1 ROW")
    one_more = SCRIPT.replace("COUNT(*),", "COUNT(*) + COUNT(`value`) - COUNT(`value`),")
    another = SCRIPT.replace("SUM(`value`),", "MAX(`value`),")
    assert len({SCRIPT, same, one_more, another}) == 4
    for script, part in ((SCRIPT, MOVES[:2]), (same, MOVES[2:3]), (one_more, MOVES[3:5]), (another, MOVES[5:])):
        go_through(SteppedQuery(spark, tmp_path, script, part))

    def without_sum(folder: Path) -> list[tuple[Any, ...]]:
        return [(*row[:5], row[6]) for row in panes(folder)]

    assert without_sum(tmp_path) == without_sum(undisturbed.folder)


@pytest.mark.parametrize("reader", ["spark", "arrow"])
def test_a_longer_lateness_opens_no_window_again(spark: SparkSession, tmp_path: Path, reader: str) -> None:
    """It is killed on the way, and later goes on with a lateness that is shorter, then longer than ever."""
    go_through(SteppedQuery(spark, tmp_path, with_lateness(reader, "5"), LATER_MOVES[:6]))
    before = panes(tmp_path)
    text = with_lateness(reader, "20")
    (planned,) = sqlext.connect(spark, catalog=tmp_path / "catalog").plan(text, paths(tmp_path)).queries
    assert planned.outcome == "goes on"
    assert "holds for windows that end after 2024-01-01 00:00:20" in planned.notes[0]
    run_and_die(_JOB, tmp_path, 6, 6, reader, "20")
    dropped = []
    for lateness, first in (("20", None), ("20", LATER_MOVES[7]), ("15", None), ("99", LATER_MOVES[8])):
        query = SteppedQuery(spark, tmp_path, with_lateness(reader, lateness), [])
        query.start()
        for move in (first,) if first is not None else ():
            query.put(move)
        query.settle()
        query.stop()
        dropped.append(query.outcomes[0].dropped)
    assert dropped == [2, 0, 0, 1]
    query = SteppedQuery(spark, tmp_path, with_lateness(reader, "99"), LATER_MOVES[9:])
    go_through(query)
    assert query.outcomes[-1].state_rows == 0
    found = [(key, start[17:19], timing, n) for key, start, _, timing, n, *_ in panes(tmp_path) if start[17:19] > "10"]
    assert found == [
        ("a", "20", "ON_TIME", "1"),
        ("a", "30", "ON_TIME", "1"),
        ("b", "20", "LATE", "1"),
    ]
    assert [pane for pane in panes(tmp_path) if pane[1][17:19] <= "10"] == before


def paths(folder: Path) -> dict[str, str]:
    """Return the variables of the script, as ``SteppedQuery`` gives them."""
    return {n: str(folder / n.lower()) for n in ("IN", "OUT", "CLOCK")}

"""State with a time to live, by a clock of its own: groups, rows of DISTINCT and Top-N, keys of OVER are forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.stepped_queries import TIMED, JsonRow, Move, SteppedQuery, rows_of, run_together, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

TTL = TIMED + "SET 'table.exec.state.ttl' = '10 s';"
GROUPS = """SELECT op, key, n FROM TO_CHANGELOG(
  input => TABLE (SELECT key, COUNT(*) AS n FROM input WHERE key IS NOT NULL GROUP BY key));"""
TOP = """SELECT op, key, `value` FROM TO_CHANGELOG(input => TABLE (
  SELECT key, `value` FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY key ORDER BY `value`) AS r FROM input WHERE key IS NOT NULL)
  WHERE r = 1));"""
SUMS = """SELECT key, SUM(`value`) OVER (PARTITION BY key ORDER BY p) AS s FROM input WHERE key IS NOT NULL;"""
ONCE = "SELECT DISTINCT key, `value` FROM input WHERE key IS NOT NULL;"


def _row(key: str, value: int) -> JsonRow:
    return {"key": key, "value": value, "ts": text_of(0)}


def test_what_is_forgotten_begins_anew(spark: SparkSession, tmp_path: Path) -> None:
    """Clock at 0, 9 and 15 s: what came last at 0 is forgotten, what came at 9 is not."""
    moves = [
        Move([_row("a", 1), _row("b", 1)], clock=1000),
        Move([_row("a", 1)], clock=10_000),
        Move([_row("a", 1), _row("b", 1)], clock=16_000),
    ]
    groups, top, once, sums = (
        SteppedQuery(spark, tmp_path / name, TTL + text, moves)
        for name, text in (("groups", GROUPS), ("top", TOP), ("once", ONCE), ("sums", SUMS))
    )
    run_together([groups, top, once, sums])
    found = [set(rows) for rows in rows_of(groups)]
    assert found[0] == {("INSERT", "a", 1), ("INSERT", "b", 1)}
    assert found[1] == {("UPDATE_BEFORE", "a", 1), ("UPDATE_AFTER", "a", 2)}
    assert found[2] == {("UPDATE_BEFORE", "a", 2), ("UPDATE_AFTER", "a", 3), ("INSERT", "b", 1)}
    # A row that does not come into range writes nothing: as in Flink the key is as old as its best row.
    assert [set(rows) for rows in rows_of(top)] == [
        {("INSERT", "a", 1), ("INSERT", "b", 1)},
        set(),
        {("INSERT", "a", 1), ("INSERT", "b", 1)},
    ]
    assert [set(rows) for rows in rows_of(once)] == [{("a", 1), ("b", 1)}, set(), {("b", 1)}]
    assert [set(rows) for rows in rows_of(sums)] == [{("a", 1), ("b", 1)}, {("a", 2)}, {("a", 3), ("b", 1)}]

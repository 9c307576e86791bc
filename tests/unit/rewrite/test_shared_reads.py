"""Which tables the queries of a statement set read together, as EXPLAIN says it."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlext

_TUMBLE = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
_COUNTS = f"SELECT k, COUNT(*) FROM TABLE({_TUMBLE}) GROUP BY k, window_start, window_end"
_SUMS = _COUNTS.replace("COUNT(*)", "SUM(CAST(v AS BIGINT))")
_CUMULATED = _SUMS.replace("TUMBLE(", "CUMULATE(").replace(", INTERVAL", ", INTERVAL '5' SECOND, INTERVAL")
_ROWS = "SELECT k, CAST(v AS BIGINT) FROM t"


_FINISHED = " are finished in this process"


def explained(folder: Path, queries: list[str], settings: str = "SET 'sqlext.source' = 'arrow';") -> list[list[str]]:
    """Return what EXPLAIN says of shared tables, of each INSERT of a statement set, but not who finishes it."""
    told = all_explained(folder, queries, settings)
    return [[line for line in lines if not line.endswith(_FINISHED)] for lines in told]


def all_explained(folder: Path, queries: list[str], settings: str) -> list[list[str]]:
    """Return all that EXPLAIN says of shared tables."""
    session = sqlext.connect(catalog=str(folder / "catalog"))
    (folder / "in").mkdir(exist_ok=True)
    made = "\n".join(
        f"""CREATE TABLE {name} (k BIGINT, v INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH (
          'connector' = 'filesystem', 'path' = '{folder / "in"}', 'format' = 'csv');"""
        for name in "tu"
    )
    sinks = [f"CREATE TABLE s{n} (k BIGINT, n BIGINT) WITH ('connector' = 'blackhole');" for n in range(len(queries))]
    inserts = " ".join(f"INSERT INTO s{n} {query};" for n, query in enumerate(queries))
    plans = session.explain(f"{settings} {made} {' '.join(sinks)} EXECUTE STATEMENT SET BEGIN {inserts} END;")
    return [_list_of(plan, "Shared:") for plan in plans]


def _list_of(plan: str, title: str) -> list[str]:
    found = next((part for part in plan.split("\n\n") if part.startswith(title)), title)
    return [line.strip() for line in found.splitlines()[1:]]


def test_a_table_is_read_once_for_all(tmp_path: Path) -> None:
    once = ["t: read and decoded once for s0, s1"]
    assert explained(tmp_path, [_COUNTS, _SUMS.replace("'10'", "'15'")]) == [once, once]


def test_wider_windows_are_made_of_narrower_ones(tmp_path: Path) -> None:
    once = "t: read and decoded once for s0, s1, s2"
    wider, fewer = _COUNTS.replace("'10'", "'20'"), _SUMS.replace("k, SUM", "0, SUM").replace("BY k,", "BY")
    made = "t: windows of s0, s2 are made of the slices of s1"
    assert explained(tmp_path, [wider, _SUMS, fewer]) == [[once, made]] * 3


def test_windows_that_are_alike_are_combined_once(tmp_path: Path) -> None:
    once = "t: read and decoded once for s0, s1, s2"
    alike = "t: windows that differ in aggregates alone are combined once for s0, s2"
    filtered = _SUMS.replace("GROUP BY", "WHERE v > 1 GROUP BY")
    assert explained(tmp_path, [_COUNTS, filtered, _SUMS]) == [[once, alike], [once], [once, alike]]


def test_a_query_with_a_place_of_its_own_is_told_of(tmp_path: Path) -> None:
    once = ["t: read and decoded once for s0, s2"]
    other = _SUMS.replace("'10'", "'15'")
    alone = ["t: this query reads it by itself: its rows are not combined where they are read"]
    assert explained(tmp_path, [_COUNTS, _ROWS, other]) == [once, alone, once]


def test_other_tables_are_not_told_of(tmp_path: Path) -> None:
    assert explained(tmp_path, [_COUNTS, _SUMS.replace("TABLE t", "TABLE u")]) == [[], []]


def test_two_tables_are_two_reads(tmp_path: Path) -> None:
    cumulated = _CUMULATED.replace("SUM", "MIN").replace("'10'", "'15'")
    both = f"{cumulated} UNION ALL {cumulated.replace('TABLE t', 'TABLE u')}"
    sums, counts = (query.replace("'10'", "'7'") for query in (_SUMS, _COUNTS))
    found = explained(tmp_path, [both, sums, counts.replace("TABLE t", "TABLE u")])
    t, u = "t: read and decoded once for s0, s1", "u: read and decoded once for s0, s2"
    assert found == [[t, u], [t], [u]]


def test_one_query_that_reads_a_table_twice(tmp_path: Path) -> None:
    alike = "t: windows that differ in aggregates alone are combined once for s0"
    found = explained(tmp_path, [f"{_CUMULATED} UNION ALL {_CUMULATED}"])
    assert found == [["t: read and decoded once for s0", alike]]


def test_other_options_are_another_table(tmp_path: Path) -> None:
    hinted = _SUMS.replace("TABLE t,", "TABLE t /*+ OPTIONS('csv.null-literal' = 'n/a') */,")
    why = "t: this query reads it by itself: the set writes it, or others have other options"
    assert explained(tmp_path, [_COUNTS, hinted]) == [[why], [why]]


def test_who_finishes_a_query_is_told(tmp_path: Path) -> None:
    arrow, other = "SET 'sqlext.source' = 'arrow';", _COUNTS.replace("'10'", "'15'")
    once = "t: read and decoded once for s0, s1"
    here = "t: partial results up to 33,554,432 bytes are finished in this process"
    assert all_explained(tmp_path, [_SUMS, other], arrow) == [[once, here]] * 2
    none = f"{arrow} SET 'sqlext.engine.local-bytes' = '0';"
    assert all_explained(tmp_path, [_SUMS, other], none) == [[once]] * 2


@pytest.mark.parametrize("settings", ["SET 'sqlext.bounded' = 'catch-up';"])
def test_streams_go_at_their_own_pace(tmp_path: Path, settings: str) -> None:
    why = "t: this query reads it by itself: it keeps state, and goes on from a place of its own"
    assert explained(tmp_path, [_COUNTS, _SUMS], f"SET 'sqlext.source' = 'arrow'; {settings}") == [[why], [why]]


def test_what_the_set_writes_is_not_shared(tmp_path: Path) -> None:
    """An INSERT may add to what others read: each of these reads for itself."""
    session = sqlext.connect(catalog=str(tmp_path / "catalog"))
    tables = "\n".join(
        f"""CREATE TABLE {name} (k BIGINT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
          'connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'json');"""
        for name in ("t", "u")
    )
    moved = f"SELECT k, COUNT(*), window_start FROM TABLE({_TUMBLE}) GROUP BY k, window_start, window_end"
    inserts = f"INSERT INTO u {moved}; INSERT INTO t {moved};"
    plans = session.explain(f"SET 'sqlext.source' = 'arrow'; {tables} EXECUTE STATEMENT SET BEGIN {inserts} END;")
    assert all("this query reads it by itself: the set writes it" in plan for plan in plans)

"""However rows are cut into micro-batches and restarts, a query without an end gives the rows of one that ends."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.local.streams.stream_desk import COUNTS, Desk

Row = tuple[str, int, float]
#: Later than all windows of the rows: it closes them.
_LAST = ("z", 0, 3000.0)
_TOTALS = """
CREATE TABLE totals (k STRING, n BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '{out}');
INSERT INTO totals SELECT k, COUNT(*), SUM(v) FROM events GROUP BY k;
"""
_RANKS = """
CREATE TABLE ranks (k STRING, v BIGINT, r BIGINT, PRIMARY KEY (k, r) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '{out}');
INSERT INTO ranks SELECT k, v, r FROM (
  SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, ts) AS r FROM events) WHERE r <= 2;
"""
_HOPS = COUNTS.replace("TUMBLE(TABLE events, DESCRIPTOR(ts),", "HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '5' SECOND,")
_SESSIONS = COUNTS.replace("TUMBLE(TABLE events,", "SESSION(TABLE events PARTITION BY k,")
_OVER = """
CREATE TABLE sums (k STRING, v BIGINT, s BIGINT) WITH ('connector' = 'delta', 'path' = '{out}');
INSERT INTO sums SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)
FROM events;
"""
_MATCH = """
CREATE TABLE rises (k STRING, a BIGINT, b BIGINT) WITH ('connector' = 'delta', 'path' = '{out}');
INSERT INTO rises SELECT * FROM events MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
  MEASURES A.v AS a, LAST(B.v) AS b AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C) DEFINE
  B AS B.v > A.v, C AS C.v < A.v);
"""
#: Times of a row within a key are distinct: of equal ones no order is told.
_ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(-5, 5), st.integers(0, 60)), max_size=25, unique_by=lambda r: r[2]
)


@pytest.mark.parametrize("query", [COUNTS, _HOPS, _SESSIONS, _TOTALS, _RANKS, _OVER, _MATCH])
@settings(max_examples=4, deadline=None)
@given(rows=_ROWS, cuts=st.lists(st.integers(0, 25), max_size=4), restarts=st.booleans())
def test_any_split(query: str, rows: list[Row], cuts: list[int], restarts: bool) -> None:
    """In the order of their times no row is late."""
    ordered = sorted(rows, key=lambda row: row[2])
    with tempfile.TemporaryDirectory() as folder:
        whole, parts = Desk(_made(folder, "whole")), Desk(_made(folder, "parts"))
        whole.put("events", "all.json", [*ordered, _LAST])
        ends = whole.script(query).replace(", 'source.monitor-interval' = '1 s'", "")
        whole.session().run(ends)
        _in_pieces(parts, parts.script(query), ordered, sorted({*cuts, len(ordered)}), restarts=restarts)
        assert _own(parts) == _own(whole)


def _in_pieces(desk: Desk, script: str, rows: list[Row], cuts: list[int], *, restarts: bool) -> None:
    query, begin = desk.start(script), 0
    for end in cuts:
        desk.put("events", f"{end:03}.json", rows[begin:end])
        begin = max(begin, end)
        query.process_available()
        if restarts:
            query.stop()
            query = desk.start(script)
    desk.put("events", "last.json", [_LAST])
    query.process_available()
    query.stop()


def _own(desk: Desk) -> list[tuple[object, ...]]:
    """Return the rows that are none of the last row's."""
    return [row for row in desk.rows() if row[0] != "z"]


def _made(folder: str, name: str) -> Path:
    path = Path(folder) / name
    path.mkdir()
    return path

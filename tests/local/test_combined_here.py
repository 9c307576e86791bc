"""Rows that are combined where they are read, slice by slice in threads: the same rows, whatever the slices are."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlext
from sqlext import SqlExtError
from sqlext.jobs.result import Result

_TABLES = """
CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{folder}/in', 'format' = '{form}');
"""
_WINDOWS = """SELECT k, window_start, COUNT(*) AS n, SUM(v) AS total, COUNT(DISTINCT v) AS kinds
FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end"""
_QUERIES = [
    _WINDOWS,
    "SELECT k, COUNT(*) AS n, MIN(v) AS least FROM t WHERE v > 2 GROUP BY k",
    # Rows that are equal are taken as they came.
    "SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM t) WHERE n <= 2",
    """SELECT a.k, a.v, b.v AS w FROM t AS a JOIN t AS b
    ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '3' SECOND""",
    "SELECT k, ts, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS total FROM t",
]
_ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 59)), min_size=1, max_size=40)


def _run(folder: Path, query: str, *, source: str = "arrow", engine: str = "local", form: str = "json") -> Result:
    """Run a query over what lies in ``folder/in``."""
    chosen = {"sqlext.engine": engine, "sqlext.source": source, "sqlext.engine.local-bytes": "1000"}
    session = sqlext.connect(catalog=folder / "catalog", settings=chosen)
    *_, result = session.run(f"{_TABLES.format(folder=folder, form=form)}{query};")
    session.sql("DROP TABLE t")
    return result


def _put(folder: Path, rows: list[tuple[str, int, int]]) -> None:
    folder.mkdir()
    lines = [json.dumps({"k": k, "v": v, "ts": f"2024-01-01 00:00:{s:02}"}) for k, v, s in rows]
    for number in range(2):
        (folder / f"{number}.json").write_text("".join(f"{line}\n" for line in lines[number::2]))


@settings(max_examples=25, deadline=None)
@given(_ROWS, st.sampled_from(_QUERIES), st.integers(40, 400))
def test_slices_make_no_difference(rows: list[tuple[str, int, int]], query: str, size: int) -> None:
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patched:
        folder = Path(name)
        _put(folder / "in", rows)
        as_they_are = _run(folder, query, source="auto").rows
        patched.setattr("sqlext.sources.file_slices._LEAST", size)
        patched.setattr("sqlext.sources.file_slices._MOST", size)
        assert sorted(_run(folder, query).rows) == sorted(as_they_are)


@pytest.mark.parametrize("query", [_WINDOWS, "SELECT k, v FROM t"])
def test_a_bad_row_is_told_whichever_slice_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str) -> None:
    _put(tmp_path / "in", [("a", 1, second) for second in range(40)])
    with (tmp_path / "in" / "1.json").open("a") as file:
        file.write('{"k": "b", "v": "many", "ts": "2024-01-01 00:00:01"}\n')
    monkeypatch.setattr("sqlext.sources.file_slices._LEAST", 200)
    monkeypatch.setattr("sqlext.sources.file_slices._MOST", 200)
    with pytest.raises(SqlExtError, match="RUN-066") as raised:
        _run(tmp_path, query)
    assert "many" in str(raised.value)


@pytest.mark.parametrize(
    ("query", "rows", "says"),
    [
        (_WINDOWS, 60, "this process"),
        (_WINDOWS, 600, "Spark: `t` has"),
        ("SELECT k, v FROM t", 60, "Spark: `t` has"),
        ("SELECT k, v FROM t", 10, "this process"),
    ],
)
def test_auto_takes_more_where_rows_are_combined(tmp_path: Path, query: str, rows: int, says: str) -> None:
    _put(tmp_path / "in", [("a", 1, number % 60) for number in range(rows)])
    text = "\n".join(str(value) for row in _run(tmp_path, f"EXPLAIN {query}", engine="auto").rows for value in row)
    assert says in text

"""Who reads a table, and what EXPLAIN says of it: by its format, its windows, its size and its end."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlext
from sqlext.rewrite.arrow import choose_source

_WINDOWS = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)",
    "HOP": "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND)",
    "SESSION": "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND)",
}
_ARROW, _AS_FAST, _LITTLE, _FEW = "rows are combined", "as fast", "little comes at a time", "too few to make up"


def reading(folder: Path, form: str, window: str, options: str = "", *, by: str = "auto", where: str = "") -> str:
    session = sqlext.connect(catalog=str(folder / "catalog"))
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / f"a.{form}").write_bytes(b"x" * 2_000_000)
    return session.explain(f"""
        SET 'sqlext.source' = '{by}';
        CREATE TABLE t (k BIGINT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH (
          'connector' = 'filesystem', 'path' = '{folder / "in"}', 'format' = '{form}'{options});
        SELECT k, COUNT(*) FROM TABLE({_WINDOWS[window]}) {where} GROUP BY k, window_start, window_end;
    """)[-1]


def enough_is_a_megabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (name for name in vars(choose_source) if name.startswith("ENOUGH_")):
        monkeypatch.setattr(choose_source, name, 1 << 20)


@pytest.mark.parametrize(
    ("form", "window", "said"),
    [
        ("csv", "TUMBLE", _ARROW),
        ("json", "SESSION", _ARROW),
        ("parquet", "TUMBLE", _ARROW),
        ("parquet", "HOP", _ARROW),
        ("parquet", "SESSION", _ARROW),
    ],
)
def test_where_enough_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, window: str, said: str) -> None:
    assert _ARROW not in reading(tmp_path, form, window)
    enough_is_a_megabyte(monkeypatch)
    assert said in reading(tmp_path, form, window)


@pytest.mark.newest
@pytest.mark.parametrize(("form", "said"), [("csv", _ARROW), ("parquet", _LITTLE)])
def test_a_folder_that_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, said: str) -> None:
    enough_is_a_megabyte(monkeypatch)
    assert said in reading(tmp_path, form, "HOP", ", 'source.monitor-interval' = '1 s'")


@pytest.mark.newest
def test_windows_that_cannot_be_one_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enough_is_a_megabyte(monkeypatch)
    limited = ", 'maxFilesPerTrigger' = '1'"
    assert _AS_FAST in reading(tmp_path, "parquet", "TUMBLE", limited)
    assert _ARROW in reading(tmp_path, "parquet", "HOP", limited)


def test_row_groups_are_passed_over_by_statistics(tmp_path: Path) -> None:
    passed = "row groups that WHERE leaves out are passed over"
    assert passed not in reading(tmp_path, "parquet", "TUMBLE", by="arrow")
    since = "WHERE ts > TIMESTAMP '2024-01-01 00:00:00'"
    assert passed in reading(tmp_path, "parquet", "TUMBLE", by="arrow", where=since)
    assert passed not in reading(tmp_path, "csv", "TUMBLE", by="arrow", where="WHERE k > 1")


def test_what_the_user_says(tmp_path: Path) -> None:
    assert _FEW in reading(tmp_path, "csv", "TUMBLE")
    assert _ARROW in reading(tmp_path, "csv", "TUMBLE", by="arrow")
    assert _ARROW in reading(tmp_path, "parquet", "TUMBLE", by="arrow")
    assert "Sources:" not in reading(tmp_path, "csv", "TUMBLE", by="spark")


def joined(folder: Path, right: str, condition: str = "a.k = b.k") -> str:
    """Return what EXPLAIN says of a join of two tables, the second of some form and options."""
    session = sqlext.connect(catalog=str(folder / "catalog"))
    columns = "(k BIGINT, v INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts)"
    options = f"'connector' = 'filesystem', 'path' = '{folder}'"
    return session.explain(f"""
        SET 'sqlext.source' = 'arrow';
        CREATE TABLE t {columns} WITH ({options}, 'format' = 'csv');
        CREATE TABLE u {columns} WITH ({options}, 'format' = {right});
        SELECT a.v, b.v FROM t AS a JOIN (SELECT * FROM u WHERE v > 1) AS b ON {condition};
    """)[-1]


def test_both_sides_of_a_join_are_read_by_arrow_or_none(tmp_path: Path) -> None:
    assert "u: Arrow reads k, v, ts; rows are packed by key for `join`" in joined(tmp_path, "'json'")
    orc = joined(tmp_path, "'orc'")
    assert "Arrow reads" not in orc
    assert "t: Spark reads it: what it is joined with is not read by Arrow" in orc
    wider = joined(tmp_path, "'json'", "a.k = b.v + 1")
    assert "Arrow reads" in wider


def test_a_table_that_is_joined_with_itself_is_read_once(tmp_path: Path) -> None:
    session = sqlext.connect(catalog=str(tmp_path / "catalog"))
    said = session.explain(f"""
        SET 'sqlext.source' = 'arrow';
        CREATE TABLE t (k BIGINT, v INT, w INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH (
          'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv');
        SELECT a.v, b.w FROM t AS a JOIN t AS b ON a.k = b.k;
    """)[-1]
    assert said.count("Arrow reads") == 1
    assert "t: Arrow reads k, v, w, ts, once for both sides" in said

"""EXPLAIN ROW: a query over the rows alone that it names gives the row; set operations, UNNEST, lookups. No Spark."""

from __future__ import annotations

import json
import random
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.session.api import Session
from sqlext_catalog import ddl
from sqlext_catalog.model import QueryRecord

START = datetime(2024, 1, 1)
JSON = "'connector' = 'filesystem', 'format' = 'json', 'path' = '{0}"
TABLES = f"""
SET 'sqlext.expressions' = 'flink';
SET 'sqlext.sink.updates' = 'final-state';
CREATE TABLE orders (k STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ({JSON}/orders');
CREATE TABLE fees (item STRING, fee INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ({JSON}/fees');
CREATE TABLE tagged (k STRING, n INT, tags ARRAY<STRING>, big AS n > 5, first_tag AS tags[1]) WITH ({JSON}/tagged');
CREATE TABLE asked (k STRING, n INT, p AS PROCTIME()) WITH ({JSON}/tagged');
CREATE TABLE rates (item STRING, fee INT, PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{{0}}/rates.db', 'table-name' = 'rates');
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT, total BIGINT) WITH ({JSON}/counts');
CREATE TABLE plain (k STRING, n BIGINT) WITH ({JSON}/plain');
"""


def _session(folder: Path) -> Session:
    session = sqlext.connect(catalog=folder / "catalog", settings={"sqlext.engine": "local"})
    session.run(TABLES.replace("{0}", str(folder)))
    return session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    chance = random.Random(7)
    for name, key, number in (("orders", "k", "n"), ("fees", "item", "fee")):
        lines = [
            {key: chance.choice(["a", "b", None]), number: chance.randrange(4), "ts": _time(chance.randrange(1200))}
            for _ in range(90)
        ]
        _write(tmp_path / name / "0.json", lines[:40])
        _write(tmp_path / name / "1.json", lines[40:])
    _write(tmp_path / "tagged" / "0.json", [{"k": k, "n": n, "tags": [k, str(n)]} for k in "ab" for n in range(3)])
    (tmp_path / "counts").mkdir()
    (tmp_path / "plain").mkdir()
    with sqlite3.connect(tmp_path / "rates.db") as rates:
        rates.execute("CREATE TABLE rates (item TEXT PRIMARY KEY, fee INTEGER)")
        rates.execute("INSERT INTO rates VALUES ('a', 1), ('b', 2)")
    return _session(tmp_path)


def _time(seconds: int) -> str:
    return str(START + timedelta(seconds=seconds))


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def _named(asked: Any) -> Iterator[tuple[dict[str, Any], dict[str, dict[str, set[int]]]]]:
    """Yield each row of a result with the lines that are named for it, by table and file."""
    results = {line[0]: json.loads(line[-1]) for line in asked.rows if line[1] is None}
    lines: dict[int, dict[str, dict[str, set[int]]]] = {n: defaultdict(lambda: defaultdict(set)) for n in results}
    for number, query, table, place, row, *_ in asked.rows:
        if query is not None and table is not None:
            lines[number][table][place].add(row)
    yield from ((result, lines[number]) for number, result in results.items())


def _again(insert: str, table: str, lines: dict[str, dict[str, set[int]]], folder: Path, own: Path) -> list[Any]:
    """Return the rows of a query over some lines of its tables."""
    for name in ("orders", "fees"):
        (own / name).mkdir(parents=True)
        for place, numbers in lines[name].items():
            every = (folder / name / place).read_text().splitlines()
            (own / name / place).write_text("".join(f"{every[n - 1]}\n" for n in sorted(numbers)))
    session = _session(own)
    session.run(insert)
    found = session.sql(f"SELECT * FROM {table}")
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def _check(session: Session, insert: str, table: str, folder: Path) -> list[int]:
    """Compare each row with the one that its input rows alone make; return how many were named for each."""
    session.run(insert)
    counts = []
    for number, (result, lines) in enumerate(_named(session.sql(f"EXPLAIN ROW FROM {table}"))):
        again = _again(insert, table, lines, folder, folder / f"again {number}")
        assert result in [json.loads(json.dumps(row, default=str)) for row in again]
        counts.append(sum(len(rows) for files in lines.values() for rows in files.values()))
    assert counts
    return counts


WINDOW = "TUMBLE(TABLE {0}, DESCRIPTOR({1}), INTERVAL '1' MINUTE)"
#: Windows whose bounds only the rows themselves tell.
BELOW = {
    "sessions": "SESSION(TABLE orders PARTITION BY k, DESCRIPTOR(ts), INTERVAL '20' SECOND)",
    "sessions with a maximum": (
        "SESSION(TABLE orders PARTITION BY k, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '50' SECOND)"
    ),
    "an offset of each row": (
        "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, CASE k WHEN 'a' THEN 7000 ELSE -20000 END)"
    ),
}


@pytest.mark.parametrize("below", BELOW.values(), ids=BELOW)
@pytest.mark.parametrize("size", ["'5' MINUTE", "'40' DAY"])
def test_windows_over_windows_of_no_grid(session: Session, tmp_path: Path, below: str, size: str) -> None:
    lower = f"""SELECT k, window_time AS t, COUNT(*) AS m FROM TABLE({below})
        GROUP BY k, window_start, window_end, window_time"""
    insert = f"""INSERT INTO counts SELECT k, window_start, COUNT(*), MAX(m)
        FROM TABLE(TUMBLE(({lower}), DESCRIPTOR(t), INTERVAL {size})) GROUP BY k, window_start, window_end"""
    counts = _check(session, insert, "counts", tmp_path)
    every = sum(len((tmp_path / "orders" / name).read_text().splitlines()) for name in ("0.json", "1.json"))
    assert max(counts) < every  # of one key, and up to the end of the window
    notices = session.sql("EXPLAIN ROW FROM counts").notices
    assert any("More rows than those of the result" in text for text in notices)


def test_windows_over_those_of_a_calendar(session: Session, tmp_path: Path) -> None:
    """Only Spark runs it: the rows of each month that ends in the window, and some before it."""
    months = ["2023-11-30", "2023-12-01", "2023-12-31", "2024-01-01", "2024-01-31", "2024-02-01", "2024-02-02"]
    _write(tmp_path / "orders" / "0.json", [{"k": "a", "n": n, "ts": f"{d} 12:00:00"} for n, d in enumerate(months)])
    (tmp_path / "orders" / "1.json").unlink()
    lower = """SELECT k, window_time AS t, COUNT(*) AS m FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts),
        INTERVAL '1' MONTH)) GROUP BY k, window_start, window_end, window_time"""
    upper = f"TUMBLE(({lower}), DESCRIPTOR(t), INTERVAL '2' DAY)"
    insert = f"""INSERT INTO counts SELECT k, window_start, SUM(m), 0 FROM TABLE({upper})
        GROUP BY k, window_start, window_end"""
    record = QueryRecord("q", insert, (), "default_catalog.default_database.counts", "", "", "finished")
    session.catalog.apply(ddl.record_query(record), "START QUERY q")
    _write(tmp_path / "counts" / "1.json", [{"k": "a", "w": "2024-01-31 00:00:00", "n": 2, "total": 0}])
    named = _rows(session.sql("EXPLAIN ROW FROM counts"))["orders"]
    assert {("a", 3), ("a", 4)} <= named
    assert named <= {("a", 2), ("a", 3), ("a", 4), ("a", 5)}


@pytest.mark.parametrize(
    "lowest",
    [
        WINDOW.format("orders", "ts"),
        "HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '1' MINUTE)",
        "CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '1' MINUTE)",
        "SLIDE(TABLE orders, DESCRIPTOR(ts), INTERVAL '40' SECOND)",
        BELOW["sessions"],
    ],
)
@pytest.mark.parametrize("middle", ["HOP({0}, DESCRIPTOR(t), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)"])
def test_three_windows_above_each_other(session: Session, tmp_path: Path, lowest: str, middle: str) -> None:
    first = f"""(SELECT k, window_time AS t, COUNT(*) AS m FROM TABLE({lowest})
        GROUP BY k, window_start, window_end, window_time)"""
    second = f"""(SELECT k, window_time AS t, SUM(m) AS m FROM TABLE({middle.format(first)})
        GROUP BY k, window_start, window_end, window_time)"""
    insert = f"""INSERT INTO counts SELECT k, window_start, COUNT(*), MAX(m)
        FROM TABLE(TUMBLE({second}, DESCRIPTOR(t), INTERVAL '6' MINUTE)) GROUP BY k, window_start, window_end"""
    _check(session, insert, "counts", tmp_path)


@pytest.mark.parametrize("op", ["INTERSECT", "EXCEPT", "UNION"])
def test_set_operations_of_streams(session: Session, tmp_path: Path, op: str) -> None:
    insert = f"INSERT INTO plain SELECT k, n FROM orders {op} SELECT item, fee + 2 FROM fees"
    _check(session, insert, "plain", tmp_path)


def _written(session: Session, folder: Path, insert: str, rows: list[dict[str, Any]]) -> None:
    """Let ``plain`` have rows, which a query has written that only Spark runs."""
    record = QueryRecord("q", insert, (), "default_catalog.default_database.plain", "", "", "finished")
    session.catalog.apply(ddl.record_query(record), "START QUERY q")
    _write(folder / "plain" / "1.json", rows)


def _rows(asked: Any) -> dict[str, set[tuple[Any, ...]]]:
    """Return key and number of the rows that are named, by table."""
    found: dict[str, set[tuple[Any, ...]]] = defaultdict(set)
    for _, query, table, *_, text in asked.rows:
        if query is not None and table is not None:
            found[table].add(tuple(json.loads(text).values())[:2])
    return found


@pytest.mark.parametrize("op", ["INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL", "UNION"])
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_the_rows_of_both_sides_of_a_set_operation(session: Session, tmp_path: Path, op: str, mode: str) -> None:
    session.run(f"SET 'execution.runtime-mode' = '{mode}'")
    insert = f"INSERT INTO plain SELECT k, n FROM orders {op} SELECT item, fee FROM fees"
    _written(session, tmp_path, insert, [{"k": "a", "n": 2}])
    asked = session.sql("EXPLAIN ROW FROM plain")
    assert _rows(asked) == {"orders": {("a", 2)}, "fees": {("a", 2)}}
    assert not any("More rows" in text for text in asked.notices)


def test_a_set_operation_by_columns_that_the_row_lacks(session: Session, tmp_path: Path) -> None:
    session.run("SET 'execution.runtime-mode' = 'batch'")
    both = "SELECT k, n, ts FROM orders EXCEPT SELECT item, fee, ts FROM fees"
    _written(session, tmp_path, f"INSERT INTO plain SELECT k, n FROM ({both})", [{"k": "a", "n": 2}])
    asked = session.sql("EXPLAIN ROW FROM plain")
    assert _rows(asked) == {"orders": {("a", 2)}, "fees": {("a", 2)}}
    assert any("More rows" in text for text in asked.notices)


@pytest.mark.parametrize(
    ("query", "exact", "expected"),
    [
        ("SELECT k, n FROM tagged, UNNEST(tags) AS t (tag)", True, {("a", 2)}),
        ("SELECT tagged.k, n FROM tagged LEFT JOIN UNNEST(tags) AS t (k) ON TRUE", True, {("a", 2)}),
        ("SELECT t.k, n FROM tagged, UNNEST(tags) AS t (k)", False, {("a", 2), ("b", 2)}),
        ("SELECT k, COUNT(*) FROM tagged, UNNEST(tags) AS t (tag) GROUP BY k", True, {("a", n) for n in range(3)}),
        (
            "SELECT tag, COUNT(*) FROM tagged, UNNEST(tags) AS t (tag) GROUP BY tag",
            False,
            {(k, n) for k in "ab" for n in range(3)},
        ),
        ("SELECT k, n FROM tagged WHERE n > 1", True, {("a", 2)}),
        # What is computed of a column that only Spark reads is not tested.
        ("SELECT k, n FROM tagged WHERE first_tag = 'a' AND NOT big", False, {("a", 2)}),
        ("SELECT first_tag, n FROM tagged", False, {("a", 2), ("b", 2)}),
    ],
)
def test_rows_that_are_made_of_a_row(
    session: Session, tmp_path: Path, query: str, exact: bool, expected: set[tuple[Any, ...]]
) -> None:
    _written(session, tmp_path, f"INSERT INTO plain {query}", [{"k": "a", "n": 2}])
    asked = session.sql("EXPLAIN ROW FROM plain")
    assert _rows(asked) == {"tagged": expected}
    assert exact is not any("More rows" in text for text in asked.notices)


def test_a_stream_that_looks_rows_up_in_a_database(session: Session, tmp_path: Path) -> None:
    join = "asked AS o JOIN rates FOR SYSTEM_TIME AS OF o.p AS r ON o.k = r.item"
    _written(session, tmp_path, f"INSERT INTO plain SELECT o.k, r.fee FROM {join}", [{"k": "b", "n": 2}])
    asked = session.sql("EXPLAIN ROW FROM plain")
    assert _rows(asked) == {"asked": {("b", n) for n in range(3)}}
    assert any(text.startswith("Rows of `rates` are not named") for text in asked.notices)
    missing = session.sql("EXPLAIN WHY NOT FROM plain WHERE k = 'c'")
    assert not any("No row of `rates`" in text for text in missing.notices)


def test_a_copy_of_a_database_is_refused(session: Session, tmp_path: Path) -> None:
    _written(session, tmp_path, "INSERT INTO plain SELECT item, fee FROM rates", [{"k": "b", "n": 2}])
    with pytest.raises(SqlExtError) as refused:
        session.sql("EXPLAIN ROW FROM plain")
    assert refused.value.code == "DDL-043"


def test_rows_of_no_table(session: Session, tmp_path: Path) -> None:
    insert = "INSERT INTO plain SELECT k, n FROM orders WHERE n = 3 UNION ALL SELECT 'z', 9"
    _written(session, tmp_path, insert, [{"k": "z", "n": 9}])
    asked = session.sql("EXPLAIN ROW FROM plain")
    assert _rows(asked) == {}
    assert any("it comes from VALUES" in text for text in asked.notices)


@pytest.mark.parametrize(("offset", "expected"), [("", {("a", 2)}), ("OFFSET 1", {("a", 2), ("b", 2), ("a", 1)})])
def test_the_first_rows_by_an_order(session: Session, tmp_path: Path, offset: str, expected: set[Any]) -> None:
    """Behind OFFSET the rows before count too."""
    session.run("SET 'execution.runtime-mode' = 'batch'")
    ordered = f"SELECT k, n FROM tagged ORDER BY n LIMIT 4 {offset}"
    _written(session, tmp_path, f"INSERT INTO plain {ordered}", [{"k": "a", "n": 2}])
    assert expected <= _rows(session.sql("EXPLAIN ROW FROM plain"))["tagged"]

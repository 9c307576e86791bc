"""SLIDE without Spark: worked cases, and random rows beside plain Python, as a stream and in batch mode."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlext
from sqlext.errors import SqlExtError

MIDNIGHT = datetime(2024, 1, 1)
TABLES = """
CREATE TABLE t (k STRING, v INT, s STRING, ts {0}, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{1}/t', 'format' = 'json');
CREATE TABLE names (k STRING, name STRING)
WITH ('connector' = 'filesystem', 'path' = '{1}/names', 'format' = 'json', 'scan.mode' = 'snapshot');
CREATE VIEW tens AS SELECT k, window_time AS wt, SUM(v) AS n
FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end, window_time;
CREATE VIEW slid AS SELECT k, window_start AS w, window_end AS e, window_time AS wt, SUM(v) AS n
FROM {2} GROUP BY k, window_start, window_end, window_time;
"""


def sized(number: str, unit: str, table: str = "t", time: str = "ts") -> str:
    """Return SLIDE of a size."""
    return f"TABLE(SLIDE(TABLE {table}, DESCRIPTOR({time}), INTERVAL '{number}' {unit}))"


def at(seconds: float) -> datetime:
    return MIDNIGHT + timedelta(seconds=seconds)


S = sized("10", "SECOND")
TUMBLED = "TABLE(TUMBLE(TABLE slid, DESCRIPTOR(wt), INTERVAL '10' SECOND))"
G = "GROUP BY window_start, window_end"
BATCH = "SET 'execution.runtime-mode' = 'batch';"
#: Key, value, text, seconds after midnight.
ROWS: list[tuple[str | None, int | None, str | None, float]] = [
    ("a", 1, "x", 0),
    ("a", 2, "y", 4),
    ("b", 10, "x", 5),
    ("a", 3, "x", 9.999),
    ("a", 4, None, 10),
    ("a", 5, "z", 10),
    (None, 7, "x", 12),
    (None, None, "y", 15),
    ("b", 20, None, 20),
]
#: The item -> its value for the windows of key a that end at 0, 4, 9.999 and 10 seconds.
OF_A: dict[str, tuple[Any, ...]] = {
    "COUNT(*)": (1, 2, 3, 4),
    "SUM(v)": (1, 3, 6, 14),
    "SUM(v) * 2 + COUNT(*)": (3, 8, 15, 32),
    "AVG(v)": (1, 1, 2, 3),
    "MIN(v)": (1, 1, 1, 2),
    "MAX(v)": (1, 2, 3, 5),
    "COUNT(s)": (1, 2, 3, 3),
    "COUNT(DISTINCT s)": (1, 2, 2, 3),
    "SUM(DISTINCT v)": (1, 3, 6, 14),
    "FIRST_VALUE(v)": (1, 1, 1, 2),
    "LAST_VALUE(v)": (1, 2, 3, 5),
    "MIN(s)": ("x", "x", "x", "x"),
    "SUM(v) FILTER (WHERE s = 'x')": (1, 1, 4, 3),
    "COUNT(*) FILTER (WHERE v > 3)": (0, 0, 0, 2),
    "MAX(ts)": tuple(at(s) for s in (0, 4, 9.999, 10)),
    "window_time": tuple(at(s) for s in (0, 4, 9.999, 10)),
    "window_end": tuple(at(s) for s in (0.001, 4.001, 10, 10.001)),
    "window_start": tuple(at(s - 10) for s in (0.001, 4.001, 10, 10.001)),
    "CASE WHEN COUNT(*) > 2 THEN 'many' ELSE 'few' END": ("few", "few", "many", "many"),
}


def run(folder: Path, rows: Sequence[tuple[Any, ...]], script: str, type_: str = "TIMESTAMP(3)") -> list[Any]:
    """Return the rows of the last statement of a script."""
    (folder / "t").mkdir(parents=True, exist_ok=True)
    (folder / "names").mkdir(exist_ok=True)
    shown = "Z" if "LTZ" in type_ else ""
    lines = (
        json.dumps({"k": k, "v": v, "s": s, "ts": f"{MIDNIGHT + timedelta(seconds=at)}{shown}"}) for k, v, s, at in rows
    )
    (folder / "t" / "1.json").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (folder / "names" / "1.json").write_text('{"k": "a", "name": "Anna"}\n{"k": "a", "name": "Ann"}\n', "utf-8")
    session = sqlext.connect(
        catalog=folder / "catalog", settings={"sqlext.engine": "local", "sqlext.expressions": "flink"}
    )
    return session.run(TABLES.format(type_, folder, S) + script)[-1].rows


@pytest.fixture(scope="module")
def of_a(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    folder = tmp_path_factory.mktemp("slides")
    items = ", ".join(f"{item} AS c{i}" for i, item in enumerate(OF_A))
    made = run(folder, ROWS, f"SELECT k, {items} FROM {S} {G}, window_time, k HAVING k = 'a';")
    in_batch = run(folder, ROWS, f"{BATCH} SELECT k, {items} FROM {S} {G}, window_time, k HAVING k = 'a';")
    assert sorted(made) == sorted(in_batch)
    return sorted(tuple(row[1:]) for row in made)


@pytest.mark.parametrize("item", OF_A)
def test_an_item_of_the_windows_of_a_key(of_a: list[tuple[Any, ...]], item: str) -> None:
    place = list(OF_A).index(item)
    by_end = sorted(of_a, key=lambda row: row[list(OF_A).index("window_end")])
    assert tuple(row[place] for row in by_end) == OF_A[item]


#: Without keys a window ends at each time that there is.
WITHOUT_KEYS = [(0, 1), (4, 3), (5, 13), (9.999, 16), (10, 24), (12, 31), (15, 19), (20, 27)]
CASES: list[tuple[str, list[tuple[Any, ...]]]] = [
    (f"SELECT window_time, SUM(v) FROM {S} {G}, window_time", [(at(seconds), n) for seconds, n in WITHOUT_KEYS]),
    # NULL is a key; of a window whose values are all NULL the sum is NULL.
    (f"SELECT window_time, SUM(v) FROM {S} {G}, window_time, k HAVING k IS NULL", [(at(12), 7), (at(15), 7)]),
    (
        f"SELECT window_time, SUM(v) FROM {S} WHERE v IS NULL OR v > 9 {G}, window_time",
        [(at(5), 10), (at(15), None), (at(20), 20)],
    ),
    # WHERE is before the windows: without its second row no window of a ends there. HAVING leaves windows out.
    (f"SELECT k, SUM(v) FROM {S} WHERE k = 'a' AND v <> 2 {G}, k", [("a", 1), ("a", 4), ("a", 12)]),
    (f"SELECT k, COUNT(*) FROM {S} {G}, k HAVING COUNT(*) >= 3", [("a", 3), ("a", 4)]),
    (f"SELECT window_end, k FROM {S} {G}, k HAVING k = 'b'", [(at(5.001), "b"), (at(20.001), "b")]),
    (
        f"SELECT DISTINCT window_start, window_end FROM {S} WHERE k = 'b'",
        [(at(-4.999), at(5.001)), (at(10.001), at(20.001))],
    ),
    (f"SELECT UPPER(k) || '!', COUNT(*) FROM {S} WHERE k = 'b' {G}, UPPER(k)", [("B!", 1), ("B!", 1)]),
    (f"SELECT s, v, COUNT(*) FROM {S} WHERE k = 'a' AND v < 3 {G}, s, v", [("x", 1, 1), ("y", 2, 1)]),
    (
        f"SELECT t.k, SUM(t.v) FROM {S} AS t WHERE t.k = 'b' GROUP BY t.k, t.window_start, t.window_end",
        [("b", 10), ("b", 20)],
    ),
    # Other sizes: of one ms only rows of one time are together, of a day all that came before.
    (f"SELECT SUM(v) FROM {sized('0.001', 'SECOND')} WHERE k = 'a' {G}, k", [(1,), (2,), (3,), (9,)]),
    (f"SELECT SUM(v) FROM {sized('1', 'DAY')} WHERE k = 'a' {G}, k", [(1,), (3,), (6,), (15,)]),
]
#: What this process leaves to Spark in batch mode: a GROUP BY of other windows.
STREAMED: list[tuple[str, list[tuple[Any, ...]]]] = [
    # Above it: windows of its windows, and groups of the same windows.
    (
        f"SELECT window_start, SUM(n), COUNT(*) FROM {TUMBLED} WHERE k = 'a' {G}",
        [(at(0), 10, 3), (at(10), 14, 1)],
    ),
    (
        "SELECT e, SUM(n) FROM slid WHERE k <> 'c' GROUP BY e, w",
        [(at(0.001), 1), (at(4.001), 3), (at(5.001), 10), (at(10), 6), (at(10.001), 14), (at(20.001), 20)],
    ),
    # Below it: the sums of TUMBLE have the times 9.999, 19.999 and 29.999.
    (
        f"SELECT window_time, SUM(n), COUNT(*) FROM {sized('11', 'SECOND', 'tens', 'wt')} {G}, window_time",
        [(at(9.999), 16, 2), (at(19.999), 32, 4), (at(29.999), 36, 3)],
    ),
]


@pytest.mark.parametrize(
    ("mode", "query", "expected"),
    [*(("", *case) for case in (*CASES, *STREAMED)), *((BATCH, *case) for case in CASES)],
)
def test_worked_cases(tmp_path: Path, mode: str, query: str, expected: list[tuple[Any, ...]]) -> None:
    assert sorted(run(tmp_path, ROWS, f"{mode} {query};"), key=repr) == sorted(expected, key=repr)


def test_the_best_of_each_window(tmp_path: Path) -> None:
    ranked = "SELECT e, k, n, ROW_NUMBER() OVER (PARTITION BY w, e ORDER BY n DESC, k) AS nr FROM slid"
    rows = run(tmp_path, [*ROWS, ("c", 30, "x", 4)], f"SELECT e, k, n FROM ({ranked}) WHERE nr = 1;")
    assert [(e, k) for e, k, _ in sorted(rows)][:2] == [(at(0.001), "a"), (at(4.001), "c")]


def test_a_join_of_windows_of_one_time(tmp_path: Path) -> None:
    """Two keys have windows of the same bounds where they have rows of one time."""
    query = """SELECT l.k, r.k, l.n, r.n FROM (SELECT * FROM slid WHERE k = 'a') AS l
    JOIN (SELECT * FROM slid WHERE k = 'c') AS r ON l.w = r.w AND l.e = r.e"""
    assert run(tmp_path, [*ROWS, ("c", 30, "x", 4), ("c", 1, "x", 5)], f"{query};") == [("a", "c", 3, 30)]


def test_instants_have_a_window_of_their_length_whatever_the_zone_does(tmp_path: Path) -> None:
    """In the night of 31 March 2024 the clocks of Berlin go from 2 to 3: an hour before 3:30 is 1:30 by the clock."""
    rows = [("a", 1, "x", 90 * 86_400 + 1800), ("a", 2, "x", 90 * 86_400 + 5400)]
    zone = "SET 'table.local-time-zone' = 'Europe/Berlin';"
    query = f"SELECT window_start, window_end, SUM(v) FROM {sized('60', 'MINUTE')} {G};"
    found = run(tmp_path, rows, zone + query, "TIMESTAMP_LTZ(3)")
    assert sorted(found) == [
        (datetime(2024, 3, 31, 0, 30, 0, 1000), datetime(2024, 3, 31, 1, 30, 0, 1000), 1),
        (datetime(2024, 3, 31, 1, 30, 0, 1000), datetime(2024, 3, 31, 3, 30, 0, 1000), 2),
    ]


def test_what_only_spark_knows_is_left_to_it(tmp_path: Path) -> None:
    with pytest.raises(SqlExtError) as caught:
        run(tmp_path, ROWS, f"SELECT LISTAGG(s) FROM {S} {G};")
    assert (caught.value.code, "only Spark is known" in caught.value.message) == ("OPT-036", True)


def _windows(rows: Sequence[tuple[Any, ...]], size: float) -> list[tuple[Any, ...]]:
    """Return key, end, rows, sum and kinds of text of each window, by plain Python."""
    made = []
    for key, time in {(k, seconds) for k, _, _, seconds in rows}:
        own = [r for r in rows if r[0] == key and time - size < r[3] <= time]
        values = [r[1] for r in own if r[1] is not None]
        texts = {r[2] for r in own if r[2] is not None}
        made.append((key, at(time) + timedelta(milliseconds=1), len(own), sum(values) if values else None, len(texts)))
    return sorted(made, key=repr)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", None]),
            st.none() | st.integers(-9, 9),
            st.sampled_from(["x", "y", None]),
            st.integers(0, 40),
        ),
        min_size=1,
        max_size=25,
    ),
    st.sampled_from([1, 5, 17]),
    st.sampled_from(["", BATCH]),
)
def test_random_rows(rows: list[tuple[Any, ...]], size: int, mode: str) -> None:
    query = f"SELECT k, window_end, COUNT(*), SUM(v), COUNT(DISTINCT s) FROM {sized(str(size), 'SECOND')} {G}, k;"
    with tempfile.TemporaryDirectory() as folder:
        assert sorted(run(Path(folder), rows, f"{mode} {query}"), key=repr) == _windows(rows, size)

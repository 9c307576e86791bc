"""FILL FOR d in SQL: cases worked out by hand, and on Spark rows that are taken back, corrected, or late."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sqlext
from sqlext.errors import SqlExtError
from tests.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.session.api import Session

START = datetime(2024, 1, 1, 10)
BATCH = "SET 'execution.runtime-mode' = 'batch';"
STREAMING = "SET 'execution.runtime-mode' = 'streaming';"
MINUTES = "TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
SHIFTED = "TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '30' SECOND)"
HOPS = "HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)"
GAPS = "HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '1' MINUTE)"
GROWING = "CUMULATE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)"
N = None
#: Windows, what EMIT says, minute and value of each row; minute of the start, length, count and sum of each window.
Case = tuple[str, str, list[tuple[float, int | None]], list[tuple[float, int, int, int | None]]]
WORKED: list[Case] = [
    (MINUTES, "FILL FOR 1m", [], []),
    (MINUTES, "FILL FOR 1m", [(0, 5)], [(0, 1, 1, 5), (1, 1, 0, N)]),
    (MINUTES, "FILL FOR 1m", [(0, 5), (0.9, 6)], [(0, 1, 2, 11), (1, 1, 0, N)]),
    (MINUTES, "FILL FOR 1m", [(0, 5), (1, 7)], [(0, 1, 1, 5), (1, 1, 1, 7), (2, 1, 0, N)]),
    (MINUTES, "FILL FOR 1m", [(0, 5), (2, 7)], [(0, 1, 1, 5), (1, 1, 0, N), (2, 1, 1, 7), (3, 1, 0, N)]),
    # Forgotten after a minute: the time until the next row is not filled.
    (MINUTES, "FILL FOR 1m", [(0, 5), (3, 7)], [(0, 1, 1, 5), (1, 1, 0, N), (3, 1, 1, 7), (4, 1, 0, N)]),
    (MINUTES, "FILL FOR 90s", [(0, 5)], [(0, 1, 1, 5), (1, 1, 0, N)]),
    (MINUTES, "FILL FOR 2m", [(0, 5)], [(0, 1, 1, 5), (1, 1, 0, N), (2, 1, 0, N)]),
    (MINUTES, "FILL FOR 2m", [(0, 5), (3, 7)],
     [(0, 1, 1, 5), (1, 1, 0, N), (2, 1, 0, N), (3, 1, 1, 7), (4, 1, 0, N), (5, 1, 0, N)]),
    (MINUTES, "FILL FOR 2m", [(0, 5), (4, 7)],
     [(0, 1, 1, 5), (1, 1, 0, N), (2, 1, 0, N), (4, 1, 1, 7), (5, 1, 0, N), (6, 1, 0, N)]),
    (MINUTES, "FILL FOR 2m WITH (x = 0)", [(0, 5)], [(0, 1, 1, 5), (1, 1, 0, 0), (2, 1, 0, 0)]),
    (MINUTES, "FILL FOR 2m WITH (x = -1)", [(0, 5), (2, N)],
     [(0, 1, 1, 5), (1, 1, 0, -1), (2, 1, 1, N), (3, 1, 0, -1), (4, 1, 0, -1)]),
    (MINUTES, "FILL FOR 1m WITH (x = NULL)", [(0, 5)], [(0, 1, 1, 5), (1, 1, 0, N)]),
    (MINUTES, "FILL FOR 1m WITH (n = 7)", [(0, 5)], [(0, 1, 1, 5), (1, 1, 7, N)]),
    (MINUTES, "FILL FOR 1m WITH (n = NULL, x = 9)", [(0, 5)], [(0, 1, 1, 5), (1, 1, N, 9)]),
    (MINUTES, "FILL FOR 2m WITH (n = LAST)", [(0, 5), (0, 6)], [(0, 1, 2, 11), (1, 1, 2, N), (2, 1, 2, N)]),
    (MINUTES, "FILL FOR 2m WITH (x = LAST)", [(0, 5), (2, 7)],
     [(0, 1, 1, 5), (1, 1, 0, 5), (2, 1, 1, 7), (3, 1, 0, 7), (4, 1, 0, 7)]),
    (MINUTES, "FILL FOR 2m WITH (x = LAST)", [(0, N)], [(0, 1, 1, N), (1, 1, 0, N), (2, 1, 0, N)]),
    # What the last window has is NULL, although one before it has a value.
    (MINUTES, "FILL FOR 2m WITH (x = LAST)", [(0, 5), (1, N)],
     [(0, 1, 1, 5), (1, 1, 1, N), (2, 1, 0, N), (3, 1, 0, N)]),
    (MINUTES, "FILL FOR 3m WITH (x = LINEAR)", [(0, 0), (3, 9)],
     [(0, 1, 1, 0), (1, 1, 0, 3), (2, 1, 0, 6), (3, 1, 1, 9), (4, 1, 0, N), (5, 1, 0, N), (6, 1, 0, N)]),
    (MINUTES, "FILL FOR 3m WITH (x = LINEAR)", [(0, 9), (2, -9)],
     [(0, 1, 1, 9), (1, 1, 0, 0), (2, 1, 1, -9), (3, 1, 0, N), (4, 1, 0, N), (5, 1, 0, N)]),
    # The next window with rows is too far away.
    (MINUTES, "FILL FOR 3m WITH (x = LINEAR)", [(0, 0), (4, 8)],
     [(0, 1, 1, 0), (1, 1, 0, N), (2, 1, 0, N), (3, 1, 0, N),
      (4, 1, 1, 8), (5, 1, 0, N), (6, 1, 0, N), (7, 1, 0, N)]),
    (MINUTES, "FILL FOR 3m WITH (x = LINEAR)", [(0, 5)], [(0, 1, 1, 5), (1, 1, 0, N), (2, 1, 0, N), (3, 1, 0, N)]),
    # Rounded, as the column has integers.
    (MINUTES, "FILL FOR 2m WITH (x = LINEAR)", [(0, 1), (2, 2)],
     [(0, 1, 1, 1), (1, 1, 0, 2), (2, 1, 1, 2), (3, 1, 0, N), (4, 1, 0, N)]),
    (MINUTES, "FILL FOR 2m WITH (x = LINEAR)", [(0, N), (2, 4)],
     [(0, 1, 1, N), (1, 1, 0, N), (2, 1, 1, 4), (3, 1, 0, N), (4, 1, 0, N)]),
    (MINUTES, "ON WINDOW CLOSE ALLOW LATENESS 1m FILL FOR 1m", [(0, 5)], [(0, 1, 1, 5), (1, 1, 0, N)]),
    (SHIFTED, "FILL FOR 1m", [(0, 5)], [(-0.5, 1, 1, 5), (0.5, 1, 0, N)]),
    (SHIFTED, "FILL FOR 1m", [(0, 5), (2, 6)], [(-0.5, 1, 1, 5), (0.5, 1, 0, N), (1.5, 1, 1, 6), (2.5, 1, 0, N)]),
    (HOPS, "FILL FOR 2m", [(0, 5)], [(-1, 2, 1, 5), (0, 2, 1, 5), (1, 2, 0, N), (2, 2, 0, N)]),
    (HOPS, "FILL FOR 2m WITH (x = LAST)", [(0, 5), (4, 7)],
     [(-1, 2, 1, 5), (0, 2, 1, 5), (1, 2, 0, 5), (2, 2, 0, 5), (3, 2, 1, 7), (4, 2, 1, 7), (5, 2, 0, 7), (6, 2, 0, 7)]),
    (GAPS, "FILL FOR 2m", [(0, 5)], [(0, 1, 1, 5), (2, 1, 0, N)]),
    # Between two windows of the grid.
    (GAPS, "FILL FOR 2m", [(1, 5)], []),
    (GROWING, "FILL FOR 1m", [(0, 5)], [(0, 1, 1, 5), (0, 2, 1, 5), (2, 1, 0, N)]),
    (GROWING, "FILL FOR 2m", [(1, 5)], [(0, 2, 1, 5), (2, 1, 0, N), (2, 2, 0, N)]),
]  # fmt: skip


def at(minute: float) -> datetime:
    return START + timedelta(minutes=minute)


Given = Callable[[str, str, str], list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the rows of all cases; the key is the number of the case."""
    folder = tmp_path_factory.mktemp("worked")
    rows = ({"c": c, "v": v, "ts": str(at(minute))} for c, (_, _, rows, _) in enumerate(WORKED) for minute, v in rows)
    (folder / "ev.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return folder


def given(session: Session, folder: Path) -> Given:
    """Return what a session gives of the windows of all cases."""
    session.run(f"""CREATE TABLE ev (c INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
        WITH ('connector' = 'filesystem', 'path' = '{folder}/ev.json', 'format' = 'json')""")

    @cache
    def found(windows: str, emit: str, mode: str) -> list[tuple[Any, ...]]:
        session.run(mode)
        query = f"SELECT c, window_start, window_end, COUNT(*) AS n, SUM(v) AS x FROM TABLE({windows})"
        return [tuple(row) for row in session.sql(f"{query} GROUP BY c, window_start, window_end EMIT {emit}").rows]

    return found


@pytest.fixture(scope="module")
def in_process(cases: Path) -> Given:
    return given(sqlext.connect(catalog=cases / "catalog", settings={"sqlext.engine": "local"}), cases)


@pytest.fixture(scope="module")
def on_spark(cases: Path, spark: SparkSession) -> Given:
    return given(sqlext.connect(spark.newSession(), catalog=cases / "other"), cases)


def of_case(found: Given, case: int, mode: str) -> list[tuple[Any, ...]]:
    windows, emit, _, _ = WORKED[case]
    return sorted(row[1:] for row in found(windows, emit, mode) if row[0] == case)


def expected(case: int) -> list[tuple[Any, ...]]:
    return [(at(start), at(start + length), n, x) for start, length, n, x in WORKED[case][3]]


HERE = [i for i, (_, emit, _, _) in enumerate(WORKED) if not ("LINEAR" in emit or "LATENESS" in emit)]


@pytest.mark.parametrize("mode", [STREAMING, BATCH])
@pytest.mark.parametrize("case", HERE)
def test_worked_out_by_hand(in_process: Given, case: int, mode: str) -> None:
    assert of_case(in_process, case, mode) == expected(case)


@pytest.mark.parametrize("mode", [STREAMING, BATCH])
@pytest.mark.parametrize("case", sorted({*range(len(WORKED))} - {*HERE}))
def test_those_that_spark_alone_computes(on_spark: Given, case: int, mode: str) -> None:
    assert of_case(on_spark, case, mode) == expected(case)


# On Spark

CHANGES = """CREATE TABLE ev (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'debezium-json', 'maxFilesPerTrigger' = '1');"""
ROWS = """CREATE TABLE ev (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'json', 'sqlext.source' = '{}',
'maxFilesPerTrigger' = '1');"""
SINK = """CREATE TABLE filled (k STRING, started STRING, n BIGINT, s BIGINT)
WITH ('connector' = 'delta', 'path' = '${OUT}/filled');"""
TENS = "TABLE(TUMBLE({}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
GROUPED = "INSERT INTO filled SELECT k, DATE_FORMAT(window_start, 'mm:ss'), COUNT(*), SUM(v) AS s FROM {} "
GROUPED += "GROUP BY k, window_start, window_end EMIT {};"
Event = tuple[int, str, int, int]


def event(of: Event) -> dict[str, Any]:
    """Return a row by its number, key, value and second."""
    id_, key, value, second = of
    return {"id": id_, "k": key, "v": value, "ts": str(START + timedelta(seconds=second))}


def changes(of: Iterable[tuple[str, Event, Event | None]]) -> Iterator[str]:
    """Yield messages of changes: a row that is created or deleted, or updated to another."""
    for op, row, other in of:
        before, after = {"c": (None, row), "d": (row, None), "u": (row, other)}[op]
        shown = {"before": event(before) if before else None, "after": event(after) if after else None}
        yield json.dumps({**shown, "op": op})


def test_windows_that_changes_leave_without_rows_are_filled(workspace: Workspace) -> None:
    """A row is deleted, one moves to another window, one gets another value: each before its window is over."""
    one, two, three, four = (1, "a", 5, 1), (2, "a", 7, 12), (3, "a", 1, 23), (4, "b", 2, 2)
    workspace.put("1.json", *changes([("c", one, None), ("c", four, None), ("c", two, None)]))
    workspace.put("2.json", *changes([("d", two, None), ("u", four, (4, "b", 3, 14)), ("c", three, None)]))
    workspace.put("3.json", *changes([("u", three, (3, "a", 9, 24))]))
    workspace.put("4.json", *changes([("c", (5, "a", 4, 44), None)]))
    workspace.run(CHANGES, SINK, GROUPED.format(TENS.format("TABLE ev"), "FILL FOR 20s WITH (s = LAST)"))
    assert workspace.delta("filled") == [
        ("a", "00:00", "1", "5"),
        ("a", "00:10", "0", "5"),
        ("a", "00:20", "1", "9"),
        ("a", "00:30", "0", "9"),
        ("a", "00:40", "1", "4"),
        ("a", "00:50", "0", "4"),
        ("a", "01:00", "0", "4"),
        ("b", "00:10", "1", "3"),
        ("b", "00:20", "0", "3"),
        ("b", "00:30", "0", "3"),
    ]


def test_rows_that_a_query_below_replaces(workspace: Workspace) -> None:
    """Of each number the last row counts: one that comes later takes its window's only row away."""
    workspace.put("1.json", *map(json.dumps, map(event, [(1, "a", 5, 1), (2, "a", 7, 12)])))
    workspace.put("2.json", *map(json.dumps, map(event, [(2, "a", 8, 21), (3, "a", 1, 45)])))
    last = "(SELECT * FROM ev QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) = 1)"
    workspace.run(
        ROWS.format("spark"),
        f"CREATE TEMPORARY VIEW lasts AS SELECT * FROM {last};",
        SINK,
        GROUPED.format(TENS.format("TABLE lasts"), "FILL FOR 10s"),
    )
    assert workspace.delta("filled") == [
        ("a", "00:00", "1", "5"),
        ("a", "00:10", "0", "None"),
        ("a", "00:20", "1", "8"),
        ("a", "00:30", "0", "None"),
        ("a", "00:40", "1", "1"),
        ("a", "00:50", "0", "None"),
    ]


@pytest.mark.parametrize("reader", ["arrow", "spark"])
def test_late_rows_are_in_windows_that_wait_for_them_or_are_kept(workspace: Workspace, reader: str) -> None:
    """With a lateness of 10 s a late row is in a window that would have been filled; one that is later is kept."""
    files = ([(1, "a", 1, 1)], [(2, "b", 2, 24)], [(3, "b", 2, 25)], [(4, "a", 4, 13)], [(5, "b", 2, 52)])
    for number, rows in enumerate([*files, [(6, "b", 2, 53)], [(7, "a", 64, 14), (8, "b", 2, 54)]]):
        workspace.put(f"{number}.json", *map(json.dumps, map(event, rows)))
    late = """CREATE TABLE late (id INT, k STRING) WITH ('connector' = 'delta', 'path' = '${OUT}/late');"""
    emit = "ON WINDOW CLOSE ALLOW LATENESS 10s LATE DATA TO late FILL FOR 10s"
    workspace.run(ROWS.format(reader), SINK, late, GROUPED.format(TENS.format("TABLE ev"), emit))
    assert workspace.delta("filled") == [
        ("a", "00:00", "1", "1"),
        ("a", "00:10", "1", "4"),
        ("a", "00:20", "0", "None"),
        ("b", "00:20", "2", "4"),
        ("b", "00:30", "0", "None"),
        ("b", "00:50", "3", "6"),
        ("b", "01:00", "0", "None"),
    ]
    assert workspace.delta("late") == [("7", "a")]


@pytest.mark.parametrize(
    "emit", ["CHANGES FILL FOR 10s", "AFTER WATERMARK LATE EVERY ROW ALLOW LATENESS 10s FILL FOR 10s"]
)
def test_several_results_of_a_window_are_refused(workspace: Workspace, emit: str) -> None:
    with pytest.raises(SqlExtError, match="EMIT-119"):
        workspace.run(ROWS.format("spark"), SINK, GROUPED.format(TENS.format("TABLE ev"), emit))
    assert not (workspace.folder / "out" / "filled").exists()

"""EXPLAIN ROW names the trigger that fired each pane: worked cases over the logs that a run of Spark leaves. No Spark.

That runs of Spark give these panes, ``tests/watermarks/test_explained_panes.py`` holds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import sqlext
from sqlext.jobs.query_files import folder_name
from sqlext.session.api import Session
from sqlext.stores.location import Location
from sqlext_catalog import ddl
from sqlext_catalog.model import QueryRecord

START = datetime(2024, 1, 1)
TABLES = """
CREATE TABLE a (k STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{0}/a', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE b (k STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{0}/b', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE out (k STRING, w TIMESTAMP(3), n BIGINT, pane INT, kind STRING)
WITH ('connector' = 'delta', 'path' = '{0}/out');
CREATE TABLE spans (k STRING, w TIMESTAMP(3), e TIMESTAMP(3), n BIGINT, pane INT)
WITH ('connector' = 'delta', 'path' = '{0}/spans');
CREATE TABLE plain (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '{0}/plain');
"""
MINUTES = "TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end"
COUNTS = f"INSERT INTO out SELECT k, window_start, COUNT(*), PANE_INDEX(), ROW_KIND() FROM {MINUTES}"
FIRST = "k = 'x' AND w = TIMESTAMP '2024-01-01 00:00:00'"
#: Of each micro-batch: its watermark and its clock in seconds, and the rows: key, number, second.
Batch = tuple[int | None, int, Sequence[tuple[str, int, int]]]
BATCHES: list[Batch] = [
    (None, 0, [("x", 1, 5), ("x", 4, 20), ("y", 1, 20)]),
    (10, 4, [("x", 1, 40)]),
    (30, 8, [("x", 9, 90)]),
    (80, 8, []),
    (80, 12, [("x", 2, 30)]),
    (80, 60, []),
    (300, 70, []),
]


class Logged:
    """A query that Spark is said to have run: its files, and what its checkpoint has of its micro-batches."""

    def __init__(self, folder: Path, insert: str, tables: str = "a") -> None:
        self.folder, self.tables = folder, tables
        for table in "ab":
            (folder / table).mkdir()
        self.session: Session = sqlext.connect(catalog=folder / "catalog", settings={"sqlext.engine": "local"})
        self.session.run(TABLES.format(folder))
        self.place = Location(str(folder / "catalog" / "queries" / folder_name("q")))
        sink = insert.split()[2]
        record = QueryRecord("q", insert, (), f"default_catalog.default_database.{sink}", "", "", "running")
        self.session.catalog.apply(ddl.record_query(record), "START QUERY q")

    def ran(self, batches: Sequence[Batch], first: int = 0) -> None:
        """Write files and logs; the micro-batches before ``first`` are forgotten."""
        files: dict[str, int] = dict.fromkeys(self.tables, 0)
        for number, (watermark, clock, rows) in enumerate(batches):
            for table in self.tables:
                # Of two tables each takes the rows of every other micro-batch.
                if rows and table == self.tables[number % len(self.tables)]:
                    self._file(table, files[table], rows)
                    files[table] += 1
            ends = [json.dumps({"files": files[table]}) for table in self.tables]
            settings = {"batchWatermarkMs": 0 if watermark is None else _ms(watermark), "batchTimestampMs": 1}
            self._tick(number, clock)
            if number >= first:
                lines = ["v1", json.dumps(settings), *ends, json.dumps({"logOffset": number})]
                self.place.put(f"checkpoint/offsets/{number}", "\n".join(lines))
            self.place.put(f"checkpoint/commits/{number}", "v1")
        self.place.put("checkpoint/sqlext-own-sources", json.dumps([len(self.tables)]))

    def _file(self, table: str, number: int, rows: Sequence[tuple[str, int, int]]) -> None:
        path = self.folder / table / f"{number}.json"
        lines = [{"k": k, "n": n, "ts": str(START + timedelta(seconds=second))} for k, n, second in rows]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.place.put(f"sources/sqlext_{table}/{number:020}.json", json.dumps([[str(path), 1, 1]]))

    def _tick(self, number: int, clock: int) -> None:
        tick = self.folder / "clock" / str(number)
        tick.parent.mkdir(exist_ok=True)
        tick.write_text(f"{clock * 1000}\n")
        entry = json.dumps({"path": f"file://{tick}", "timestamp": 1, "batchId": number})
        self.place.put(f"checkpoint/sources/{len(self.tables)}/{number}", f"v1\n{entry}")

    def panes(self, where: str = FIRST, sink: str = "out") -> list[tuple[Any, ...]]:
        """Return of each pane its batch, number, firing, trigger and rows."""
        lines = self.session.sql(f"EXPLAIN WHY NOT FROM {sink} WHERE {where}").rows
        return [(line[5], *line[8:12]) for line in lines if line[1] is not None and line[2] is None]

    def lines(self, where: str = FIRST, sink: str = "out") -> list[tuple[Any, ...]]:
        """Return of each input row its table, file, number, batch, watermark and whether it was late."""
        lines = self.session.sql(f"EXPLAIN WHY NOT FROM {sink} WHERE {where}").rows
        return [(*line[2:6], line[6] and str(line[6])[-8:], line[7]) for line in lines if line[2] and line[1]]


def _ms(second: int) -> int:
    return (START - datetime(1970, 1, 1)) // timedelta(milliseconds=1) + second * 1000


#: EMIT clause, and of each pane its batch, number, firing, trigger and how many rows it held.
CASES: dict[str, list[tuple[Any, ...]]] = {
    "": [
        (3, 0, "ON_TIME", "AFTER WATERMARK (the default)", 3),
    ],
    "EMIT AFTER WATERMARK EARLY EVERY 2 ROWS": [
        (0, 0, "EARLY", "EARLY EVERY 2 ROWS", 2),
        (3, 1, "ON_TIME", "AFTER WATERMARK", 3),
    ],
    "EMIT AFTER WATERMARK EARLY EVERY 3s": [
        (1, 0, "EARLY", "EARLY EVERY 3s", 3),
        (3, 1, "ON_TIME", "AFTER WATERMARK", 3),
    ],
    "EMIT AFTER WATERMARK EARLY EVERY ROW LATE EVERY ROW ALLOW LATENESS 2m": [
        (0, 0, "EARLY", "EARLY EVERY ROW", 2),
        (1, 1, "EARLY", "EARLY EVERY ROW", 3),
        (3, 2, "ON_TIME", "AFTER WATERMARK", 3),
        (4, 3, "LATE", "LATE EVERY ROW", 4),
    ],
    "EMIT AFTER WATERMARK ALLOW LATENESS 2m": [
        (3, 0, "ON_TIME", "AFTER WATERMARK", 3),
        (4, 1, "LATE", "AFTER WATERMARK ALLOW LATENESS 2m", 4),
    ],
    "EMIT AFTER WATERMARK WITH DELAY 30s": [
        (6, 0, "ON_TIME", "AFTER WATERMARK WITH DELAY 30s", 4),
    ],
    "EMIT AFTER WATERMARK WITH DELAY 5m AND TIMEOUT 30s": [
        (5, 0, "ON_TIME", "AFTER WATERMARK WITH DELAY 5m AND TIMEOUT 30s", 4),
    ],
    "EMIT ON WINDOW CLOSE ALLOW LATENESS 1m": [
        (6, 0, "ON_TIME", "ON WINDOW CLOSE", 4),
    ],
    "EMIT NEVER": [
        (3, 0, "ON_TIME", "NEVER", 3),
    ],
    "EMIT AFTER IDLE 5s DISCARDING": [
        (3, 0, "ON_TIME", "AFTER IDLE 5s", 3),
    ],
    "EMIT EVERY 20s OF EVENT TIME": [
        (2, 0, "EARLY", "EVERY 20s OF EVENT TIME", 3),
        (3, 1, "ON_TIME", "EVERY 20s OF EVENT TIME", 3),
    ],
    "EMIT AFTER DELTA OF (n) > 2": [
        (0, 0, "EARLY", "AFTER DELTA OF (n) > 2", 2),
        (3, 1, "ON_TIME", "AFTER DELTA OF (n) > 2", 3),
    ],
    "EMIT WHEN (SUM(n) > 5)": [
        (1, 0, "EARLY", "WHEN (SUM(n) > 5)", 3),
        (3, 1, "ON_TIME", "WHEN (SUM(n) > 5)", 3),
    ],
    "EMIT CASE WHEN n > 3 THEN FIRE END": [
        (0, 0, "EARLY", "CASE WHEN n > 3 THEN FIRE END", 2),
        (3, 1, "ON_TIME", "CASE WHEN n > 3 THEN FIRE END", 3),
    ],
    "EMIT CHANGELOG AFTER WATERMARK EARLY EVERY ROW": [
        (0, 0, "EARLY", "EARLY EVERY ROW", 2),
        (1, 0, "EARLY, taken back", "EARLY EVERY ROW", 2),
        (1, 1, "EARLY", "EARLY EVERY ROW", 3),
        (3, 1, "EARLY, taken back", "EARLY EVERY ROW", 3),
        (3, 2, "ON_TIME", "AFTER WATERMARK", 3),
    ],
    "EMIT CHANGES": [
        (0, 0, "EARLY", "CHANGES", 2),
        (1, 1, "EARLY", "CHANGES", 3),
        (3, 2, "ON_TIME", "CHANGES", 3),
    ],
    "EMIT EVERY 5s REPEAT": [
        (2, 0, "EARLY", "EVERY 5s REPEAT", 3),
        (3, 1, "ON_TIME", "EVERY 5s REPEAT", 3),
    ],
    "EMIT EVERY 3 ROWS OR EVERY 5s DISCARDING": [
        (1, 0, "EARLY", "EVERY 3 ROWS OR EVERY 5s", 3),
    ],
    "EMIT ONCE AFTER 2 ROWS": [
        (0, 0, "EARLY", "AFTER 2 ROWS", 2),
    ],
    "EMIT EVERY 2 ROWS KEEP LAST 1 ROWS": [
        (0, 0, "EARLY", "EVERY 2 ROWS", 1),
        (3, 1, "ON_TIME", "EVERY 2 ROWS", 1),
    ],
    "EMIT WITH DELAY 3s BEFORE WATERMARK": [
        (1, 0, "EARLY", "WITH DELAY 3s BEFORE WATERMARK", 3),
        (3, 1, "ON_TIME", "WITH DELAY 3s BEFORE WATERMARK", 3),
    ],
    "EMIT FILL FOR 2m": [
        (3, 0, "ON_TIME", "AFTER WATERMARK (the default)", 3),
    ],
}


@pytest.mark.parametrize("emit", CASES)
def test_each_pane_has_its_trigger(tmp_path: Path, emit: str) -> None:
    query = Logged(tmp_path, f"{COUNTS} {emit}")
    query.ran(BATCHES)
    assert query.panes() == CASES[emit]


def test_what_a_pane_held_stands_beside_it(tmp_path: Path) -> None:
    """The clock stands there where the trigger asks for it; the watermark is that of the micro-batch that gave it."""
    query = Logged(tmp_path, f"{COUNTS} EMIT AFTER WATERMARK EARLY EVERY 3s")
    query.ran(BATCHES)
    lines = query.session.sql(f"EXPLAIN WHY NOT FROM out WHERE {FIRST}").rows
    early, on_time = (line for line in lines if line[8] is not None)
    assert (str(early[6]), str(early[12])) == ("2024-01-01 00:00:10", "1970-01-01 00:00:04")
    assert (str(on_time[6]), str(on_time[12])) == ("2024-01-01 00:01:20", "1970-01-01 00:00:08")
    window = {"window_start": "2024-01-01 00:00:00", "window_end": "2024-01-01 00:01:00"}
    assert json.loads(early[-1]) == {**window, "k": "x", "n": 3, "pane": 0}


def test_allowed_lateness_is_not_late(tmp_path: Path) -> None:
    query = Logged(tmp_path, f"{COUNTS} EMIT AFTER WATERMARK ALLOW LATENESS 2m")
    query.ran(BATCHES)
    assert query.lines()[-1] == ("a", "3.json", 1, 4, "00:01:20", False)
    other = tmp_path / "other"
    other.mkdir()
    query = Logged(other, COUNTS)
    query.ran(BATCHES)
    assert query.lines()[-1] == ("a", "3.json", 1, 4, "00:01:20", True)


UNION = """INSERT INTO out SELECT k, window_start, COUNT(*), 0, '' FROM TABLE(TUMBLE(
(SELECT k, ts FROM a UNION ALL SELECT k, ts FROM b), DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY k, window_start, window_end"""


def test_the_tables_of_a_union_have_micro_batches_of_their_own(tmp_path: Path) -> None:
    query = Logged(tmp_path, UNION, "ab")
    query.ran(BATCHES)
    assert query.panes() == [(3, 0, "ON_TIME", "AFTER WATERMARK (the default)", 3)]
    assert query.lines() == [
        ("a", "0.json", 1, 0, None, False),
        ("a", "0.json", 2, 0, None, False),
        ("a", "2.json", 1, 4, "00:01:20", True),
        ("b", "0.json", 1, 1, None, False),
    ]


def test_both_sides_of_a_join_have_their_micro_batches(tmp_path: Path) -> None:
    near = "a.ts BETWEEN b.ts - INTERVAL '1' MINUTE AND b.ts + INTERVAL '1' MINUTE"
    query = Logged(tmp_path, f"INSERT INTO plain SELECT a.k, b.n FROM a JOIN b ON a.k = b.k AND {near}", "ab")
    query.ran(BATCHES)
    found = query.lines("k = 'x' AND n = 1", "plain")
    assert [(table, batch, met) for table, _, _, batch, met, _ in found] == [
        ("a", 0, None),
        ("a", 0, None),
        ("a", 2, "00:00:10"),
        ("a", 4, "00:01:20"),
        ("b", 1, None),
    ]


def test_why_not_names_the_table_and_the_watermark_that_lack(tmp_path: Path) -> None:
    query = Logged(tmp_path, UNION, "ab")
    query.ran([(None, 0, [("x", 1, 5)]), (0, 1, [("x", 1, 300)])])
    split = {"name": None, "largest": _ms(5), "idle_since": None, "idle_after": None, "held": False}
    split |= {"holds": True, "rows": 1}
    known = {"name": "a", "delay": 10_000, "watermark": _ms(-5), "needed": None, "interval": 0, "timeout": None}
    known |= {"idle": False, "ended": False, "group": None, "leader": None, "zone": "UTC", "splits": [split]}
    far = {**known, "name": "b", "watermark": _ms(290)}
    report = {"at": 1, "watermark": _ms(-5), "end": None, "session": False, "closes_at": None, "inputs": [known, far]}
    query.place.put("time/keeper.json", json.dumps({"known": {}, "report": report}))
    notices = query.session.sql(f"EXPLAIN WHY NOT FROM out WHERE {FIRST}").notices
    assert notices == (
        "No row of `out` is so.",
        "No row of `b` is so, which query `q` reads too.",
        "The window ends at 2024-01-01 00:01:00, and the watermark of query `q` is at 2024-01-01 00:00:00.",
        "The watermark of `a` is at 2023-12-31 23:59:55: a row of 2024-01-01 00:01:10 or later must come.",
    )


def test_what_having_left_out_is_said(tmp_path: Path) -> None:
    query = Logged(
        tmp_path, f"INSERT INTO out SELECT k, window_start, COUNT(*), 0, '' FROM {MINUTES} HAVING COUNT(*) > 3"
    )
    query.ran(BATCHES)
    assert query.panes() == [(3, 0, "ON_TIME, left out by HAVING", "AFTER WATERMARK (the default)", 3)]
    assert query.session.sql(f"EXPLAIN WHY NOT FROM out WHERE {FIRST}").notices[-1] == (
        "A pane came out, and HAVING left it out."
    )


def test_panes_of_a_session_that_has_grown(tmp_path: Path) -> None:
    session = "SESSION(TABLE a PARTITION BY k, DESCRIPTOR(ts), INTERVAL '25' SECOND)"
    query = Logged(
        tmp_path,
        f"""INSERT INTO spans SELECT k, window_start, window_end, COUNT(*), PANE_INDEX() FROM TABLE({session})
        GROUP BY k, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY ROW""",
    )
    query.ran(BATCHES)
    where = "k = 'x' AND w = TIMESTAMP '2024-01-01 00:00:05' AND e = TIMESTAMP '2024-01-01 00:01:05'"
    assert query.panes(where, "spans") == [
        (0, 0, "EARLY", "EARLY EVERY ROW", 2),
        (1, 0, "EARLY", "EARLY EVERY ROW", 3),
        (3, 1, "ON_TIME", "AFTER WATERMARK", 3),
    ]


def test_windows_over_windows_hold_what_the_lower_ones_gave(tmp_path: Path) -> None:
    below = """SELECT k, window_time AS t, COUNT(*) AS m
        FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '20' SECOND))
        GROUP BY k, window_start, window_end, window_time"""
    query = Logged(
        tmp_path,
        f"""INSERT INTO out SELECT k, window_start, SUM(m), 0, '' FROM TABLE(TUMBLE(({below}), DESCRIPTOR(t),
        INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end""",
    )
    query.ran(BATCHES)
    assert query.panes() == [(3, 0, "ON_TIME", "AFTER WATERMARK (the default)", 3)]


def test_a_filled_window_has_its_pane(tmp_path: Path) -> None:
    query = Logged(tmp_path, f"{COUNTS} EMIT FILL FOR 3m")
    query.ran(BATCHES)
    where = "k = 'x' AND w = TIMESTAMP '2024-01-01 00:02:00'"
    assert query.panes(where) == [(6, 0, "FILLED", "AFTER WATERMARK (the default), FILL", 0)]


def test_a_filled_window_of_a_key_of_a_table_has_its_pane(tmp_path: Path) -> None:
    """The first window with rows of any key is the first that is filled; `x` is no key of the table."""
    query = Logged(tmp_path, f"{COUNTS} EMIT FILL FOR EACH KEY OF b", "ab")
    begun: list[Batch] = [(None, 0, [("x", 1, 5)]), (None, 0, [("z", 1, 5)]), (30, 1, [("x", 1, 130)])]
    query.ran([*begun, (110, 2, []), (230, 3, [])])
    where = "k = '{}' AND w = TIMESTAMP '2024-01-01 00:0{}:00'"
    assert query.panes(where.format("z", 0)) == [(3, 0, "FILLED", "AFTER WATERMARK (the default), FILL", 0)]
    assert query.panes(where.format("z", 2)) == [(4, 0, "FILLED", "AFTER WATERMARK (the default), FILL", 0)]
    assert query.panes(where.format("x", 1)) == []


#: When the clock of the micro-batches began.
TICKS = datetime(1970, 1, 1)
CLOCKED = "(SELECT k, n, PROCTIME() AS p FROM a WHERE n < 100), DESCRIPTOR(p), INTERVAL '5' SECOND"


@pytest.mark.parametrize(
    ("start", "rows"),
    [
        (0, [("0.json", 1), ("0.json", 2), ("1.json", 1)]),
        (5, [("2.json", 1)]),
        (10, [("3.json", 1)]),
        (15, []),
    ],
)
@pytest.mark.parametrize("bounds", ["w", "e", "w e"])
def test_windows_of_processing_time_have_the_rows_of_their_micro_batches(
    tmp_path: Path, start: int, rows: list[tuple[str, int]], bounds: str
) -> None:
    query = Logged(
        tmp_path,
        f"""INSERT INTO spans SELECT k, window_start, window_end, COUNT(*), PANE_INDEX() FROM TABLE(TUMBLE({CLOCKED}))
        GROUP BY k, window_start, window_end""",
    )
    query.ran(BATCHES)
    times = {"w": TICKS + timedelta(seconds=start), "e": TICKS + timedelta(seconds=start + 5)}
    where = " AND ".join(["k = 'x'", *(f"{name} = TIMESTAMP '{times[name]}'" for name in bounds.split())])
    assert [(file, row) for _, file, row, *_ in query.lines(where, "spans")] == rows
    ends = {0: 2, 5: 4, 10: 5}
    held = [(batch, count) for batch, _, _, _, count in query.panes(where, "spans")]
    assert held == ([(ends[start], len(rows))] if rows else [])


def test_of_forgotten_micro_batches_all_rows_of_the_key_are_named(tmp_path: Path) -> None:
    query = Logged(
        tmp_path,
        f"""INSERT INTO spans SELECT k, window_start, window_end, COUNT(*), 0 FROM TABLE(TUMBLE({CLOCKED}))
        GROUP BY k, window_start, window_end""",
    )
    query.ran(BATCHES, first=3)
    where = f"k = 'x' AND w = TIMESTAMP '{TICKS + timedelta(seconds=10)}'"
    files = [(file, batch) for _, file, _, batch, *_ in query.lines(where, "spans")]
    assert ("3.json", 4) in files
    assert {file for file, batch in files if batch is None} == {"0.json", "1.json", "2.json"}
    notices = query.session.sql(f"EXPLAIN WHY NOT FROM spans WHERE {where}").notices
    assert any("micro-batches are not known" in text for text in notices)


@pytest.mark.parametrize("lower", ["SELECT k, COUNT(*) AS n FROM a GROUP BY k", "event", "processing"])
def test_windows_of_processing_time_above_others_have_the_rows_before_their_end(tmp_path: Path, lower: str) -> None:
    if lower == "event":
        lower = f"SELECT k, COUNT(*) AS n FROM {MINUTES}"
    elif lower == "processing":
        lower = f"SELECT k, COUNT(*) AS n FROM TABLE(TUMBLE({CLOCKED})) GROUP BY k, window_start, window_end"
    upper = f"(SELECT k, n, PROCTIME() AS p FROM ({lower})), DESCRIPTOR(p), INTERVAL '10' SECOND"
    query = Logged(
        tmp_path,
        f"""INSERT INTO spans SELECT k, window_start, window_end, COUNT(*), 0 FROM TABLE(TUMBLE({upper}))
        GROUP BY k, window_start, window_end""",
    )
    query.ran(BATCHES)
    where = f"k = 'x' AND w = TIMESTAMP '{TICKS}'"
    assert {file for _, file, *_ in query.lines(where, "spans")} == {"0.json", "1.json", "2.json"}
    notices = query.session.sql(f"EXPLAIN WHY NOT FROM spans WHERE {where}").notices
    assert any("More rows" in text for text in notices)


def _reason(query: Logged) -> str:
    lines = query.session.sql(f"EXPLAIN WHY NOT FROM out WHERE {FIRST}").rows
    (text,) = (line[-1] for line in lines if line[9] == "NOT KNOWN")
    return str(json.loads(text)["reason"])


def test_what_cannot_be_known_is_said_in_the_line(tmp_path: Path) -> None:
    for name in ("forgotten", "lost", "new"):
        (tmp_path / name).mkdir()
    query = Logged(tmp_path / "forgotten", COUNTS)
    query.ran(BATCHES, first=3)
    assert "of 3 of 4 input rows are not known" in _reason(query)
    query = Logged(tmp_path / "lost", COUNTS)
    query.ran(BATCHES)
    query.place.store.remove("checkpoint")
    assert "the micro-batches of the query are not known" in _reason(query)
    query = Logged(tmp_path / "new", COUNTS)
    query.ran(BATCHES)
    for number in range(1, len(BATCHES)):
        query.place.store.delete(f"checkpoint/commits/{number}")
    assert query.panes() == []  # the window had not ended by then

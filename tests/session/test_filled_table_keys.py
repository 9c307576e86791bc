"""FILL FOR EACH KEY OF a table on Spark: kinds of windows, days of a zone, what stands on them, and its limit."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.workspace import Workspace

BATCH = "SET 'execution.runtime-mode' = 'batch';"
READERS = ("arrow", "spark")
TABLES = """CREATE TABLE ev (k STRING, v INT, ts {type}, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}/ev', 'format' = 'json', 'sqlext.source' = '{reader}');
CREATE TABLE keys (k STRING, place INT)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}/keys', 'format' = 'json', 'sqlext.source' = '{reader}');
"""
FILLED = "GROUP BY k, window_start, window_end EMIT FILL FOR EACH KEY OF keys"
START = datetime(2024, 1, 1, 10)
#: Seconds behind the start, and values: seven minutes of which most keys have none.
ROWS = {"a": ((1, 1), (30, 2), (245, 4)), "b": ((130, 8), (131, 16)), "x": ((400, 32),)}
KEYS = ("a", "b", None, "never")


def put(workspace: Workspace, folder: str, name: str, rows: Iterable[dict[str, Any]]) -> None:
    (workspace.input / folder).mkdir(exist_ok=True)
    workspace.put(f"{folder}/{name}", *map(json.dumps, rows))


@pytest.fixture
def filled(workspace: Workspace) -> Workspace:
    rows = [(k, v, s) for k, of in ROWS.items() for s, v in of]
    put(workspace, "ev", "1.json", ({"k": k, "v": v, "ts": str(START + timedelta(seconds=s))} for k, v, s in rows))
    put(workspace, "keys", "1.json", ({"k": k, "place": 1} for k in (*KEYS, "a")))
    return workspace


def expected(kind: str, size: int, step: int) -> list[tuple[Any, ...]]:
    """Return key, start, end, count and the last sum of each window, by plain Python (minutes)."""
    rows = [(k, v, s / 60) for k, of in ROWS.items() for s, v in of]

    def values(key: str | None, start: int, end: int) -> list[int]:
        return [v for k, v, s in rows if k == key and start <= s < end]

    spans = range(-60, 60, step)
    grid = [(s, s + size) for s in spans] if kind != "CUMULATE" else [(s // size * size, s + step) for s in spans]
    with_rows = [w for w in grid if any(w[0] <= s < w[1] for _, _, s in rows)]
    found = []
    for key in {*KEYS, *ROWS}:
        last = None
        for start, end in grid:
            if not with_rows[0][1] <= end <= with_rows[-1][1]:
                continue
            some = values(key, start, end)
            last = sum(some) if some else last
            if some or key in KEYS:
                found.append((key, at(start), at(end), len(some), last))
    return sorted(found, key=repr)


def at(minute: int) -> datetime:
    return START + timedelta(minutes=minute)


KINDS = {
    "TUMBLE": ("TUMBLE", 1, 1, "INTERVAL '1' MINUTE"),
    "HOP": ("HOP", 3, 1, "INTERVAL '1' MINUTE, INTERVAL '3' MINUTE"),
    "HOP with gaps": ("HOP", 1, 2, "INTERVAL '2' MINUTE, INTERVAL '1' MINUTE"),
    "CUMULATE": ("CUMULATE", 4, 2, "INTERVAL '2' MINUTE, INTERVAL '4' MINUTE"),
}


def windows(kind: str, arguments: str) -> str:
    return f"TABLE({kind}(TABLE ev, DESCRIPTOR(ts), {arguments}))"


def tables(reader: str, type_: str = "TIMESTAMP(3)") -> str:
    return TABLES.format(reader=reader, type=type_)


@pytest.mark.parametrize("reader", READERS)
def test_windows_of_each_kind_in_both_modes(filled: Workspace, reader: str) -> None:
    queries = [
        f"SELECT k, window_start, window_end, COUNT(*), SUM(v) AS s FROM {windows(kind, arguments)} {FILLED} "
        "WITH (s = LAST);"
        for kind, _, _, arguments in KINDS.values()
    ]
    for mode in ("", BATCH):
        results = filled.run(mode, tables(reader), *queries)[-len(queries) :]
        for result, (kind, size, step, _) in zip(results, KINDS.values(), strict=True):
            assert sorted(map(tuple, result.rows), key=repr) == expected(kind, size, step), (mode, kind, size, step)


MINUTES = windows("TUMBLE", "INTERVAL '1' MINUTE")
COUNTED = f"SELECT k, window_start, window_end, window_time AS t, COUNT(*) AS n FROM {MINUTES}"
COUNTED += f" {FILLED.replace('window_end', 'window_end, window_time')}"
ABOVE = {
    "windows": f"""SELECT COALESCE(k, '-'), window_start, SUM(n), COUNT(*)
    FROM TABLE(TUMBLE((SELECT k, t, n FROM ({COUNTED})), DESCRIPTOR(t), INTERVAL '5' MINUTE))
    GROUP BY k, window_start, window_end""",
    "top-n": f"""SELECT COALESCE(k, '-'), window_start, n, r FROM (SELECT *, ROW_NUMBER() OVER (
    PARTITION BY window_start, window_end ORDER BY n DESC, COALESCE(k, '-')) AS r FROM ({COUNTED})) WHERE r <= 2""",
    "join": f"""SELECT a.k, a.window_start, a.n, b.n FROM ({COUNTED}) AS a JOIN ({COUNTED}) AS b
    ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.k = b.k AND a.k <> 'x'""",
    "absence": f"SELECT k, window_start, 0, 0 FROM {MINUTES} {FILLED.replace('EMIT', 'HAVING COUNT(*) = 0 EMIT')}",
}


def above() -> dict[str, list[tuple[Any, ...]]]:
    """Return what the queries above filled windows give."""
    counts = {(k, w): n for k, w, _, n, _ in expected("TUMBLE", 1, 1)}
    fives: dict[tuple[str, datetime], list[int]] = {}
    for (k, w), n in counts.items():
        fives.setdefault((k or "-", w.replace(minute=w.minute // 5 * 5)), []).append(n)
    tops = []
    for w in sorted({w for _, w in counts}):
        ordered = sorted(((k or "-", n) for (k, at_), n in counts.items() if at_ == w), key=lambda p: (-p[1], p[0]))
        tops += [(k, w, n, r) for r, (k, n) in enumerate(ordered[:2], 1)]
    return {
        "windows": [(k, w, sum(n), len(n)) for (k, w), n in fives.items()],
        "top-n": tops,
        "join": [(k, w, n, n) for (k, w), n in counts.items() if k not in (None, "x")],
        "absence": [(k, w, 0, 0) for (k, w), n in counts.items() if n == 0],
    }


def test_what_stands_on_filled_windows_reads_them_as_windows(filled: Workspace) -> None:
    for mode in ("", BATCH):
        results = filled.run(mode, tables("spark"), *(f"{q};" for q in ABOVE.values()))[-len(ABOVE) :]
        for result, (name, rows) in zip(results, above().items(), strict=True):
            assert sorted(map(tuple, result.rows), key=repr) == sorted(rows, key=repr), (mode, name)


@pytest.mark.parametrize("first", [datetime(2024, 3, 30), datetime(2024, 10, 26)])
def test_days_of_a_zone_with_summer_time(workspace: Workspace, first: datetime) -> None:
    """The day in the middle has 23 or 25 hours, and no rows."""
    zone = ZoneInfo("Europe/Berlin")
    days = [first + timedelta(days=d) for d in range(4)]
    midnights = [d.replace(tzinfo=zone).astimezone(timezone.utc).replace(tzinfo=None) for d in days]
    assert {(e - s) // timedelta(hours=1) for s, e in pairwise(midnights)} in (
        {24, 23},
        {24, 25},
    )
    times = [midnights[0], midnights[3] - timedelta(seconds=1)]
    put(workspace, "ev", "1.json", ({"k": "a", "v": 1, "ts": f"{t}Z"} for t in times))
    put(workspace, "keys", "1.json", [{"k": "a"}, {"k": "b"}])
    one_day = windows("TUMBLE", "INTERVAL '1' DAY")
    timed = FILLED.replace("window_end", "window_end, window_time")
    query = f"SELECT k, window_start, window_end, window_time, COUNT(*) FROM {one_day} {timed};"
    last = [m - timedelta(milliseconds=1) for m in midnights]
    rows = [(k, days[d], days[d + 1], last[d + 1], int(k == "a" and d != 1)) for k in "ab" for d in range(3)]
    for mode in ("", BATCH):
        script = (f"SET 'table.local-time-zone' = '{zone.key}';", mode, tables("spark", "TIMESTAMP_LTZ(3)"), query)
        assert sorted(map(tuple, workspace.run(*script)[-1].rows)) == rows


def test_too_many_windows_at_once_end_the_query_and_it_goes_on_under_a_higher_limit(filled: Workspace) -> None:
    sink = """CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT)
    WITH ('connector' = 'delta', 'path' = '${OUT}/counts');"""
    insert = f"INSERT INTO counts SELECT k, window_start, COUNT(*) FROM {MINUTES} {FILLED};"
    with pytest.raises(Exception, match=r"RUN-088.*'sqlext.fill.limit' = 5"):
        filled.run(tables("spark"), sink, "SET 'sqlext.fill.limit' = '5';", insert)
    assert filled.delta() == []
    filled.run(tables("spark"), sink, "SET 'sqlext.fill.limit' = '100';", insert)
    counts = sorted((str(k), str(w), str(n)) for k, w, _, n, _ in expected("TUMBLE", 1, 1))
    assert filled.delta() == counts

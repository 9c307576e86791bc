"""Windows of months, quarters and years on Spark: their bounds against a brute-force search, streams, wall clocks."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.workspace import Row, Workspace

DAY = timedelta(days=1)
SOURCE = """CREATE TABLE ev (k STRING, v INT, ts {type}, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'json');"""
ZONED = "SET 'table.local-time-zone' = 'America/New_York';"
#: Function and arguments: months of size and slide (or a step within a day), months and days of offset.
CALLS = {
    "TUMBLE|INTERVAL '1' MONTH": (1, 1, 0, 0),
    "TUMBLE|INTERVAL '1' QUARTER": (3, 3, 0, 0),
    "TUMBLE|INTERVAL '1' YEAR, INTERVAL '3' MONTH": (12, 12, 3, 0),
    "TUMBLE|INTERVAL '1' MONTH, INTERVAL '-4' DAY": (1, 1, 0, -4),
    "HOP|INTERVAL '1' MONTH, INTERVAL '1' YEAR": (12, 1, 0, 0),
    "HOP|INTERVAL '2' MONTH, INTERVAL '6' MONTH, INTERVAL '1' MONTH": (6, 2, 1, 0),
    "HOP|INTERVAL '1' YEAR, INTERVAL '5' MONTH": (5, 12, 0, 0),
    "CUMULATE|INTERVAL '2' MONTH, INTERVAL '1-0' YEAR TO MONTH, INTERVAL '1' MONTH": (12, 2, 1, 0),
    "CUMULATE|INTERVAL '12' HOUR, INTERVAL '1' MONTH, INTERVAL '1' DAY": (1, timedelta(hours=12), 0, 1),
}


def begin(month: int, days: int) -> datetime:
    return datetime(1970 + month // 12, month % 12 + 1, 1) + days * DAY


def windows(call: str, wall: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Yield the windows of a wall clock: of all that lie around it, those that hold it."""
    function = call.partition("|")[0]
    size, slide, offset, days = CALLS[call]
    around = (wall.year - 1970) * 12 + wall.month
    for month in range(around - 30, around + 30):
        period = size if function == "CUMULATE" else slide
        start, end = begin(month, days), begin(month + size, days)
        if (month - offset) % period or not start <= wall < end:
            continue
        if function != "CUMULATE":
            yield start, end
        elif isinstance(slide, timedelta):
            yield from ((start, e) for n in range(1, 63) if wall < (e := start + n * slide) <= end)
        else:
            yield from ((start, e) for n in range(1, 7) if wall < (e := begin(month + n * slide, days)))


def times(seed: int) -> list[datetime]:
    """Return times of twelve years: at random, and around the first midnights of months."""
    random_ = random.Random(seed)
    found = [datetime(1990, 1, 1) + random_.random() * 12 * 365 * DAY for _ in range(40)]
    edges = [begin(random_.randrange(240, 400), random_.choice((0, 0, 1, -4))) for _ in range(15)]
    found += [e + d for e in edges for d in (timedelta(), -timedelta(milliseconds=1), timedelta(milliseconds=1))]
    return [t.replace(microsecond=t.microsecond // 1000 * 1000) for t in found]


#: Of these clocks some have no midnight on some days, or two, or leave out a day.
ZONES = ["America/New_York", "America/Havana", "America/Sao_Paulo", "Pacific/Apia"]


@pytest.mark.parametrize("zoned_by", ["", *ZONES])
def test_each_row_is_in_the_windows_that_hold_it(workspace: Workspace, zoned_by: str) -> None:
    """A TIMESTAMP_LTZ is in the windows of its wall clock in the session's zone."""
    zoned, zone = bool(zoned_by), ZoneInfo(zoned_by or "UTC")
    rows = [(str(i), t) for i, t in enumerate(times(7))]
    shown = [
        json.dumps({"k": k, "v": 1, "ts": f"{t:%Y-%m-%d %H:%M:%S.%f}"[:-3] + ("Z" if zoned else "")}) for k, t in rows
    ]
    workspace.put("0.json", *shown)
    source = SOURCE.format(type="TIMESTAMP_LTZ(3)" if zoned else "TIMESTAMP(3)")
    utc = ZoneInfo("UTC")
    walls = [(k, t.replace(tzinfo=utc).astimezone(zone).replace(tzinfo=None) if zoned else t) for k, t in rows]
    selects = []
    for call in CALLS:
        function, _, arguments = call.partition("|")
        selects.append(
            "SELECT k, window_start, window_end, COUNT(*)"
            f" FROM TABLE({function}(TABLE ev, DESCRIPTOR(ts), {arguments}))"
            " GROUP BY k, window_start, window_end;"
        )
    settings = ("SET 'execution.runtime-mode' = 'batch';", f"SET 'table.local-time-zone' = '{zone.key}';")
    results = [r for r in workspace.run(source, *settings, *selects) if r.columns[:1] == ("k",)]
    assert len(results) == len(CALLS)
    for call, result in zip(CALLS, results, strict=True):
        expected = sorted((k, *w, 1) for k, wall in walls for w in windows(call, wall))
        assert sorted(map(tuple, result.rows)) == expected, call
        assert expected, call


#: Around what each clock does at a midnight, or with a day (UTC).
TURNS = {
    "America/Havana": [(2024, 3, 10, 5), (2024, 11, 3, 5)],
    "America/Sao_Paulo": [(2018, 11, 4, 3), (2018, 2, 18, 2)],
    "Pacific/Apia": [(2011, 12, 30, 10)],
    "Australia/Lord_Howe": [(2024, 4, 6, 15), (2024, 10, 5, 15)],
}


@pytest.mark.parametrize("zone", TURNS)
def test_weeks_from_sunday_on_and_days_of_a_zone(workspace: Workspace, zone: str) -> None:
    steps = [timedelta(minutes=m) for m in (-1500, -90, -61, -60, -31, -1, 0, 1, 29, 30, 59, 60, 61, 90, 1500, 9000)]
    instants = [datetime(*turn) + step for turn in TURNS[zone] for step in steps]
    workspace.put("0.json", *(json.dumps({"k": str(i), "v": 1, "ts": f"{t}Z"}) for i, t in enumerate(instants)))
    source = SOURCE.format(type="TIMESTAMP_LTZ(3)").replace("'2' SECOND", "'3000' DAY")
    queries = [
        f"SELECT k, window_start, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), {arguments})) "
        "GROUP BY k, window_start, window_end;"
        for arguments in ("INTERVAL '7' DAY, INTERVAL '3' DAY", "INTERVAL '1' DAY")
    ]
    utc = ZoneInfo("UTC")
    walls = [t.replace(tzinfo=utc).astimezone(ZoneInfo(zone)).replace(tzinfo=None) for t in instants]
    midnights = [datetime(wall.year, wall.month, wall.day) for wall in walls]
    sundays = [midnight - (midnight.weekday() + 1) % 7 * DAY for midnight in midnights]
    expected = [
        sorted((str(i), start, start + length, 1) for i, start in enumerate(starts))
        for starts, length in ((sundays, 7 * DAY), (midnights, DAY))
    ]
    for mode in ("", "SET 'execution.runtime-mode' = 'batch';"):
        results = workspace.run(f"SET 'table.local-time-zone' = '{zone}';", mode, source, *queries)[-2:]
        assert [sorted(map(tuple, result.rows)) for result in results] == expected


@pytest.fixture
def two_months(workspace: Workspace) -> Workspace:
    """January and February by the clock of New York; Spark leaves late rows out one micro-batch after its watermark."""
    line = '{{"k": "{}", "v": {}, "ts": "{}Z"}}'.format
    workspace.put("0.json", line("a", 1, "2024-01-01 05:00:00"), line("a", 2, "2024-02-01 04:59:59.999"))
    workspace.put("1.json", line("a", 4, "2024-02-01 05:00:00"), line("a", 8, "2024-02-01 05:00:03"))
    workspace.put("2.json", line("a", 64, "2024-02-01 05:00:04"))
    workspace.put("3.json", line("a", 16, "2024-01-31 05:00:00"), line("a", 32, "2024-02-29 23:00:00"))
    return workspace


SLOW = SOURCE.replace("'format'", "'sqlext.source' = 'spark', 'maxFilesPerTrigger' = '1', 'format'")
SUMS = "CREATE TABLE counts (s TIMESTAMP(3), e TIMESTAMP(3), n BIGINT, t STRING) WITH ({});"
DELTA = SUMS.format("'connector' = 'delta', 'path' = '${OUT}/counts'")
MONTHS = "TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MONTH))"
GROUPED = "GROUP BY window_start, window_end"


def run(workspace: Workspace, insert: str) -> list[Row]:
    workspace.run(SLOW.format(type="TIMESTAMP_LTZ(3)"), DELTA, ZONED, insert)
    return workspace.delta()


JANUARY, FEBRUARY, MARCH = (f"2024-0{m}-01 00:00:00" for m in (1, 2, 3))


def test_the_watermark_closes_a_month_of_the_zone(two_months: Workspace) -> None:
    """The row of January in the last file is late: the watermark has passed the first midnight of February."""
    insert = f"INSERT INTO counts SELECT window_start, window_end, SUM(v), '' FROM {MONTHS} {GROUPED};"
    assert run(two_months, insert) == [
        (JANUARY, FEBRUARY, "3", ""),
        (FEBRUARY, MARCH, "108", ""),
    ]


def test_under_emit_the_last_pane_of_each_month_stays(two_months: Workspace) -> None:
    insert = f"""INSERT INTO counts SELECT window_start, window_end, SUM(v), PANE_TIMING() FROM {MONTHS} {GROUPED}
    EMIT AFTER WATERMARK EARLY EVERY 2 ROWS;"""
    assert run(two_months, insert) == [
        (JANUARY, FEBRUARY, "3", "ON_TIME"),
        (FEBRUARY, MARCH, "108", "ON_TIME"),
    ]


def test_month_to_date_and_what_stands_on_it(two_months: Workspace) -> None:
    """CUMULATE by days up to a month; the largest sum of each quarter by a second window over its time."""
    script = f"""CREATE VIEW daily AS SELECT window_time AS t, SUM(v) AS n
    FROM TABLE(CUMULATE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '1' MONTH)) {GROUPED}, window_time;
    INSERT INTO counts SELECT window_start, window_end, MAX(n), ''
    FROM TABLE(TUMBLE(TABLE daily, DESCRIPTOR(t), INTERVAL '1' QUARTER)) {GROUPED};"""
    assert run(two_months, script) == [(JANUARY, "2024-04-01 00:00:00", "108", "")]

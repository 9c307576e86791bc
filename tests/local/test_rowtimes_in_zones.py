"""TIMESTAMP rowtimes without Spark where clocks are not UTC's, alone and beside TIMESTAMP_LTZ in one column."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

import sqlext

TABLES = """SET 'table.local-time-zone' = 'ZONE';
SET 'sqlext.engine' = 'local';
CREATE TABLE a (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/a.csv', 'format' = 'csv');
CREATE TABLE b (k STRING, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/b.csv', 'format' = 'csv');
"""
WINDOWS = """SELECT window_start, window_end, window_time, COUNT(*), MIN(k) || MAX(k)
FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, window_time"""
#: Of the hour that Berlin and New York skip in 2024, and of an ordinary one.
GAPS = {"Europe/Berlin": "2024-03-31 02:30", "America/New_York": "2024-03-10 02:30", "UTC": "2024-03-10 02:30"}


def _session(folder: Path, zone: str, a: str, b: str) -> sqlext.Session:
    (folder / "a.csv").write_text(a)
    (folder / "b.csv").write_text(b)
    session = sqlext.connect(catalog=folder / "catalog")
    session.run(TABLES.replace("ZONE", zone), variables={"IN": str(folder)})
    return session


@pytest.mark.parametrize("zone", GAPS)
def test_a_timestamp_is_no_instant_of_the_zone(tmp_path: Path, zone: str) -> None:
    """Flink windows TIMESTAMP by the numbers that it shows, also in an hour that the zone's clocks skip."""
    session = _session(tmp_path, zone, f"x,{GAPS[zone]}:05.000\ny,{GAPS[zone]}:59.000\n", "")
    start = dt.datetime.fromisoformat(f"{GAPS[zone]}:00")
    minute, milli = dt.timedelta(minutes=1), dt.timedelta(milliseconds=1)
    assert session.sql(WINDOWS.format("a")).rows == [(start, start + minute, start + minute - milli, 2, "xy")]
    shown = session.sql("SELECT k, ts FROM a WHERE ts > TIMESTAMP '2024-03-01 00:00:00'").rows
    assert sorted(shown) == [("x", start.replace(second=5)), ("y", start.replace(second=59))]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
def test_both_types_in_one_column(tmp_path: Path, zone: str) -> None:
    """TIMESTAMP first: an instant is the wall clock of the zone, in the hour too that the zone has twice."""
    a = "a,2024-01-01 10:00:05.000\na,2024-11-03 01:30:05.000\n"
    hour = {"UTC": 10, "Europe/Berlin": 9, "America/New_York": 15}[zone]
    b = f"b,2024-01-01 {hour:02}:00:50.000Z\nb,2024-11-03 05:30:50.000Z\nb,2024-11-03 06:30:50.000Z\n"
    session = _session(tmp_path, zone, a, b)
    session.sql("CREATE VIEW u AS SELECT k, ts FROM a UNION ALL SELECT k, ts FROM b")
    autumn = {
        "UTC": [("11-03 01:30", 1, "aa"), ("11-03 05:30", 1, "bb"), ("11-03 06:30", 1, "bb")],
        "Europe/Berlin": [("11-03 01:30", 1, "aa"), ("11-03 06:30", 1, "bb"), ("11-03 07:30", 1, "bb")],
        "America/New_York": [("11-03 01:30", 3, "ab")],
    }
    found = session.sql(WINDOWS.format("u")).rows
    assert sorted((f"{w:%m-%d %H:%M}", n, ks) for w, _, _, n, ks in found) == [("01-01 10:00", 2, "ab"), *autumn[zone]]

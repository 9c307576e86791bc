"""Spark, several stateful operators in one stream: counts per ten minutes, then their average per hour; a join of two
streams, then counts of its rows per hour.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable

if TYPE_CHECKING:
    from sqlext.session.api import Session

ELEVEN = datetime(2023, 6, 2, 11)
# The page's first table: events of each user in each ten minutes from 11:00 on.
COUNTS = {1: [12, 8, 5, 15, 9, 11], 2: [7, 16, 10, 6, 19, 17]}

SCRIPT = """
CREATE TABLE events (
  userId INT,
  eventTimestamp TIMESTAMP(3),
  WATERMARK FOR eventTimestamp AS eventTimestamp - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');

CREATE VIEW eventCount AS
SELECT window_start, window_end, window_time, userId, COUNT(*) AS `count`
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(eventTimestamp), INTERVAL '10' MINUTES))
GROUP BY window_start, window_end, window_time, userId;

CREATE TABLE eventRate (window_start TIMESTAMP(3), window_end TIMESTAMP(3), userId INT, `avg` DOUBLE)
WITH ('connector' = 'delta', 'path' = '${OUT}');
"""
AVERAGES = """
SET 'pipeline.name' = 'eventRate';
INSERT INTO eventRate
SELECT hour_start, hour_end, userId, AVG(`count`)
FROM (
  SELECT window_start AS hour_start, window_end AS hour_end, userId, `count`
  FROM TABLE(TUMBLE(
    (SELECT window_time AS ten_minutes, userId, `count` FROM eventCount), DESCRIPTOR(ten_minutes), INTERVAL '1' HOUR))
)
GROUP BY hour_start, hour_end, userId;
"""
EXPECTED = [(ELEVEN, ELEVEN + timedelta(hours=1), 1, 10.0), (ELEVEN, ELEVEN + timedelta(hours=1), 2, 12.5)]


def write(folder: Path, name: str, events: list[tuple[int, datetime]]) -> None:
    folder.mkdir(exist_ok=True)
    rows = [json.dumps({"userId": user, "eventTimestamp": str(time)}) for user, time in events]
    (folder / name).write_text("\n".join(rows) + "\n")


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Write the hour's events, spread evenly over each ten minutes; return where they and the result lie."""
    events = [
        (user, ELEVEN + timedelta(minutes=10 * i, seconds=600 * n // count))
        for user, counts in COUNTS.items()
        for i, count in enumerate(counts)
        for n in range(count)
    ]
    write(tmp_path / "in", "eleven.json", sorted(events, key=lambda event: event[1]))
    return {"IN": str(tmp_path / "in"), "OUT": str(tmp_path / "out")}


def rows(session: Session) -> list[tuple[object, ...]]:
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    found = session.sql("SELECT * FROM eventRate ORDER BY userId").rows
    session.sql("RESET 'execution.runtime-mode'")
    return found


def test_counts_per_user_and_ten_minutes(session: Session, variables: dict[str, str]) -> None:
    result = session.run(SCRIPT + "SELECT window_start, userId, `count` FROM eventCount;", variables)[-1]
    expected = [
        (ELEVEN + timedelta(minutes=10 * i), user, count)
        for user, counts in COUNTS.items()
        for i, count in enumerate(counts)
    ]
    assert sorted(result.rows) == sorted(expected)


def test_average_per_user_and_hour(session: Session, variables: dict[str, str]) -> None:
    result = session.run(SCRIPT + AVERAGES, variables)[-1]
    assert rows(session) == EXPECTED
    assert result.query is not None
    assert result.query.parts == ("eventRate",)  # one stream ...
    assert len(list((session.folder).rglob("checkpoint/metadata"))) == 1  # ... and one checkpoint
    history = DeltaTable(variables["OUT"]).history()
    assert "MERGE" not in {entry["operation"] for entry in history}  # append


def test_the_hour_closes_with_the_first_event_a_minute_after_its_end(
    session: Session, variables: dict[str, str]
) -> None:
    """The page: with a delay of one minute, results come once events after 12:01 are seen."""
    keep_open = "SET 'sqlext.bounded' = 'catch-up';"
    folder = Path(variables["IN"])
    write(folder, "noon.json", [(1, ELEVEN + timedelta(hours=1, seconds=59))])
    session.run(keep_open + SCRIPT + AVERAGES, variables)
    assert rows(session) == []
    write(folder, "later.json", [(1, ELEVEN + timedelta(hours=1, minutes=1, seconds=1))])
    session.run(keep_open + SCRIPT + AVERAGES, variables)
    assert rows(session) == EXPECTED


JOIN = """
CREATE TABLE impressions (
  impressionAdId INT, impressionTime TIMESTAMP(3),
  WATERMARK FOR impressionTime AS impressionTime - INTERVAL '2' HOURS
) WITH ('connector' = 'filesystem', 'path' = '${IN}/impressions', 'format' = 'json');

CREATE TABLE clicks (
  clickAdId INT, clickTime TIMESTAMP(3), WATERMARK FOR clickTime AS clickTime - INTERVAL '3' HOURS
) WITH ('connector' = 'filesystem', 'path' = '${IN}/clicks', 'format' = 'json');

CREATE VIEW joined AS
SELECT impressionAdId, impressionTime, clickAdId, clickTime
FROM impressions LEFT JOIN clicks
ON clickAdId = impressionAdId AND clickTime >= impressionTime AND clickTime <= impressionTime + INTERVAL '1' HOUR;

CREATE TABLE perHour (window_start TIMESTAMP(3), adId INT, `count` BIGINT)
WITH ('connector' = 'delta', 'path' = '${OUT}');

SET 'pipeline.name' = 'perHour';
INSERT INTO perHour
SELECT window_start, clickAdId, COUNT(*)
FROM TABLE(TUMBLE(TABLE joined, DESCRIPTOR(clickTime), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, clickAdId;
"""


def _write_times(folder: Path, ad: str, time: str, rows: list[tuple[int, str]]) -> None:
    folder.mkdir(parents=True)
    lines = [json.dumps({ad: i, time: f"2023-06-02 {at}:00"}) for i, at in rows]
    (folder / "rows.json").write_text("\n".join(lines) + "\n")


def test_clicks_per_advertisement_and_hour(session: Session, tmp_path: Path) -> None:
    """Impressions without a click come out of the join too; they are in no window of the clicks' time."""
    shown = [(1, "11:00"), (1, "11:50"), (2, "11:10"), (3, "11:20"), (2, "12:30")]
    clicked = [(1, "11:05"), (1, "12:00"), (1, "12:40"), (2, "12:11"), (2, "12:35"), (2, "13:30"), (4, "11:30")]
    _write_times(tmp_path / "in" / "impressions", "impressionAdId", "impressionTime", shown)
    _write_times(tmp_path / "in" / "clicks", "clickAdId", "clickTime", clicked)
    result = session.run(JOIN, {"IN": str(tmp_path / "in"), "OUT": str(tmp_path / "out")})[-1]
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    found = session.sql("SELECT * FROM perHour").rows
    # 11:00 is clicked at 11:05 and 12:00 (an hour later, no more), 11:50 at 12:00 and 12:40; 12:30 at 12:35 and 13:30.
    noon, one = ELEVEN + timedelta(hours=1), ELEVEN + timedelta(hours=2)
    assert sorted(found) == [(ELEVEN, 1, 1), (noon, 1, 3), (noon, 2, 1), (one, 2, 1)]
    assert result.query is not None
    history = DeltaTable(str(tmp_path / "out")).history()
    assert "MERGE" not in {entry["operation"] for entry in history}  # append

"""UNION ALL of a TIMESTAMP and a TIMESTAMP_LTZ rowtime where clocks are not UTC's: no row is late for the shift."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """SET 'sqlext.clock' = '${CLOCK}';
SET 'table.local-time-zone' = 'ZONE';
CREATE TABLE a (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/a', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE TABLE b (k STRING, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/b', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE TABLE counts (w TIMESTAMP(3), n BIGINT, ks STRING) WITH ('connector' = 'delta', 'path' = '${OUT}');
CREATE VIEW u AS SELECT k, ts FROM <one> UNION ALL SELECT k, ts FROM <two>;
INSERT INTO counts
SELECT window_start, COUNT(*), MIN(k) || MAX(k) FROM TABLE(TUMBLE(TABLE u, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
"""
#: How many hours UTC is ahead of the zone's clock on the days of the test.
BEHIND = {"America/New_York": 5, "Europe/Berlin": -1, "Asia/Kolkata": -5.5}


@pytest.mark.slow
@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize("zone", BEHIND)
def test_no_row_is_late_for_the_shift(spark: SparkSession, tmp_path: Path, zone: str, order: str) -> None:
    """Flink's watermark is ahead of b's rows west of Greenwich, of a's rows east of it, and it drops them then."""

    def wall(key: str, day: int, minute: int, second: int) -> str:
        return f"{key},2024-01-{day:02} 10:{minute:02}:{second:02}.000"

    def instant(key: str, day: int, minute: int, second: int) -> str:
        minutes = 600 + minute + int(60 * BEHIND[zone])
        return f"{key},2024-01-{day:02} {minutes // 60:02}:{minutes % 60:02}:{second:02}.000Z"

    for name in "ab":
        (tmp_path / "in" / name).mkdir(parents=True)
    script = SCRIPT.replace("ZONE", zone).replace("<one>", order[0]).replace("<two>", order[1])
    run = TimedRun(spark, tmp_path, script)
    try:
        run.clock(0)
        run.start()
        slow, fast = ("b", "a") if zone.startswith("America") else ("a", "b")
        row = {"a": wall, "b": instant}
        run.put(fast, [row[fast](fast, 1, 5, 0)])
        run.put(slow, [row[slow](slow, 1, 0, 30)])
        run.settle()
        # The slow side has come to 10:00:20 by its own watermark.
        run.put(slow, [row[slow](slow, 1, 0, 45), row[slow](slow, 1, 5, 10)])
        run.settle()
        for name in "ab":
            run.put(name, [row[name](name, 2, 0, 0)])
        run.settle()
        run.put("a", [wall("a", 2, 0, 1)])  # the watermark counts from the next micro-batch on
        run.settle()
        found = run.session.sql("SELECT * FROM counts /*+ OPTIONS('scan.mode' = 'snapshot') */").rows
        assert sorted((f"{w:%d %H:%M}", n, ks) for w, n, ks in found) == [
            ("01 10:00", 2, 2 * slow),
            ("01 10:05", 2, "ab"),
        ]
    finally:
        run.stop()

"""ANALYZE WATERMARK of a topic, with a real broker: from its history, and from what a query has seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kafka_broker import make_topic

from sqlext.session.api import Session

from .test_kafka_time import TABLE, send
from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

ROWS = 100
# A window of a millisecond is as late as its row is.
COUNTS = """CREATE TABLE o (w TIMESTAMP(3), n BIGINT, timing STRING) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT window_start, COUNT(*), PANE_TIMING()
FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '0.001' SECOND)) GROUP BY window_start, window_end;
"""


def found(session: Session, more: str) -> dict[str | None, dict[str, Any]]:
    """Return what is said of one delay, by the partition."""
    result = session.sql(f"ANALYZE WATERMARK FOR a {more}")
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    return {row["partition"]: row for row in rows if row["declared"]}


def test_history_and_queries_tell_partitions_apart(spark: SparkSession, broker: str, tmp_path: Path) -> None:
    name = make_topic(broker, "advised", 2)
    options = ", 'scan.startup.mode' = 'earliest-offset'"
    run = TimedRun(spark, tmp_path, TABLE.format(name="a", topic=name, broker=broker, options=options) + COUNTS)
    # Half a second off the whole seconds: no row lies where the watermark stands.
    even = [(0, second) for second in range(ROWS)]
    uneven = [(1, second - 50.5 if second % 10 == 9 and second > 60 else second) for second in range(ROWS)]
    send(broker, name, [row for pair in zip(even, uneven, strict=True) for row in pair])
    run.start()
    run.settle()
    send(broker, name, [(0, 130), (1, 131), (1, 60.5), (1, 130.5)])
    run.settle()
    send(broker, name, [(0, 140), (1, 20.5), (1, 141)])
    run.settle()
    seen = found(run.session, "FROM QUERIES")
    dropped = run.query.progress["rows_dropped"]
    run.stop()
    assert {partition: row["rows"] for partition, row in seen.items()} == {
        None: 2 * ROWS + 7, f"{name}-0": ROWS + 2, f"{name}-1": ROWS + 5,
    }  # fmt: skip
    assert seen[None]["late at least"] == seen[None]["late at most"] == dropped > 0
    assert seen[f"{name}-0"]["late at most"] == 0
    # One watermark for all partitions, and one for each of them, the slowest of which counts.
    rows = {
        n: found(run.session, f"WITH ('rows-per-batch' = '20', 'per-partition' = '{n}')") for n in ("false", "true")
    }
    for read in rows.values():
        assert {partition: row["rows"] for partition, row in read.items()} == {p: r["rows"] for p, r in seen.items()}
    uneven_one = f"{name}-1"
    assert rows["false"][uneven_one]["late rows"] >= rows["true"][uneven_one]["late rows"] >= 2
    assert rows["true"][f"{name}-0"]["late rows"] == 0
    # A partition that is silent holds the others back until it is idle.
    tried = "WITH ('rows-per-batch' = '20', 'scan.watermark.idle-timeout' = '1 s', 'window' = '10 s')"
    windows = found(run.session, tried)
    assert windows[None]["wrong windows"] >= windows[f"{name}-0"]["wrong windows"]
    assert windows[None]["windows"] > 10

"""A query with state that fires early, on time, late and by the clock; also as a driver of its own, to be killed.

usage: stateful_job.py FOLDER SETTLED [BEGUN READER LATENESS]

It makes the moves from number BEGUN up to SETTLED, puts the next one in place, and dies (kill -9) at once.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import datetime, timedelta
from pathlib import Path

from sqlext.spark.local import local_spark
from tests.stepped_queries import END_OF_TIME, TIMED, JsonRow, Move, SteppedQuery, text_of

START = datetime(2024, 1, 1)
EMIT = """EMIT AFTER WATERMARK EARLY (EVERY 2 ROWS OR AFTER DELAY '5' SECOND) LATE EVERY 1 ROWS
ALLOW LATENESS '5' SECOND"""
SCRIPT = f"""{TIMED}
CREATE TABLE panes (
  key STRING, start TIMESTAMP(3), pane BIGINT, timing STRING, n BIGINT, s BIGINT, d BIGINT,
  PRIMARY KEY (key, start, pane) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${{OUT}}');
INSERT INTO panes
SELECT key, window_start, PANE_INDEX(), PANE_TIMING(), COUNT(*), SUM(`value`), COUNT(DISTINCT `value`)
FROM TABLE(TUMBLE(TABLE input, DESCRIPTOR(ts), INTERVAL '10' SECOND))
WHERE key IS NOT NULL GROUP BY key, window_start, window_end
{EMIT};"""


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


def row(key: str, value: int, second: float) -> JsonRow:
    return {"key": key, "value": value, "ts": text_of(at(second))}


MOVES = [
    Move([row("a", 1, 1), row("a", 1, 2), row("a", 2, 3), row("b", 5, 1)], clock=at(0)),
    Move(clock=at(5)),
    Move([row("a", 3, 4), row("a", 7, 11), row("c", 8, 12)], watermark=at(10)),
    Move([row("a", 2, 5), row("b", 6, 9)]),
    Move([row("b", 9, 13)], clock=at(12)),
    Move(watermark=at(25)),
    Move([row("a", 4, 30), row("d", 4, 2)]),
    Move(watermark=END_OF_TIME),
]


#: After the first six of ``MOVES``, by which all that ends up to second 20 is gone.
LATER_MOVES = [
    *MOVES[:6],
    Move([row("d", 4, 2), row("a", 5, 15), row("a", 6, 22), row("a", 7, 31)]),
    Move(watermark=at(41)),
    Move([row("b", 8, 23), row("c", 9, 19)]),
    Move(watermark=END_OF_TIME),
]


def with_lateness(reader: str, seconds: str) -> str:
    """Return the script for a reader, and with another lateness."""
    text = SCRIPT.replace("LATENESS '5'", f"LATENESS '{seconds}'")
    return f"SET 'sqlext.source' = '{reader}';\n{text}"


def main(folder: Path, settled: int, begun: int = 0, reader: str = "", lateness: str = "") -> None:
    """Run, and die."""
    spark = local_spark(cores=1, folder=folder / "spark")
    script, moves = (with_lateness(reader, lateness), LATER_MOVES) if reader else (SCRIPT, MOVES)
    query = SteppedQuery(spark, folder, script, moves)
    query.start()
    for move in moves[begun:settled]:
        query.put(move)
        query.settle()
    query.put(moves[settled])
    # With it everything that it started: a JVM that outlives it would finish the batch.
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), *map(int, sys.argv[3:4]), *sys.argv[4:])

"""A query for each operator with state; also a driver to be killed: operator_job.py NAME FOLDER SETTLED [levels]."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from sqlext.spark.local import local_spark
from sqlext_udfs.kernel.levelled import LevelRules
from sqlext_udfs.spark import buckets
from tests.restore.stateful_job import at, row
from tests.stepped_queries import END_OF_TIME, TIMED, Move, SteppedQuery

#: So that each micro-batch makes a level.
SMALL_LEVELS = LevelRules(smallest=0, newest=0, ratio=1, share=0)
#: Rows of few keys, out of order, over six micro-batches in which the watermark moves, or does not; and a clock.
MOVES = [
    Move([row("a", 1, 1), row("a", 2, 4), row("b", 5, 2)], clock=1_000),
    Move([row("a", 3, 3), row("b", 4, 11), row("c", 9, 12)], watermark=at(3), clock=6_000),
    Move([row("a", 2, 14), row("b", 6, 13), row("c", 1, 11)], watermark=at(11), clock=12_000),
    Move([row("a", 7, 22), row("b", 6, 12), row("d", 2, 21)], clock=23_000),
    Move([row("a", 0, 25), row("c", 9, 24)], watermark=at(22), clock=24_000),
    Move(watermark=END_OF_TIME, clock=60_000),
]
_SOURCE = "(SELECT key, `value`, ts FROM input WHERE key IS NOT NULL)"
_WINDOWS = f"TABLE(TUMBLE({_SOURCE}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"


@dataclass(frozen=True)
class Operator:
    """The columns of a sink, its key if it needs one, the query that fills it, how long its state lives, its views."""

    columns: str
    query: str
    key: str = ""
    ttl: str = "0"
    views: str = ""

    @property
    def script(self) -> str:
        """Return the whole script."""
        key = f", PRIMARY KEY ({self.key}) NOT ENFORCED" if self.key else ""
        sink = f"CREATE TABLE out ({self.columns}{key}) WITH ('connector' = 'delta', 'path' = '${{OUT}}');"
        return f"{TIMED}SET 'table.exec.state.ttl' = '{self.ttl}';\n{self.views}{sink}\nINSERT INTO out {self.query};"


OPERATORS = {
    "top_n": Operator(
        "key STRING, n BIGINT, v BIGINT",
        f"""SELECT key, n, `value` FROM (SELECT key, `value`,
        ROW_NUMBER() OVER (PARTITION BY key ORDER BY `value` DESC, ts) AS n FROM {_SOURCE}) WHERE n <= 2""",
        "key, n",
    ),
    "first_by_time": Operator(
        "key STRING, v BIGINT",
        f"""SELECT key, `value` FROM (SELECT key, `value`,
        ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts) AS n FROM {_SOURCE}) WHERE n = 1""",
    ),
    "window_top_n": Operator(
        "w TIMESTAMP(3), key STRING, s BIGINT",
        f"""SELECT window_start, key, s FROM (SELECT *,
        ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY s DESC, key) AS n FROM (
        SELECT window_start, window_end, key, SUM(`value`) AS s FROM {_WINDOWS}
        GROUP BY window_start, window_end, key)) WHERE n <= 2""",
    ),
    "two_levels": Operator(
        "n BIGINT, users BIGINT, most BIGINT",
        f"""SELECT n, COUNT(*), MAX(s) FROM (
        SELECT key, COUNT(*) AS n, SUM(`value`) AS s FROM {_SOURCE} GROUP BY key) GROUP BY n""",
        "n",
    ),
    "over": Operator(
        "key STRING, v BIGINT, s BIGINT, n BIGINT",
        f"""SELECT key, `value`, SUM(`value`) OVER w, COUNT(*) OVER w FROM {_SOURCE}
        WINDOW w AS (PARTITION BY key ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)""",
    ),
    "slide": Operator(
        "w TIMESTAMP(3), key STRING, n BIGINT, s BIGINT, kinds BIGINT",
        f"""SELECT window_end, key, COUNT(*), SUM(`value`), COUNT(DISTINCT `value`)
        FROM TABLE(SLIDE({_SOURCE}, DESCRIPTOR(ts), INTERVAL '10' SECOND))
        GROUP BY window_start, window_end, key HAVING COUNT(*) > 0""",
    ),
    "over_that_waits": Operator(
        "key STRING, v BIGINT, s BIGINT, n BIGINT, l BIGINT, b BIGINT",
        f"""SELECT key, `value`, SUM(`value`) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING),
        COUNT(*) OVER (w RANGE BETWEEN CURRENT ROW AND INTERVAL '9' SECOND FOLLOWING), LEAD(`value`, 2) OVER w,
        SUM(`value`) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING)
        FROM {_SOURCE} WINDOW w AS (PARTITION BY key ORDER BY ts)""",
    ),
    "over_windows": Operator(
        "key STRING, v BIGINT, third BIGINT, percent DOUBLE, total BIGINT",
        f"""SELECT key, `value`, NTILE(3) OVER (w ORDER BY `value` DESC, ts), PERCENT_RANK() OVER (w ORDER BY `value`),
        SUM(`value`) OVER w FROM {_WINDOWS} WINDOW w AS (PARTITION BY window_start, window_end)""",
    ),
    "pattern": Operator(
        "key STRING, low BIGINT, high BIGINT",
        f"""SELECT key, low, high FROM {_SOURCE} MATCH_RECOGNIZE (PARTITION BY key ORDER BY ts
        MEASURES FIRST(UP.`value`) AS low, LAST(UP.`value`) AS high
        AFTER MATCH SKIP PAST LAST ROW PATTERN (UP DOWN)
        DEFINE DOWN AS DOWN.`value` > UP.`value`) AS m""",
    ),
    "join": Operator(
        "key STRING, v BIGINT, w BIGINT",
        f"""SELECT a.key, a.`value`, b.`value` FROM {_SOURCE} AS a JOIN {_SOURCE} AS b
        ON a.key = b.key AND a.`value` < b.`value`""",
    ),
    "left_join": Operator(
        "key STRING, v BIGINT, w BIGINT",
        f"""SELECT a.key, a.n, b.s FROM (SELECT key, COUNT(*) AS n FROM {_SOURCE} GROUP BY key) AS a
        LEFT JOIN (SELECT key, SUM(`value`) AS s FROM {_SOURCE} WHERE `value` > 4 GROUP BY key) AS b
        ON a.key = b.key""",
        "key",
    ),
    "interval_join": Operator(
        "key STRING, v BIGINT, w BIGINT",
        f"""SELECT a.key, a.`value`, b.`value` FROM {_SOURCE} AS a LEFT JOIN {_SOURCE} AS b ON a.key = b.key
        AND b.ts BETWEEN a.ts + INTERVAL '1' SECOND AND a.ts + INTERVAL '9' SECOND""",
    ),
    "filled_windows": Operator(
        "key STRING, started TIMESTAMP(3), n BIGINT, latest INT",
        f"SELECT key, window_start, COUNT(*), MAX(`value`) AS latest FROM {_WINDOWS} "
        "GROUP BY key, window_start, window_end EMIT FILL FOR 30s WITH (latest = LAST)",
    ),
    # Keys come with the first, the second and the fourth move.
    "filled_windows_of_a_table": Operator(
        "key STRING, started TIMESTAMP(3), n BIGINT, latest INT",
        f"SELECT key, window_start, COUNT(*), MAX(`value`) AS latest FROM {_WINDOWS} "
        "GROUP BY key, window_start, window_end EMIT FILL FOR EACH KEY OF large WITH (latest = LAST)",
        views="CREATE VIEW large AS SELECT key FROM input WHERE key IS NOT NULL AND `value` > 4;\n",
    ),
    "limited_sessions": Operator(
        "key STRING, started TIMESTAMP(3), ended TIMESTAMP(3), n BIGINT, s BIGINT",
        f"""SELECT key, window_start, window_end, COUNT(*), SUM(`value`)
        FROM TABLE(SESSION({_SOURCE} PARTITION BY key, DESCRIPTOR(ts), INTERVAL '9' SECOND, INTERVAL '12' SECOND))
        GROUP BY key, window_start, window_end""",
    ),
    "as_of_join": Operator(
        "key STRING, v BIGINT, w BIGINT",
        f"""SELECT a.key, a.`value`, b.`value` FROM {_SOURCE} AS a LEFT ASOF JOIN {_SOURCE} AS b
        MATCH_CONDITION (a.ts < b.ts) TOLERANCE INTERVAL '9' SECOND ON a.key = b.key""",
    ),
    "as_of_updates": Operator(
        "key STRING, v BIGINT, ts TIMESTAMP(3), w BIGINT",
        f"""SELECT a.key, a.`value`, a.ts, b.`value` FROM {_SOURCE} AS a LEFT ASOF JOIN {_SOURCE} AS b
        MATCH_CONDITION (NEAREST(a.ts, b.ts)) TOLERANCE INTERVAL '9' SECOND ON a.key = b.key AND b.`value` <> 2
        EMIT CHANGES ALLOW LATENESS 10s""",
        "key, v, ts",
    ),
    "window_join": Operator(
        "w TIMESTAMP(3), key STRING, v BIGINT, s BIGINT",
        f"""SELECT a.window_start, a.key, a.`value`, b.s FROM (SELECT * FROM {_WINDOWS}) AS a JOIN (
        SELECT window_start, window_end, MAX(`value`) AS s FROM {_WINDOWS} GROUP BY window_start, window_end) AS b
        ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.`value` < b.s""",
    ),
    # Of keys and rows that are forgotten by the clock.
    "over_that_forgets": Operator(
        "key STRING, v BIGINT, s BIGINT",
        """SELECT key, `value`, SUM(`value`) OVER (PARTITION BY key ORDER BY p) FROM input WHERE key IS NOT NULL""",
        ttl="10 s",
    ),
    "join_that_forgets": Operator(
        "key STRING, v BIGINT, w BIGINT",
        f"""SELECT a.key, a.`value`, b.`value` FROM {_SOURCE} AS a JOIN {_SOURCE} AS b
        ON a.key = b.key AND a.`value` < b.`value`""",
        ttl="10 s",
    ),
    "join_by_arrival": Operator(
        "key STRING, v BIGINT, w BIGINT",
        """SELECT a.key, a.`value`, b.`value` FROM (SELECT * FROM input WHERE key < 'c') AS a
        LEFT JOIN (SELECT * FROM input WHERE key IS NOT NULL) AS b
        ON a.key = b.key AND a.`value` < b.`value` AND b.p BETWEEN a.p AND a.p + INTERVAL '10' SECOND""",
    ),
}


def main(name: str, folder: Path, settled: int, levels: str = "") -> None:
    """Run, and die."""
    if levels:
        buckets.RULES = SMALL_LEVELS
    spark = local_spark(cores=1, folder=folder / "spark")
    query = SteppedQuery(spark, folder, OPERATORS[name].script, MOVES)
    query.start()
    for move in MOVES[:settled]:
        query.put(move)
        query.settle()
    query.put(MOVES[settled])
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])

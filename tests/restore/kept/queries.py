"""The queries whose checkpoints are kept: one for each operator with state, and the rows that they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .runs import QUERY, JsonRow

_COLUMNS = """k STRING, v INT, price DECIMAL(10, 2), x DOUBLE, s STRING, t TIMESTAMP(3), gap INT, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"""
_HEAD = f"""SET 'pipeline.name' = '{QUERY}';
SET 'sqlext.state.buckets' = '2';
"""
_CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';\n"
_EVENTS = "(SELECT k, v, price, x, s, t, ts FROM events)"
_WINDOWS = "TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
_LATE = """CREATE TABLE late (k STRING, v INT, price DECIMAL(10, 2), ts TIMESTAMP(3))
WITH ('connector' = 'delta', 'path' = '${OUT}/late');
"""
_PANES = (
    """k STRING, w TIMESTAMP(3), pane BIGINT, timing STRING, n BIGINT, sv INT, sp DECIMAL(38, 2), ap DECIMAL(38, 6),
  sx DOUBLE, ax DOUBLE, ds BIGINT, dp BIGINT, dv INT, l STRING, a ARRAY<INT>, f STRING, z DOUBLE,
  mint TIMESTAMP(3), maxt TIMESTAMP(3), mins STRING, maxs STRING, minp DECIMAL(10, 2), maxx DOUBLE, dev DOUBLE""",
    f"""SELECT k, window_start, PANE_INDEX(), PANE_TIMING(), COUNT(*), SUM(v), SUM(price), AVG(price),
  SUM(x), AVG(x), COUNT(DISTINCT s), COUNT(DISTINCT price), SUM(DISTINCT v), LISTAGG(s), ARRAY_AGG(v), FIRST_VALUE(s),
  LAST_VALUE(x), MIN(t), MAX(t), MIN(s), MAX(s), MIN(price), MAX(x), ROUND(STDDEV_POP(x), 6)
FROM {_WINDOWS} GROUP BY k, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 2 ROWS LATE EVERY ROW ALLOW LATENESS 5s LATE DATA TO late""",
)


@dataclass(frozen=True)
class Question:
    """The columns of a sink, the query that fills it, the sink's key, and what else differs.

    Attributes:
        source: who reads the files.
        late: whether there is a table of late rows.
        settings: statements before all tables.
    """

    columns: str
    query: str
    key: str = ""
    source: str = "spark"
    endless: bool = False
    late: bool = False
    settings: str = ""

    @property
    def script(self) -> str:
        """Return the whole script."""
        key = f", PRIMARY KEY ({self.key}) NOT ENFORCED" if self.key else ""
        return "".join(
            (
                _HEAD,
                f"SET 'sqlext.source' = '{self.source}';\n",
                "" if self.endless else _CATCH_UP,
                self.settings,
                *(self._table(name) for name in ("events", "others")),
                f"CREATE TABLE out ({self.columns}{key})\nWITH ('connector' = 'delta', 'path' = '${{OUT}}/out');\n",
                _LATE if self.late else "",
                f"INSERT INTO out {self.query};\n",
            )
        )

    @property
    def reads(self) -> Sequence[str]:
        """The tables that it reads."""
        return [name for name in ("events", "others") if name in self.query]

    def _table(self, name: str) -> str:
        place = f"'connector' = 'filesystem', 'path' = '${{IN}}/{name}', 'format' = 'json'"
        monitored = ", 'source.monitor-interval' = '1 s'" if self.endless else ""
        return f"CREATE TABLE {name} ({_COLUMNS})\nWITH ({place}, 'maxFilesPerTrigger' = '1'{monitored});\n"


QUESTIONS = {
    "native_window": Question(
        "k STRING, w TIMESTAMP(3), n BIGINT, sv INT, ap DECIMAL(38, 6), ax DOUBLE, mint TIMESTAMP(3)",
        f"""SELECT k, window_start, COUNT(*), SUM(v), AVG(price), AVG(x), MIN(t) FROM {_WINDOWS}
GROUP BY k, window_start, window_end""",
    ),
    "native_session": Question(
        "k STRING, w TIMESTAMP(3), e TIMESTAMP(3), n BIGINT, sv INT",
        """SELECT k, window_start, window_end, COUNT(*), SUM(v)
FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '6' SECOND))
GROUP BY k, window_start, window_end""",
    ),
    "native_group_by": Question(
        "k STRING, n BIGINT, sv INT, sp DECIMAL(38, 2), maxs STRING",
        "SELECT k, COUNT(*), SUM(v), SUM(price), MAX(s) FROM events GROUP BY k HAVING SUM(v) > 3",
        "k",
    ),
    "emit_panes": Question(*_PANES, late=True),
    "arrow_panes": Question(*_PANES, source="arrow", late=True),
    "arrow_endless": Question(*_PANES, source="arrow", endless=True, late=True),
    "endless_window": Question(
        "k STRING, w TIMESTAMP(3), n BIGINT, sv INT",
        f"SELECT k, window_start, COUNT(*), SUM(v) FROM {_WINDOWS} GROUP BY k, window_start, window_end",
        endless=True,
    ),
    "emit_changelog": Question(
        "k STRING, n BIGINT, ds BIGINT, ap DECIMAL(38, 6), maxt TIMESTAMP(3)",
        """SELECT k, COUNT(*), COUNT(DISTINCT s), AVG(price), MAX(t) FROM events GROUP BY k EMIT EVERY 2 ROWS""",
        "k",
    ),
    "emit_session": Question(
        "k STRING, w TIMESTAMP(3), e TIMESTAMP(3), n BIGINT, ds BIGINT, timing STRING",
        """SELECT k, window_start, window_end, COUNT(*), COUNT(DISTINCT s), PANE_TIMING()
FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), gap * INTERVAL '1' SECOND))
GROUP BY k, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY 3 ROWS LATE EVERY ROW ALLOW LATENESS 5s""",
    ),
    "hop_discarding": Question(
        "k STRING, w TIMESTAMP(3), n BIGINT, sx DOUBLE, minp DECIMAL(10, 2), pane BIGINT",
        """SELECT k, window_start, COUNT(*), SUM(x), MIN(price), PANE_INDEX()
FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY 2 ROWS DISCARDING""",
    ),
    "cumulate": Question(
        "k STRING, e TIMESTAMP(3), kinds BIGINT, mean INT, sp DECIMAL(38, 2)",
        """SELECT k, window_end, COUNT(DISTINCT s), AVG(v), SUM(price)
FROM TABLE(CUMULATE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '30' SECOND))
GROUP BY k, window_start, window_end""",
    ),
    "regular_join": Question(
        "k STRING, v INT, w INT, p DECIMAL(10, 2), t TIMESTAMP(3), s STRING",
        "SELECT a.k, a.v, b.v, a.price, b.t, b.s FROM events AS a JOIN others AS b ON a.k = b.k AND a.v < b.v",
    ),
    "left_join": Question(
        "k STRING, n BIGINT, p DECIMAL(38, 2)",
        """SELECT a.k, a.n, b.p FROM (SELECT k, COUNT(*) AS n FROM events GROUP BY k) AS a
LEFT JOIN (SELECT k, SUM(price) AS p FROM others WHERE v > 2 GROUP BY k) AS b ON a.k = b.k""",
        "k",
    ),
    "interval_join": Question(
        "k STRING, v INT, w INT, p DECIMAL(10, 2), ts TIMESTAMP(3)",
        """SELECT a.k, a.v, b.v, b.price, a.ts FROM events AS a LEFT JOIN others AS b ON a.k = b.k
AND b.ts BETWEEN a.ts - INTERVAL '3' SECOND AND a.ts + INTERVAL '9' SECOND""",
    ),
    "window_join": Question(
        "w TIMESTAMP(3), k STRING, v INT, s STRING",
        """SELECT a.window_start, a.k, a.v, b.s
FROM (SELECT * FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))) AS a
JOIN (SELECT * FROM TABLE(TUMBLE(TABLE others, DESCRIPTOR(ts), INTERVAL '10' SECOND))) AS b
ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.k = b.k""",
    ),
    "temporal_join": Question(
        "k STRING, v INT, rate DECIMAL(10, 2), ts TIMESTAMP(3)",
        """WITH rates AS (SELECT k, price, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n
FROM others) WHERE n = 1)
SELECT a.k, a.v, r.price, a.ts FROM events AS a LEFT JOIN rates FOR SYSTEM_TIME AS OF a.ts AS r ON a.k = r.k""",
    ),
    "top_n": Question(
        "k STRING, n BIGINT, v INT, price DECIMAL(10, 2), t TIMESTAMP(3)",
        f"""SELECT k, n, v, price, t FROM (SELECT k, v, price, t,
ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, price, ts) AS n FROM {_EVENTS}) WHERE n <= 3""",
        "k, n",
    ),
    "first_by_time": Question(
        "k STRING, v INT, x DOUBLE",
        f"""SELECT k, v, x FROM (SELECT k, v, x,
ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM {_EVENTS}) WHERE n = 1""",
    ),
    "last_by_time": Question(
        "k STRING, v INT, s STRING",
        f"""SELECT k, v, s FROM (SELECT k, v, s,
ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM {_EVENTS} WHERE v IN (1, 2, 9)) WHERE n = 1""",
        "k",
    ),
    "window_top_n": Question(
        "w TIMESTAMP(3), k STRING, p DECIMAL(38, 2)",
        f"""SELECT window_start, k, p FROM (SELECT *,
ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY p DESC, k) AS n FROM (
SELECT window_start, window_end, k, SUM(price) AS p FROM {_WINDOWS} GROUP BY window_start, window_end, k))
WHERE n <= 2""",
    ),
    "over": Question(
        "k STRING, v INT, s INT, n BIGINT, ap DECIMAL(38, 6), ds BIGINT, before STRING",
        """SELECT k, v, SUM(v) OVER w, COUNT(*) OVER w, AVG(price) OVER r, COUNT(DISTINCT s) OVER r,
LAG(s, 1) OVER (PARTITION BY k ORDER BY ts) FROM events
WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW),
r AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '20' SECOND PRECEDING AND CURRENT ROW)""",
    ),
    "over_that_follows": Question(
        "k STRING, v INT, following INT, s INT",
        """SELECT k, v, LEAD(v, 1, 0) OVER (PARTITION BY k ORDER BY ts),
SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND INTERVAL '6' SECOND FOLLOWING)
FROM events""",
    ),
    "filled": Question(
        "k STRING, w TIMESTAMP(3), n BIGINT, sx DOUBLE, most INT",
        f"""SELECT k, window_start AS w, COUNT(*) AS n, SUM(x) AS sx, MAX(v) AS most FROM {_WINDOWS}
GROUP BY k, window_start, window_end EMIT FILL FOR 30s WITH (sx = 0, most = LAST)""",
    ),
    "match_recognize": Question(
        "k STRING, low INT, high INT, p DECIMAL(38, 2), mt TIMESTAMP(3)",
        """SELECT k, low, high, p, mt FROM events MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
MEASURES FIRST(UP.v) AS low, LAST(UP.v) AS high, SUM(UP.price) AS p, MATCH_ROWTIME() AS mt
AFTER MATCH SKIP PAST LAST ROW PATTERN (UP DOWN+ UP2) DEFINE DOWN AS DOWN.v < UP.v, UP2 AS UP2.v >= UP.v) AS m""",
    ),
    "distinct": Question(
        "k STRING, s STRING, price DECIMAL(10, 2)",
        "SELECT DISTINCT k, s, price FROM events",
    ),
    "two_levels": Question(
        "n BIGINT, users BIGINT, most INT, p DECIMAL(38, 2), x DOUBLE, names BIGINT",
        """SELECT n, COUNT(*), MAX(sv), SUM(p), SUM(x), COUNT(DISTINCT sv) FROM (
SELECT k, COUNT(*) AS n, SUM(v) AS sv, SUM(price) AS p, SUM(x) AS x FROM events GROUP BY k) GROUP BY n""",
        "n",
    ),
    "except": Question("k STRING, s STRING", "(SELECT k, s FROM events) EXCEPT (SELECT k, s FROM others)", "k, s"),
    "group_by_that_forgets": Question(
        "k STRING, n BIGINT, sv INT, p DECIMAL(38, 2)",
        "SELECT k, COUNT(*), SUM(v), SUM(price) FROM events GROUP BY k",
        "k",
        settings="SET 'table.exec.state.ttl' = '36500 d';\n",
    ),
    "join_that_forgets": Question(
        "k STRING, v INT, w INT",
        "SELECT a.k, a.v, b.v FROM events AS a JOIN others AS b ON a.k = b.k AND a.v < b.v",
        settings="SET 'table.exec.state.ttl' = '36500 d';\n",
    ),
}

#: Key, number and second of the rows of each file. Windows and sessions are open where the first part ends.
_FIRST = (
    (("a", 1, 1), ("b", 5, 2), ("a", 3, 4), ("c", 2, 5)),
    (("a", 2, 12), ("b", 7, 13), ("a", 4, 3), ("c", 9, 15)),
    (("a", 6, 23), ("b", 1, 24), ("d", 4, 22), ("a", 2, 14)),
)
#: A run that stops has a micro-batch without rows at its end, in which the watermark moves on. So that it makes no
#: difference the file after it has no row that is behind this watermark, 22; the next one has late ones.
_LATER = (
    (("a", 5, 25), ("c", 3, 26), ("b", 8, 23), ("d", 4, 24)),
    (("a", 7, 31), ("b", 2, 33), ("e", 6, 32), ("c", 1, 2), ("a", 9, 17), ("d", 3, 28)),
    (("a", 1, 58), ("f", 1, 59)),
)
#: Of the second input: other rows of the same keys, a second later.
_SHIFT = 1
#: What stands in files that must not be read again.
CHANGED: JsonRow = {
    "k": "a",
    "v": 9,
    "price": 1000.5,
    "x": 1000.5,
    "s": "changed",
    "t": "2024-01-01 00:00:00.000",
    "gap": 5,
    "ts": "2024-01-01 00:00:59.000",
}


def files(question: Question, *, later: bool) -> dict[str, list[JsonRow]]:
    """Return the files of a part of the input, by their path, in order."""
    first = len(_FIRST) if later else 0
    return {
        f"{table}/{number}.json": [_row(table, *row) for row in rows]
        for number, rows in enumerate(_LATER if later else _FIRST, first)
        for table in question.reads
    }


def _row(table: str, k: str, v: int, second: int) -> JsonRow:
    shift = _SHIFT if table == "others" else 0
    number = (v * 3 + second) % 7 if shift else v
    return {
        "k": k,
        "v": number,
        "price": (number * 125 + second) / 100,
        "x": number / 7 if second % 4 else None,
        "s": "äxyz"[(number + second) % 4] * (1 + number % 2),
        "t": f"2020-02-{1 + (number * 5 + second) % 28:02d} 01:02:03.{second:03d}",
        "gap": 3 + number % 4,
        "ts": f"2024-01-01 00:00:{min(second + shift, 59):02d}.000",
    }


def inputs(question: Question) -> tuple[Mapping[str, list[JsonRow]], Mapping[str, list[JsonRow]]]:
    """Return the files that come before the checkpoint is made, and those that come later."""
    return files(question, later=False), files(question, later=True)

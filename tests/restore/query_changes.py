"""Changes of queries of each kind, and what becomes of the state of the query that was there before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

#: Outcomes: from the state; by a deployment that compares rows; also by one that keeps them; by neither.
GOES_ON, DEPLOYED, FILLED, REFUSED = "goes on", "deployed", "filled", "refused"
CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';\n"
HEAD = """SET 'pipeline.name' = 'q';
CREATE OR REPLACE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
CREATE OR REPLACE TABLE results (k STRING, t TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'delta', 'path' = '${OUT}/results', 'mergeSchema' = 'true');
"""
KEYED = HEAD.replace("n BIGINT)", "n BIGINT, PRIMARY KEY (k, t) NOT ENFORCED)")
WINDOW = "TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
GROUPED = f"SELECT k, window_start, COUNT(*) FROM {WINDOW} WHERE v <> 0 GROUP BY k, window_start, window_end"
QUERIES = {
    "native": HEAD + f"INSERT INTO results {GROUPED};\n",
    "EMIT": KEYED + f"INSERT INTO results {GROUPED} EMIT AFTER WATERMARK ALLOW LATENESS INTERVAL '4' SECOND;\n",
    "EARLY": KEYED
    + f"INSERT INTO results {GROUPED} EMIT AFTER WATERMARK EARLY EVERY 9 ROWS ALLOW LATENESS INTERVAL '4' SECOND;\n",
    "join": HEAD
    + """INSERT INTO results SELECT k, ts, n FROM (SELECT l.k AS k, l.ts AS ts, CAST(l.v + r.v AS BIGINT) AS n
FROM (SELECT * FROM events WHERE v > 0) AS l JOIN (SELECT * FROM events WHERE v < 0) AS r
ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '5' SECOND);
""",
    "outer join": HEAD
    + """INSERT INTO results SELECT k, ts, n FROM (SELECT l.k AS k, l.ts AS ts, CAST(l.v + r.v AS BIGINT) AS n
FROM (SELECT * FROM events WHERE v > 0) AS l LEFT JOIN (SELECT * FROM events WHERE v < 0) AS r
ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '5' SECOND);
""",
    "Top-N": KEYED.replace("KEY (k, t)", "KEY (k)")
    + """INSERT INTO results SELECT k, ts, n FROM (SELECT k, ts, CAST(v AS BIGINT) AS n,
ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS r FROM events WHERE v <> 0) WHERE r <= 1;
""",
    "Top-N of a window": HEAD
    + f"""INSERT INTO results SELECT k, ts, n FROM (SELECT k, ts, CAST(v AS BIGINT) AS n, ROW_NUMBER() OVER
(PARTITION BY window_start, window_end ORDER BY v DESC) AS r FROM {WINDOW} WHERE v <> 0) WHERE r <= 1;
""",
    "OVER": HEAD
    + """INSERT INTO results SELECT k, ts, n FROM (SELECT k, ts, SUM(CAST(v AS BIGINT)) OVER
(PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM events WHERE v <> 0);
""",
    "MATCH_RECOGNIZE": HEAD
    + """INSERT INTO results SELECT k, ts, n FROM (SELECT k, ts, CAST(m AS BIGINT) AS n
FROM (SELECT * FROM events WHERE v <> 0) MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
MEASURES FIRST(x.ts) AS ts, LAST(y.v) AS m PATTERN (x y) DEFINE y AS y.v < x.v));
""",
}
#: Windows of several panes have their own changes; all others are those of EMIT.
PANES = ("EARLY",)
ALL = tuple(kind for kind in QUERIES if kind not in PANES)
GROUPINGS = ("native", "EMIT")
JOINS = ("join", "outer join")
TOP = ("Top-N", "Top-N of a window")
#: An outer SELECT stands above the state; operators of ours know it, and their rows are only added.
OTHERS = (*JOINS, *TOP, "OVER", "MATCH_RECOGNIZE")
#: How a query is to be renewed that cannot go on: rows of a changelog cannot stay.
_RENEWED = {"Top-N": DEPLOYED}
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Change:
    """A change of queries of some kinds.

    Attributes:
        pairs: what is replaced by what.
        outcome: what becomes of the query; ``None`` where it cannot go on: ``FILLED``, or what its kind says.
        partly: whether what is new begins with the rows to come.
    """

    kinds: tuple[str, ...]
    pairs: Pairs
    outcome: str | None = GOES_ON
    partly: bool = False

    def changed(self, text: str) -> str:
        """Return a script with the change."""
        for old, new in self.pairs:
            assert old in text, f"{old!r} is not in {text}"
            text = text.replace(old, new)
        return text

    def becomes(self, kind: str) -> str:
        """Return what becomes of a query of a kind."""
        return self.outcome or _RENEWED.get(kind, FILLED)


def _above(what: str, outcome: str | None = None, *more: tuple[str, str]) -> list[Change]:
    """Return a change of the outer SELECT: state of ours stays, unless its rows are changes."""
    pairs = (("SELECT k, ts, n FROM", f"SELECT {what} FROM"), *more)
    return [Change(tuple(k for k in OTHERS if k != "Top-N"), pairs), Change(("Top-N",), pairs, outcome)]


def _set(key: str, value: str) -> Pairs:
    return (("INSERT INTO", f"SET '{key}' = '{value}';\nINSERT INTO"),)


_END = ";\n-- end\n"
_MORE = ("n BIGINT", "n BIGINT, m BIGINT")
_FRAME = "OVER\n(PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
_SECOND = """CREATE TABLE IF NOT EXISTS second (k STRING) WITH ('connector' = 'delta', 'path' = '${OUT}/second');
EXECUTE STATEMENT SET BEGIN
INSERT INTO second SELECT k FROM events;
INSERT INTO results"""
#: Each of the changes, kind by kind.
CHANGES: dict[str, list[Change]] = {
    "nothing": [Change(ALL, ())],
    "white space and a comment": [Change(ALL, (("INSERT INTO", "-- for the report\nINSERT   INTO"),))],
    "an expression above": [*_above("k, ts, n * 10"), Change(GROUPINGS, (("COUNT(*)", "COUNT(*) * 10"),))],
    "a projection that drops a column": [
        *_above("k, ts, CAST(NULL AS BIGINT)"),
        Change(("native",), (("COUNT(*)", "CAST(NULL AS BIGINT)"),), None),
        Change(("EMIT",), (("COUNT(*)", "CAST(NULL AS BIGINT)"),)),
    ],
    "a filter above": [
        *_above("* FROM (SELECT k, ts, n", None, (_END, f") WHERE k <> 'b'{_END}")),
    ],
    "HAVING": [Change(GROUPINGS, (("window_end", "window_end HAVING COUNT(*) > 1"),))],
    "HAVING of a key": [
        Change(("native",), (("window_end", "window_end HAVING k <> 'b'"),), None),
        Change(("EMIT",), (("window_end", "window_end HAVING k <> 'b'"),)),
    ],
    "a column of the sink more": [
        *_above("k, ts, n, n + 1", None, _MORE),
        Change(GROUPINGS, (_MORE, ("COUNT(*)", "COUNT(*), COUNT(*) + 1"))),
    ],
    "columns in another order": [
        *_above("k, n, ts", None, ("INTO results", "INTO results (k, n, t)")),
        Change(
            GROUPINGS,
            (("results SELECT k, window_start, COUNT(*)", "results (n, k, t) SELECT COUNT(*), k, window_start"),),
        ),
    ],
    "an aggregate more": [
        Change(("native",), (_MORE, ("COUNT(*)", "COUNT(*), CAST(MAX(v) AS BIGINT)")), None),
        Change(("EMIT",), (_MORE, ("COUNT(*)", "COUNT(*), CAST(MAX(v) AS BIGINT)")), partly=True),
        Change(
            ("OVER",), (_MORE, ("AS n FROM", f"AS n, COUNT(*) {_FRAME} AS m FROM"), ("k, ts, n", "k, ts, n, m")), None
        ),
        Change(
            ("MATCH_RECOGNIZE",),
            (_MORE, ("AS n", "AS n, o"), ("AS m", "AS m, COUNT(x.v) AS o"), ("k, ts, n", "k, ts, n, o")),
            None,
        ),
    ],
    "another aggregate": [
        Change(("native",), (("COUNT(*)", "SUM(CAST(v AS BIGINT))"),), None),
        Change(("EMIT",), (("COUNT(*)", "SUM(CAST(v AS BIGINT))"),), partly=True),
        Change(("OVER",), (("SUM(CAST(v AS BIGINT))", "COUNT(v)"),), None),
        Change(("MATCH_RECOGNIZE",), (("LAST(y.v)", "SUM(y.v)"),), None),
    ],
    "a filter below": [
        Change(tuple(k for k in ALL if k not in JOINS), (("v <> 0", "v <> 1"),), None),
        Change(JOINS, (("v > 0", "v > 1"),), None),
    ],
    "another window, frame, bound or number": [
        Change((*GROUPINGS, "Top-N of a window"), (("'10' SECOND", "'20' SECOND"),), None),
        Change(JOINS, (("'5' SECOND", "'3' SECOND"),), None),
        Change(("Top-N",), (("r <= 1", "r <= 2"), ("KEY (k)", "KEY (k, t)")), None),
        Change(("OVER",), (("1 PRECEDING", "2 PRECEDING"),), None),
        Change(("MATCH_RECOGNIZE",), (("(x y)", "(x y) WITHIN INTERVAL '9' SECOND"),), None),
    ],
    "another key": [
        Change(GROUPINGS, (("SELECT k, window_start", "SELECT UPPER(k), window_start"), ("BY k", "BY UPPER(k)")), None),
        Change(JOINS, (("l.k = r.k", "UPPER(l.k) = UPPER(r.k)"),), None),
        Change(("Top-N", "OVER"), (("PARTITION BY k", "PARTITION BY UPPER(k)"),), None),
        Change(("Top-N of a window",), (("PARTITION BY", "PARTITION BY k,"),), None),
    ],
    "another order": [Change(TOP, (("v DESC", "v ASC"),), None)],
    "another pattern": [Change(("MATCH_RECOGNIZE",), (("(x y)", "(x+ y)"),), None)],
    "another DEFINE": [Change(("MATCH_RECOGNIZE",), (("y.v < x.v", "y.v <= x.v"),), None)],
    "another join": [
        Change(("join",), (("JOIN (", "LEFT JOIN ("),), None),
        Change(("outer join",), (("LEFT JOIN (", "JOIN ("),), None),
    ],
    "a longer lateness": [Change(("EMIT", *PANES), (("'4' SECOND", "'6' SECOND"),))],
    "no lateness": [
        Change(("EMIT",), ((" ALLOW LATENESS INTERVAL '4' SECOND", ""),), None),
        Change(PANES, ((" ALLOW LATENESS INTERVAL '4' SECOND", ""),)),
    ],
    "a shorter lateness": [Change(("EMIT", *PANES), (("'4' SECOND", "'3' SECOND"),))],
    "more rows to an early pane": [Change(PANES, (("9 ROWS", "12 ROWS"),))],
    "fewer rows to an early pane": [Change(PANES, (("9 ROWS", "1 ROW"),))],
    "no early panes": [Change(PANES, (("EARLY EVERY 9 ROWS ", ""),))],
    "another trigger of early panes": [Change(PANES, (("9 ROWS", "2 SECOND OF EVENT TIME"),))],
    "early panes by the clock": [
        Change(("EMIT",), (("ALLOW LATENESS", "EARLY EVERY 1 MINUTE ALLOW LATENESS"),)),
        Change(PANES, (("9 ROWS", "1 MINUTE"),)),
    ],
    "late panes": [Change(("EMIT", *PANES), (("ALLOW LATENESS", "LATE EVERY 2 ROWS ALLOW LATENESS"),))],
    "what panes hold": [Change(PANES, ((_END, f" DISCARDING{_END}"),), None)],
    "another EMIT clause": [
        Change(("EMIT",), (("ALLOW LATENESS", "EARLY EVERY 2 ROWS ALLOW LATENESS"),)),
        Change(
            ("native",),
            (
                ("window_end", "window_end EMIT AFTER WATERMARK EARLY EVERY 2 ROWS"),
                ("n BIGINT)", "n BIGINT, PRIMARY KEY (k, t) NOT ENFORCED)"),
            ),
            None,
        ),
    ],
    "another delay of the watermark": [Change(ALL, (("ts - INTERVAL '2' SECOND)", "ts - INTERVAL '1' SECOND)"),))],
    "an idle timeout": [Change(ALL, (("'format'", "'scan.watermark.idle-timeout' = '1 min', 'format'"),))],
    "a column of the source more": [Change(ALL, (("v INT,", "v INT, w INT,"),), None)],
    "a wider column of the source": [Change(ALL, (("v INT,", "v BIGINT,"),), None)],
    "a time zone": [Change(ALL, _set("table.local-time-zone", "Asia/Tokyo"), None)],
    "buckets": [Change((*ALL, *PANES), _set("sqlext.state.buckets", "5"))],
    "shuffle partitions": [Change(ALL, _set("spark.sql.shuffle.partitions", "3"))],
    "the other reader": [Change(ALL, _set("sqlext.source", "arrow"))],
    "another speed": [Change(ALL, (("'format'", "'maxFilesPerTrigger' = '1', 'format'"),))],
    "another sink beside": [Change(ALL, (("INSERT INTO results", _SECOND),))],
}


def script(kind: str, change: Change | None = None, *, endless: bool = False) -> str:
    """Return the script of a query, changed, under a schedule."""
    text = QUERIES[kind].removesuffix(";\n") + _END
    text = text if change is None else change.changed(text)
    if _SECOND in text:
        text += "END;\n"
    if endless:
        return text.replace("'format'", "'source.monitor-interval' = '1 s', 'format'")
    return CATCH_UP + text


def cells() -> Iterator[tuple[str, str, Change]]:
    """Yield each kind, each name of a change that it can have, and the change."""
    for name, found in CHANGES.items():
        yield from ((kind, name, change) for change in found for kind in change.kinds)

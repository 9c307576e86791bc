"""OVER with rows that follow: a stream, by both readers, gives what Spark's batch mode gives."""

from __future__ import annotations

import random

import pytest

from tests.workspace import Workspace

SOURCE = """CREATE TABLE ev (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '20' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'csv', 'csv.null-literal' = '-', {});"""
ARROW, SPARK = "'sqlext.source' = 'arrow'", "'sqlext.source' = 'spark'"
SINK = """CREATE TABLE {0} (k STRING, v INT, a BIGINT, b BIGINT, c STRING)
WITH ('connector' = 'delta', 'path' = '${{OUT}}/{0}');"""
BATCH = "SET 'execution.runtime-mode' = 'batch';"
BY = "PARTITION BY k ORDER BY ts"
SECONDS = "INTERVAL '{}' SECOND"
ROWS, RANGE = "ROWS BETWEEN {} AND {}", "RANGE BETWEEN {} AND {}"
FRAMES = {
    "around": (ROWS.format("2 PRECEDING", "2 FOLLOWING"), ROWS.format("UNBOUNDED PRECEDING", "1 FOLLOWING")),
    "behind": (ROWS.format("1 FOLLOWING", "3 FOLLOWING"), ROWS.format("3 PRECEDING", "1 PRECEDING")),
    "times": (
        RANGE.format(f"{SECONDS.format(9)} PRECEDING", f"{SECONDS.format(9)} FOLLOWING"),
        RANGE.format("UNBOUNDED PRECEDING", f"{SECONDS.format(4)} FOLLOWING"),
    ),
    "later": (
        RANGE.format(f"{SECONDS.format(3)} FOLLOWING", f"{SECONDS.format(30)} FOLLOWING"),
        RANGE.format(f"{SECONDS.format(30)} PRECEDING", f"{SECONDS.format(3)} PRECEDING"),
    ),
}
QUERIES = {
    name: f"SELECT k, v, COUNT(v) OVER ({BY} {one}), CAST(SUM(v) OVER ({BY} {other}) AS BIGINT), "
    f"CAST(MIN(v) OVER ({BY} {one}) AS STRING) FROM ev"
    for name, (one, other) in FRAMES.items()
}
LEADS = f"""SELECT k, v, CAST(LEAD(v) OVER ({BY}) AS BIGINT), CAST(LEAD(v, 3, -1) OVER ({BY}) AS BIGINT),
CAST(LEAD(v, 0) OVER ({BY}) AS STRING) FROM ev"""
QUERIES["leads"] = LEADS
#: A window above rows that wait; and one below them, of which the bounds are values then.
ABOVE = f"""SELECT k, CAST(MAX(v) AS INT), COUNT(*), MAX(n), DATE_FORMAT(window_start, 'mm:ss')
FROM TABLE(TUMBLE((SELECT k, v, ts, COUNT(*) OVER ({BY} {FRAMES["times"][0]}) AS n FROM ev), DESCRIPTOR(ts),
INTERVAL '30' SECOND)) GROUP BY k, window_start, window_end"""
BELOW = """SELECT k, CAST(s AS INT), LEAD(s) OVER (PARTITION BY k ORDER BY t), s, DATE_FORMAT(window_start, 'mm:ss')
FROM (SELECT k, window_start, window_time AS t, CAST(SUM(v) AS BIGINT) AS s
FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '20' SECOND)) GROUP BY k, window_start, window_end, window_time)"""
QUERIES |= {"above": ABOVE, "below": BELOW}


@pytest.fixture
def filled(workspace: Workspace) -> Workspace:
    """Rows over three minutes in four files, in each out of order; no two of a key have one time; NULL keys, values."""
    random_ = random.Random(11)
    times = random_.sample(range(180), 100)
    times.sort(key=lambda t: (t // 18, random_.random()))
    for number in range(4):
        lines = []
        for i, t in enumerate(times[number * 25 : (number + 1) * 25]):
            value = "-" if i % 9 == 4 else str(number * 25 + i)
            lines.append(f"{random_.choice(['a', 'b', '-'])},{value},2024-01-01 00:{t // 60:02}:{t % 60:02}")
        workspace.put(f"{number}.csv", *lines)
    return workspace


def batch(workspace: Workspace) -> dict[str, list[tuple[str, ...]]]:
    """Return what Spark's own OVER gives."""
    # A catalog of its own: there the table is another one.
    own, queries = workspace.session("batch"), (f"{q};" for q in QUERIES.values())
    results = workspace.run(BATCH, SOURCE.format(SPARK), *queries, session=own)[-len(QUERIES) :]
    return {
        name: sorted((tuple(map(str, row)) for row in result.rows), key=repr)
        for name, result in zip(QUERIES, results, strict=True)
    }


@pytest.mark.parametrize("reader", [ARROW, SPARK])
def test_a_stream_gives_what_batch_mode_gives(filled: Workspace, reader: str) -> None:
    inserts = [SINK.format(name) + f"INSERT INTO {name} {query};" for name, query in QUERIES.items()]
    filled.run(SOURCE.format(f"{reader}, 'maxFilesPerTrigger' = '1'"), *inserts)
    expected = batch(filled)
    assert all(len(rows) > 10 for rows in expected.values())
    assert {name: filled.delta(name) for name in QUERIES} == expected


def test_late_rows_are_left_out(workspace: Workspace) -> None:
    """A row behind the watermark is in no frame, also of rows that have not come out."""
    workspace.put("0.csv", *(f"a,{t},2024-01-01 00:00:{t:02}" for t in (10, 20)))
    workspace.put("1.csv", "a,59,2024-01-01 00:00:59")
    workspace.put("2.csv", "a,58,2024-01-01 00:00:58")
    workspace.put("3.csv", "a,21,2024-01-01 00:00:21", "a,57,2024-01-01 00:00:57")
    query = QUERIES["leads"]
    workspace.run(
        SOURCE.format(f"{SPARK}, 'maxFilesPerTrigger' = '1'"), SINK.format("counts"), f"INSERT INTO counts {query};"
    )
    assert [row[1:4] for row in workspace.delta()] == [
        ("10", "20", "58"),
        ("20", "57", "59"),
        ("57", "58", "-1"),
        ("58", "59", "-1"),
        ("59", "None", "-1"),
    ]


def test_nothing_comes_of_nothing(workspace: Workspace) -> None:
    workspace.put("0.csv")
    results = workspace.run(SOURCE.format(SPARK), *(f"{q};" for q in QUERIES.values()))[-len(QUERIES) :]
    assert [r.rows for r in results] == [[]] * len(QUERIES)

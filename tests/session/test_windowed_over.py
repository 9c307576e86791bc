"""OVER by a window of time: a stream, by both readers, gives what Spark's batch mode gives."""

from __future__ import annotations

import random

import pytest

from tests.workspace import Workspace

SOURCE = """CREATE TABLE ev (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '20' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'csv', 'csv.null-literal' = '-', {});"""
ARROW, SPARK = "'sqlext.source' = 'arrow'", "'sqlext.source' = 'spark'"
SINK = """CREATE TABLE {0} (k STRING, w STRING, a STRING, b STRING, c STRING, d STRING)
WITH ('connector' = 'delta', 'path' = '${{OUT}}/{0}');"""
BATCH = "SET 'execution.runtime-mode' = 'batch';"
BY = "PARTITION BY window_start, window_end"
END = "DATE_FORMAT(window_end, 'mm:ss')"
WINDOWS = {
    "tumble": "TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '30' SECOND))",
    "hop": "TABLE(HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '40' SECOND))",
    "cumulate": "TABLE(CUMULATE(TABLE ev, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '60' SECOND))",
    "session": "TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND, INTERVAL '30' SECOND))",
}


def _texts(*items: str) -> str:
    return ", ".join(f"CAST({item} AS STRING)" for item in items)


QUERIES = {
    name: f"SELECT k, {END}, "
    + _texts(
        f"NTILE(3) OVER ({BY} ORDER BY v DESC NULLS LAST, ts)",
        f"PERCENT_RANK() OVER ({BY}, k ORDER BY v)",
        f"CUME_DIST() OVER ({BY} ORDER BY k, v DESC)",
        f"COUNT(v) OVER ({BY})",
    )
    + f" FROM {windows}"
    for name, windows in WINDOWS.items()
}
GROUPS = f"""(SELECT k, window_start, window_end, CAST(SUM(v) AS BIGINT) AS s FROM {WINDOWS["hop"]}
GROUP BY k, window_start, window_end)"""
QUERIES["groups"] = (
    f"SELECT k, {END}, "
    + _texts(
        f"LEAD(s, 1, -1) OVER ({BY} ORDER BY s, k)",
        f"SUM(s) OVER ({BY} ORDER BY s DESC, k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
        f"NTH_VALUE(k, 2) OVER ({BY} ORDER BY s, k ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
        f"RANK() OVER ({BY} ORDER BY s DESC)",
    )
    + f" FROM {GROUPS}"
)


@pytest.fixture
def filled(workspace: Workspace) -> Workspace:
    """Rows over three minutes in four files, in each out of order; NULL keys and values; no two have one time."""
    random_ = random.Random(5)
    times = random_.sample(range(180), 80)
    times.sort(key=lambda t: (t // 18, random_.random()))
    for number in range(4):
        lines = []
        for i, t in enumerate(times[number * 20 : (number + 1) * 20]):
            value = "-" if i % 9 == 4 else str(random_.randrange(6))
            lines.append(f"{random_.choice(['a', 'b', '-'])},{value},2024-01-01 00:{t // 60:02}:{t % 60:02}")
        workspace.put(f"{number}.csv", *lines)
    return workspace


@pytest.mark.parametrize("reader", [ARROW, SPARK])
def test_a_stream_gives_what_batch_mode_gives(filled: Workspace, reader: str) -> None:
    inserts = [SINK.format(name) + f"INSERT INTO {name} {query};" for name, query in QUERIES.items()]
    filled.run(SOURCE.format(f"{reader}, 'maxFilesPerTrigger' = '1'"), *inserts)
    # A catalog of its own: there the table is another one.
    own, queries = filled.session("batch"), (f"{q};" for q in QUERIES.values())
    results = filled.run(BATCH, SOURCE.format(SPARK), *queries, session=own)[-len(QUERIES) :]
    expected = {
        name: sorted((tuple(map(str, row)) for row in result.rows), key=repr)
        for name, result in zip(QUERIES, results, strict=True)
    }
    assert all(len(rows) > 10 for rows in expected.values())
    assert {name: filled.delta(name) for name in QUERIES} == expected

"""SLIDE on Spark: a micro-batch at a time, with a late row; both readers and batch mode; an aggregate in Python."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.stepped_queries import END_OF_TIME, TIMED, JsonRow, Move, SteppedQuery, rows_of, run_together, text_of
from tests.workspace import EVENTS, Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INPUT = "(SELECT key, `value`, ts FROM input WHERE key IS NOT NULL)"
STEPPED = f"""SELECT key, SUM(`value`) AS s, COUNT(*) AS n
FROM TABLE(SLIDE({_INPUT}, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, key;"""
SOURCE = """CREATE TABLE ev (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '40' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'csv', 'csv.null-literal' = '-', {});"""
SINK = """CREATE TABLE slid (k STRING, e TIMESTAMP(3), n BIGINT, s BIGINT, kinds BIGINT)
WITH ('connector' = 'delta', 'path' = '${OUT}/slid');"""
QUERY = """SELECT k, window_end, COUNT(*), CAST(SUM(v) AS BIGINT), COUNT(DISTINCT v)
FROM TABLE(SLIDE(TABLE ev, DESCRIPTOR(ts), INTERVAL '30' SECOND)) GROUP BY k, window_start, window_end;"""


class Longest:
    """The longest text; of several the first."""

    returns = "STRING"

    def zero(self) -> str:
        return ""

    def add(self, state: str, value: str) -> str:
        return max(state, value, key=len)

    def merge(self, one: str, other: str) -> str:
        return max(one, other, key=len)

    def finish(self, state: str) -> str:
        return state


def _row(key: str, value: int, millis: int) -> JsonRow:
    return {"key": key, "value": value, "ts": text_of(millis)}


def test_batch_by_batch(spark: SparkSession, tmp_path: Path) -> None:
    query = SteppedQuery(
        spark,
        tmp_path,
        TIMED + STEPPED,
        [
            Move([_row("a", 1, 1000), _row("a", 2, 3000), _row("b", 5, 2000)]),
            Move([_row("a", 4, 3000)], watermark=4000),
            Move([_row("a", 100, 2500), _row("a", 7, 6000)]),
            Move(watermark=END_OF_TIME),
        ],
    )
    run_together([query])
    # The row at 2.5 is late: it is not in the window that ends at 6 either. The row at 1 is one size before that.
    assert rows_of(query) == [[], [("a", 1, 1), ("a", 7, 3), ("b", 5, 1)], [], [("a", 13, 3)]]
    assert [o.dropped for o in query.outcomes] == [0, 0, 1, 0]


@pytest.mark.parametrize("reader", ["arrow", "spark"])
def test_a_stream_gives_what_batch_mode_gives(workspace: Workspace, reader: str) -> None:
    random_ = random.Random(7)
    rows = sorted((random_.randrange(180) for _ in range(80)), key=lambda t: (t // 18, random_.random()))
    for number in range(4):
        lines = [
            f"{random_.choice('ab-')},{random_.choice('-123')},2024-01-01 00:{t // 60:02}:{t % 60:02}"
            for t in rows[number * 20 : (number + 1) * 20]
        ]
        workspace.put(f"{number}.csv", *lines)
    workspace.run(
        SOURCE.format(f"'sqlext.source' = '{reader}', 'maxFilesPerTrigger' = '1'"), SINK, "INSERT INTO slid " + QUERY
    )
    batch = "SET 'execution.runtime-mode' = 'batch';"
    found = workspace.run(batch, SOURCE.format("'sqlext.source' = 'spark'"), QUERY, session=workspace.session("batch"))[
        -1
    ]
    expected = sorted((tuple(map(str, row)) for row in found.rows), key=repr)
    assert len(expected) > 50
    assert [tuple(map(str, row)) for row in workspace.delta("slid")] == expected


def test_an_aggregate_in_python(workspace: Workspace) -> None:
    workspace.put("0.csv", "a,1,0", "abc,2,1", "ab,3,2", "a,4,4")
    session = workspace.session()
    session.register_aggregate("longest", Longest)
    select = """SELECT LONGEST(k), COUNT(*) FROM TABLE(SLIDE(TABLE events, DESCRIPTOR(ts), INTERVAL '3' SECOND))
    GROUP BY window_start, window_end;"""
    assert sorted(workspace.run(EVENTS, select, session=session)[-1].rows) == [
        ("a", 1),
        ("ab", 2),
        ("abc", 2),
        ("abc", 3),
    ]

"""The same rows and the same failures, whether rows are combined by Arrow where they are read or by Spark."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet
import pytest
from deltalake import write_deltalake
from workspace import Workspace

from sqlext.errors import SqlExtError

from .run_by import Case

_COLUMNS = "id BIGINT, k STRING, v INT, d DOUBLE, e BIGINT"
_TIMES = "ts AS TO_TIMESTAMP_LTZ(e, 3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"
_TABLES = f"""
CREATE TABLE c ({_COLUMNS}, {_TIMES})
WITH ('connector' = 'filesystem', 'path' = '${{IN}}/csv', 'format' = 'csv', 'csv.null-literal' = 'NULL');
CREATE TABLE j ({_COLUMNS}, {_TIMES}) WITH ('connector' = 'filesystem', 'path' = '${{IN}}/json', 'format' = 'json');
CREATE TABLE p ({_COLUMNS}, {_TIMES})
WITH ('connector' = 'filesystem', 'path' = '${{IN}}/parquet', 'format' = 'parquet');
CREATE TABLE t ({_COLUMNS}, {_TIMES}) WITH ('connector' = 'delta', 'path' = '${{IN}}/delta');
"""
_OUT = "k STRING, s TIMESTAMP_LTZ(3), e TIMESTAMP_LTZ(3), n BIGINT, t BIGINT, a DOUBLE, low DOUBLE"
_VALUES = "COUNT(*), SUM(CAST(v AS BIGINT)), AVG(v) FILTER (WHERE v > 0), MIN(d)"
#: What it is about, the table that it reads, and the query.
_QUERIES = {
    "tumble csv": (
        "c",
        f"""SELECT k, window_start, window_end, {_VALUES}
    FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '10' SECOND))
    WHERE k <> 'x' OR v + 1 > 3 GROUP BY k, window_start, window_end""",
    ),
    "hop json": (
        "j",
        f"""SELECT CASE WHEN v IS NULL THEN 'none' ELSE k END AS kk, window_start, window_end, {_VALUES}
    FROM TABLE(HOP(TABLE j, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND))
    GROUP BY CASE WHEN v IS NULL THEN 'none' ELSE k END, window_start, window_end HAVING COUNT(*) > 1""",
    ),
    "session parquet": (
        "p",
        f"""SELECT k, window_start, window_end, {_VALUES}
    FROM TABLE(SESSION(TABLE p PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND))
    GROUP BY k, window_start, window_end""",
    ),
    "cumulate csv": (
        "c",
        f"""SELECT k, window_start, window_end, {_VALUES}
    FROM TABLE(CUMULATE(TABLE (SELECT k, v * 2 AS v, d, ts FROM c WHERE v IN (1, 2, 3) OR v IS NULL), DESCRIPTOR(ts),
    INTERVAL '5' SECOND, INTERVAL '20' SECOND)) GROUP BY k, window_start, window_end""",
    ),
    "delta": (
        "t",
        f"""SELECT k, window_start, window_end, {_VALUES}
    FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))
    GROUP BY k, window_start, window_end""",
    ),
    "top": (
        "j",
        f"""SELECT k, window_start, window_end, n, t, a, low FROM (
      SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC, k) AS place FROM (
        SELECT k, window_start, window_end, {_VALUES}
        FROM TABLE(TUMBLE(TABLE j, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end
      ) AS sums (k, window_start, window_end, n, t, a, low)) WHERE place <= 2""",
    ),
    "row groups passed over": (
        "p",
        f"""SELECT k, window_start, window_end, {_VALUES}
    FROM TABLE(TUMBLE(TABLE p, DESCRIPTOR(ts), INTERVAL '10' SECOND))
    WHERE ts >= TIMESTAMP '2024-01-01 00:00:30' AND v IS NOT NULL GROUP BY k, window_start, window_end""",
    ),
    "chain": (
        "c",
        f"""SELECT k, window_start, window_end, {_VALUES} FROM TABLE(TUMBLE(TABLE (
      SELECT g AS k, v, d, ts FROM (SELECT *, CASE WHEN v > 1 THEN 'hi' ELSE 'lo' END AS g FROM c) WHERE k <> 'x'
    ), DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end""",
    ),
}


def _rows(count: int) -> list[dict[str, object]]:
    random = Random(7)
    start = 1_704_067_200_000
    return [
        {
            "id": i,
            "k": random.choice(["a", "x", "ä€𝄞", "", None]),
            "v": random.choice([-5, 0, 1, 2, 3, 2_000_000_000, None]),
            "d": random.choice([0.5, -0.25, 1e300, None]),
            "e": start + i * 40 + random.randrange(1500),
        }
        for i in range(count)
    ]


def _put(folder: Path, rows: list[dict[str, object]]) -> None:
    for form in ("csv", "json", "parquet"):
        (folder / form).mkdir()
    texts = ["NULL" if v is None else str(v) for r in rows for v in r.values()]
    lines = [",".join(texts[i : i + 5]) for i in range(0, len(texts), 5)]
    (folder / "csv" / "a.csv").write_text("\n".join(lines[::2]), encoding="utf-8")
    (folder / "csv" / "b.csv").write_text("\n".join(lines[1::2]), encoding="utf-8")
    (folder / "json" / "a.json").write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    types = {"id": pa.int64(), "k": pa.string(), "v": pa.int32(), "d": pa.float64(), "e": pa.int64()}
    table = pa.table({n: pa.array([r[n] for r in rows], t) for n, t in types.items()})
    pa.parquet.write_table(table, folder / "parquet" / "a.parquet", row_group_size=300)
    for part in (table.slice(0, 700), table.slice(700)):
        write_deltalake(str(folder / "delta"), part, mode="append")


@pytest.mark.sampled
@pytest.mark.parametrize("name", _QUERIES)
def test_both_paths_give_the_same_rows(workspace: Workspace, name: str) -> None:
    """NULLs, filters, conditions, late rows, a sub-query: every kind of window, every format."""
    _put(workspace.input, _rows(1_500))
    case = Case(_TABLES, _OUT, _QUERIES[name][1])
    for source in ("arrow", "spark"):
        case.run_by(source, workspace)
    assert workspace.files("spark")
    assert workspace.files("arrow") == workspace.files("spark")


def test_explain_says_that_all_of_them_are_read_by_arrow(workspace: Workspace) -> None:
    session = workspace.session()
    _put(workspace.input, _rows(10))
    workspace.run("SET 'sqlext.source' = 'arrow';", _TABLES, session=session)
    for name, query in _QUERIES.values():
        (text,) = session.sql(f"EXPLAIN {query}").rows[0]
        assert f"{name}: Arrow reads" in text
        assert text.startswith("path:            stateful")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("time", "code"),
    [("NULL", "RUN-001"), (str(int(timedelta(days=-1).total_seconds()) * 1000), "RUN-002"), ("soon", "RUN-066")],
)
def test_failures_keep_their_codes(workspace: Workspace, time: str, code: str) -> None:
    """A rowtime that is NULL, one before 1970, and a field that is no number."""
    (workspace.input / "csv").mkdir()
    now = int(datetime(2024, 1, 1).timestamp()) * 1000
    (workspace.input / "csv" / "a.csv").write_text(f"1,a,1,1.0,{now}\n2,a,1,1.0,{time}\n", encoding="utf-8")
    case = Case(_TABLES.split("CREATE TABLE j")[0], _OUT, _QUERIES["tumble csv"][1])
    with pytest.raises(SqlExtError) as raised:
        case.run_by("arrow", workspace)
    assert raised.value.code == code


@pytest.mark.parametrize("table", ["c", "t"], ids=["files", "delta"])
def test_of_an_input_without_end(workspace: Workspace, table: str) -> None:
    """The time of a whole input is looked after, though none of its parts has one of its own."""
    _put(workspace.input, _rows(200))
    tables = _TABLES.replace("'connector'", "'source.monitor-interval' = '1 s', 'connector'")
    insert = f"""INSERT INTO o SELECT k, window_start, COUNT(*), MIN(d)
    FROM TABLE(TUMBLE(TABLE {table}, DESCRIPTOR(ts), INTERVAL '1' SECOND))
    WHERE k <> '' GROUP BY k, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY 20 ROWS;"""
    found = {}
    for source in ("spark", "arrow"):
        setting = f"SET 'sqlext.source' = '{source}'; SET 'pipeline.name' = '{source}';"
        output = f"""CREATE TABLE o (k STRING, s TIMESTAMP_LTZ(3), n BIGINT, low DOUBLE,
        PRIMARY KEY (k, s) NOT ENFORCED) WITH ('connector' = 'delta', 'path' = '${{OUT}}/{source}');"""
        query = workspace.run(setting, tables, output, insert, session=workspace.session(source))[-1].query
        query.process_available()
        assert query.progress["rows_in"] == 200
        query.stop()
        found[source] = workspace.delta(source)
    assert found["arrow"] == found["spark"]
    assert found["arrow"]


@pytest.mark.parametrize(("also", "by"), [("", "Arrow reads"), (", w TIMESTAMP(3)", "the other kind of TIMESTAMP")])
def test_instants_of_delta_as_wall_clocks(workspace: Workspace, also: str, by: str) -> None:
    """A rowtime is carried as the instant that it is there; any other column needs the zone, which Spark knows."""
    times = pa.array(
        [datetime(2024, 1, 1, 0, 0, s, tzinfo=timezone.utc) for s in (1, 2, 12)], pa.timestamp("us", "UTC")
    )
    rows = pa.table({"k": pa.array(["a", "b", "a"]), "ts": times, "w": times})
    write_deltalake(str(workspace.input / "delta"), rows)
    table = f"""CREATE TABLE d (k STRING, ts TIMESTAMP(3){also}, WATERMARK FOR ts AS ts)
    WITH ('connector' = 'delta', 'path' = '${{IN}}/delta');"""
    latest = "CAST(MAX(w) AS STRING)" if also else "'none'"
    query = f"""SELECT k, window_start, COUNT(*), {latest}
    FROM TABLE(TUMBLE(TABLE d, DESCRIPTOR(ts), INTERVAL '10' SECOND))
    GROUP BY k, window_start, window_end"""
    case = Case(table, "k STRING, s TIMESTAMP(3), n BIGINT, w STRING", query)
    for source in ("arrow", "spark"):
        explained = case.run_by(source, workspace)
        assert (by in explained) == (source == "arrow")
    assert len(workspace.files("spark")) == 3
    assert workspace.files("arrow") == workspace.files("spark")

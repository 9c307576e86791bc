"""Windows, joins and ranks of queries without an end that run in this process."""

from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyarrow import csv, parquet

from tests.local.streams.stream_desk import COUNTS, Desk

_BEGIN = datetime(2024, 1, 1)


def at(seconds: float) -> datetime:
    return _BEGIN + timedelta(seconds=seconds)


def test_windows_close_by_the_watermark(desk: Desk) -> None:
    query = desk.start(desk.script(COUNTS))
    desk.put("events", "a.json", [("a", 1, 1), ("b", 2, 2), ("a", 3, 12)])
    query.process_available()
    # The watermark is 11: the first window came out with the rows that closed it.
    assert desk.rows() == [("a", at(0), 1, 1), ("b", at(0), 1, 2)]
    desk.put("events", "b.json", [("a", 9, 3), ("a", 4, 13), ("a", 5, 31)])
    query.process_available()
    query.stop()
    assert desk.rows() == [("a", at(0), 1, 1), ("a", at(10), 2, 7), ("b", at(0), 1, 2)]
    progress = query.progress
    assert (progress["rows_in"], progress["rows_out"], progress["rows_dropped"]) == (6, 3, 1)
    assert (progress["state_rows"], progress["status"]) == (1, "stopped")


def test_a_restart_goes_on_with_its_state(desk: Desk) -> None:
    script = desk.script(COUNTS)
    desk.put("events", "a.json", [("a", 1, 1), ("a", 2, 4)])
    for number, seconds in enumerate((6, 8, 12)):
        query = desk.start(script)
        query.process_available()
        query.stop()
        assert query.exception is None
        desk.put("events", f"b{number}.json", [("a", 10, seconds)])
    query = desk.start(script)
    query.process_available()
    query.stop()
    assert desk.rows() == [("a", at(0), 4, 23)]


def test_early_panes_by_the_clock(desk: Desk) -> None:
    panes = COUNTS.replace("window_end;", "window_end EMIT AFTER WATERMARK EARLY EVERY 5s;")
    query = desk.start(desk.script(panes))
    desk.put("events", "a.json", [("a", 1, 1)])
    query.process_available()
    first = desk.rows()
    desk.put("events", "b.json", [("a", 2, 2)])
    query.process_available()
    desk.tick(5_000)
    query.process_available()
    query.stop()
    assert first == []
    assert desk.rows() == [("a", at(0), 2, 3)]


def test_an_idle_input_holds_nobody_back(desk: Desk) -> None:
    joined = """
    CREATE TABLE pairs (k STRING, a BIGINT, b BIGINT) WITH ('connector' = 'delta', 'path' = '{out}');
    INSERT INTO pairs SELECT events.k, events.v, others.v FROM events LEFT JOIN others
    ON events.k = others.k AND others.ts BETWEEN events.ts - INTERVAL '2' SECOND AND events.ts + INTERVAL '2' SECOND;
    """
    script = desk.script(joined, tables=("events", "others"), more=", 'scan.watermark.idle-timeout' = '10 s'")
    query = desk.start(script)
    desk.put("events", "a.json", [("a", 1, 1), ("b", 2, 2), ("c", 3, 60)])
    desk.put("others", "a.json", [("a", 7, 2)])
    query.process_available()
    before = desk.rows()
    desk.tick(11_000)
    desk.put("events", "b.json", [("c", 4, 61)])
    query.process_available()
    query.stop()
    assert before == [("a", 1, 7)]
    # The other side is silent: `b` has no partner.
    assert desk.rows() == [("a", 1, 7), ("b", 2, None)]


def test_the_clock_closes_windows_of_idle_inputs(desk: Desk) -> None:
    script = desk.script(COUNTS, more=", 'scan.watermark.idle-timeout' = '10 s'")
    query = desk.start("SET 'sqlext.idle.close-windows' = 'true';\n" + script)
    desk.put("events", "a.json", [("a", 1, 1)])
    query.process_available()
    assert desk.rows() == []
    desk.tick(60_000)
    query.process_available()
    query.stop()
    assert desk.rows() == [("a", at(0), 1, 1)]


def test_changes_of_a_row_by_key(desk: Desk) -> None:
    totals = """
    CREATE TABLE totals (k STRING, s BIGINT, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'delta', 'path' = '{out}');
    INSERT INTO totals SELECT k, SUM(v) FROM events GROUP BY k;
    """
    script = desk.script(totals)
    desk.put("events", "a.json", [("a", 1, 1), ("b", 2, 2)])
    query = desk.start(script)
    query.process_available()
    assert desk.rows() == [("a", 1), ("b", 2)]
    query.stop()
    desk.put("events", "b.json", [("a", 10, 3), ("c", 5, 1)])
    query = desk.start(script)
    query.process_available()
    query.stop()
    assert desk.rows() == [("a", 11), ("b", 2), ("c", 5)]


def test_the_first_rows_of_a_key(desk: Desk) -> None:
    firsts = """
    CREATE TABLE firsts (k STRING, v BIGINT, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'delta', 'path' = '{out}');
    INSERT INTO firsts SELECT k, v FROM (
      SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS r FROM events) WHERE r = 1;
    """
    query = desk.start(desk.script(firsts))
    for number, value in enumerate((3, 9, 5)):
        desk.put("events", f"{number}.json", [("a", value, number), ("b", -value, number)])
        query.process_available()
    query.stop()
    assert desk.rows() == [("a", 9), ("b", -3)]


def test_files_of_json(desk: Desk) -> None:
    copies = """
    CREATE TABLE copies (k STRING, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'json');
    INSERT INTO copies SELECT k, v + 1 AS v FROM events WHERE v > 1;
    """
    script = desk.script(copies)
    query = desk.start(script)
    for number in range(3):
        desk.put("events", f"{number}.json", [("a", number, number)])
        query.process_available()
    query.stop()
    query = desk.start(script)
    desk.put("events", "9.json", [("b", 9, 1)])
    query.process_available()
    query.stop()
    assert sorted(row["v"] for row in desk.files()) == [3, 10]


def test_two_queries_of_a_set(desk: Desk) -> None:
    both = """
    CREATE TABLE a (k STRING, v BIGINT) WITH ('connector' = 'delta', 'path' = '{out}-a');
    CREATE TABLE b (n BIGINT, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'delta', 'path' = '{out}-b');
    EXECUTE STATEMENT SET BEGIN
      INSERT INTO a SELECT k, v FROM events;
      INSERT INTO b SELECT DISTINCT v FROM events;
    END;
    """
    query = desk.start(desk.script(both))
    desk.put("events", "a.json", [("a", 1, 1), ("b", 1, 2)])
    query.process_available()
    query.stop()
    assert desk.rows("out-a") == [("a", 1), ("b", 1)]
    assert desk.rows("out-b") == [(1,)]
    assert set(query.progress["parts"]) == {"sql.a", "sql.b"}


@pytest.mark.parametrize("form", ["csv", "parquet", "delta"])
def test_other_tables(desk: Desk, form: str) -> None:
    folder, out = desk.root / "source", desk.root / "out"
    own = "" if form == "delta" else f", 'format' = '{form}'"
    connector = "delta" if form == "delta" else "filesystem"
    script = f"""
    SET 'sqlext.engine' = 'local';
    CREATE TABLE source (k STRING, v BIGINT) WITH ('connector' = '{connector}', 'path' = '{folder}'{own},
      'source.monitor-interval' = '1 s');
    CREATE TABLE totals (k STRING, s BIGINT, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'delta', 'path' = '{out}');
    INSERT INTO totals SELECT k, SUM(v) FROM source GROUP BY k;
    """

    def put(number: int) -> None:
        rows = pa.table({"k": ["a", "b"], "v": pa.array([number, 1], pa.int64())})
        if form == "delta":
            write_deltalake(folder, rows, mode="append")
        elif form == "csv":
            csv.write_csv(rows, folder / f"{number}.csv", csv.WriteOptions(include_header=False))
        else:
            parquet.write_table(rows, folder / f"{number}.parquet")

    if form != "delta":
        folder.mkdir()
    for number in range(4):
        put(number)
        query = desk.start(script)
        query.process_available()
        put(number + 10)
        query.process_available()
        query.stop()
    assert desk.rows() == [("a", 52), ("b", 8)]


def test_two_queries_write_one_table_in_turns(desk: Desk) -> None:
    both = """
    CREATE TABLE t (k STRING, s BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'path' = '{out}');
    EXECUTE STATEMENT SET BEGIN
      INSERT INTO t SELECT CONCAT('x', k), SUM(v) FROM events GROUP BY k;
      INSERT INTO t SELECT CONCAT('y', k), SUM(v) FROM events GROUP BY k;
    END;
    """
    query = desk.start(desk.script(both))
    for number in range(12):
        desk.put("events", f"{number}.json", [("a", 1, number), ("b", 2, number)])
        # Another writer comes in between.
        if number % 3 == 2:
            query.process_available()
            DeltaTable(desk.root / "out").optimize.compact()
    query.process_available()
    query.stop()
    assert desk.rows() == [("xa", 12), ("xb", 24), ("ya", 12), ("yb", 24)]

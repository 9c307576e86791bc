"""EXPLAIN ROW: the rows that it names, computed again, are the row of the result; what it refuses. No Spark."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.session.api import Session
from sqlext_catalog import ddl
from sqlext_catalog.model import QueryRecord

START = datetime(2024, 1, 1)
TABLES = """
SET 'sqlext.expressions' = 'flink';
CREATE TABLE orders (k STRING, n INT, ts TIMESTAMP(3), big AS n > 5, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{0}/orders', 'format' = 'json');
CREATE TABLE fees (item STRING, fee INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{0}/fees', 'format' = 'json');
CREATE VIEW some_orders AS SELECT UPPER(k) AS big_k, n, ts FROM orders WHERE n <> 3;
CREATE TABLE counts (k STRING, w TIMESTAMP(3), e TIMESTAMP(3), n BIGINT, total BIGINT)
WITH ('connector' = 'delta', 'path' = '{0}/counts');
CREATE TABLE plain (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{0}/plain', 'format' = 'json');
CREATE TABLE joined (k STRING, fee INT) WITH ('connector' = 'filesystem', 'path' = '{0}/joined', 'format' = 'json');
CREATE VIEW v AS SELECT * FROM counts;
"""
WINDOWS = {
    "tumble": "TUMBLE(TABLE {0}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
    "tumble with an offset": "TUMBLE(TABLE {0}, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '7' SECOND)",
    "hop": "HOP(TABLE {0}, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '1' MINUTE)",
    "cumulate": "CUMULATE(TABLE {0}, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '1' MINUTE)",
    "session": "SESSION(TABLE {0} PARTITION BY {1}, DESCRIPTOR(ts), INTERVAL '9' SECOND)",
}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    chance = random.Random(5)
    for name, key, number in (("orders", "k", "n"), ("fees", "item", "fee")):
        (tmp_path / name).mkdir()
        for file in range(3):
            rows: list[dict[str, Any]] = [
                {key: chance.choice(["a", "b", None]), number: chance.randrange(9), "ts": _time(chance.randrange(300))}
                for _ in range(20)
            ]
            (tmp_path / name / f"{file}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    session = sqlext.connect(catalog=tmp_path / "catalog", settings={"sqlext.engine": "local"})
    session.run(TABLES.format(tmp_path))
    return session


def _time(seconds: int) -> str:
    return str(START + timedelta(seconds=seconds))


def explained(session: Session, statement: str) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield each row of a result with the rows that it was made of."""
    lines = session.sql(statement).rows
    results = {line[0]: json.loads(line[-1]) for line in lines if line[1] is None}
    rows = defaultdict(list)
    for number, query, table, place, row, *judged, text in lines:
        if query is not None and table is not None:
            rows[number].append({"table": table, "place": place, "row": row, "judged": judged, **json.loads(text)})
    yield from ((result, rows[number]) for number, result in results.items())


def panes(session: Session, statement: str) -> Iterator[tuple[Any, ...]]:
    """Yield number, firing, trigger and rows of each pane."""
    yield from (line[8:12] for line in session.sql(statement).rows if line[1] is not None and line[2] is None)


def inputs(lines: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the lines of input rows."""
    return [line for line in lines if line[1] is not None and line[2] is not None]


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize(("source", "key"), [("orders", "k"), ("some_orders", "big_k")])
def test_rows_of_a_window_are_computed_again(
    session: Session, tmp_path: Path, window: str, source: str, key: str
) -> None:
    session.run(f"""INSERT INTO counts SELECT {key}, window_start, window_end, COUNT(*), SUM(n)
        FROM TABLE({window.format(source, key)}) WHERE n > 1 GROUP BY {key}, window_start, window_end""")
    found = list(explained(session, "EXPLAIN ROW FROM counts"))
    assert len(found) == 10
    for result, rows in found:
        assert (result["n"], result["total"]) == (len(rows), sum(row["n"] for row in rows))
        for row in rows:
            lines = (tmp_path / "orders" / row["place"]).read_text().splitlines()
            line = json.loads(lines[row["row"] - 1])
            assert (line["k"], line["n"], line["ts"]) == (row["k"], row["n"], row["ts"])


def test_windows_with_an_offset_of_each_row(session: Session) -> None:
    """The window of the key tells its rows: others are in another grid."""
    offset = "CASE k WHEN 'a' THEN 7000 ELSE -20000 END"
    below = f"TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, {offset})) GROUP BY k, window_start"
    session.run(f"INSERT INTO counts SELECT k, window_start, window_end, COUNT(*), SUM(n) FROM {below}, window_end")
    found = list(explained(session, "EXPLAIN ROW FROM counts WHERE k = 'a' OR k = 'b'"))
    assert len(found) == 10
    assert {datetime.fromisoformat(result["w"]).second for result, _ in found} == {7, 40}
    for result, rows in found:
        assert (result["n"], result["total"]) == (len(rows), sum(row["n"] for row in rows))


def test_one_bound_of_months_with_an_offset_of_each_row_does_not_tell_the_other(
    session: Session, tmp_path: Path
) -> None:
    insert = """INSERT INTO months SELECT k, window_start FROM TABLE(TUMBLE(
        TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MONTH, n * INTERVAL '1' DAY))
        GROUP BY k, n, window_start, window_end"""
    session.run(f"""CREATE TABLE months (k STRING, w TIMESTAMP(3))
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/months', 'format' = 'json')""")
    record = QueryRecord("q", insert, (), "default_catalog.default_database.months", "", "", "finished")
    session.catalog.apply(ddl.record_query(record), "START QUERY q")
    (tmp_path / "months").mkdir()
    (tmp_path / "months" / "1.json").write_text('{"k": "a", "w": "2024-01-05 00:00:00"}\n')
    with pytest.raises(SqlExtError) as refused:
        session.sql("EXPLAIN ROW FROM months")
    assert refused.value.code == "DDL-043"
    assert "without both bounds" in refused.value.render()


def test_two_groupings_of_one_window(session: Session) -> None:
    session.run("""INSERT INTO counts SELECT 'all', window_start, window_end, SUM(m), SUM(s) FROM (
        SELECT big_k, window_start, window_end, COUNT(*) AS m, SUM(n) AS s
        FROM TABLE(TUMBLE(TABLE some_orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        GROUP BY big_k, window_start, window_end)
        GROUP BY window_start, window_end""")
    found = list(explained(session, "EXPLAIN ROW FROM counts"))
    assert len(found) == 5
    for result, rows in found:
        assert (result["n"], result["total"]) == (len(rows), sum(row["n"] for row in rows))


def test_a_projection_is_the_row_that_it_was(session: Session) -> None:
    session.run("INSERT INTO plain SELECT CONCAT('is ', big_k), n * 10 FROM some_orders WHERE n = 7")
    for result, rows in explained(session, "EXPLAIN ROW FROM plain"):
        # Rows that are equal in all that the result has cannot be told apart: all of them are named.
        assert rows
        assert {(row["n"], row["big"]) for row in rows} == {(7, True)}
        assert {row["k"] and f"is {row['k'].upper()}" for row in rows} == {result["k"]}


def test_both_sides_of_a_join_are_found(session: Session, tmp_path: Path) -> None:
    insert = "INSERT INTO joined SELECT o.k, f.fee FROM orders o JOIN fees f ON o.k = f.item AND o.ts = f.ts"
    # Only Spark runs it: what it wrote, and that it did, is given here.
    record = QueryRecord("q", insert, (), "default_catalog.default_database.joined", "", "", "finished")
    session.catalog.apply(ddl.record_query(record), "START QUERY q")
    (tmp_path / "joined").mkdir()
    (tmp_path / "joined" / "1.json").write_text('{"k": "a", "fee": 4}\n')
    ((_, rows),) = explained(session, "EXPLAIN ROW FROM joined WHERE k = 'a'")
    assert {row["table"] for row in rows} == {"orders", "fees"}
    assert {row["k"] for row in rows if row["table"] == "orders"} == {"a"}
    assert {(row["item"], row["fee"]) for row in rows if row["table"] == "fees"} == {("a", 4)}


def test_what_would_make_a_row_that_is_not_there(session: Session) -> None:
    session.run("INSERT INTO plain SELECT big_k, n FROM some_orders WHERE n > 7")
    asked = session.sql("EXPLAIN WHY NOT FROM plain WHERE 7 = n AND (k = 'A' AND n < 100)")
    (*_, text), *rows = asked.rows
    assert json.loads(text) == {"n": 7, "k": "A"}
    assert rows == []  # the filter leaves them out
    assert asked.notices == ("No row of `plain` is so.", "No input row is so either.")
    session.run("INSERT INTO joined SELECT k, n FROM orders WHERE n > 7")
    asked = session.sql("EXPLAIN ROW FROM joined WHERE k = 'a' AND fee > 99")
    assert asked.rows[0][0] is None
    assert json.loads(asked.rows[0][-1]) == {"k": "a"}  # what is no equality is not known of the row
    assert {json.loads(row[-1])["k"] for row in asked.rows[1:]} == {"a"}


def test_what_is_not_there_is_said(session: Session) -> None:
    session.run("INSERT INTO plain SELECT k, n FROM orders")
    result = session.sql("EXPLAIN ROW FROM plain WHERE n > 99")
    assert (result.rows, result.notices) == ([], ("No row of `plain` is so.",))
    result = session.sql("EXPLAIN ROW FROM plain")
    assert result.notices == ("The first 10 of 60 rows are explained.",)


@pytest.mark.parametrize(
    ("statement", "code", "words"),
    [
        ("EXPLAIN ROW FROM", "PARSE-002", ""),
        ("EXPLAIN WHY NOT FROM counts k", "PARSE-002", "k"),
        ("EXPLAIN ROW FROM counts WHER n = 1", "PARSE-002", "WHER"),
        ("EXPLAIN ROW FROM counts WHERE n = 1 LIMIT 1", "PARSE-002", "LIMIT"),
        ("EXPLAIN ROW FROM cnts", "NAME-002", "cnts"),
        ("EXPLAIN ROW FROM counts WHERE m = 1", "NAME-003", "m"),
        ("EXPLAIN ROW FROM v", "CAT-004", "v"),
        ("EXPLAIN ROW FROM orders", "CAT-043", "orders"),
        ("EXPLAIN ROW FROM plain", "DDL-043", "plain"),
    ],
)
def test_refusals_have_a_place(session: Session, tmp_path: Path, statement: str, code: str, words: str) -> None:
    insert = "INSERT INTO plain SELECT table_name, 4 FROM INFORMATION_SCHEMA.TABLES"
    record = QueryRecord("q", insert, (), "default_catalog.default_database.plain", "", "", "finished")
    session.catalog.apply(ddl.record_query(record), "START QUERY q")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "1.json").write_text('{"k": "a", "n": 4}\n')
    with pytest.raises(SqlExtError) as refused:
        session.sql(statement)
    assert refused.value.code == code
    assert refused.value.span is not None
    assert refused.value.span.text == words


@pytest.mark.parametrize("inner", [n for n in WINDOWS if n != "session"])
@pytest.mark.parametrize("size", ["'5' MINUTE", "'45' SECOND"])
def test_windows_over_windows(session: Session, tmp_path: Path, inner: str, size: str) -> None:
    """Also where a window of the lower ones lies in two of the upper ones: its time says in which it counts."""
    below = f"""SELECT k, window_time AS t, COUNT(*) AS m FROM TABLE({WINDOWS[inner].format("orders")})
        GROUP BY k, window_start, window_end, window_time"""
    session.run(f"""INSERT INTO counts SELECT k, window_start, window_end, COUNT(*), MAX(m)
        FROM TABLE(TUMBLE(({below}), DESCRIPTOR(t), INTERVAL {size})) GROUP BY k, window_start, window_end""")
    compared = 0
    for result, rows in explained(session, "EXPLAIN ROW FROM counts"):
        start, end = (datetime.fromisoformat(result[c]) for c in ("w", "e"))
        found = {(row["place"], row["row"]) for row in rows}
        expected = {
            (path.name, number)
            for path in sorted((tmp_path / "orders").glob("*.json"))
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if (row := json.loads(line))["k"] == result["k"]
            and any(start <= e - timedelta(milliseconds=1) < end for e in _ends(inner, row["ts"]))
        }
        assert found == expected
        compared += len(found)
    assert compared > 20


def _ends(inner: str, text: str) -> Iterator[datetime]:
    """Yield the ends of the windows that have a time."""
    at = (datetime.fromisoformat(text) - START).total_seconds()
    offset = 7 if inner == "tumble with an offset" else 0
    for end in range(int(at) - 100, int(at) + 100):
        if inner.startswith("tumble"):
            there = (end - offset) % 60 == 0 and end - 60 <= at < end
        elif inner == "hop":
            there = end % 20 == 0 and end - 60 <= at < end
        else:
            there = end % 20 == 0 and at < end <= at // 60 * 60 + 60
        if there:
            yield START + timedelta(seconds=end)


def test_sessions_with_a_maximum(session: Session) -> None:
    window = "SESSION(TABLE orders PARTITION BY k, DESCRIPTOR(ts), INTERVAL '9' SECOND, INTERVAL '15' SECOND)"
    session.run(f"""INSERT INTO counts SELECT k, window_start, window_end, COUNT(*), SUM(n)
        FROM TABLE({window}) GROUP BY k, window_start, window_end""")
    for result, rows in explained(session, "EXPLAIN ROW FROM counts"):
        assert (len(rows), sum(row["n"] for row in rows)) == (result["n"], result["total"])


@pytest.mark.parametrize(("source", "key"), [("orders", "k"), ("some_orders", "big_k")])
def test_the_rows_of_windows_that_slide(session: Session, source: str, key: str) -> None:
    session.run(f"""INSERT INTO counts SELECT {key}, window_start, window_end, COUNT(*), SUM(n)
        FROM TABLE(SLIDE(TABLE {source}, DESCRIPTOR(ts), INTERVAL '40' SECOND))
        GROUP BY {key}, window_start, window_end HAVING COUNT(*) > 1""")
    seen = list(explained(session, "EXPLAIN ROW FROM counts"))
    assert len(seen) == 10
    for result, rows in seen:
        assert (len(rows), sum(row["n"] for row in rows)) == (result["n"], result["total"])
        end = datetime.fromisoformat(result["e"])
        assert all(0 < (end - _at(row)).total_seconds() <= 40 for row in rows)


def test_windows_over_those_that_slide(session: Session) -> None:
    session.run("""CREATE VIEW slid AS SELECT k, window_time AS wt, SUM(n) AS n
        FROM TABLE(SLIDE(TABLE orders, DESCRIPTOR(ts), INTERVAL '40' SECOND))
        GROUP BY k, window_start, window_end, window_time""")
    session.run("""INSERT INTO counts SELECT k, window_start, window_end, COUNT(*), SUM(n)
        FROM TABLE(TUMBLE(TABLE slid, DESCRIPTOR(wt), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end""")
    seen = list(explained(session, "EXPLAIN ROW FROM counts"))
    assert len(seen) == 10
    for result, rows in seen:
        start = datetime.fromisoformat(result["w"])
        assert {row["k"] for row in rows} == {result["k"]}
        near = [(row["n"], (_at(row) - start).total_seconds()) for row in rows]
        assert all(-40 < seconds < 60 for _, seconds in near)
        ends = {seconds for _, seconds in near if seconds >= 0}
        sums = [sum(n for n, seconds in near if end - 40 < seconds <= end) for end in ends]
        assert (len(ends), sum(sums)) == (result["n"], result["total"])


@pytest.mark.parametrize(
    ("frame", "before", "after"),
    [
        ("RANGE BETWEEN INTERVAL '40' SECOND PRECEDING AND CURRENT ROW", 40, 0),
        ("RANGE BETWEEN INTERVAL '30' SECOND PRECEDING AND INTERVAL '20' SECOND FOLLOWING", 30, 20),
        ("RANGE UNBOUNDED PRECEDING", 10_000, 0),
    ],
)
def test_the_rows_of_a_frame_by_time(session: Session, frame: str, before: int, after: int) -> None:
    session.run(f"""INSERT INTO counts SELECT k, ts, ts + INTERVAL '0' SECOND, COUNT(*) OVER w, SUM(n) OVER w
        FROM orders WINDOW w AS (PARTITION BY k ORDER BY ts {frame})""")
    for result, rows in explained(session, "EXPLAIN ROW FROM counts"):
        assert (len(rows), sum(row["n"] for row in rows)) == (result["n"], result["total"])
        at = datetime.fromisoformat(result["w"])
        assert {row["k"] for row in rows} == {result["k"]}
        assert all(-before <= (_at(row) - at).total_seconds() <= after for row in rows)


def _at(row: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(row["ts"])


def test_frames_by_rows_name_all_that_may_be_in_them(session: Session) -> None:
    session.run("""INSERT INTO counts SELECT k, ts, ts + INTERVAL '0' SECOND, LAG(n) OVER w, LEAD(n) OVER w
        FROM orders WINDOW w AS (PARTITION BY k ORDER BY ts)""")
    asked = session.sql("EXPLAIN ROW FROM counts WHERE k = 'a'")
    assert any("More rows than those of the result" in text for text in asked.notices)
    assert {json.loads(line[-1])["k"] for line in inputs(asked.rows)} == {"a"}


def test_over_a_window_names_the_rows_of_its_partition(session: Session) -> None:
    window = WINDOWS["tumble"].format("orders")
    session.run(f"""INSERT INTO counts SELECT k, window_start, window_end, NTILE(2) OVER (w ORDER BY n), COUNT(*) OVER w
        FROM TABLE({window}) WINDOW w AS (PARTITION BY window_start, window_end, k)""")
    for result, rows in explained(session, "EXPLAIN ROW FROM counts"):
        assert len(rows) == result["total"]
        assert {row["k"] for row in rows} == {result["k"]}


def test_over_the_groups_of_a_window_names_the_rows_of_all(session: Session) -> None:
    window = WINDOWS["hop"].format("orders")
    session.run(f"""INSERT INTO counts SELECT k, window_start, window_end, NTILE(2) OVER (w ORDER BY c),
        CAST(SUM(c) OVER w AS BIGINT) FROM (SELECT k, window_start, window_end, COUNT(*) AS c FROM TABLE({window})
        GROUP BY k, window_start, window_end) WINDOW w AS (PARTITION BY window_start, window_end)""")
    for result, rows in explained(session, "EXPLAIN ROW FROM counts"):
        assert len(rows) == result["total"]


def test_a_match_names_the_rows_of_its_partition(session: Session) -> None:
    session.run("""INSERT INTO counts SELECT k, s, e, low, high FROM orders MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
        MEASURES FIRST(A.ts) AS s, LAST(B.ts) AS e, FIRST(A.n) AS low, LAST(B.n) AS high
        AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE B AS B.n > A.n) AS m""")
    asked = session.sql("EXPLAIN ROW FROM counts WHERE k = 'b'")
    assert any("More rows than those of the result" in text for text in asked.notices)
    assert {json.loads(line[-1])["k"] for line in inputs(asked.rows)} == {"b"}


def test_in_another_zone_a_timestamp_is_its_wall_clock(session: Session) -> None:
    session.run(f"""INSERT INTO counts SELECT k, window_start, window_end, COUNT(*), SUM(n)
        FROM TABLE({WINDOWS["tumble"].format("orders")}) GROUP BY k, window_start, window_end;
        SET 'table.local-time-zone' = 'Europe/Berlin';""")
    found = list(explained(session, "EXPLAIN ROW FROM counts"))
    assert [result["n"] for result, _ in found] == [len(rows) for _, rows in found]
    found_late = session.sql("ANALYZE WATERMARK FOR orders BY k")
    assert found_late.rows[0][3] == 60


def test_a_name_that_only_spark_could_know_starts_none(session: Session) -> None:
    with pytest.raises(SqlExtError, match="COUNTS") as refused:
        session.sql("EXPLAIN ROW FROM COUNTS")
    assert refused.value.code == "NAME-002"


def test_a_result_that_is_not_there_yet(session: Session) -> None:
    insert = "INSERT INTO plain SELECT k, n FROM orders"
    record = QueryRecord("q", insert, (), "default_catalog.default_database.plain", "", "", "running")
    session.catalog.apply(ddl.record_query(record), "START QUERY q")
    asked = session.sql("EXPLAIN WHY NOT FROM plain WHERE k = 'a'")
    assert asked.notices[0] == "No row of `plain` is so."
    assert {json.loads(row[-1])["k"] for row in asked.rows} == {"a"}


def test_inserts_of_one_statement_are_told_apart(session: Session) -> None:
    session.run("""EXECUTE STATEMENT SET BEGIN
        INSERT INTO plain SELECT k, n FROM orders WHERE n = 8;
        INSERT INTO plain SELECT item, fee FROM fees WHERE fee = 8;
        END""")
    lines = session.sql("EXPLAIN ROW FROM plain").rows
    assert {(query, table) for _, query, table, *_ in lines if query} == {
        ("sql.plain", "orders"),
        ("sql.plain.2", "fees"),
    }


def test_a_constant_names_its_branch(session: Session) -> None:
    branch = "SELECT '{0}', window_start, window_end, COUNT(*), {1} FROM TABLE({2}) GROUP BY window_start, window_end"
    window = WINDOWS["tumble"]
    one, other = branch.format("o", "1", window.format("orders")), branch.format("f", "2", window.format("fees"))
    session.run(f"INSERT INTO counts {one} UNION ALL {other}")
    for result, rows in explained(session, "EXPLAIN ROW FROM counts WHERE k = 'f'"):
        assert {row["table"] for row in rows} == {"fees"}
        assert len(rows) == result["n"]


def test_what_is_not_exact_is_said(session: Session) -> None:
    session.run(f"""INSERT INTO counts SELECT UPPER(k), window_start, window_end, COUNT(*), 0
        FROM TABLE({WINDOWS["tumble"].format("orders")}) GROUP BY k, window_start, window_end""")
    asked = session.sql("EXPLAIN ROW FROM counts WHERE k = 'A'")
    assert any("More rows than those of the result" in text for text in asked.notices)
    # The row of another writer: no input row of this one is so.
    session.run("INSERT INTO plain SELECT k, n FROM orders WHERE n = 8")
    insert = "INSERT INTO plain SELECT k, n FROM orders WHERE n = 7"
    other = QueryRecord("sql.plain", insert, (), "default_catalog.default_database.plain", "", "", "finished")
    session.catalog.apply(ddl.record_query(other), "START QUERY sql.plain")
    assert any("No input row of result 1 is found" in text for text in session.sql("EXPLAIN ROW FROM plain").notices)


@pytest.mark.parametrize(
    ("insert", "reason"),
    [
        ("INSERT INTO plain SELECT k, n FROM orders WHERE k = '******'", "secrets, which are not kept"),
        ("INSERT INTO plain SELECT k, n FROM gone", "it cannot be read any more: NAME-002"),
        ("INSERT INTO plain SELECT table_name, 4 FROM INFORMATION_SCHEMA.TABLES", "through which rows are not traced"),
    ],
)
def test_queries_that_cannot_be_explained(session: Session, tmp_path: Path, insert: str, reason: str) -> None:
    record = QueryRecord("q", insert, (), "default_catalog.default_database.plain", "", "", "finished")
    session.catalog.apply(ddl.record_query(record), "START QUERY q")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "1.json").write_text('{"k": "a", "n": 4}\n')
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    with pytest.raises(SqlExtError) as refused:
        session.sql("EXPLAIN ROW FROM plain")
    assert refused.value.code == "DDL-043"
    assert reason in refused.value.message


def test_the_keys_of_grouping_sets(session: Session) -> None:
    window = WINDOWS["tumble"].format("some_orders")
    session.run(f"""INSERT INTO counts SELECT big_k, window_start, window_end, COUNT(*), SUM(n) FROM TABLE({window})
        GROUP BY window_start, window_end, GROUPING SETS ((big_k), ())""")
    found = list(explained(session, "EXPLAIN ROW FROM counts WHERE k = 'A'"))
    assert found
    for result, rows in found:
        assert (result["n"], result["total"]) == (len(rows), sum(row["n"] for row in rows))
    # NULL is a key too: such a row may be of either set, so the rows of both are named.
    asked = session.sql("EXPLAIN ROW FROM counts WHERE k IS NULL")
    assert any("More rows than those of the result" in text for text in asked.notices)
    for result, rows in explained(session, "EXPLAIN ROW FROM counts WHERE k IS NULL"):
        assert len(rows) >= result["n"]


@pytest.mark.parametrize("kind", ["ROLLUP", "CUBE"])
def test_a_row_is_of_the_sets_whose_other_keys_are_null(session: Session, tmp_path: Path, kind: str) -> None:
    insert = f"INSERT INTO joined SELECT k, n FROM orders WHERE k IS NOT NULL GROUP BY {kind} (k, n)"
    _written(session, tmp_path, "joined", insert, ['{"k": "a", "fee": 7}', '{"k": "a", "fee": null}', '{"fee": 7}'])
    both, by_k, by_n = (rows for _, rows in explained(session, "EXPLAIN ROW FROM joined"))
    assert {(row["k"], row["n"]) for row in both} == {("a", 7)}
    assert {row["k"] for row in by_k} == {"a"}
    assert len({row["n"] for row in by_k}) > 1
    # Of ROLLUP no set has the second key alone: no row of the input makes such a row.
    assert {row["n"] for row in by_n} == (set() if kind == "ROLLUP" else {7})


STATIC = "fees /*+ OPTIONS('scan.mode' = 'snapshot') */ f"


def _written(session: Session, folder: Path, table: str, insert: str, rows: list[str]) -> None:
    """Let a table have rows, which a query has written that only Spark runs."""
    session.run("SET 'sqlext.sink.updates' = 'final-state'")
    record = QueryRecord("q", insert, (), f"default_catalog.default_database.{table}", "", "", "finished")
    session.catalog.apply(ddl.record_query(record), "START QUERY q")
    (folder / table).mkdir()
    (folder / table / "1.json").write_text("".join(f"{row}\n" for row in rows))


@pytest.mark.parametrize("on", ["ON o.k = f.item", "ON f.item = o.k AND f.fee > 0"])
@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
def test_both_sides_of_a_join_with_a_static_table(session: Session, tmp_path: Path, join: str, on: str) -> None:
    insert = f"INSERT INTO joined SELECT o.k, f.fee FROM orders o {join} {STATIC} {on}"
    _written(session, tmp_path, "joined", insert, ['{"k": "a", "fee": 4}'])
    ((_, rows),) = explained(session, "EXPLAIN ROW FROM joined")
    assert {row["k"] for row in rows if row["table"] == "orders"} == {"a"}
    assert {(row["item"], row["fee"]) for row in rows if row["table"] == "fees"} == {("a", 4)}


def test_a_row_that_met_nothing_names_what_it_might_have_met(session: Session, tmp_path: Path) -> None:
    insert = f"INSERT INTO joined SELECT o.k, f.fee FROM orders o LEFT JOIN {STATIC} ON o.k = f.item AND f.fee > 99"
    _written(session, tmp_path, "joined", insert, ['{"k": "a", "fee": null}'])
    ((_, rows),) = explained(session, "EXPLAIN ROW FROM joined")
    assert {row["k"] for row in rows if row["table"] == "orders"} == {"a"}
    assert {row["item"] for row in rows if row["table"] == "fees"} == {"a"}


def test_a_grouping_over_a_join_with_a_static_table(session: Session, tmp_path: Path) -> None:
    insert = f"INSERT INTO plain SELECT f.item, COUNT(*) FROM orders o JOIN {STATIC} ON o.k = f.item GROUP BY f.item"
    _written(session, tmp_path, "plain", insert, ['{"k": "b", "n": 40}'])
    ((_, rows),) = explained(session, "EXPLAIN ROW FROM plain")
    assert {(row["table"], row.get("k"), row.get("item")) for row in rows} == {
        ("orders", "b", None),
        ("fees", None, "b"),
    }


def test_a_join_of_three_with_a_column_of_one_name(session: Session, tmp_path: Path) -> None:
    insert = f"""INSERT INTO joined SELECT g.item, f.fee FROM orders o JOIN {STATIC} ON o.k = f.item
        JOIN fees /*+ OPTIONS('scan.mode' = 'snapshot') */ g ON o.k = g.item"""
    _written(session, tmp_path, "joined", insert, ['{"k": "b", "fee": 3}'])
    ((_, rows),) = explained(session, "EXPLAIN ROW FROM joined")
    assert {row["k"] for row in rows if row["table"] == "orders"} == {"b"}
    assert {row["item"] for row in rows if row["table"] == "fees"} == {"b"}


def test_a_number_names_the_rows_of_its_partition(session: Session, tmp_path: Path) -> None:
    ranked = "SELECT k, n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS nr FROM orders"
    insert = f"INSERT INTO plain SELECT k, nr FROM ({ranked}) WHERE nr <= 3"
    _written(session, tmp_path, "plain", insert, ['{"k": "b", "n": 2}'])
    ((_, rows),) = explained(session, "EXPLAIN ROW FROM plain")
    assert {row["k"] for row in rows} == {"b"}
    assert len(rows) == sum('"k": "b"' in line for path in (tmp_path / "orders").iterdir() for line in path.open())


def test_windows_over_a_join_of_streams(session: Session) -> None:
    below = "SELECT o.k, o.n, o.ts FROM orders o JOIN fees f ON o.k = f.item AND o.ts = f.ts"
    session.run(f"""INSERT INTO counts SELECT k, window_start, window_end, COUNT(*), SUM(n) FROM
        TABLE(TUMBLE(({below}), DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end""")
    found = list(explained(session, "EXPLAIN ROW FROM counts"))
    assert found
    for result, rows in found:
        start, end = (datetime.fromisoformat(result[c]) for c in ("w", "e"))
        orders = [row for row in rows if row["table"] == "orders"]
        assert {row["k"] for row in orders} == {result["k"]}
        assert all(start <= _at(row) < end for row in orders)
        fees = {(row["item"], row["ts"]) for row in rows if row["table"] == "fees"}
        assert sum((row["k"], row["ts"]) in fees for row in orders) <= result["n"]


def test_windows_over_over_name_the_rows_of_the_partition(session: Session) -> None:
    below = "SELECT k, ts, SUM(n) OVER (PARTITION BY k ORDER BY ts) AS s FROM orders"
    session.run(f"""INSERT INTO counts SELECT k, window_start, window_end, COUNT(*), CAST(MAX(s) AS BIGINT) FROM
        TABLE(TUMBLE(({below}), DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end""")
    for result, rows in explained(session, "EXPLAIN ROW FROM counts"):
        assert {row["k"] for row in rows} == {result["k"]}
        assert len(rows) >= result["n"]


def test_an_insert_in_batch_mode_is_left_to_spark(session: Session) -> None:
    with pytest.raises(SqlExtError, match="reads its tables once") as refused:
        session.run("SET 'execution.runtime-mode' = 'batch'; INSERT INTO plain SELECT k, n FROM orders")
    assert refused.value.code == "OPT-036"

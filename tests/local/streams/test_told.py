"""What is told of a query without an end in this process, and what is refused."""

from __future__ import annotations

import pytest

from sqlext.errors import SqlExtError
from tests.local.streams.stream_desk import COUNTS, Desk

_INSERT = COUNTS[COUNTS.index("INSERT") :]


@pytest.mark.parametrize("emit", ["", " EMIT AFTER WATERMARK EARLY EVERY 1s"])
@pytest.mark.parametrize(
    ("engine", "told"),
    [
        ("local", "this process, micro-batch by micro-batch"),
        ("auto", "its input has no end; SET 'sqlext.engine' = 'local' takes this process, micro-batch by micro-batch"),
    ],
)
def test_explain_says_who_runs_it(desk: Desk, engine: str, told: str, emit: str) -> None:
    query = COUNTS.replace("INSERT", "EXPLAIN INSERT").replace("window_end;", f"window_end{emit};")
    script = desk.script(query, engine=engine)
    ((text,),) = desk.session().run(script)[-1].rows
    assert f"Engine:\n  {'' if engine == 'local' else 'Spark: '}{told}" in text


def test_watermarks_and_why(desk: Desk) -> None:
    session = desk.session()
    query = session.run(desk.script(COUNTS), trigger_interval=1)[-1].query
    assert query is not None
    desk.put("events", "a.json", [("a", 1, 1), ("a", 2, 5)])
    query.process_available()
    (row,) = session.run("SHOW WATERMARKS")[-1].rows
    assert row[:2] == ("sql.counts", "events")
    ((why,),) = session.run("EXPLAIN WHY `sql.counts`")[-1].rows
    assert "2024-01-01 00:00:10" in why
    (shown,) = session.run("SHOW QUERIES")[-1].rows
    assert "running" in shown
    # Another session reads what this one notes.
    (row,) = desk.session().run("SHOW WATERMARKS")[-1].rows
    assert row[:2] == ("sql.counts", "events")
    query.stop()


def test_explain_row_knows_its_micro_batches(desk: Desk) -> None:
    session = desk.session()
    query = session.run(desk.script(COUNTS), trigger_interval=1)[-1].query
    assert query is not None
    for number, rows in enumerate(([("a", 1, 1)], [("a", 2, 5), ("b", 1, 3)], [("a", 9, 12)], [("a", 7, 2)])):
        desk.put("events", f"{number}.json", rows)
        query.process_available()
    query.stop()
    found = session.run("EXPLAIN ROW FROM counts WHERE k = 'a'")[-1]
    inputs = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    files = {line["place"]: line for line in inputs if line["place"] is not None}
    assert {name.rsplit("/", 1)[-1] for name in files} >= {"0.json", "1.json"}
    batches = {name.rsplit("/", 1)[-1]: line["batch"] for name, line in files.items()}
    assert (batches["0.json"], batches["1.json"]) == (0, 1)


_CSV = "CREATE TABLE f (k STRING) WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'csv');\n"
_LETTERS = """
CREATE TABLE letters (source STRING, code STRING, reason STRING)
WITH ('connector' = 'delta', 'path' = '{out}-letters');
SET 'sqlext.dead-letters.table' = 'letters';
"""
_PRINT = "CREATE TABLE shown (k STRING) WITH ('connector' = 'print');\nINSERT INTO shown "


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT PROCTIME() FROM events", "CURRENT_TIMESTAMP()"),
        (f"{_PRINT} SELECT CAST(PROCTIME() AS STRING) FROM events", "CURRENT_TIMESTAMP()"),
        (f"{_LETTERS}{_PRINT} SELECT k FROM events", "rows that are kept beside the query's own"),
        (f"{_CSV}INSERT INTO f SELECT k FROM events", "csv"),
    ],
)
def test_what_it_cannot_is_refused_before_anything_runs(desk: Desk, query: str, why: str) -> None:
    desk.put("events", "a.json", [("a", 1, 1)])
    with pytest.raises(SqlExtError) as refused:
        desk.session().run(desk.script(query + ";"))
    assert refused.value.code in ("OPT-036", "CAT-002"), refused.value
    assert why in refused.value.message
    assert not (desk.root / "catalog" / "queries").exists()


def test_who_is_ahead_waits(desk: Desk) -> None:
    """Watermark alignment: the faster table stays within its drift of the slower one."""
    both = """
    CREATE TABLE pairs (a BIGINT, b BIGINT) WITH ('connector' = 'delta', 'path' = '{out}');
    INSERT INTO pairs SELECT events.v, others.v FROM events JOIN others
    ON events.k = others.k AND others.ts BETWEEN events.ts - INTERVAL '2' SECOND AND events.ts + INTERVAL '2' SECOND;
    """
    more = (
        ", 'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '10 s',"
        " 'scan.watermark.alignment.update-interval' = '1 s'"
    )
    query = desk.start(desk.script(both, tables=("events", "others"), more=more))
    desk.put("events", "0.json", [("fast", 1, 1)])
    desk.put("others", "0.json", [("slow", 1, 1)])
    query.process_available()
    desk.put("events", "1.json", [("fast", 1, 50)])
    query.process_available()
    desk.put("events", "2.json", [("fast", 1, 90)])
    query.process_available()
    read = query.progress["rows_in"]
    desk.put("others", "1.json", [("slow", 1, 95)])
    query.process_available()
    query.stop()
    assert (read, query.progress["rows_in"]) == (3, 5)

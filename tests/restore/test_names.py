"""Which query is this: names, records in the catalog, DROP QUERY."""

from __future__ import annotations

from datetime import datetime

import pytest

from sqlext import SqlExtError
from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

TWICE = f"EXECUTE STATEMENT SET BEGIN {WINDOWED.strip()} {WINDOWED.strip()} END;"
SINGLE = "CREATE TABLE b (k STRING) WITH ('connector' = 'blackhole');"


def test_names_and_records(workspace: Workspace) -> None:
    workspace.put("a.csv", "a,1,1", "a,2,12")
    script = workspace.folder / "daily job.sql"
    script.write_text("\n".join((EVENTS, COUNTS, SINGLE, WINDOWED, WINDOWED, "INSERT INTO b SELECT k FROM events;")))
    workspace.session().run(script, variables=workspace.variables)
    records = workspace.queries()
    assert set(records) == {"daily job.counts", "daily job.counts.2", "daily job.b"}
    record = records["daily job.counts"]
    assert record["reads"] == ["default_catalog.default_database.events"]
    assert record["writes"] == "default_catalog.default_database.counts"
    assert (record["status"], record["watermark"] > datetime(2024, 1, 1, tzinfo=record["watermark"].tzinfo)) == (
        "finished",
        True,
    )
    assert record["checkpoint"].startswith(str(workspace.folder / "catalog" / "queries"))
    assert record["statement"].startswith("INSERT INTO counts")
    assert record["started"] is not None
    assert len(workspace.delta()) == 4


def test_two_inserts_into_one_sink(workspace: Workspace) -> None:
    workspace.put("a.csv", "a,1,1", "a,2,12")
    query = workspace.run("SET 'pipeline.name' = 'p';", EVENTS, COUNTS, TWICE)[-1].query
    assert query.name == "p"
    assert query.parts == ("p.counts", "p.counts.2")
    assert len(workspace.delta()) == 4
    assert set(query.progress["parts"]) == set(query.parts)
    assert query.progress["rows_out"] == 4
    assert {q["status"] for q in workspace.queries().values()} == {"finished"}


def test_two_upserts_into_one_table(workspace: Workspace) -> None:
    """They write in turns: Delta would refuse one of two MERGEs at a time."""
    for i in range(3):
        workspace.put(f"{i}.csv", f"a,{i},{i}", f"b,{i},{i}")
    events = EVENTS.replace("'filesystem'", "'spark'").replace("'csv')", "'csv', 'maxFilesPerTrigger' = '1')")
    script = """CREATE TABLE t (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'delta', 'path' = '${OUT}/t');
    EXECUTE STATEMENT SET BEGIN
      INSERT INTO t SELECT k, COUNT(*) FROM events GROUP BY k;
      INSERT INTO t SELECT CONCAT(k, '!'), COUNT(*) FROM events GROUP BY CONCAT(k, '!');
    END;"""
    workspace.run(events, script)
    assert workspace.delta("t") == [("a!", "3"), ("a", "3"), ("b!", "3"), ("b", "3")]


def test_drop_query(workspace: Workspace) -> None:
    workspace.put("a.csv", "a,1,1", "a,2,12")
    workspace.run("SET 'pipeline.name' = 'p';", EVENTS, COUNTS, TWICE)
    session = workspace.session()
    folders = session.folder / "queries"
    assert len(list(folders.iterdir())) == 2
    session.sql("DROP QUERY p")
    assert workspace.queries() == {}
    assert list(folders.iterdir()) == []
    with pytest.raises(SqlExtError) as unknown:
        session.sql("DROP QUERY p")
    assert unknown.value.code == "CAT-002"
    session.sql("DROP QUERY IF EXISTS p")


def test_a_running_query_is_not_dropped(workspace: Workspace) -> None:
    script = "CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'rate');"
    sink = "CREATE TABLE n (n BIGINT) WITH ('connector' = 'blackhole');"
    query = workspace.run(script, sink, "INSERT INTO n SELECT n FROM ticks;")[-1].query
    with pytest.raises(SqlExtError) as refused:
        workspace.session().sql("DROP QUERY `sql.n`")
    assert refused.value.code == "RUN-022"
    assert workspace.queries()["sql.n"]["status"] == "running"
    query.stop()
    workspace.session().sql("DROP QUERY `sql.n`")
    assert workspace.queries() == {}


def test_what_is_refused_leaves_no_record(workspace: Workspace) -> None:
    """Nothing has begun, so a corrected query is not a changed one."""
    workspace.put("a.csv", "a,1,1")
    workspace.run(EVENTS, COUNTS, "INSERT INTO counts VALUES ('x', TIMESTAMP '2024-01-01 00:00:00', 1, 1);")
    other = COUNTS.replace("n BIGINT", "n INT")
    with pytest.raises(SqlExtError) as refused:
        workspace.run(
            EVENTS, other, "INSERT INTO counts SELECT k, ts, v, v FROM events;", session=workspace.session("c2")
        )
    assert refused.value.code == "SINK-091"
    workspace.run(EVENTS, COUNTS, WINDOWED, session=workspace.session("c2b"))
    found = workspace.session("c2").sql("SELECT * FROM information_schema.queries").rows
    assert found == []

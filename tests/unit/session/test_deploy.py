"""What cannot be deployed is refused by name before anything starts; what is not changed is left alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sqlext
from sqlext import SqlExtError
from sqlext.cli.main import main
from sqlext.databricks import PlatformRules
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.comparison import RowComparison, RowDifference
from sqlext.jobs.query_files import query_folder
from sqlext.jobs.runs import QueryRun
from sqlext.jobs.versions import Versions, change_versions, sole_deployment
from sqlext.session.deploying.candidates import candidates_of, require_deployable
from sqlext.session.deploying.columns import ColumnComparison
from sqlext.session.deploying.downstream import Downstream
from sqlext.session.deploying.report import BEGINS_ANEW, DIFFERS, HELD_BACK, DeployedQuery, Deployment
from sqlext.session.drafts import RunOptions
from sqlext.session.offline.compilation import new_state
from sqlext.source import SourceText
from sqlext_catalog.ddl.queries import record_query
from sqlext_catalog.model import QueryRecord

TABLES = """
SET 'pipeline.name' = 'q';
CREATE TABLE orders (k STRING, n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE TABLE bounded (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'csv');
CREATE TABLE said (k STRING, n BIGINT) WITH ('connector' = 'socket', 'hostname' = 'localhost', 'port' = '1',
'format' = 'csv');
CREATE TABLE printed (k STRING, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE sums (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = 'sums');
CREATE TABLE keyed (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'path' = 'keyed');
CREATE TABLE late (k STRING, n BIGINT, ts TIMESTAMP(3)) WITH ('connector' = 'delta', 'path' = 'late');
"""
SUMS = "INSERT INTO sums SELECT k, n FROM orders WHERE n > {};"
WINDOW = "TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end"

#: The query, and what is said of it.
REFUSED = {
    "print": ("INSERT INTO printed SELECT k, n FROM orders;", "the rows of `printed` (connector 'print') cannot be"),
    "an end": ("INSERT INTO sums SELECT k, n FROM bounded;", "it comes to its end"),
    "once": ("INSERT INTO sums SELECT k, n FROM said;", "the rows of `said` come once"),
    "late rows": (
        f"INSERT INTO sums SELECT k, COUNT(*) FROM {WINDOW} EMIT AFTER WATERMARK LATE DATA TO late;",
        "rows beside its own go to `late`",
    ),
    "the clock": (
        f"INSERT INTO keyed SELECT k, COUNT(*) FROM {WINDOW} EMIT EVERY INTERVAL '1' SECOND;",
        "its rows depend on when it runs",
    ),
    "other sources": (
        "INSERT INTO sums SELECT o.k, o.n FROM orders AS o, orders AS p WHERE o.k = p.k;",
        "same sources",
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    return tmp_path


def statements(query: str) -> Iterator[ast.Statement]:
    return parse_script(SourceText.of(TABLES + query))


def session(folder: Path) -> sqlext.Session:
    return sqlext.Session(catalog=folder / "catalog")


def begun(folder: Path, query: str, changed: str = "state layout", *, read: bool = True) -> None:
    """Begin an older version of a query: one part of it was another."""
    options = RunOptions(rules=PlatformRules(endless=False))
    (candidate,) = candidates_of(statements(query), new_state(None), options)
    with QueryHome(folder / "catalog", "q") as home:
        home.begin(QueryRun("old", {**candidate.draft.prints, changed: ("another", "1")}))
        if read:
            home.location.put("checkpoint/commits/0", "v1\n{}")


def refusal(folder: Path, script: str, tables: str = TABLES) -> SqlExtError:
    with pytest.raises(SqlExtError) as refused:
        session(folder).deploy(tables + script)
    return refused.value


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_deployed(what: str, folder: Path) -> None:
    script, why = REFUSED[what]
    begun(folder, script, "source option 'path'" if what == "other sources" else "state layout")
    error = refusal(folder, script)
    assert (error.code, why in error.message, error.hint is not None) == ("RUN-084", True, True), error.message
    assert error.span is not None
    assert error.span.text.startswith("INSERT")
    assert not (folder / "sums").exists()


def test_who_has_read_nothing(folder: Path) -> None:
    begun(folder, SUMS.format(1), read=False)
    assert "has read nothing" in refusal(folder, SUMS.format(1)).message


@pytest.mark.parametrize(
    ("statement", "why"),
    [("ALTER TABLE sums ADD (more BIGINT);", "does not alter"), ("DROP QUERY IF EXISTS q;", "does not drop query `q`")],
)
def test_statements_that_change_what_is_there(statement: str, why: str, folder: Path) -> None:
    error = refusal(folder, statement + SUMS.format(1))
    assert (error.code, why in error.message) == ("RUN-084", True)


def test_another_query_writes_the_table(folder: Path) -> None:
    begun(folder, SUMS.format(1))
    record(folder, writes="default_catalog.default_database.sums")
    error = refusal(folder, SUMS.format(1))
    assert "query `other` writes rows into the same table" in error.message
    assert error.hint is not None
    assert "DROP QUERY `other`" in error.hint


def test_a_stream_would_meet_rows_that_are_brought_back(folder: Path) -> None:
    begun(folder, SUMS.format(1))
    change_versions(query_folder(folder / "catalog", "q", None), "q", Versions(), Versions("a1", before="", restored=3))
    record(folder, "default_catalog.default_database.sums")
    with pytest.raises(SqlExtError) as refused:
        session(folder).roll_back(TABLES + SUMS.format(1))
    assert (refused.value.code, "reads the table as a stream" in refused.value.message) == ("RUN-084", True)


def test_a_scheduled_stream_would_meet_them_too(folder: Path) -> None:
    """Its record says that it has ended, as that of one that begins anew: its run says that it goes on."""
    begun(folder, SUMS.format(1))
    change_versions(query_folder(folder / "catalog", "q", None), "q", Versions(), Versions("a1", before="", restored=3))
    record(folder, "default_catalog.default_database.sums", status="finished")
    with QueryHome(folder / "catalog", "other") as home:
        home.begin(QueryRun("r", {}))
    with pytest.raises(SqlExtError) as refused:
        session(folder).roll_back(TABLES + SUMS.format(1))
    assert (refused.value.code, "reads the table as a stream" in refused.value.message) == ("RUN-084", True)


@pytest.mark.parametrize(
    ("run", "status", "goes_on"),
    [
        (QueryRun("r", {}), "finished", True),
        (QueryRun("r", {}, finished=True), "finished", False),
        (None, "finished", False),
        (None, "stopped", True),
    ],
)
def test_who_goes_on(run: QueryRun | None, status: str, goes_on: bool, folder: Path) -> None:
    options, state = RunOptions(rules=PlatformRules(endless=False)), new_state(None)
    (candidate,) = candidates_of(statements(SUMS.format(1)), state, options)
    other = QueryRecord("other", "", (candidate.table,), None, "x/queries/other/checkpoint", "", status)
    found = Downstream((), state, state, options, [other], lambda _: run).readers(candidate, [])
    assert [reader.name for reader in found] == (["other"] if goes_on else [])


def record(folder: Path, *reads: str, writes: str | None = None, status: str = "stopped") -> None:
    other = QueryRecord("other", "", reads, writes, "x/queries/other/checkpoint", "", status)
    session(folder).catalog.apply(record_query(other), "START QUERY other")


def test_a_query_without_a_version_before(folder: Path) -> None:
    found = session(folder).deploy(TABLES + SUMS.format(1))
    assert str(found).splitlines()[0] == "query q  not deployed: it has no version before"
    assert not found.refused
    with pytest.raises(SqlExtError) as refused:
        session(folder).roll_back(TABLES + SUMS.format(1))
    assert (refused.value.code, refused.value.hint) == ("RUN-085", None)


def test_a_query_that_came_to_its_end(folder: Path) -> None:
    query = REFUSED["an end"][0]
    begun(folder, query)
    with QueryHome(folder / "catalog", "q") as home:
        run = home.run()
        assert run is not None
        home.finish(run)
    (found,) = session(folder).deploy(TABLES + query).queries
    assert found.outcome == BEGINS_ANEW


def test_a_rollback_that_was_broken_off(folder: Path) -> None:
    begun(folder, SUMS.format(1))
    place = query_folder(folder / "catalog", "q", None)
    change_versions(place, "q", Versions(), Versions("", before="a1", restored=3).restoring())
    error = refusal(folder, SUMS.format(1))
    assert (error.code, error.hint) == ("RUN-084", "sqlext deploy --rollback ends it")


def test_a_second_deployer_is_refused(folder: Path) -> None:
    begun(folder, SUMS.format(1))
    with sole_deployment(query_folder(folder / "catalog", "q", None), "q"):
        for again in (session(folder).deploy, session(folder).roll_back):
            with pytest.raises(SqlExtError) as refused:
                again(TABLES + SUMS.format(1))
            assert refused.value.code == "RUN-087"
            assert "query `q` is being deployed already" in refused.value.message
            assert f"process {os.getpid()}" in refused.value.message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("allow_differences", "few"),
        ("allow_differences", -1),
        ("allow_differences", True),
        ("allow_differences", 0.5),
        ("allow_differences", None),
        ("allow_differences", "101%"),
        ("allow_columns", "total"),
        ("allow_columns", [1]),
        ("allow_columns", None),
        ("show", -1),
        ("show", "ten"),
        ("show", True),
        ("stop", "yes"),
        ("keep_rows", 1),
    ],
)
def test_arguments_that_say_nothing(name: str, value: object, folder: Path) -> None:
    begun(folder, SUMS.format(1))
    with pytest.raises(SqlExtError) as refused:
        session(folder).deploy(TABLES + SUMS.format(1), **{name: value})  # type: ignore[arg-type]
    assert (refused.value.code, f"`{name}` cannot be" in refused.value.message) == ("OPT-040", True)
    assert refused.value.hint is not None


def test_a_column_that_no_query_writes(folder: Path) -> None:
    begun(folder, SUMS.format(1))
    with pytest.raises(SqlExtError) as refused:
        session(folder).deploy(TABLES + SUMS.format(1), allow_columns=["m"])
    assert (refused.value.code, refused.value.hint) == ("OPT-040", "its tables have k, n")


@pytest.mark.parametrize("more", [{"allow_differences": 1}, {"allow_columns": ["n"]}])
def test_rows_that_are_kept_are_not_compared(more: dict[str, Any], folder: Path) -> None:
    begun(folder, SUMS.format(1))
    with pytest.raises(SqlExtError) as refused:
        session(folder).deploy(TABLES + SUMS.format(1), keep_rows=True, **more)
    assert (refused.value.code, "of no use with `keep_rows`" in refused.value.message) == ("OPT-040", True)


def test_a_changelog_cannot_keep_its_rows(folder: Path) -> None:
    table = """CREATE TABLE changes (k STRING, n BIGINT) WITH ('connector' = 'kafka', 'topic' = 't',
    'properties.bootstrap.servers' = 'localhost:1', 'value.format' = 'debezium-json');"""
    query = "INSERT INTO changes SELECT k, COUNT(*) FROM orders GROUP BY k;"
    options = RunOptions(rules=PlatformRules(endless=False))
    (candidate,) = candidates_of(statements(table + query), new_state(None), options, keeps_rows=True)
    with pytest.raises(SqlExtError) as refused:
        require_deployable(candidate, (), ())
    assert (refused.value.code, "it writes a changelog" in refused.value.message) == ("RUN-084", True)


def test_rows_that_are_kept_may_be_those_of_any_sink(folder: Path) -> None:
    """Also beside late rows in a table, and where another query writes the same one."""
    queries = {what: REFUSED[what][0] for what in ("print", "late rows")}
    options = RunOptions(rules=PlatformRules(endless=False))
    for query in queries.values():
        (found,) = candidates_of(statements(query), new_state(None), options, keeps_rows=True)
        other = QueryRecord("other", "", (), found.table, "x/queries/other/checkpoint", "", "stopped")
        require_deployable(found, (), (other,))


#: What WITH says, and what is said of it.
WRONG = {
    "'allow-difference' = '1'": "DEPLOY has no option 'allow-difference'",
    "'show' = 'ten'": "`show` cannot be 'ten'",
    "'stop' = 'yes'": "'stop' cannot be 'yes'",
    "'stop' = 'true', 'stop' = 'true'": "'stop' stands twice",
    "'allow-differences' = 'few'": "`allow_differences` cannot be 'few'",
    "'allow-differences' = '1', 'keep-rows' = 'true'": "of no use with `keep_rows`",
    "'rollback' = 'true', 'stop' = 'true'": "a rollback takes no other option",
}


@pytest.mark.parametrize("options", WRONG)
def test_options_of_the_statement(options: str, folder: Path) -> None:
    (error,) = session(folder).check(f"{TABLES} DEPLOY WITH ({options}) {SUMS.format(1)}")
    assert (error.code, WRONG[options] in error.message, error.hint is not None) == ("OPT-040", True, True)
    assert error.span is not None
    assert error.span.text.startswith("'")


def test_the_statement_is_checked_whole(folder: Path) -> None:
    """Its query too; and a materialized view may be another one than in the catalog."""
    (error,) = session(folder).check(TABLES + "DEPLOY INSERT INTO sums SELECT k, m FROM orders;")
    assert (error.code, error.span is not None and error.span.text) == ("NAME-003", "m")
    view = "CREATE MATERIALIZED VIEW seen AS SELECT {} FROM orders;"
    assert session(folder).check(f"{TABLES} {view.format('k')} DEPLOY {view.format('n')}") == []


def test_the_statement_in_a_plan(folder: Path) -> None:
    text = f"DEPLOY {SUMS.format(1)}"
    plan = session(folder).plan(TABLES + text)
    assert plan.queries == ()
    assert f"compares the rows of two versions first: {text.rstrip(';')}" in str(plan)


@pytest.mark.parametrize(
    "text", ["DEPLOY", "DEPLOY SELECT 1", "DEPLOY CREATE TABLE t (a INT)", "DEPLOY WITH ('a' = 'b')"]
)
def test_what_is_no_query(text: str, folder: Path) -> None:
    (error,) = session(folder).check(text)
    assert (error.code, "INSERT, a statement set or CREATE MATERIALIZED VIEW" in error.message) == ("PARSE-002", True)


def test_a_table_elsewhere(folder: Path) -> None:
    begun(folder, SUMS.format(1))
    session(folder).run(TABLES)
    moved = TABLES.replace("CREATE TABLE sums", "CREATE OR REPLACE TABLE sums").replace("'sums')", "'others')")
    error = refusal(folder, SUMS.format(1), moved)
    assert (error.code, "would lie elsewhere" in error.message) == ("RUN-084", True)


def test_a_rollback_of_nothing(folder: Path) -> None:
    with pytest.raises(SqlExtError) as refused:
        session(folder).roll_back(TABLES)
    assert (refused.value.code, refused.value.message) == ("RUN-085", "the script has no query to roll back")


def test_the_report() -> None:
    rows = RowComparison(
        4, 4, changed=1, columns={"n": 1}, shown=(RowDifference("changed", {"k": "a"}, {"n": ("1", "2")}),)
    )
    columns = ColumnComparison(
        ("k", "n", "w"), ("more",), ("less",), (("t", "int", "string"), ("w", "int", "bigint")), lost=("k",)
    )
    found = Deployment(
        (
            DeployedQuery("a", "t", DIFFERS, ("WHERE was x, is y",), rows, columns),
            DeployedQuery("b", "u", HELD_BACK, (), RowComparison(1, 1)),
        )
    )
    assert found.refused
    assert str(found).splitlines() == [
        "query a  differs",
        "  WHERE was x, is y",
        "  column more is new",
        "  column less is gone",
        "  column t was INT, is STRING, and is not compared",
        "  column w was INT, is BIGINT",
        "  the key k names no row of before: the rows are compared as heaps",
        "  4 rows before, 4 now: 1 changed",
        "  column n differs in 1 rows",
        "  changed  k=a: n 1 -> 2",
        "query b  held back",
        "  1 rows before, 1 now: the same",
        "1 query differs; 1 query held back",
    ]
    assert '"changed": 1' in found.to_json()


def test_the_command(folder: Path) -> None:
    (folder / "q.sql").write_text(TABLES + SUMS.format(1))
    run = CliRunner().invoke(main, ["deploy", "q.sql", "--format", "json"])
    assert (run.exit_code, '"refused": false' in run.output) == (0, True)
    run = CliRunner().invoke(main, ["deploy", "q.sql", "--rollback"])
    assert (run.exit_code, "RUN-085" in run.output) == (1, True)
    run = CliRunner().invoke(main, ["deploy", "q.sql", "--allow-differences", "few"])
    assert (run.exit_code, "is neither a number of rows nor a share" in run.output) == (2, True)

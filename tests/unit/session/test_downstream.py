"""Queries that read what others write: which they are, in which order, and where a new version of one reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sqlext.databricks import PlatformRules
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.jobs.runs import QueryRun
from sqlext.session.deploying.candidates import Deployable, candidates_of, in_order, readers_among
from sqlext.session.deploying.downstream import Downstream
from sqlext.session.drafts import RunOptions
from sqlext.session.offline.compilation import new_state
from sqlext.session.state import SessionState
from sqlext.source import SourceText
from sqlext_catalog.model import QueryRecord

TABLES = """
CREATE TABLE IF NOT EXISTS orders (k STRING, n BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE TABLE IF NOT EXISTS a (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = 'a');
CREATE TABLE IF NOT EXISTS b (k STRING, n BIGINT) WITH ('connector' = 'delta', 'table-name' = 'db.b');
CREATE TABLE IF NOT EXISTS c (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = 'c');
"""
A, B, C = (f"INSERT INTO {name} SELECT k, n FROM {of};" for name, of in (("a", "orders"), ("b", "a"), ("c", "b")))
SET = f"EXECUTE STATEMENT SET BEGIN {B} {C} END;"
VIEW = "CREATE MATERIALIZED VIEW seen AS SELECT k, n FROM a;"
OPTIONS = RunOptions(rules=PlatformRules(endless=False))
NAME = "default_catalog.default_database."


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionState:
    monkeypatch.chdir(tmp_path)
    return new_state(tmp_path / "catalog")


def parsed(text: str) -> list[ast.Statement]:
    return list(parse_script(SourceText.of(text)))


def found_in(text: str, state: SessionState) -> list[Deployable]:
    return candidates_of(parsed(TABLES + text), state, RunOptions(rules=OPTIONS.rules))


def downstream(text: str, state: SessionState, *records: QueryRecord) -> Downstream:
    after = state.fork()
    found_in(text, after)
    return Downstream(parsed(TABLES + text), state, after, OPTIONS, records, lambda _: QueryRun("r", {}))


def record(name: str, text: str, reads: str, writes: str) -> QueryRecord:
    return QueryRecord(name, text, (f"{NAME}{reads}",), f"{NAME}{writes}", "", "", "finished")


def places(candidate: Deployable) -> Sequence[str | None]:
    return [source.table.option("path") for source in candidate.draft.script.sources]


def test_order(state: SessionState) -> None:
    candidates = found_in(C + B + A, state)
    assert [c.name for c in in_order(candidates)] == ["sql.a", "sql.b", "sql.c"]
    behind = readers_among(candidates, [c for c in candidates if c.name == "sql.a"])
    assert {c.name for c in behind} == {"sql.b", "sql.c"}
    assert not readers_among(candidates, [c for c in candidates if c.name == "sql.c"])


def test_readers_of_other_scripts(state: SessionState) -> None:
    """Under the names that they began with: an INSERT of its own, one of a set, a materialized view."""
    records = (record("mine", B, "a", "b"), record("job.c", SET, "b", "c"), record("seen", VIEW, "a", "seen"))
    found = downstream(A, state, *records)
    changed = found_in(A, state.fork())
    assert {c.name for c in found.behind(changed)} == {"mine", "job.c", "seen"}


def test_a_reader_of_which_nothing_is_known(state: SessionState) -> None:
    found = downstream(A, state, record("gone", "INSERT INTO nowhere SELECT * FROM a", "a", "nowhere"))
    changed = found_in(A, state.fork())
    assert found.behind(changed) == []
    (reader,) = found.readers(changed[0], changed)
    assert str(reader).startswith(
        "query gone reads the table as a stream, and cannot be renewed: its record in the catalog does not tell all of"
        " it: deploy both as one script; DROP QUERY `gone` before"
    )


@pytest.mark.parametrize("scripted", [True, False])
def test_the_new_version_reads_the_new_rows(scripted: bool, state: SessionState) -> None:
    """It is the same query otherwise, and writes to the same table."""
    found = downstream(A + B + VIEW if scripted else A, state, *(record("sql.b", B, "a", "b"),) * (not scripted))
    known = found_in(A + B + VIEW, state.fork()) if scripted else found.behind(found_in(A, state.fork()))
    (reader,) = [c for c in known if c.name == "sql.b"]
    moved = found.moved(reader, {f"{NAME}a": "/new/rows"})
    assert (places(moved), moved.table, moved.follows) == (["/new/rows"], f"{NAME}b", frozenset({f"{NAME}a"}))
    assert moved.draft.prints == reader.draft.prints
    assert moved.draft.insert.table.option("table-name") == "db.b"
    # Nothing of it stays in the catalog.
    assert places(next(c for c in found_in(B, state.fork()) if c.name == "sql.b")) == ["a"]
    if scripted:
        (seen,) = [c for c in known if c.name == "seen"]
        assert places(found.moved(seen, {f"{NAME}a": "/new/rows"})) == ["/new/rows"]


def test_rows_of_a_named_table_lie_at_a_path(state: SessionState) -> None:
    found = downstream(A + B + C, state)
    (reader,) = [c for c in found_in(A + B + C, state.fork()) if c.name == "sql.c"]
    (source,) = found.moved(reader, {f"{NAME}b": "/new/rows"}).draft.script.sources
    assert (source.table.option("path"), source.table.option("table-name")) == ("/new/rows", None)

"""What is asked otherwise than a query began holds, or is said to stay: its readers, and its number of buckets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.changes import ChangeKind, changes
from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.jobs.query_files import query_folder
from sqlext.jobs.result import Result
from sqlext.jobs.runs import QueryRun
from sqlext.plan.grouping import ANY_TRIGGER
from sqlext.session.drafts import Draft, Drafts, RunOptions
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText

HEAD = """SET 'pipeline.name' = 'q';
SET 'sqlext.bounded' = 'catch-up';
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE results (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '/out');
"""
OURS = "INSERT INTO results SELECT k, COUNT(DISTINCT v) FROM events GROUP BY k;"
ABOVE = """INSERT INTO results SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) AS r FROM (
SELECT k, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '9' SECOND))
GROUP BY k, window_start, window_end)) WHERE r <= 1;"""
BESIDE = (
    "INSERT INTO results SELECT k, COUNT(*) FROM (SELECT DISTINCT k, v FROM events UNION ALL SELECT DISTINCT k, 1 AS v"
)
BESIDE += " FROM events) GROUP BY k;"


@dataclass
class Collector(DryRun):
    found: list[Draft] = field(default_factory=list)

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        self.found += Drafts.of(self.state, env, RunOptions()).job(inserts).drafts
        return Result()


def draft(folder: Path, *texts: str) -> Draft:
    state = new_state(folder)
    collector = Collector(state)
    interpreter = Interpreter(state, collector)
    for statement in parse_script(SourceText.of(HEAD + "".join(texts))):
        interpreter.run(statement)
    return collector.found[-1]


def begun(folder: Path, *texts: str) -> Draft:
    """Let a query have begun."""
    found = draft(folder, *texts)
    query_folder(folder, "q", None, {}).put("run.json", json.dumps(asdict(QueryRun("1", found.prints))))
    return found


def asked(key: str, value: str) -> str:
    return f"SET '{key}' = '{value}';"


def read_by(found: Draft) -> list[str]:
    return [said for part, (said, _) in found.prints.items() if part.startswith("reader of")] or ["Spark"]


READERS = [("spark", "arrow"), ("arrow", "spark")]
#: Aggregates that Spark keeps where it reads, and an operator of ours where Arrow does.
BY_SPARK = """INSERT INTO results SELECT k, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '9' SECOND))
GROUP BY k, window_start, window_end;"""


@pytest.mark.parametrize(("one", "other"), READERS)
def test_another_reader_goes_on(tmp_path: Path, one: str, other: str) -> None:
    began = begun(tmp_path, asked("sqlext.source", one), OURS)
    # A default asks for nothing.
    assert draft(tmp_path, OURS).prints == began.prints
    found = draft(tmp_path, asked("sqlext.source", other), OURS)
    assert (read_by(began), read_by(found), found.kept) == ([one.title()], [other.title()], ())
    assert {c.kind for c in changes(began.prints, found.prints)} == {ChangeKind.READER}


@pytest.mark.parametrize(("one", "other"), READERS)
def test_a_reader_stays_where_state_is_another_one(tmp_path: Path, one: str, other: str) -> None:
    began = begun(tmp_path, asked("sqlext.source", one), BY_SPARK)
    found = draft(tmp_path, asked("sqlext.source", other), BY_SPARK)
    told = f"{one.title()} reads `events`, as when the query began: its state, or its place, is not the same for both"
    assert (found.prints, found.kept) == (began.prints, (told,))


@pytest.mark.parametrize(("one", "other"), READERS)
def test_one_change_at_a_time(tmp_path: Path, one: str, other: str) -> None:
    begun(tmp_path, asked("sqlext.source", one), asked("sqlext.state.buckets", "3"), OURS)
    found = draft(tmp_path, asked("sqlext.source", other), asked("sqlext.state.buckets", "5"), OURS)
    told = f"{one.title()} reads `events`, as when the query began: its state gets other buckets first"
    assert (found.script.buckets, found.kept) == (5, (told,))


@pytest.mark.parametrize(("query", "stays"), [(OURS, False), (ABOVE, True), (BESIDE, True)])
def test_a_number_of_buckets_stays(tmp_path: Path, query: str, stays: bool) -> None:
    begun(tmp_path, asked("sqlext.state.buckets", "3"), query)
    assert (draft(tmp_path, query).script.buckets, draft(tmp_path, query).kept) == (3, ())
    found = draft(tmp_path, asked("sqlext.state.buckets", "5"), query)
    assert found.script.buckets == (3 if stays else 5)
    assert [line.partition(":")[0] for line in found.kept] == ["state stays in 3 buckets"] * stays


def test_an_older_version_keeps_its_trigger(tmp_path: Path) -> None:
    """Its state does not say under which it was written, also where this version has written on."""
    early = OURS.replace(";", " EMIT AFTER 2 ROWS;")
    at_least = early.replace("AFTER 2", "AFTER AT LEAST 2")
    begun(tmp_path, early)
    old, new = draft(tmp_path, early).prints, draft(tmp_path, at_least).prints
    assert [c.kind for c in changes(old, new)] == [ChangeKind.TRIGGER]
    older = {name: part for name, part in old.items() if not name.startswith(ANY_TRIGGER)}
    query_folder(tmp_path, "q", None, {}).put("run.json", json.dumps(asdict(QueryRun("1", older))))
    assert draft(tmp_path, early).prints == older
    (change,) = changes(older, draft(tmp_path, at_least).prints)
    assert (change.kind, change.why) == (
        ChangeKind.STATE,
        "an older version began it, whose state does not say its trigger",
    )

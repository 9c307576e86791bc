"""STOP JOB: how it is read, and what is refused."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from sqlext.dialect.ast.statements import Statement, StopJob
from sqlext.dialect.script import parse_script
from sqlext.jobs.query import Query
from sqlext.session.offline.commands import check_file
from sqlext.session.offline.compilation import new_state
from sqlext.session.records import stop_job
from sqlext.source import SourceText


def parsed(text: str) -> Statement:
    (statement,) = parse_script(SourceText.of(text))
    return statement


def stopping(text: str) -> StopJob:
    statement = parsed(text)
    assert isinstance(statement, StopJob)
    return statement


def test_reading() -> None:
    assert (stopping("STOP JOB 'a.b';").job, stopping("STOP JOB 'x'").savepoint) == ("a.b", False)
    assert stopping("stop job 'x' with savepoint").savepoint


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("STOP EVERYTHING", "PARSE-002", 6),
        ("STOP JOB x", "PARSE-002", 10),
        ("STOP JOB 'x' WITH DRAIN", "PARSE-004", 14),
        ("STOP JOB 'x' WITH SAVEPOINT WITH DRAIN", "PARSE-004", 29),
        ("STOP JOB 'x' now", "PARSE-002", 14),
    ],
)
def test_misreading(text: str, code: str, column: int) -> None:
    with pytest.raises(SqlExtError) as caught:
        parsed(text)
    assert (caught.value.code, caught.value.column) == (code, column)


def test_a_check_stops_nothing() -> None:
    assert check_file("STOP JOB 'started_by_a_statement_before';\n") == []


def test_a_job_that_is_not_there() -> None:
    running = Query("hourly", {}, streaming=True, bounded=False)
    with pytest.raises(SqlExtError) as caught:
        stop_job(stopping("STOP JOB 'hourl'"), [running], new_state(None).catalog)
    assert (caught.value.code, caught.value.column, caught.value.hint) == ("CAT-002", 10, "did you mean `hourly`?")
    assert running.is_active

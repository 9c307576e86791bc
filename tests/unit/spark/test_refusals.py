"""What Spark refuses in a statement of its own is told in our words, at its place."""

from __future__ import annotations

import pytest

from sqlext.source import SourceText
from sqlext.spark.refusals import refused_as_written

SCRIPT = SourceText.of("SELECT 1;\nDELETE FROM kept\nWHERE '\U0001f600' = nme;\n", "job.sql")
HINT = "Spark alone runs this statement; its SQL reference says what it takes"
STATEMENT = SCRIPT.span(SCRIPT.text.index("DELETE"), SCRIPT.text.rindex(";"))

UNRESOLVED = (
    "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `nme` cannot be resolved. "
    "Did you mean one of the following? [`name`, `k`]. SQLSTATE: 42703; line 2 pos 13;\n'Filter"
)


def refused(message: str) -> tuple[str, str, str | None, str]:
    """Return code, message, hint and the text at the place."""
    found = refused_as_written(message, STATEMENT, STATEMENT.text)
    assert found.span is not None
    return found.code, found.message, found.hint, found.span.text


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "[PARSE_SYNTAX_ERROR] Syntax error at or near 'FROM'. SQLSTATE: 42601 (line 1, pos 7)\n\n== SQL ==\n",
            ("PARSE-002", "Spark cannot read this statement at `FROM`", HINT, "FROM"),
        ),
        (
            "[PARSE_SYNTAX_ERROR] Syntax error at or near end of input. SQLSTATE: 42601 (line 1, pos 12)",
            ("PARSE-002", "Spark cannot read this statement at `end of input`", HINT, "kept"),
        ),
        (
            UNRESOLVED,
            ("NAME-003", "there is no column `nme`", "did you mean `name` or `k`?", "nme"),
        ),
        (
            "[TABLE_OR_VIEW_NOT_FOUND] The table or view `a`.`kept` cannot be found. SQLSTATE: 42P01; line 1 pos 12",
            (
                "NAME-002",
                "there is no table `a`.`kept`",
                "Spark runs this statement, and it knows no tables of this catalog: they are for SELECT and INSERT",
                "kept",
            ),
        ),
        (
            "[UNRESOLVED_ROUTINE] Cannot resolve routine `sume` on search path [`x`]. SQLSTATE: 42883; line 1 pos 0",
            ("FUNC-001", "there is no function `sume`", HINT, "DELETE"),
        ),
        (
            "Queries with streaming sources must be executed with writeStream.start();\nrelation",
            (
                "RUN-102",
                "this statement is Spark's own, and it cannot read a stream",
                "session.register(df, 'name') makes the stream a table, which SELECT and INSERT read",
                STATEMENT.text,
            ),
        ),
        (
            "[DELTA_UNSUPPORTED] Delta cannot do that. SQLSTATE: 0A000\n\nJVM stacktrace:\n[NOT_THIS] one",
            ("RUN-102", "Spark refuses the statement: Delta cannot do that.", HINT, STATEMENT.text),
        ),
        ("", ("RUN-102", "Spark refuses the statement: no reason given", HINT, STATEMENT.text)),
        ("odd; line 9 pos 1", ("RUN-102", "Spark refuses the statement: odd", HINT, STATEMENT.text)),
    ],
)
def test_refusals(message: str, expected: tuple[str, str, str | None, str]) -> None:
    assert refused(message) == expected


@pytest.mark.parametrize(
    ("sent", "place", "expected"),
    [
        ("EXPLAIN\n{}", "line 3 pos 13", "nme"),
        ("EXPLAIN\n{}", "line 3 pos 16", "e"),
        ("EXPLAIN\n{}", "line 3 pos 17", "e"),
        ("EXPLAIN\n{}", "line 1 pos 0", STATEMENT.text),
        (STATEMENT.text.replace("kept", "delta.`/a/folder` AS `kept`"), "line 2 pos 13", "nme"),
        (STATEMENT.text.replace("kept", "delta.`/a/folder` AS `kept`"), "line 1 pos 7", "FROM"),
        (STATEMENT.text.replace("kept", "delta.`/a/folder` AS `kept`"), "line 1 pos 20", STATEMENT.text),
    ],
)
def test_a_place_in_a_text_that_is_not_as_written(sent: str, place: str, expected: str) -> None:
    found = refused_as_written(f"odd; {place}", STATEMENT, sent.format(STATEMENT.text))
    assert found.span is not None
    assert found.span.text == expected

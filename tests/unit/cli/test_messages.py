"""Errors in colour and as JSON."""

from __future__ import annotations

import json

import click
import pytest

from sqlext.cli.messages import as_json, coloured
from sqlext.cli.progress import lag
from sqlext.errors import SqlExtError
from sqlext.source import SourceText

SOURCE = SourceText.of("SELECT a,\n  b FROM t;", "job.sql")
ERROR = SqlExtError("NAME-003", "there is no column `b`", span=SOURCE.span(12, 13), hint="did you mean `a`?")


def test_colours_are_added_and_nothing_else() -> None:
    shown = coloured(ERROR)
    assert click.unstyle(shown) == ERROR.render()
    assert shown != ERROR.render()


def test_message_caret_and_hint_have_colours_of_their_own() -> None:
    message, line, caret, hint = coloured(ERROR).splitlines()
    assert message == click.style(click.unstyle(message), fg="red", bold=True)
    assert line == "    b FROM t;"
    assert caret == click.style(click.unstyle(caret), fg="red", bold=True)
    assert hint == click.style("hint: did you mean `a`?", fg="cyan")


@pytest.mark.parametrize("column", [1, 2, 30, 150, 299, 300, 301])
def test_the_caret_stays_below_its_word_on_a_narrow_screen(column: int) -> None:
    text = "".join(chr(0x4E00 + i) for i in range(300))  # each character once
    error = SqlExtError("NAME-003", "wrong", span=SourceText.of(text).span(column - 1, column))
    _, line, caret, *_ = error.render(40).splitlines()
    assert max(len(line), len(caret)) <= 40
    assert line[caret.index("^") : caret.index("^") + 1] == text[column - 1 : column]
    assert error.render(400) == error.render()


def test_json() -> None:
    assert json.loads(as_json([ERROR, SqlExtError("RUN-012", "no file")])) == [
        {
            "file": "job.sql", "line": 2, "column": 3, "endLine": 2, "endColumn": 4, "severity": "error",
            "code": "NAME-003", "message": "there is no column `b`", "hint": "did you mean `a`?",
        },
        {
            "file": None, "line": None, "column": None, "endLine": None, "endColumn": None, "severity": "error",
            "code": "RUN-012", "message": "no file", "hint": None,
        },
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("behind", "expected"),
    [(0, "0 ms"), (1999, "1999 ms"), (3000, "3 s"), (150_000, "2 min"), (400 * 86_400_000, "400 d")],
)
def test_lag(behind: int, expected: str) -> None:
    assert lag(1_700_000_000_000 - behind, 1_700_000_000_000) == expected


def test_no_lag_without_a_watermark_or_at_the_end() -> None:
    assert (lag(None, 5), lag(2**63 - 1, 5)) == ("-", "-")

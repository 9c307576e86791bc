"""Any text as a name: it comes out of the rewriting as it went in, or is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.dialect.script import parse_script
from sqlext.dialect.tokens import TokenKind, tokenize
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier, string
from sqlext.rewrite.export.printed import printed_script
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText
from sqlext.types import quote

HOSTILE = [
    "../../evil",
    "/etc/passwd",
    "..",
    "a`; DROP TABLE t; --",
    "a' OR '1'='1",
    'a"b',
    "a\nb",
    "a\\b",
    "a.b",
    "a b",
    "select",
    "CAFÉ",
    "ﬁ",
    "a\u202eb",
    "名前",
    "💥",
    "${X}",
    "%2e%2e",
    "x" * 255,
    "__window",
    "__key_0",
    "window_start",
    "0",
    "`",
    "``",
    "--",
    "/*",
    ";",
]
NAMES = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=30),
)
SCRIPT = """
CREATE TABLE {table} ({column} INT, ts TIMESTAMP(3), {other} AS {column} + 1, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = {path}, 'format' = 'json');
CREATE VIEW {view} AS SELECT {column}, {other}, ts FROM {table};
CREATE TABLE snk ({column} INT, n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO snk SELECT v.{column}, COUNT(v.{other}) AS n
FROM TABLE(TUMBLE(TABLE {view}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS v
GROUP BY v.{column}, window_start, window_end;
SELECT {column} AS {table}, {other} AS {view} FROM {view} WHERE {column} IS NOT NULL
"""


def compiled(text: str, mode: str = "flink") -> DryRun:
    state = new_state(None)
    state.settings = state.settings.with_value("sqlext.expressions", mode)
    handler = DryRun(state)
    interpreter = Interpreter(state, handler)
    for statement in parse_script(SourceText.of(text), mode):
        interpreter.run(statement)
    return handler


def script(table: str, column: str, other: str, view: str) -> str:
    names = {"table": quote(table), "column": quote(column), "other": quote(other), "view": quote(view)}
    return SCRIPT.format(path="'/in/" + table.replace("'", "''") + "'", **names)


def texts(sql: str) -> list[str]:
    """Return the tokens of a text, comments left out."""
    return [t.text for t in tokenize(SourceText.of(sql), "spark")]


def names_of(sql: str) -> set[str]:
    """Return the names in a text as Spark reads them."""
    tokens = tokenize(SourceText.of(sql), "spark")
    quoted = {t.text[1:-1].replace("``", "`") for t in tokens if t.kind is TokenKind.QUOTED}
    return quoted | {t.text for t in tokens if t.kind is TokenKind.WORD}


@settings(max_examples=150, deadline=None)
@given(NAMES, NAMES, NAMES, NAMES)
def test_names_come_out_as_they_went_in(table: str, column: str, other: str, view: str) -> None:
    try:
        handler = compiled(script(table, column, other, view))
    except SqlExtError:
        return
    insert, select = handler.compiled
    assert [n for _, n in insert.script.outputs] == [column, "n"]
    assert {table, view} <= names_of(select.script.query)
    assert column in names_of(insert.script.query)
    for one in handler.compiled:
        assert printed_script(one, "UTC")


@settings(max_examples=50, deadline=None)
@given(NAMES, NAMES)
def test_comments_hold_no_line_of_their_own(table: str, column: str) -> None:
    """A line break in a name or path must not end a comment of the printed script."""
    try:
        handler = compiled(script(table, column, "o", "v"))
    except SqlExtError:
        return
    for one in handler.compiled:
        assert texts(printed_script(one, "UTC")) == texts(f"{one.script.query};")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_quoted_names_and_strings_are_one_token(text: str) -> None:
    if "\0" not in text:
        assert len(tokenize(SourceText.of(identifier(text or "x")))) == 2
        assert len(tokenize(SourceText.of(string(text)))) == 2


@pytest.mark.parametrize("name", ["x" * 10_000, " ", "a\0b"])
def test_names_that_cannot_be_stored(name: str) -> None:
    with pytest.raises(SqlExtError):
        compiled(f"CREATE TABLE {quote(name)} (a INT) WITH ('connector' = 'blackhole')")

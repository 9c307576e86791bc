"""What an editor is told of unfinished texts."""

from __future__ import annotations

import pytest

from sqlext.dialect.keywords import KEYWORDS
from sqlext.dialect.script import parse_script
from sqlext.dialect.statements.choice import FIRST_WORDS
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.session.offline.editor import Editor
from sqlext.source import SourceText

TABLES = """
CREATE TABLE orders (item STRING, `odd name` INT, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'datagen');
CREATE VIEW pens AS SELECT amount AS price FROM orders;
CREATE DATABASE archive;
CREATE TABLE archive.old (year_of INT) WITH ('connector' = 'datagen');
"""


@pytest.fixture
def editor() -> Editor:
    state = new_state(None)
    interpreter = Interpreter(state, DryRun(state))
    for statement in parse_script(SourceText.of(TABLES)):
        interpreter.run(statement)
    return Editor(state)


def offered(editor: Editor, text: str) -> dict[str, str]:
    """Return what can stand at ``|``, by kind."""
    at = text.index("|")
    found = editor.candidates(text.replace("|", ""), at)
    return {candidate.text: candidate.kind for candidate in found}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n-- nothing\n",
        "SELECT 1;",
        "SELECT 1; -- and a comment",
        "SELECT ';' /* ; */;",
        "SELECT 1; SELECT 2;\n\n",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END;",
        "SELECT $ ? #;",
    ],
)
def test_complete(editor: Editor, text: str) -> None:
    assert editor.is_complete(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "SELECT 1; SELECT",
        "SELECT ';",
        "SELECT 1 -- ;",
        "SELECT 1 /* ;",
        "SELECT `a;",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;",
        "BEGIN STATEMENT SET; INSERT INTO a SELECT CASE WHEN x THEN 1 END;",
        "EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; END",
    ],
)
def test_incomplete(editor: Editor, text: str) -> None:
    assert not editor.is_complete(text)


@pytest.mark.parametrize(
    "text", ["SELECT a, 'x' FROM `t` -- c\nWHERE f(1) > 2;", "SELECT 'open", "x /* open", "", "?#'"]
)
def test_pieces_are_the_text(editor: Editor, text: str) -> None:
    found = list(editor.pieces(text))
    assert "".join(p.text for p in found) == text
    assert [p.start for p in found] == [sum(len(q.text) for q in found[:i]) for i in range(len(found))]


def test_kinds_of_pieces(editor: Editor) -> None:
    found = [(p.text, p.kind) for p in editor.pieces("SELECT f(a), 'x', 1, `q` /* c */") if p.kind != "space"]
    assert found == [
        ("SELECT", "keyword"), ("f", "function"), ("(", "symbol"), ("a", "name"), (")", "symbol"), (",", "symbol"),
        ("'x'", "string"), (",", "symbol"), ("1", "number"), (",", "symbol"), ("`q`", "quoted"),
        (" /* c */", "comment"),
    ]  # fmt: skip


def test_open_ends(editor: Editor) -> None:
    assert [p.kind for p in editor.pieces("a 'b") if p.open] == ["string"]
    assert [p.kind for p in editor.pieces("a /* b") if p.open] == ["comment"]


def test_every_statement_begins_with_a_keyword() -> None:
    assert set(FIRST_WORDS) <= KEYWORDS


def test_statements(editor: Editor) -> None:
    assert offered(editor, "|")["SELECT"] == "keyword"
    assert list(offered(editor, "SELECT 1; CRE|")) == ["CREATE"]
    assert list(offered(editor, "cre|")) == ["create"]


def test_tables(editor: Editor) -> None:
    assert offered(editor, "SELECT * FROM o|") == {"orders": "table"}
    assert set(offered(editor, "SELECT * FROM |")) == {"orders", "pens", "archive.old", "TABLE", "information_schema"}
    assert offered(editor, "SELECT * FROM archive.|") == {"old": "table"}
    assert "columns" in offered(editor, "SELECT * FROM information_schema.|")


def test_columns(editor: Editor) -> None:
    assert offered(editor, "SELECT am| FROM orders") == {"amount": "column"}
    assert offered(editor, "SELECT o.| FROM orders AS o") == dict.fromkeys(
        ["item", "odd name", "amount", "ts"], "column"
    )
    assert offered(editor, "SELECT o.p| FROM pens o") == {"price": "column"}
    assert "price" not in offered(editor, "SELECT p| FROM orders")


def test_columns_of_all_tables_before_from(editor: Editor) -> None:
    assert offered(editor, "SELECT am|") == {"amount": "column"}
    assert "price" in offered(editor, "SELECT |")


def test_window_columns_where_there_is_a_window(editor: Editor) -> None:
    call = "FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    assert "window_start" in offered(editor, f"SELECT window_s| {call}")
    assert "window_start" not in offered(editor, "SELECT window_s| FROM orders")


def test_functions_in_the_case_that_is_written(editor: Editor) -> None:
    assert offered(editor, "SELECT SUBSTR|")["SUBSTRING"] == "function"
    assert offered(editor, "SELECT substr|")["substring"] == "function"


def test_options(editor: Editor) -> None:
    assert "kafka'" in offered(editor, "CREATE TABLE t (a INT) WITH ('connector' = 'k|")
    assert "rows-per-second'" in offered(editor, "CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'rows|")
    assert "topic'" not in offered(editor, "CREATE TABLE t (a INT) WITH ('connector' = 'datagen', '|")
    assert "csv.field-delimiter'" in offered(
        editor, "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.f|"
    )
    assert "debezium-json'" in offered(editor, "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = '|")


def test_an_option_that_is_there_is_not_offered_again(editor: Editor) -> None:
    assert "connector'" not in offered(editor, "CREATE TABLE t (a INT) WITH ('connector' = 'datagen', '|")


def test_settings(editor: Editor) -> None:
    assert offered(editor, "SET 'sqlext.exp|") == {"sqlext.expressions'": "option"}
    assert set(offered(editor, "SET 'sqlext.expressions' = '|")) == {"spark'", "flink'"}


@pytest.mark.parametrize(
    "text", ["-- FROM |", "SELECT 'FROM |", "SELECT `a|", "x.y.z.w.|", "1.|", "'' . |", "SELECT ((((|"]
)
def test_odd_places(editor: Editor, text: str) -> None:
    offered(editor, text)

"""Scripts: variables, splitting, positions, and the mode of strings."""

from __future__ import annotations

from typing import Any

import pytest

from sqlext.dialect.script import parse_script
from sqlext.dialect.variables import substitute
from sqlext.errors import SqlExtError
from sqlext.source import SourceText


def texts(script: str, mode: str = "spark") -> list[str]:
    return [statement.span.text for statement in parse_script(SourceText.of(script), mode)]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        (" ;; -- nothing\n /* ; */ ;", []),
        ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';' , \";\", `;` -- ;\n; SELECT 2 /* ; */;", ["SELECT ';' , \";\", `;`", "SELECT 2"]),
        ("SELECT 'it''s;'; SELECT 2", ["SELECT 'it''s;'", "SELECT 2"]),
        (r"SELECT 'a\';b'; SELECT 2", [r"SELECT 'a\';b'", "SELECT 2"]),
        (r"SELECT r'a\'; SELECT 2", [r"SELECT r'a\'", "SELECT 2"]),
        ("/* a /* ; */ ; */ SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        (
            "EXECUTE /* ; */ STATEMENT SET BEGIN INSERT INTO t SELECT ';'; INSERT INTO u SELECT 2; END; SELECT 3",
            ["EXECUTE /* ; */ STATEMENT SET BEGIN INSERT INTO t SELECT ';'; INSERT INTO u SELECT 2; END", "SELECT 3"],
        ),
        (
            "BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END; SELECT 3",
            ["BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END", "SELECT 3"],
        ),
        ("CACHE TABLE a; ADD JAR /x.jar", ["CACHE TABLE a", "ADD JAR /x.jar"]),
    ],
)
def test_splitting(script: str, expected: list[str]) -> None:
    assert texts(script) == expected


def test_a_backslash_is_a_character_in_flink() -> None:
    assert texts(r"SELECT 'a\'; SELECT 2", "flink") == [r"SELECT 'a\'", "SELECT 2"]


def test_the_script_itself_sets_the_mode() -> None:
    script = r"""
        SELECT 'a\';b';
        SET 'sqlext.expressions' = 'flink';
        SELECT 'a\'; SELECT /* /* */ 2;
        RESET 'sqlext.expressions';
        SELECT 'a\';b';
        SET sqlext.expressions = flink;
        SELECT 'a\'"""
    assert texts(script) == [
        r"SELECT 'a\';b'",
        "SET 'sqlext.expressions' = 'flink'",
        r"SELECT 'a\'",
        "SELECT /* /* */ 2",
        "RESET 'sqlext.expressions'",
        r"SELECT 'a\';b'",
        "SET sqlext.expressions = flink",
        r"SELECT 'a\'",
    ]


def test_statements_are_read_one_by_one() -> None:
    statements = parse_script(SourceText.of("SELECT 1; SELECT FROM; SELECT 'open"))
    assert next(statements).span.text == "SELECT 1"
    with pytest.raises(SqlExtError, match="expected an expression"):
        next(statements)


def test_positions_are_of_the_text_before_substitution() -> None:
    text = "SELECT '${A}',\n  ${B} + ${A}, FORM FROM t WHERE x = ${LONG} BETWEN"
    source = substitute(text, {"A": "xyz" * 9, "B": "", "LONG": "1\n+\n2"}, "job.sql")
    with pytest.raises(SqlExtError) as caught:
        list(parse_script(source))
    error = caught.value
    assert (error.file, error.line, error.column) == ("job.sql", 2, text.index("BETWEN") - text.index("\n"))
    assert error.source_line == "  ${B} + ${A}, FORM FROM t WHERE x = ${LONG} BETWEN"


def test_an_error_inside_a_variable_points_at_it() -> None:
    with pytest.raises(SqlExtError) as caught:
        list(parse_script(substitute("SELECT a,\n ${B}", {"B": "1 + FROM"})))
    assert (caught.value.line, caught.value.column) == (2, 2)


def test_other_braces_stay() -> None:
    assert substitute("${x} ${spark.sql.x} ${A-1} $A ${A}", {"A": "${A}"}).text == (
        "${x} ${spark.sql.x} ${A-1} $A ${A}"
    )


def test_unknown_variable() -> None:
    with pytest.raises(SqlExtError) as caught:
        substitute("SELECT 1;\nSELECT '${INPT}'", {"INPUT": "x"}, "job.sql")
    error = caught.value
    assert (error.code, error.line, error.column) == ("NAME-001", 2, 9)
    assert error.message == "the variable ${INPT} is not defined"
    assert error.hint == "did you mean `INPUT`?"


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("SELECT 'abc", 8, "string"),
        ('SELECT "abc', 8, "string"),
        ("SELECT `abc", 8, "quoted name"),
        ("SELECT /* abc", 8, "comment"),
        ("SELECT 'a'; -- it's\nSELECT 'b", 8, "string"),
    ],
)
def test_what_is_never_closed(text: str, column: int, what: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        list(parse_script(SourceText.of(text)))
    assert (caught.value.code, caught.value.column) == ("PARSE-001", column)
    assert caught.value.message == f"this {what} is never closed"


@pytest.mark.parametrize(
    ("written", "spark", "flink"),
    [
        ("'it''s'", "it's", "it's"),
        ("\"it''s\"", "it''s", None),
        ('"a""b"', 'a"b', None),
        (r"'a\tb'", "a\tb", r"a\tb"),
        (r"'\u00e9\\\%'", "é\\\\%", r"\u00e9\\\%"),
        (r"r'a\tb'", r"a\tb", None),
        (r"U&'\00e9\\'", "é\\", "é\\"),
    ],
)
def test_values_of_strings(written: str, spark: str, flink: str | None) -> None:
    for mode, expected in (("spark", spark), ("flink", flink)):
        if expected is not None:
            (statement,) = parse_script(SourceText.of(f"SELECT {written}"), mode)
            literal: Any = list(statement.walk())[-1]
            assert literal.value == expected

"""Texts with a character set, as Flink 2.3 took them."""

from __future__ import annotations

import pytest

from sqlext.dialect.ast.statements import CreateTable
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.source import SourceText


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("_nosuch'abc'", 1, "there is no character set `nosuch`"),
        ("_latin1'5 €'", 8, "`latin1` has no character `€`"),
    ],
)
def test_refused(text: str, column: int, message: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        parse_expression_text(text, "flink")
    assert (caught.value.code, caught.value.column, caught.value.message) == ("PARSE-008", column, message)


def test_a_name_before_a_text_is_none() -> None:
    with pytest.raises(SqlExtError) as caught:
        parse_expression_text("_utf8 'abc'", "flink")
    assert caught.value.code == "PARSE-002"


@pytest.mark.parametrize("mode", ["spark", "flink"])
def test_columns_of_a_table_have_one_in_both_dialects(mode: str) -> None:
    columns = "k VARCHAR(3) CHARACTER SET `UTF-16LE` NOT NULL, r ROW<x CHAR(2) CHARACTER SET `UTF-16LE`>"
    (statement,) = parse_script(SourceText.of(f"CREATE TABLE t ({columns})"), mode)
    assert isinstance(statement, CreateTable)
    assert [str(c.type) for c in statement.columns] == ["VARCHAR(3) NOT NULL", "ROW<`x` CHAR(2)>"]


def test_a_cast_of_spark_has_none() -> None:
    with pytest.raises(SqlExtError):
        parse_expression_text("CAST(a AS CHAR(2) CHARACTER SET `UTF-16LE`)", "spark")

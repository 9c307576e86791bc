"""Texts with a character set, as Flink 2.3 took them."""

from __future__ import annotations

import pytest

from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.errors import SqlExtError


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

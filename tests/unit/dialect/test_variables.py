"""``${NAME}`` within quotes stands for its value, whatever characters that has."""

from __future__ import annotations

import pytest

from sqlext.dialect.tokens import TokenKind, tokenize
from sqlext.dialect.variables import substitute
from sqlext.errors import SqlExtError

VALUES = ["plain", "it's", 'a "b"', "a\\", "\\d+", "'; DROP TABLE t; --", "a`b", "''", "*/ x /*"]
FLINK = "SET 'sqlext.expressions' = 'flink'; "


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(("before", "mode"), [("", "spark"), (FLINK, "flink")])
@pytest.mark.parametrize("quoted", ["'{}'", '"{}"', "`{}`"])
def test_a_text_or_a_name_has_the_value(value: str, before: str, mode: str, quoted: str) -> None:
    source = substitute(f"{before}SELECT {quoted.format('${X}')} AS x", {"X": value})
    tokens = tokenize(source, mode, len(before))
    assert [t.value for t in tokens if t.kind in (TokenKind.STRING, TokenKind.QUOTED)] == [value]
    assert [t.text for t in tokens if t.kind is TokenKind.WORD] == ["SELECT", "AS", "x"]
    (place,) = source.substitutions
    assert source.original[place.original_start : place.original_end] == "${X}"


def test_the_mode_of_the_session() -> None:
    assert substitute("'${X}'", {"X": "\\"}, mode="flink").text == "'\\'"
    assert substitute("'${X}'", {"X": "\\"}).text == "'\\\\'"


def test_outside_of_quotes_a_value_is_sql() -> None:
    source = substitute(
        "SELECT ${X} /* '${X} */ -- it's ${X}\n FROM `t` -- ${Y}\n", {"X": "a, 'b'", "Y": "1\nDROP TABLE t"}
    )
    assert source.text == "SELECT a, 'b' /* 'a, 'b' */ -- it's a, 'b'\n FROM `t` -- 1 DROP TABLE t\n"


def test_a_raw_text() -> None:
    assert substitute("r'${X}'", {"X": "\\d"}).text == "r'\\d'"
    with pytest.raises(SqlExtError) as refused:
        substitute("SELECT r'${X}'", {"X": "it's"})
    assert (refused.value.code, refused.value.column) == ("NAME-013", 10)

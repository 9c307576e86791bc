"""Types: every spelling, and that what DESCRIBE prints can be read again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext import types
from sqlext.dialect.expressions.types import parse_type_text
from sqlext.errors import SqlExtError
from sqlext.types import UNBOUNDED, Field, LogicalType


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("boolean", "BOOLEAN"),
        ("TINYINT", "TINYINT"),
        ("BYTE", "TINYINT"),
        ("SHORT", "SMALLINT"),
        ("INTEGER", "INT"),
        ("LONG", "BIGINT"),
        ("REAL", "FLOAT"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("DECIMAL", "DECIMAL(10, 0)"),
        ("DEC(5)", "DECIMAL(5, 0)"),
        ("NUMERIC(38, 18)", "DECIMAL(38, 18)"),
        ("STRING", "STRING"),
        ("VARCHAR(2147483647)", "STRING"),
        ("VARCHAR", "STRING"),
        ("VARCHAR NOT NULL", "STRING NOT NULL"),
        ("VARCHAR(1)", "VARCHAR(1)"),
        ("CHARACTER VARYING", "STRING"),
        ("VARCHAR(10) CHARACTER SET `UTF-16LE` NOT NULL", "VARCHAR(10) NOT NULL"),
        ("VARCHAR CHARACTER SET `utf-16le`", "STRING"),
        ("ROW<x CHAR(3) CHARACTER SET `UTF-16LE`, y CHARACTER VARYING(2)>", "ROW<`x` CHAR(3), `y` VARCHAR(2)>"),
        ("CHAR VARYING", "STRING"),
        ("VARBINARY", "BYTES"),
        ("VARBINARY(1)", "VARBINARY(1)"),
        ("BINARY VARYING", "BYTES"),
        ("VARCHAR ARRAY", "ARRAY<STRING>"),
        ("ARRAY<VARCHAR>", "ARRAY<STRING>"),
        ("MAP<VARCHAR, VARBINARY>", "MAP<STRING, BYTES>"),
        ("ROW<a VARCHAR, b CHAR, c VARBINARY, d BINARY>", "ROW<`a` STRING, `b` CHAR(1), `c` BYTES, `d` BINARY(1)>"),
        ("MULTISET<VARCHAR NOT NULL>", "MULTISET<STRING NOT NULL>"),
        ("CHARACTER VARYING(3)", "VARCHAR(3)"),
        ("CHAR", "CHAR(1)"),
        ("CHAR(0)", "CHAR(0)"),
        ("CHAR(7)", "CHAR(7)"),
        ("BYTES", "BYTES"),
        ("BINARY", "BINARY(1)"),
        ("BINARY VARYING(4)", "VARBINARY(4)"),
        ("VARBINARY(8)", "VARBINARY(8)"),
        ("DATE", "DATE"),
        ("TIME", "TIME(0)"),
        ("TIME(3) WITHOUT TIME ZONE", "TIME(3)"),
        ("TIMESTAMP", "TIMESTAMP(6)"),
        ("TIMESTAMP(3) WITHOUT TIME ZONE", "TIMESTAMP(3)"),
        ("TIMESTAMP_NTZ", "TIMESTAMP(6)"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ(3)"),
        ("TIMESTAMP_LTZ", "TIMESTAMP_LTZ(6)"),
        ("INTERVAL DAY TO SECOND(3)", "INTERVAL SECOND(3)"),
        ("INTERVAL YEAR(4) TO MONTH", "INTERVAL MONTH"),
        ("INTERVAL DAY(2)", "INTERVAL SECOND(3)"),
        ("INT NOT NULL", "INT NOT NULL"),
        ("INT NULL", "INT"),
        ("INT ARRAY", "ARRAY<INT>"),
        ("INT NOT NULL ARRAY NOT NULL MULTISET", "MULTISET<ARRAY<INT NOT NULL> NOT NULL>"),
        ("ARRAY<ARRAY<INT>>", "ARRAY<ARRAY<INT>>"),
        ("MAP<STRING, INT NOT NULL>", "MAP<STRING, INT NOT NULL>"),
        ("ROW<a INT, `b c` ROW(d STRING NOT NULL)>", "ROW<`a` INT, `b c` ROW<`d` STRING NOT NULL>>"),
        ("STRUCT<a: INT, b: ARRAY<STRING>>", "ROW<`a` INT, `b` ARRAY<STRING>>"),
        ("ROW<a INT 'with comment'>", "ROW<`a` INT>"),
        ("ROW<>", "ROW<>"),
        ("VARIANT", "VARIANT"),
        ("NULL", "NULL"),
    ],
)
def test_spelling(text: str, printed: str) -> None:
    assert str(parse_type_text(text)) == printed


def test_binary_is_bytes_in_spark() -> None:
    assert parse_type_text("BINARY", "spark") == types.BYTES
    assert parse_type_text("BINARY(3)", "spark") == LogicalType("BINARY", 3)
    assert parse_type_text("BINARY VARYING(3)", "spark") == LogicalType("VARBINARY", 3)
    assert parse_type_text("VARBINARY", "spark") == types.BYTES
    assert parse_type_text("VARCHAR", "spark") == types.STRING


def test_comment_of_a_field_is_kept() -> None:
    assert parse_type_text("STRUCT<a: INT COMMENT 'x'>") == types.row(Field("a", types.INT, "x"))


@pytest.mark.parametrize(
    ("text", "column", "code", "message"),
    [
        ("STRNG", 1, "PARSE-007", "`STRNG` is not a type"),
        ("ARRAY<INT", 10, "PARSE-002", "expected >, found the end of the statement"),
        ("DECIMAL(39, 0)", 9, "PARSE-006", "the parameter of DECIMAL must be between 1 and 38"),
        ("DECIMAL(5, 6)", 12, "PARSE-006", "the parameter of DECIMAL's scale must be between 0 and 5"),
        ("TIMESTAMP(10)", 11, "PARSE-006", "the parameter of TIMESTAMP must be between 0 and 9"),
        ("CHAR(9999999999999999999)", 6, "PARSE-006", "the parameter of CHAR must be between 0 and 2147483647"),
        ("TIMESTAMP(3) WITH TIME ZONE", 14, "PARSE-004", "TIMESTAMP WITH TIME ZONE is not part of this dialect"),
        ("INTERVAL YEAR TO SECOND", 18, "PARSE-006", "an interval cannot span YEAR TO SECOND"),
        ("RAW('c', 's')", 1, "PARSE-004", "the type RAW is not part of this dialect"),
        ("VARCHAR VARYING", 9, "PARSE-002", "expected the end of the type, found `VARYING`"),
        ("VARBINARY VARYING(3)", 11, "PARSE-002", "expected the end of the type, found `VARYING`"),
        ("VARCHAR(3) CHARACTER SET utf8", 26, "PARSE-006", "a text cannot have the character set `utf8`"),
        ("STRING CHARACTER SET utf8", 8, "PARSE-002", "expected the end of the type, found `CHARACTER`"),
        ("BINARY CHARACTER SET utf8", 8, "PARSE-002", "expected the end of the type, found `CHARACTER`"),
        ("INT INT", 5, "PARSE-002", "expected the end of the type, found `INT`"),
        ("", 1, "PARSE-002", "expected a type, found the end of the statement"),
    ],
)
def test_refusals(text: str, column: int, code: str, message: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        parse_type_text(text)
    assert (caught.value.code, caught.value.column, caught.value.message) == (code, column, message)


_LENGTHS = st.one_of(st.just(UNBOUNDED), st.integers(0, 5000))
_SCALARS = st.one_of(
    st.sampled_from([*"BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DATE NULL VARIANT".split()]).map(LogicalType),
    st.sampled_from([types.INTERVAL_DAY_TIME, types.INTERVAL_YEAR_MONTH]),
    st.builds(LogicalType, st.sampled_from(["CHAR", "VARCHAR", "BINARY", "VARBINARY"]), _LENGTHS),
    st.builds(LogicalType, st.sampled_from(["TIME", "TIMESTAMP", "TIMESTAMP_LTZ"]), st.integers(0, 9)),
    st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: types.decimal(p, s))),
)
_NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8)


def _nested(inner: st.SearchStrategy[LogicalType]) -> st.SearchStrategy[LogicalType]:
    fields = st.lists(st.builds(Field, _NAMES, inner), max_size=4, unique_by=lambda f: f.name)
    return st.one_of(
        inner.map(types.array),
        inner.map(types.multiset),
        st.builds(types.map_of, inner, inner),
        fields.map(lambda fs: types.row(*fs)),
        inner.map(LogicalType.not_null),
    )


@given(st.recursive(_SCALARS, _nested, max_leaves=12))
def test_what_is_printed_can_be_read_again(t: LogicalType) -> None:
    assert parse_type_text(str(t)) == t

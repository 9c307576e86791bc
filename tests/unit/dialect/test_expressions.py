"""Expressions: each construct, and how tightly operators bind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.errors import SqlExtError

BOTH = {
    # names, fields, elements
    "a": "a",
    "`a``b`.`c d`": "a`b.c d",
    "t.*": "t.*",
    "a.b[0].c": "FieldAccess(Subscript(a.b, 0), c)",
    "(a).b": "FieldAccess(Paren(a), b)",
    "f(x).y[1]": "Subscript(FieldAccess(Call(f, args=[x]), y), 1)",
    "window.end": "window.end",
    # literals
    "5": "5",
    ".5 + 1.5e3": "Binary(+, .5, 1.5e3)",
    "'it''s'": '"it\'s"',
    "'a' 'b'": "'ab'",
    "X'1F'": "BINARY 1F",
    r"U&'\0041b'": "'Ab'",
    "TRUE": "BOOLEAN TRUE",
    "null": "NULL NULL",
    "DATE '2024-01-01'": "DATE 2024-01-01",
    "TIME '10:00:00'": "TIME 10:00:00",
    "TIMESTAMP '2024-01-01 00:00:00'": "TIMESTAMP 2024-01-01 00:00:00",
    "TIMESTAMP_LTZ '2024-01-01'": "TIMESTAMP_LTZ 2024-01-01",
    "date": "date",
    "timestamp": "timestamp",
    # intervals
    "INTERVAL '1' DAY": "Interval(1, DAY)",
    "INTERVAL 5 MINUTES": "Interval(5, MINUTE)",
    "INTERVAL -5 SECONDS": "Interval(-5, SECOND)",
    "INTERVAL - '5' SECOND": "Interval(-5, SECOND)",
    "INTERVAL '-5' SECOND(3)": "Interval(-5, SECOND)",
    "INTERVAL '1:30' MINUTE TO SECOND": "Interval(1:30, MINUTE, to_unit=SECOND)",
    "INTERVAL '10' DAY(3) TO SECOND(6)": "Interval(10, DAY, to_unit=SECOND)",
    "INTERVAL '5 minutes'": "Interval(5, MINUTE)",
    "interval": "interval",
    "interval + 1": "Binary(+, interval, 1)",
    # operators
    "1 + 2 * 3 - 4": "Binary(-, Binary(+, 1, Binary(*, 2, 3)), 4)",
    "- - -a": "Unary(-, Unary(-, Unary(-, a)))",
    "NOT NOT a = b": "Unary(NOT, Unary(NOT, Binary(=, a, b)))",
    "!x AND y": "Binary(AND, Unary(NOT, x), y)",
    "a OR b AND NOT c": "Binary(OR, a, Binary(AND, b, Unary(NOT, c)))",
    "a <> b <> c": "Binary(<>, Binary(<>, a, b), c)",
    "a IS DISTINCT FROM b": "Binary(IS DISTINCT FROM, a, b)",
    "a IS NOT DISTINCT FROM b": "Binary(IS NOT DISTINCT FROM, a, b)",
    "(a, b) OVERLAPS (c, d)": "Binary(OVERLAPS, RowValue([a, b]), RowValue([c, d]))",
    "a BETWEEN 1 AND 2 AND b": "Binary(AND, Between(a, 1, 2), b)",
    "a NOT BETWEEN SYMMETRIC 1 AND 2 + 3": "Between(a, 1, Binary(+, 2, 3), negated=True, symmetric=True)",
    "a IN (1, 2)": "InList(a, [1, 2])",
    "a NOT IN ((1), (2))": "InList(a, [Paren(1), Paren(2)], negated=True)",
    "a IN (SELECT b FROM t)": "InQuery(a, Query(Select([SelectItem(b)], from_=TableRef([t]))))",
    "(a, b) IN ((1, 2))": "InList(RowValue([a, b]), [RowValue([1, 2])])",
    "a LIKE 'x' ESCAPE '#'": "Like(LIKE, a, 'x', escape='#')",
    "a SIMILAR TO 'x'": "Like(SIMILAR TO, a, 'x')",
    "a IS NOT NULL": "IsTest(a, NULL, negated=True)",
    "a IS NULL IS NOT TRUE": "IsTest(IsTest(a, NULL), TRUE, negated=True)",
    "a IS UNKNOWN": "IsTest(a, UNKNOWN)",
    "a IS NOT JSON OBJECT": "IsTest(a, JSON OBJECT, negated=True)",
    "a = b IS NULL": "IsTest(Binary(=, a, b), NULL)",
    # casts
    "CAST(a AS DECIMAL(10, 2))": "Cast(a, DECIMAL(10, 2))",
    "TRY_CAST(a AS ROW<x INT, y ARRAY<STRING>>)": "Cast(a, ROW<`x` INT, `y` ARRAY<STRING>>, try_=True)",
    # constructors
    "(1, 2)": "RowValue([1, 2])",
    "ROW(1, a)": "RowValue([1, a])",
    "ROW()": "RowValue([])",
    "ARRAY[1, 2][1]": "Subscript(ArrayValue([1, 2]), 1)",
    "ARRAY[]": "ArrayValue([])",
    "MAP['a', 1]": "MapValue(['a', 1])",
    "MULTISET[1]": "Call(MULTISET, args=[1])",
    "map": "map",
    # queries
    "(SELECT 1) + 1": "Binary(+, ScalarQuery(Query(Select([SelectItem(1)]))), 1)",
    "((SELECT 1))": "ScalarQuery(Query(Select([SelectItem(1)])))",
    "((SELECT 1) + 1)": "Paren(Binary(+, ScalarQuery(Query(Select([SelectItem(1)]))), 1))",
    "((SELECT 1) UNION (SELECT 2))": (
        "ScalarQuery(Query(SetOperation(UNION, False, Query(Select([SelectItem(1)])), Query(Select([SelectItem(2)])))))"
    ),
    "EXISTS (SELECT 1)": "Exists(Query(Select([SelectItem(1)])))",
    "a <> ALL (SELECT 1)": "InQuery(a, Query(Select([SelectItem(1)])), negated=True, quantified=True)",
    "a = ANY (SELECT 1)": "InQuery(a, Query(Select([SelectItem(1)])), quantified=True)",
    "ARRAY(SELECT 1)": "Call(ARRAY, args=[ScalarQuery(Query(Select([SelectItem(1)])))])",
    # CASE
    "CASE a WHEN 1 THEN 2 ELSE 3 END": "Case(a, [When(1, 2)], otherwise=3)",
    "CASE WHEN a THEN b END": "Case(None, [When(a, b)])",
    # calls
    "f()": "Call(f)",
    "db.f(1)": "Call(db.f, args=[1])",
    "COUNT(*)": "Call(COUNT, args=[*])",
    "COUNT(DISTINCT a, b)": "Call(COUNT, args=[a, b], distinct=True)",
    "COUNT(ALL a)": "Call(COUNT, args=[a])",
    "GROUPING(a, b)": "Call(GROUPING, args=[a, b])",
    "LEFT(a, 1)": "Call(LEFT, args=[a, 1])",
    "CURRENT_TIMESTAMP": "Call(CURRENT_TIMESTAMP, bare=True)",
    "CURRENT_TIMESTAMP(3)": "Call(CURRENT_TIMESTAMP, args=[3])",
    "LOCALTIME": "Call(LOCALTIME, bare=True)",
    "f(a => 1, `b` => TABLE t)": "Call(f, args=[NamedArgument(a, 1), NamedArgument(b, TableArgument(TableRef([t])))])",
    "f(DEFAULT)": "Call(f, args=[Keyword(DEFAULT)])",
    "SUM(a) FILTER (WHERE a > 1)": "Call(SUM, args=[a], filter=Binary(>, a, 1))",
    "LISTAGG(a, ',') WITHIN GROUP (ORDER BY b DESC)": (
        "Call(LISTAGG, args=[a, ','], order_by=[OrderItem(b, descending=True)])"
    ),
    "ARRAY_AGG(a ORDER BY b NULLS LAST)": "Call(ARRAY_AGG, args=[a], order_by=[OrderItem(b, nulls=LAST)])",
    "FIRST_VALUE(a IGNORE NULLS)": "Call(FIRST_VALUE, args=[a], clauses=[IGNORE NULLS])",
    "LAG(a) RESPECT NULLS OVER w": "Call(LAG, args=[a], clauses=[RESPECT NULLS], over=OverSpec(name=w))",
    "SUM(a) OVER (PARTITION BY b, c ORDER BY d ROWS BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW)": (
        "Call(SUM, args=[a], over=OverSpec(partition_by=[b, c], order_by=[OrderItem(d)], "
        "frame=Frame(ROWS, FrameBound(PRECEDING, offset=Interval(1, DAY)), end=FrameBound(CURRENT ROW))))"
    ),
    "SUM(a) OVER (ORDER BY b RANGE UNBOUNDED PRECEDING)": (
        "Call(SUM, args=[a], over=OverSpec(order_by=[OrderItem(b)], "
        "frame=Frame(RANGE, FrameBound(UNBOUNDED PRECEDING))))"
    ),
    "SUM(a) OVER (ROWS BETWEEN unbounded PRECEDING AND 2 + 1 FOLLOWING)": (
        "Call(SUM, args=[a], over=OverSpec(frame=Frame(ROWS, FrameBound(UNBOUNDED PRECEDING), "
        "end=FrameBound(FOLLOWING, offset=Binary(+, 2, 1)))))"
    ),
    "SUM(a) OVER ()": "Call(SUM, args=[a], over=OverSpec())",
    "SUM(a) OVER (w ORDER BY b)": "Call(SUM, args=[a], over=OverSpec(name=w, order_by=[OrderItem(b)]))",
    # keyword syntax
    "EXTRACT(YEAR FROM ts)": "Call(EXTRACT, args=[Keyword(YEAR), ts])",
    "FLOOR(ts TO HOUR)": "Call(FLOOR, args=[ts, Keyword(HOUR)])",
    "CEIL(a)": "Call(CEIL, args=[a])",
    "TRIM(a)": "Call(TRIM, args=[a])",
    "TRIM(BOTH 'a' FROM b)": "Call(TRIM, args=[Keyword(BOTH), 'a', b])",
    "TRIM('a' FROM b)": "Call(TRIM, args=[Keyword(BOTH), 'a', b])",
    "TRIM(LEADING FROM b)": "Call(TRIM, args=[Keyword(LEADING), b])",
    "POSITION('a' IN b)": "Call(POSITION, args=['a', b])",
    "SUBSTRING(a FROM 1 FOR 2)": "Call(SUBSTRING, args=[a, 1, 2])",
    "SUBSTRING(a, 1, 2)": "Call(SUBSTRING, args=[a, 1, 2])",
    "OVERLAY(a PLACING b FROM 1 FOR 2)": "Call(OVERLAY, args=[a, b, 1, 2])",
    "TIMESTAMPDIFF(DAY, a, b)": "Call(TIMESTAMPDIFF, args=[Keyword(DAY), a, b])",
    "TIMESTAMPADD(HOUR, 1, a)": "Call(TIMESTAMPADD, args=[Keyword(HOUR), 1, a])",
    "DATEDIFF(a, b)": "Call(DATEDIFF, args=[a, b])",
    # JSON
    "JSON_VALUE(j, '$.a' RETURNING INT NULL ON EMPTY DEFAULT 'x' ON ERROR)": (
        "Call(JSON_VALUE, args=[j, '$.a'], clauses=[RETURNING INT, NULL ON EMPTY, DEFAULT 'x' ON ERROR])"
    ),
    "JSON_QUERY(j, '$.a' WITH CONDITIONAL ARRAY WRAPPER EMPTY OBJECT ON ERROR)": (
        "Call(JSON_QUERY, args=[j, '$.a'], clauses=[WITH CONDITIONAL ARRAY WRAPPER, EMPTY OBJECT ON ERROR])"
    ),
    "JSON_EXISTS(j, 'lax $.a' UNKNOWN ON ERROR)": "Call(JSON_EXISTS, args=[j, 'lax $.a'], clauses=[UNKNOWN ON ERROR])",
    "JSON_OBJECT(KEY 'a' VALUE b, 'c' VALUE 1 ABSENT ON NULL)": (
        "Call(JSON_OBJECT, args=['a', b, 'c', 1], clauses=[ABSENT ON NULL])"
    ),
    "JSON_OBJECT()": "Call(JSON_OBJECT)",
    "JSON_OBJECTAGG(KEY k VALUE v NULL ON NULL)": "Call(JSON_OBJECTAGG, args=[k, v], clauses=[NULL ON NULL])",
    "JSON_ARRAY(1, 2 NULL ON NULL)": "Call(JSON_ARRAY, args=[1, 2], clauses=[NULL ON NULL])",
    "JSON_ARRAYAGG(a ORDER BY b)": "Call(JSON_ARRAYAGG, args=[a], order_by=[OrderItem(b)])",
    # what Spark's users write
    "x -> f(x)": "Lambda([Parameter(x)], Call(f, args=[Parameter(x)]))",
    "transform(a, (x, i) -> x + b)": "Call(transform, args=[a, Lambda([Parameter(x), Parameter(i)], "
    "Binary(+, Parameter(x), b))])",
    "EXISTS(a, x -> x > 1)": "Call(EXISTS, args=[a, Lambda([Parameter(x)], Binary(>, Parameter(x), 1))])",
    "struct(a AS x, b)": "Call(struct, args=[SelectItem(a, alias=x), b])",
    "end": "end",
    "user": "user",
}


SPARKS = {
    "POSITION('a', b)": "Call(POSITION, args=['a', b])",
    "a DIV b % 2": "Binary(%, Binary(DIV, a, b), 2)",
    "~a & b | c ^ d << 1": "Binary(|, Binary(&, Unary(~, a), b), Binary(^, c, Binary(<<, d, 1)))",
    "a <=> b": "Binary(<=>, a, b)",
    "a == b": "Binary(==, a, b)",
    "a NOT RLIKE 'x'": "Like(RLIKE, a, 'x', negated=True)",
    "a ILIKE 'x' AND b REGEXP 'y'": "Binary(AND, Like(ILIKE, a, 'x'), Like(REGEXP, b, 'y'))",
    "-a::INT::STRING": "Unary(-, Cast(Cast(a, INT, operator=True), STRING, operator=True))",
}


@pytest.mark.parametrize(
    ("text", "mode"), [*((t, mode) for t in BOTH for mode in ("spark", "flink")), *((t, "spark") for t in SPARKS)]
)
def test_construct(text: str, mode: str, shape: Callable[[Any], str]) -> None:
    tree = parse_expression_text(text, mode)
    assert shape(tree) == (BOTH | SPARKS)[text]
    assert tree.span.text == text


@pytest.mark.parametrize(
    ("text", "spark", "flink"),
    [
        ("a + b || c", "Binary(||, Binary(+, a, b), c)", "Binary(+, a, Binary(||, b, c))"),
        ("a || b * c", "Binary(||, a, Binary(*, b, c))", "Binary(*, Binary(||, a, b), c)"),
        ("a = b IN (c)", "InList(Binary(=, a, b), [c])", "Binary(=, a, InList(b, [c]))"),
        ("a = b LIKE c", "Like(LIKE, Binary(=, a, b), c)", "Binary(=, a, Like(LIKE, b, c))"),
        (r"'a\nb'", r"'a\nb'", r"'a\\nb'"),
    ],
)
def test_modes_differ(text: str, spark: str, flink: str, shape: Callable[[Any], str]) -> None:
    assert shape(parse_expression_text(text, "spark")) == spark
    assert shape(parse_expression_text(text, "flink")) == flink


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("(a - b) DAY TO SECOND(3)", "Difference(a, b, DAY, to_unit=SECOND)"),
        ("(a - b) MONTH > c", "Binary(>, Difference(a, b, MONTH), c)"),
    ],
)
def test_difference_with_a_unit(text: str, tree: str, shape: Callable[[Any], str]) -> None:
    assert shape(parse_expression_text(text, "flink")) == tree


def test_spark_number_suffixes(shape: Callable[[Any], str]) -> None:
    assert shape(parse_expression_text("5L + 1.5BD")) == "Binary(+, 5L, 1.5BD)"


@pytest.mark.parametrize(
    ("text", "column", "code", "message"),
    [
        ("1 +", 4, "PARSE-002", "expected an expression, found the end of the statement"),
        ("(1", 3, "PARSE-002", "expected ), found the end of the statement"),
        ("a b", 3, "PARSE-002", "expected the end of the expression, found `b`"),
        ("a = FROM", 5, "PARSE-002", "expected an expression, found `FROM`"),
        ("CASE WHEN a THEN b", 19, "PARSE-002", "expected END, found the end of the statement"),
        ("CASE a THEN b END", 8, "PARSE-002", "expected WHEN, found `THEN`"),
        ("f(1,)", 5, "PARSE-002", "expected an expression, found `)`"),
        (
            "SUM(a) OVER (ROWS 2)",
            20,
            "PARSE-002",
            "expected UNBOUNDED PRECEDING, CURRENT ROW or a number or interval PRECEDING, found `)`",
        ),
        ("SUM(a) OVER (ROWS BETWEEN 2 PRECEDING)", 38, "PARSE-002", "expected AND, found `)`"),
        ("SUM(a) OVER (GROUPS 2 PRECEDING)", 14, "PARSE-004", "a frame of GROUPS is not part of this dialect"),
        ("a BETWEEN 1 OR 2", 13, "PARSE-002", "expected AND, found `OR`"),
        ("a IS 5", 6, "PARSE-002", "expected NULL, TRUE, FALSE, UNKNOWN, JSON or DISTINCT FROM, found `5`"),
        ("CAST(a INT)", 8, "PARSE-002", "expected AS, found `INT`"),
        ("CAST(a AS INTT)", 11, "PARSE-007", "`INTT` is not a type"),
        ("INTERVAL '5' SECONT", 14, "PARSE-002", "expected a time unit after the interval's value, found `SECONT`"),
        ("INTERVAL 1 DAY 2 HOURS", 1, "PARSE-004", "an interval of several units is not part of this dialect"),
        ("INTERVAL '1 day 2 hours'", 1, "PARSE-004", "an interval of several units is not part of this dialect"),
        ("EXTRACT('x' FROM a)", 9, "PARSE-002", "expected a time unit (YEAR, MONTH, DAY, ...), found `'x'`"),
        ("a = ?", 5, "PARSE-004", "a parameter marker is not part of this dialect"),
        ("X'1G'", 1, "PARSE-008", "X'1G' is not a binary literal"),
        ("'abc", 1, "PARSE-001", "this string is never closed"),
        ("a + /* b", 5, "PARSE-001", "this comment is never closed"),
    ],
)
def test_refusals(text: str, column: int, code: str, message: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        parse_expression_text(text)
    assert (caught.value.code, caught.value.column, caught.value.message) == (code, column, message)


def test_spans_exclude_what_is_around() -> None:
    tree = parse_expression_text(" ( a  +/* x */ b )*c ")
    assert [node.span.text for node in tree.walk()] == [
        "( a  +/* x */ b )*c",
        "( a  +/* x */ b )",
        "a  +/* x */ b",
        "a",
        "b",
        "c",
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *((f"a {op} b", "PARSE-010") for op in ("!=", "==", "<=>", "&", "|", "^", "<<", ">>", ">>>", "DIV", "RLIKE")),
        *((text, "PARSE-010") for text in ("~a", "a::INT", "a NOT ILIKE 'b'", "a REGEXP 'b'", "f(a[1]::INT)")),
        ('a = "b"', "PARSE-011"),
    ],
)
def test_what_only_spark_writes(text: str, code: str) -> None:
    """Flink's parser takes none of them (errors/not_equals_bang, errors/double_quoted_string, and asked)."""
    parse_expression_text(text, "spark")
    with pytest.raises(SqlExtError) as caught:
        parse_expression_text(text, "flink")
    assert (caught.value.code, caught.value.hint is not None) == (code, True)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("COUNT *", "write COUNT(*)"),
        ("count * FROM", "write COUNT(*)"),
        ("n * FROM", "nothing stands behind `*`"),
        ("n = AND m", "nothing stands behind `=`"),
        ("(n || )", "nothing stands behind `||`"),
        ("FROM", "write `FROM` in backticks if it is a name"),
    ],
)
def test_an_operator_without_an_operand_says_so(text: str, hint: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        parse_expression_text(text, "spark")
    assert (caught.value.code, caught.value.hint) == ("PARSE-002", hint)


@pytest.mark.parametrize("length", ["10", "'10'", "1.5"])
def test_a_length_of_time_without_its_word(length: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        parse_expression_text(f"(ts - {length} SECONDS)", "spark")
    assert caught.value.hint == f"write INTERVAL '{length.strip(chr(39))}' SECOND"

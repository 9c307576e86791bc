"""Rendering without Spark: what is copied, what is spliced, what is replaced."""

from __future__ import annotations

import pytest
from recorded_flink import Strs

from sqlext import quoting
from sqlext import types as t
from sqlext.analysis import functions
from sqlext.analysis.types.calls import contains_aggregate, is_aggregate
from sqlext.analysis.types.coercion import can_implicitly_cast
from sqlext.dialect.ast.expressions import Call, ColumnRef, Node
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.errors import SqlExtError
from sqlext.rewrite.expressions.renderer import cast_to, render
from sqlext.source import SourceText
from sqlext.types import LogicalType


def spark(expression: str) -> str:
    return render(parse_expression_text(expression, "spark"), Strs("spark"))


def flink(expression: str, zone: str = "UTC") -> str:
    return render(parse_expression_text(expression, "flink"), Strs("flink", zone=zone))


PLAIN_SPARK = (
    "n + 1  -  (l*2)",
    "a.b.c",
    "CAST( x AS  DECIMAL(10, 2) )",
    "x :: INT",
    "avg(DISTINCT n)  FILTER (WHERE  n > 0)",
    "CASE n WHEN 1 THEN 'a' /* one */ ELSE 'b' END",
    "s LIKE 'a\\_%'",
    "concat(s, 'it\\'s', \"double\")",
    "ai[0]",
    "mp['k']",
    "transform(ai, v -> v + 1)",
    "aggregate(ai, 0, (acc, v) -> acc + v)",
    "date_trunc('HOUR', ts)",
    "floor(x)",
    "ceil(x, 2)",
    "extract(YEAR FROM ts)",
    "trim(BOTH 'x' FROM s)",
    "substring(s FROM 2 FOR 3)",
    "timestampdiff(DAY, ts, ts)",
    "listagg(s, '-') WITHIN GROUP (ORDER BY s DESC)",
    "row_number() OVER (PARTITION BY n ORDER BY ts DESC NULLS LAST)",
    "sum(n) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "first_value(n) IGNORE NULLS",
    "n IN (1, 2)  AND NOT b",
    "s RLIKE 'a+'",
    "n BETWEEN 1 AND 2 OR b IS NOT TRUE",
    "TIMESTAMP '2024-01-01 00:00:00' + INTERVAL 1 DAY",
    "INTERVAL '1:30' MINUTE TO SECOND",
    "struct(n AS a, s AS b)",
    "to_timestamp(s, 'yyyy')",
    "(SELECT max(n) FROM t)",
    "1.5e3 + 5L",
    "n DIV 2 % 3 | 4 & 5 ^ 6",
)


@pytest.mark.parametrize("expression", PLAIN_SPARK)
def test_plain_spark_is_byte_identical(expression: str) -> None:
    assert spark(expression) == expression


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("1 + SPLIT_INDEX(s, ',', 0)  -- end", "1 + get(split(nullif(s, ''), ','), 0)"),
        ("FLOOR(ts TO DAY)", "CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ)"),
        ("TO_TIMESTAMP_LTZ(l, 3)", "timestamp_millis(l)"),
        ("CAST(s AS TIMESTAMP(3))", "CAST(s AS TIMESTAMP_NTZ)"),
        ("CAST(s AS BYTES)", "CAST(s AS BINARY)"),
        ("n BETWEEN SYMMETRIC 2 AND 1", "(n BETWEEN 2 AND 1 OR n BETWEEN 1 AND 2)"),
        ("ARRAY[1, 2][0]", "array(1, 2)[0]"),
        ("U&'\\00e4'", "'ä'"),
        ("_utf8'ä'", "'ä'"),
        ("_LATIN1'it' || s", "'it' || s"),
        ("s SIMILAR TO 'a%'", "(s RLIKE '^(?s:a.*)$')"),
        ("IS_DIGIT(s)", "coalesce(s RLIKE '^\\\\p{Nd}+$', false)"),
        ("transform(ai, n -> n + SPLIT_INDEX(s, ',', n))", "transform(ai, n -> n + get(split(nullif(s, ''), ','), n))"),
    ],
)
def test_flinks_forms_are_known_in_spark_mode(expression: str, text: str) -> None:
    assert spark(expression) == text


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("n  >  1 AND s LIKE 'a%'", "n  >  1 AND s LIKE 'a%'"),
        ("ts - INTERVAL '5' SECOND", "ts - INTERVAL '5' SECOND"),
        ("UPPER( s )  || 'x'", "UPPER( s )  || 'x'"),
        ("COUNT( * )", "COUNT( * )"),
        ("'it''s'", "'it\\'s'"),
        ("'a\\b'", "'a\\\\b'"),
        ("TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP_NTZ '2024-01-01 00:00:00'"),
        ("ai[1]", "get(ai, 0)"),
        ("ai[id]", "get(ai, id - 1)"),
        ("mp['a']", "mp['a']"),
        ("n / 2", "CAST(n DIV 2 AS INT)"),
        ("x / 2", "x / 2"),
        ("(id + 1) / (2 - id)", None),
        ("SUM(x)", "sum(x)"),
        ("SUM(n)", "CAST(shiftright(shiftleft(sum(n), 32), 32) AS INT)"),
        ("AVG(DISTINCT l) FILTER (WHERE b)", None),
        ("DATE_FORMAT(ts, 'yyyy')", "date_format(ts, 'yyyy')"),
        ("FLOOR(ts TO HOUR)", "CAST(date_trunc('HOUR', ts) AS TIMESTAMP_NTZ)"),
        ("LISTAGG(s)", "listagg(s, ',')"),
        ("TYPEOF(de)", "'DECIMAL(10, 2)'"),
        ("de * 2", "(de * CAST(2 AS DECIMAL(10, 0)))"),
        ("1 + 2", "1 + 2"),
        ("-0.0E0", "0.0E0"),
        ("UPPER('straße')", "left(UPPER('straße'), 6)"),
        ("REPLACE(s, 'a',  '')", "REPLACE(s, 'a',  '')"),
        ("REPLACE(s, '', '$')", "regexp_replace(s, '', '\\\\$')"),
        ("CAST(X'41' AS STRING)", "make_valid_utf8(CAST(X'41' AS STRING))"),
        ("CAST('2024-2-9' AS DATE)", "CAST('2024-2-9' AS DATE)"),
        ("JSON_VALUE(j, '$.a')", None),
    ],
)
def test_flink_mode(expression: str, text: str | None) -> None:
    if text is not None:
        assert flink(expression) == text
    else:
        assert flink(expression) != expression


@pytest.mark.parametrize(
    ("separator", "pattern"),
    [
        ("'.'", "'\\\\.'"),
        ("''", "'\\\\p{javaWhitespace}'"),
        ("NULL", "concat('\\\\Q', NULL, '\\\\E')"),
        ("44", "concat('\\\\Q', CASE WHEN 44 BETWEEN 1 AND 255 THEN chr(44) END, '\\\\E')"),
        ("j", "CASE WHEN j = '' THEN '\\\\p{javaWhitespace}' ELSE concat('\\\\Q', j, '\\\\E') END"),
    ],
)
def test_the_separator_of_split_index(separator: str, pattern: str) -> None:
    assert flink(f"SPLIT_INDEX(s, {separator}, 1)") == f"get(split(nullif(s, ''), {pattern}), 1)"


def test_a_zone_with_gaps_never_leaves_ntz() -> None:
    assert "date_trunc" not in flink("FLOOR(ts TO HOUR)", "America/New_York")
    assert " VV" in flink("TO_TIMESTAMP(s, 'yyyy-MM-dd')", "America/New_York")
    assert " VV" not in flink("TO_TIMESTAMP(s, 'yyyy-MM-dd')", "GMT+03:00")


def test_days_on_an_instant_are_24_hours() -> None:
    assert flink("lz + INTERVAL '1' DAY") == "lz + INTERVAL '1' DAY"
    assert flink("lz + INTERVAL '1' DAY", "America/New_York").startswith("timestamp_micros(")


class _Replacing(Strs):
    def column(self, ref: ColumnRef) -> str | None:
        return "t.`n`" if ref.parts == ("n",) else None

    def replacement(self, node: Node) -> str | None:
        return "w.start" if isinstance(node, Call) and node.function == "TUMBLE_START" else None


def test_columns_and_calls_are_replaced_by_the_context() -> None:
    node = parse_expression_text("TUMBLE_START(ts, INTERVAL '1' DAY)  > n /* x */ + l", "spark")
    assert render(node, _Replacing("spark")) == "w.start  > t.`n` /* x */ + l"


def test_the_parameters_of_a_lambda_are_no_columns() -> None:
    node = parse_expression_text("transform(ai, n -> n + 1) [n]", "spark")
    assert render(node, _Replacing("spark")) == "transform(ai, n -> n + 1) [t.`n`]"


def test_text_between_stays_when_children_change() -> None:
    assert (
        flink("CASE  WHEN b THEN ai[1] /* one */ ELSE  n END") == "CASE  WHEN b THEN get(ai, 0) /* one */ ELSE  n END"
    )


def test_every_entry_without_rendering_is_sparks_own() -> None:
    for name, function in functions.entries().items():
        if function.flink is None and not name.startswith(("TUMBLE", "HOP", "SESSION", "CUMULATE", "MATCH_")):
            assert functions.is_spark_function(name) or name in _PLANNERS, name


#: Functions that the planner replaces or refuses.
_PLANNERS = {"SOURCE_WATERMARK", "DESCRIPTOR", "GROUP_ID", "MULTISET"}


def test_aggregates_are_told_from_windows() -> None:
    def call(text: str) -> Call:
        node = parse_expression_text(text, "spark")
        assert isinstance(node, Call)
        return node

    assert is_aggregate(call("SUM(n)"), "flink")
    assert is_aggregate(call("max_by(a, b)"), "spark")
    assert not is_aggregate(call("SUM(n) OVER (ORDER BY ts)"), "flink")
    assert not is_aggregate(call("UPPER(s)"), "flink")
    assert contains_aggregate(parse_expression_text("1 + COALESCE(SUM(n), 0)", "flink"))
    assert not contains_aggregate(parse_expression_text("(SELECT MAX(n) FROM t)", "flink"))


@pytest.mark.parametrize(
    ("from_", "to", "taken"),
    [
        (t.TIMESTAMP3, t.INT, False),
        (t.INT, t.BIGINT, True),
        (t.BIGINT, t.INT, False),
        (t.INT, t.STRING, False),
        (t.char(3), t.STRING, True),
        (t.DOUBLE, t.decimal(10, 2), True),
        (t.decimal(38, 6), t.decimal(10, 2), True),
        (t.TIMESTAMP3, t.TIMESTAMP_LTZ3, True),
        (t.STRING, t.TIMESTAMP3, False),
        (t.NULL, t.INT, True),
        (None, t.INT, True),
        (t.array(t.INT), t.array(t.BIGINT), True),
        (t.array(t.STRING), t.array(t.INT), False),
        (t.row(t.Field("a", t.INT)), t.row(t.Field("b", t.BIGINT)), True),
    ],
)
def test_implicit_casts_of_sinks(from_: LogicalType | None, to: LogicalType, taken: bool) -> None:
    assert can_implicitly_cast(from_, to) is taken


@pytest.mark.parametrize(
    ("from_", "to", "text"),
    [
        (t.INT, t.INT, "v"),
        (t.STRING, t.STRING, "v"),
        (t.TIMESTAMP3, t.timestamp(6), "v"),
        (t.INT, t.BIGINT, "CAST(v AS BIGINT)"),
        (t.decimal(38, 6), t.decimal(10, 2), "TRY_CAST(v AS DECIMAL(10, 2))"),
        (t.STRING, LogicalType("VARCHAR", 3), "left(v, 3)"),
        (t.STRING, t.char(3), "rpad(v, 3, ' ')"),
        (None, t.INT, "CAST(v AS INT)"),
    ],
)
def test_casts_into_sinks(from_: LogicalType | None, to: LogicalType, text: str) -> None:
    assert cast_to("v", from_, to, "flink") == text


@pytest.mark.parametrize("value", ["", "it's", "a\\b", "line\nbreak", "`tick`", "日本"])
def test_a_quoted_string_reads_back(value: str) -> None:
    quoted = quoting.string(value)
    node = parse_expression_text(quoted, "spark")
    assert getattr(node, "value", None) == value
    assert SourceText.of(quoted).text == quoted


@pytest.mark.parametrize(
    "expression",
    [
        "/".join(["x"] * 100),
        "+".join(["l"] * 100),
        "*".join(["l"] * 100),
        "-".join(["n"] * 100),
        "LN(" * 50 + "x" + ")" * 50,
        "CAST(CAST(" * 30 + "x" + " AS INT) AS DOUBLE)" * 30,
    ],
    ids=lambda text: text[:6],
)
def test_nesting_costs_what_it_uses(expression: str) -> None:
    assert len(flink(expression)) < 400 * len(expression)


def test_a_boolean_is_compared_with_a_text_as_text() -> None:
    assert flink("b = 'true'") == "(upper(CAST(b AS STRING)) = 'true')"


@pytest.mark.parametrize(
    "path", ["$.a[last]", "$.a[-1]", "$.a[0,1]", "$.a[1:]", "$..b", "$.a[?(@.b>3)]", "$.a.size()", "$.", ""]
)
def test_steps_of_json_paths_that_are_not_supported(path: str) -> None:
    with pytest.raises(SqlExtError, match="FUNC-013") as refused:
        flink(f"JSON_VALUE(j, '{path}')")
    assert refused.value.column == len("JSON_VALUE(j, ") + 1


@pytest.mark.parametrize(
    "path", ["$", "$.a b", "$.a-b:c[0]", "a.b", "lax $.a", "$.a[*].b", '$["a b"]["c"]', "$[''a.b'']"]
)
def test_steps_of_json_paths(path: str) -> None:
    assert "get_json_object" in flink(f"JSON_VALUE(j, '{path}')")


def test_long_operands_that_stand_once_are_not_bound() -> None:
    """A lambda around them could hold no aggregate."""
    long = " || ".join(["s"] * 800)
    assert flink(f"IFNULL(MAX({long}), {long} || 'x')") == f"IFNULL(MAX({long}), {long} || 'x')"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("ARRAY[f, 1]", "array(f, CAST(1 AS FLOAT))"),
        ("CASE WHEN b THEN f ELSE n END", "CASE WHEN b THEN f ELSE CAST(n AS FLOAT) END"),
        ("COALESCE(de, l)", "COALESCE(de, CAST(l AS DECIMAL(21, 2)))"),
        ("2147483647 + 1", "CAST(-2147483648 AS INT)"),
        ("2147483647 * 2", "CAST(-2 AS INT)"),
        ("CONCAT_WS('-', s, s)", "CONCAT_WS('-', s, s)"),
    ],
)
def test_types_that_meet(expression: str, text: str) -> None:
    assert flink(expression) == text

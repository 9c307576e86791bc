"""Spark SQL that is translated gives in Arrow what Spark gives for it, and keys have Spark's hash."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from sqlext.errors import SqlExtError
from sqlext.rewrite.arrow.pushdown import named
from sqlext.rewrite.arrow.queries import compiled_query
from sqlext.rewrite.arrow.translation import Unsuited, translated
from sqlext.rewrite.expressions.integers import wrapping_product, wrapping_sum
from sqlext.spark.settings_scope import query_settings
from sqlext_udfs.expressions.columns import Column, Expression, Rows
from sqlext_udfs.expressions.functions import INSTANT, WALL_CLOCK
from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.hashing import can_hash, xxhash64

_MAX = 2**31 - 1
_COLUMNS: dict[str, tuple[pa.DataType, list[object]]] = {
    "i": (pa.int32(), [1, -7, None, _MAX, 0, 5]),
    "b": (pa.int64(), [2, None, 10**15, -1, 0, -(10**15)]),
    "t": (pa.int8(), [1, 2, 3, None, -128, 127]),
    "d": (pa.float64(), [0.5, -0.0, None, math.nan, math.inf, 3.0]),
    "s": (pa.string(), ["x", "", None, "ä€𝄞", "X", "xyz" * 20]),
    "q": (pa.bool_(), [True, False, None, True, None, False]),
    "ts": (INSTANT, [0, -1, None, 1_700_000_000_123_456, -1_500, 999]),
    "r": (
        pa.struct({"x": pa.int32(), "y": pa.struct({"z": pa.string()})}),
        [
            {"x": 1, "y": {"z": "a"}},
            {"x": 2, "y": None},
            None,
            {"x": None, "y": {"z": None}},
            {"x": 3, "y": {"z": ""}},
            {},
        ],
    ),
    "m": (
        pa.decimal128(10, 2),
        [Decimal("1.25"), Decimal("-0.01"), None, Decimal("99999999.99"), Decimal(0), Decimal(7)],
    ),
    "dt": (pa.date32(), [0, -1, None, 19_782, -141_428, 47_482]),
    "w": (WALL_CLOCK, [0, -1, None, 1_700_000_000_123_456, -62_167_219_200_000_001, 253_402_300_800_000_000]),
}
_TEXTS = [
    "i",
    "`s`",
    "t.i",
    "b + 1",
    "r.x",
    "t.r.x + 1",
    "r.`y`.z = 'a'",
    "r.y IS NULL",
    "CASE WHEN i > 0 THEN r.y.z ELSE s END",
    "IF(q, NULL, named_struct('x', i, 'y', s))",
    "CASE WHEN q THEN NULL WHEN i > 0 THEN s ELSE NULL END",
    "i - t",
    "t * 100",
    "i = 1",
    "i <> b",
    "b >= 0 AND i < 6",
    "q AND i = 1",
    "NOT q OR s = 'x'",
    "s > 'ä'",
    "s IS NULL",
    "i IS NOT NULL",
    "b BETWEEN -1 AND 2",
    "TRY_CAST(m AS DECIMAL(4, 1))",
    "TRY_CAST(m AS DECIMAL(38, 20))",
    "TRY_CAST(b AS DECIMAL(12, 2))",
    "TRY_CAST(i AS DECIMAL(3, 1))",
    "get(split(nullif(s, ''), 'x'), 1)",
    "get(split(s, 'y'), 20)",
    "nullif(s, 'x')",
    "s RLIKE 'z[^x]*(x|^)y'",
    "regexp_extract(s, '(y|^)([^zy]*)', 2)",
    "regexp_extract(s, '(x)z|(X|^y*)', 2)",
    "i IN (1, 5, 7)",
    "s IN ('x', 'ä€𝄞')",
    "CASE WHEN i > 0 THEN b END",
    "CASE WHEN q THEN 'yes' WHEN i > 0 THEN s ELSE 'no' END",
    "CASE WHEN i < 1000 THEN i + 2147480000 END",
    "i < 1000 AND i + 2147480000 > 0",
    "i >= 1000 OR i + 2147480000 > 0",
    "if(q, i, 0)",
    "CAST(i AS BIGINT) + 2147483647",
    "CAST(i AS DOUBLE)",
    "CAST(b AS DOUBLE)",
    "CAST(t AS INT)",
    "unix_millis(ts)",
    "timestamp_millis(b)",
    "CAST(ts AS TIMESTAMP_NTZ)",
    "CAST(w AS TIMESTAMP)",
    "CAST(shiftright(shiftleft(CAST(i AS BIGINT) + 1, 32), 32) AS INT)",
    "CAST(shiftright(shiftleft(b, 56), 56) AS TINYINT)",
    "ts = CAST(w AS TIMESTAMP)",
    "date_format(ts, 'yyyy-MM-dd')",
    "DATE_FORMAT(CAST(w AS TIMESTAMP_NTZ), 'yyyy/MM/dd HH:mm:ss')",
    "date_format(w, 'dd. HH:mm')",
    "CASE WHEN i > 0 THEN date_format(ts, 'HH:mm') END",
    "ts >= TIMESTAMP '2023-11-14 22:13:20.123456Z'",
    "ts < TIMESTAMP '1970-01-01 00:00:00'",
    "w = TIMESTAMP_NTZ '1969-12-31 23:59:59.999999'",
    "w <= TIMESTAMP '2023-11-14'",
    "CAST(ts AS TIMESTAMP_NTZ) > TIMESTAMP '1969-12-31T23:59:59.9985'",
    "DATE '2024-02-29' > DATE '1969-12-31'",
    "ts + INTERVAL '1' MINUTE",
    "w - INTERVAL '0.25' SECOND",
    "CAST(ts AS TIMESTAMP_NTZ) + INTERVAL '400' DAYS",
    "-5",
    "true",
    "1.5",
    "d > 1",
    "d = d",
    "d < i",
    "d >= 0.5",
    "d + i",
    "d * 2.5",
    "CASE WHEN b <> 0 THEN i / b END",
    "CASE WHEN d <> 0 THEN i / d END",
    "try_divide(d, i)",
    "try_divide(i, t)",
    "coalesce(i, 0)",
    "coalesce(b, i, 0)",
    "coalesce(i, d)",
    "CASE WHEN i > 0 THEN b ELSE 0 END",
    "CASE WHEN i > 0 THEN i WHEN i < 0 THEN NULL ELSE b END",
    "if(i > 0, d, i)",
    "nvl2(s, i, b)",
    "greatest(i, b, 7)",
    "coalesce(s, r.y.z, 'none')",
    "nvl2(i, s, 'none')",
    "greatest(i, 3)",
    "least(d, CAST(1 AS DOUBLE))",
    "i <=> 5",
    "CASE i WHEN 1 THEN 2 WHEN 5 THEN 6 END",
    "CASE s WHEN 'x' THEN 1 ELSE 0 END",
    "CAST(1.5 AS DOUBLE)",
    "CAST(i AS STRING)",
    "CAST(q AS STRING)",
    "CAST(ts AS STRING)",
    "CAST(w AS STRING)",
    "CAST(w AS DATE)",
    "CAST(CAST(w AS DATE) AS STRING)",
    "concat(s, '-', s)",
    "concat_ws('-', s, s)",
    "concat_ws(s, 'a', s)",
    "concat_ws('-', 'a')",
    "s || 'ä'",
    "replace(s, 'x', 'yy')",
    "substring(s, 2, 3)",
    "substring_index(s, 'y', 2)",
    "upper(s)",
    "lower(s)",
    "length(s)",
    "s LIKE 'x%'",
    "s LIKE '_'",
    "named_struct('a', i, 'b', s)",
    "try_add(i, 2147483647)",
    "try_subtract(b, t)",
    "try_multiply(b, 10000)",
    "try_add(d, i)",
    "CASE WHEN t <> 0 THEN b DIV t END",
    "nullif(i, 5)",
    "nullif(s, 'x')",
    "trim(concat(' \t', s, '  '))",
    "CAST(m AS DECIMAL(38, 2))",
    "CAST(i AS DECIMAL(12, 1))",
    "m + CAST(t AS DECIMAL(6, 3))",
    "m - m",
    "m * m",
    "pmod(b, 7L)",
    "pmod(b - 3L, CAST(60000 AS BIGINT))",
    wrapping_sum(["+", "-"], ["b", "CAST(9223372036854775807 AS BIGINT)", "t"]),
    wrapping_product("b", "CAST(9223372036854775807 AS BIGINT)"),
    "timestampadd(MILLISECOND, CAST(i AS BIGINT), TIMESTAMP_NTZ '1970-01-01 00:00:00')",
    *(f"extract({part} FROM {time})" for part in ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR") for time in ("ts", "w")),
    "i % 3",
    "b % 7",
    "t % 1000",
    "abs(i)",
    "abs(d)",
    "abs(m)",
    "-i",
    "-d",
    "sqrt(abs(d))",
    "floor(d * 0.3)",
    "ceil(d)",
    "floor(d * CAST(-9000000000000000000.0 AS DOUBLE) * 7)",
    "m * 2",
    "m + 0",
    "m - i",
    "i * 1.5",
    "100 * m",
    "m > 1",
    "m = i",
    "m <= CAST(1.255 AS DECIMAL(6, 3))",
    "b < m",
    "q IS TRUE",
    "q IS NOT FALSE",
    "NOT (i > 0) IS TRUE",
    *(f"{side}trim(concat('  ', s, ' x '))" for side in ("l", "r")),
    *(f"trim({side} 'xz' FROM s)" for side in ("BOTH", "LEADING", "TRAILING")),
    *(f"{function}(s, {count})" for function in ("left", "right", "repeat") for count in (0, 1, 2, 70)),
    *(f"{side}pad(s, {length}, '€')" for side in ("l", "r") for length in (0, 2, 5)),
    "substring(s, 2)",
    "reverse(s)",
    "locate('y', s)",
    "instr(s, '€')",
    "startswith(s, 'x')",
    "endswith(s, 'z')",
    "contains(s, '')",
    "contains(s, 'zx')",
    *(f"extract({part} FROM dt)" for part in ("YEAR", "QUARTER", "MONTH", "DAY", "WEEK", "DOW", "DOY")),
    *(f"extract({part} FROM {time})" for part in ("WEEK", "DOW", "DOY", "DAYOFWEEK_ISO") for time in ("ts", "w")),
    *(f"{field}({time})" for field in ("year", "month", "dayofweek", "weekofyear") for time in ("dt", "ts")),
    "hour(w)",
    "minute(ts)",
    *(f"timestampdiff({unit}, ts, TIMESTAMP '2001-09-09 01:46:40.5Z')" for unit in ("SECOND", "MINUTE", "HOUR", "DAY")),
    "timestampdiff(DAY, CAST(dt AS TIMESTAMP_NTZ), TIMESTAMP_NTZ '1999-12-31 23:00:00')",
    *(f"date_trunc('{unit}', ts)" for unit in ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")),
    "CAST(date_trunc('HOUR', CAST(dt AS TIMESTAMP_NTZ)) AS TIMESTAMP_NTZ)",
    *(f"trunc(dt, '{unit}')" for unit in ("WEEK", "MONTH", "QUARTER", "YEAR")),
    "CAST(dt AS TIMESTAMP)",
    "CAST(dt AS STRING)",
    "CASE WHEN i IS NULL OR i < 100000000000 THEN i ELSE CAST(raise_error('[RUN-003] no') AS INT) END",
]


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    """A session as queries of ours have it, in UTC."""
    made = spark.newSession()
    for key, value in query_settings("UTC", ()).items():
        made.conf.set(key, value)
    return made


@pytest.fixture
def rows() -> pa.Table:
    """Nasty values of every type."""
    return pa.table({name: pa.array(values, of) for name, (of, values) in _COLUMNS.items()})


def _resolve(parts: Sequence[str]) -> Expression:
    """Return what a name of the relation ``t`` stands for."""
    return named(parts[1:] if parts[0] == "t" and len(parts) > 1 else parts, lambda name: _COLUMNS[name][0])


def _values(column: pa.Array) -> list[str]:
    # Some lie beyond what Python's types hold.
    plain = column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
    plain = plain.cast(pa.int32()) if pa.types.is_date32(plain.type) else plain
    return [repr(v) for v in plain.to_pylist()]


def test_values_are_spark_s(session: SparkSession, rows: pa.Table) -> None:
    session.createDataFrame(rows).createOrReplaceTempView("t")
    asked = ", ".join(f"{text} AS c{n}" for n, text in enumerate(_TEXTS))
    expected = session.sql(f"SELECT {asked} FROM t").toArrow()
    columns = {name: whole(rows.column(name)) for name in rows.column_names}
    for number, text in enumerate(_TEXTS):
        found = translated(text, _resolve, "UTC").evaluate(Rows.of(columns, rows.num_rows))
        assert _values(found) == _values(whole(expected.column(number))), text


@pytest.mark.parametrize(
    "sizes",
    [
        "'5 minutes'",
        "'1 day', '1 day', '-3 hours'",
        "'5 minutes', '2 minutes'",
        "'1 minute', '20 seconds', '7 seconds'",
    ],
)
def test_windows_are_spark_s(session: SparkSession, rows: pa.Table, sizes: str) -> None:
    times = rows.select(["i", "ts"])
    session.createDataFrame(times).createOrReplaceTempView("t")
    text = f"SELECT i, window(ts, {sizes}) AS win FROM t WHERE i IS NULL OR i <> -7"
    expected = session.sql(text).toArrow()
    query = compiled_query(text, lambda _: tuple(zip(times.column_names, times.schema.types, strict=True)), "UTC")
    assert _rows(query.run({"t": times})) == _rows(expected)


def _rows(table: pa.Table) -> list[str]:
    starts, ends = (pc.struct_field(whole(table["win"]), side).cast(pa.int64()) for side in ("start", "end"))
    return sorted(map(repr, zip(table["i"].to_pylist(), starts.to_pylist(), ends.to_pylist(), strict=True)))


def test_hashes_are_spark_s(session: SparkSession, rows: pa.Table) -> None:
    session.createDataFrame(rows).createOrReplaceTempView("t")
    plain = [name for name in rows.column_names if can_hash(rows.schema.field(name).type)]
    sets = [[name] for name in plain] + [["s", "b", "ts"], plain]
    asked = ", ".join(f"xxhash64({', '.join(names)}) AS c{n}" for n, names in enumerate(sets))
    expected = session.sql(f"SELECT {asked} FROM t").toArrow()
    for number, names in enumerate(sets):
        found = xxhash64([whole(rows.column(name)) for name in names], rows.num_rows)
        assert found.view("int64").tolist() == expected.column(number).to_pylist(), names


_NESTED = (
    "named_struct('a', i, 'b', s)",
    "array(i, NULL, i)",
    "array(named_struct('a', s), NULL)",
    "CAST(i AS DECIMAL(38, 9)) * -100000000000000",
    "CAST(s AS BINARY)",
)


def test_hashes_of_other_keys_are_spark_s(session: SparkSession, rows: pa.Table) -> None:
    session.createDataFrame(rows).createOrReplaceTempView("t")
    columns = ", ".join(f"{text} AS v{n}, xxhash64({text}) AS h{n}" for n, text in enumerate(_NESTED))
    given = session.sql(f"SELECT {columns} FROM t").toArrow()
    for number, text in enumerate(_NESTED):
        found = xxhash64([whole(given.column(f"v{number}"))], given.num_rows)
        assert found.view("int64").tolist() == given.column(f"h{number}").to_pylist(), text


@pytest.mark.parametrize("text", ["i + 1", "timestamp_millis(b * 1000)", "CAST(b AS INT)", "abs(t)", "-t"])
def test_overflow_fails_as_in_spark(session: SparkSession, rows: pa.Table, text: str) -> None:
    session.createDataFrame(rows).createOrReplaceTempView("t")
    columns = {name: whole(rows.column(name)) for name in rows.column_names}
    with pytest.raises(SqlExtError) as raised:
        translated(text, _resolve, "UTC").evaluate(Rows.of(columns, rows.num_rows))
    assert raised.value.code == "RUN-041"
    with pytest.raises(Exception, match=r"OVERFLOW|overflow"):
        session.sql(f"SELECT {text} FROM t").toArrow()


_REFUSED = [
    "i % b",
    "i % 0",
    "i % -3",
    "d % 2",
    "sqrt(i)",
    "floor(d, 1)",
    "m * d",
    "CAST(m AS DECIMAL(38, 2)) * i",
    "left(s, -1)",
    "left(s, i)",
    "lpad(s, 5, 'ab')",
    "locate('', s)",
    "locate('x', s, 2)",
    "contains(s, s)",
    "trim(BOTH s FROM 'x')",
    "date_trunc('MICROSECOND', ts)",
    "timestampdiff(MONTH, ts, ts)",
    "timestampdiff(DAY, ts, w)",
    "extract(SECOND FROM ts)",
    "extract(HOUR FROM dt)",
    "concat(s, 1)",
    "CAST(d AS STRING)",
    "d + 1e3",
    "TRY_CAST(b AS INT)",
    "TRY_CAST(s AS DECIMAL(4, 1))",
    "TRY_CAST(d AS DECIMAL(4, 1))",
    "get(split(s, '[xy]'), 1)",
    "s RLIKE 'x.y'",
    "s RLIKE '(x)*'",
    "s RLIKE '[x&&y]'",
    "s RLIKE 'x{2}'",
    "regexp_extract(s, '(x)y', 2)",
    "regexp_extract(s, 'x*+y', 0)",
    "ts + INTERVAL '1' MONTH",
    "ts + INTERVAL '1 10' DAY TO HOUR",
    "ts + INTERVAL '1.5' HOUR",
    "CAST(s AS INT)",
    "i = 's'",
    "rand()",
    "r.x.z",
    "r.a",
    "x -> 1",
    "ts > '2024-01-01'",
    "ts > DATE '2024-01-01'",
    "ts > TIMESTAMP '2023-02-30 00:00:00'",
    "ts > TIMESTAMP '2023-02-01 00:00:00 Europe/Berlin'",
    "w > TIMESTAMP_NTZ '2023-02-01 00:00:00Z'",
    "(SELECT 1)",
]


@pytest.mark.parametrize("text", _REFUSED)
def test_what_is_not_known_to_be_the_same_is_refused(text: str) -> None:
    with pytest.raises(Unsuited):
        translated(text, lambda parts: _resolve(parts) if parts[0] in _COLUMNS else Column(pa.int32()), "UTC")


#: Wall clocks in a gap and in an hour that comes twice, in Berlin and in New York, and far from either.
_WALLS = [
    "2024-03-31 02:30:00",
    "2024-10-27 02:30:00",
    "2024-03-10 02:00:00",
    "2024-11-03 01:59:59",
    "1850-01-01 00:00:00",
]
_ZONED = [
    "CAST(w AS TIMESTAMP)",
    "CAST(CAST(w AS TIMESTAMP) AS TIMESTAMP_NTZ)",
    "CAST(w AS TIMESTAMP) = w",
    "extract(HOUR FROM CAST(w AS TIMESTAMP))",
    "to_utc_timestamp(timestamp_millis(n), 'Europe/Berlin')",
    "from_utc_timestamp(timestamp_millis(n), 'America/New_York')",
    "CAST(w AS TIMESTAMP) + INTERVAL '3' HOUR",
    "extract(DOY FROM CAST(w AS TIMESTAMP))",
]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kolkata"])
def test_zones_are_spark_s(spark: SparkSession, zone: str) -> None:
    session = spark.newSession()
    for key, value in query_settings(zone, ()).items():
        session.conf.set(key, value)
    walls = pa.array(_WALLS).cast(WALL_CLOCK)
    rows = pa.table({"w": walls, "n": pa.array([int(w) // 1000 for w in walls.cast(pa.int64()).to_pylist()])})
    # Of texts: wall clocks would be read as instants of the zone first.
    texts = pa.table({"w": pa.array(_WALLS), "n": rows["n"]})
    session.createDataFrame(texts).selectExpr("CAST(w AS TIMESTAMP_NTZ) AS w", "n").createOrReplaceTempView("t")
    expected = session.sql("SELECT " + ", ".join(f"{x} AS c{n}" for n, x in enumerate(_ZONED)) + " FROM t").toArrow()
    columns = {name: whole(rows.column(name)) for name in rows.column_names}
    for number, text in enumerate(_ZONED):
        made = translated(text, lambda parts: Column(rows.schema.field(parts[0]).type, name=parts[0]), zone)
        found = made.evaluate(Rows.of(columns, rows.num_rows))
        assert _values(found) == _values(whole(expected.column(number))), text


@pytest.mark.parametrize(
    "text",
    [
        "ts + INTERVAL '1' DAY",
        "CAST(ts AS STRING)",
        "date_trunc('HOUR', ts)",
        "timestampdiff(MINUTE, ts, ts)",
        "timestampdiff(HOUR, w, w)",
        "CAST(dt AS TIMESTAMP)",
    ],
)
def test_a_zone_is_spark_s_business(text: str) -> None:
    with pytest.raises(Unsuited):
        translated(text, _resolve, "Europe/Berlin")

"""Files read by Arrow have the rows that Spark's readers give for them, or fail where those fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sqlext.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP3,
    TIMESTAMP_LTZ3,
    TINYINT,
    LogicalType,
    decimal,
)
from sqlext.types import Field as RowField

from .both_paths import by_arrow, by_spark, table_of

#: Texts of a type, each of them alone in a file: both paths must make the same value of it, or both must fail.
TEXTS: dict[str, tuple[LogicalType, list[str]]] = {
    "integers": (INT, ["1", "-7", "+5", " 8 ", "0x1F", "007", "2147483647", "2147483648", "1.5", "1e3", "", "-", "x"]),
    "small": (TINYINT, ["127", "128", "-128", "-129"]),
    "long": (BIGINT, ["9223372036854775807", "-9223372036854775808", "9223372036854775808", "0X2"]),
    "doubles": (DOUBLE, "1.5;-0.0;1e308;1e309;NaN;inf;-Infinity;+Inf;1d; 2.5 ;1e-320;.".split(";")),
    "floats": (FLOAT, ["0.1", "16777217", "3.5e38", "nan"]),
    "decimals": (
        decimal(6, 2),
        "1.25;1.255;1.245;-1.255;9999.99;9999.995;12345;-10000.0;1e2; 3 ;abc;.5;5.;1e400;1e-400".split(";"),
    ),
    "dates": (DATE, ["2024-02-29", "2023-02-29", "2024-2-3", "2024", "2024-05", "1969-12-31", "2024-01-01 10:00", "x"]),
    "booleans": (BOOLEAN, ["true", "TRUE", " true ", "1", "false", "", "yes"]),
    "wall clocks": (
        TIMESTAMP3,
        [
            "2024-03-10 02:30:00",
            "2024-03-10T02:30:00.1234567",
            "1969-12-31 23:59:59.999",
            "2024-01-01",
            "2024-01-01 1:2:3",
            "x",
        ],
    ),
    "instants": (
        TIMESTAMP_LTZ3,
        [
            "2024-03-10 02:30:00",
            "2024-03-10 02:30:00Z",
            "2024-11-03T01:30:00.123+02:00",
            "2024-01-01 00:00:00 Europe/Berlin",
            "1900-01-01 00:00:00.000001",
            "2024-01-01 10",
            "2024-01-01 25:00:00",
        ],
    ),
}
_ALONE = [(of, text) for of, texts in TEXTS.values() for text in texts]


def test_csv_texts_alone(spark: SparkSession, tmp_path: Path) -> None:
    """Each text of ``TEXTS``, in UTC: one query of Spark for all that are fine, and one for each that is not."""
    from sqlext.spark.settings_scope import query_settings

    session = spark.newSession()
    for key, value in query_settings("UTC", ()).items():
        session.conf.set(key, value)
    for number, (of, text) in enumerate(_ALONE):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "a.csv").write_text(f"1,{text}\n", encoding="utf-8")
        table = table_of(folder, "csv", {"id": INT, "v": of})
        assert by_arrow(table, tmp_path / f"log-{number}") == by_spark(session, table), (of, text)


#: Values of JSON, each of them alone in a file.
_JSON_VALUES: dict[LogicalType, list[str]] = {
    decimal(6, 2): (
        '1.25;1.255;-1.245;9999.99;9999.995;1e2;1E+2;-0;1e400;1e-400;"1.25";"1,234.5";"+5";" 5";"";"abc";true;NaN;'
        '"1e2";".5";"5.";[1];{};null;12345;123456;"-12345";1.2500;"1.2500"'
    ).split(";"),
    decimal(38, 18): ["12345678901234567890.123456789012345678", "0.1234567890123456785", "1e19", "1e20"],
    decimal(3, 3): ["0.999", "0.9994", "0.9995", "1"],
    DATE: '"2024-02-29";"2023-02-29";"2024-2-3";"2024";" 2024-01-01 ";"2024-01-01T10:00";"123";"-1";5;"x";""'.split(
        ";"
    ),
}


@pytest.mark.parametrize("of", _JSON_VALUES, ids=str)
def test_json_values_alone(spark: SparkSession, tmp_path: Path, of: LogicalType) -> None:
    """Alone, which Arrow's parser reads, and among lines of one layout, and of another one that no parser reads."""
    from sqlext.spark.settings_scope import query_settings

    session = spark.newSession()
    for key, value in query_settings("UTC", ()).items():
        session.conf.set(key, value)
    for number, text in enumerate(_JSON_VALUES[of]):
        folder = tmp_path / str(number)
        folder.mkdir()
        line = f'{{"id":1,"v":{text}}}'
        (folder / "a.json").write_text(f"{line}\n{line}\n", encoding="utf-8")
        (folder / "b.json").write_text(f'{{"v": {text}, "id": 2, "x": [1]}}\n', encoding="utf-8")
        (folder / "c.json").write_text(f'{{"v": {text}, "id": 2, "v": {text}}}\n', encoding="utf-8")
        table = table_of(folder, "json", {"id": INT, "v": of})
        assert by_arrow(table, tmp_path / f"log-{number}") == by_spark(session, table), text


_LINES = [
    "1,plain,5,1.5,true,2024-01-01 00:00:00",
    '2,"quoted, with ""quotes""",-5,-0.0,false,1969-12-31 23:59:59.5',
    "3,äöü €  𝄞 , 7 ,1e-3,x,2024-07-01T12:00:00",
    "",
    "   ",
    '4,"",+8,2,TRUE,2024-03-10 02:30:00',
    "5,NULL,9,3,false,2024-01-01 23:59:00",
]
_COLUMNS: dict[str, LogicalType] = {
    "id": BIGINT,
    "s": STRING,
    "n": SMALLINT,
    "d": DOUBLE,
    "b": BOOLEAN,
    "ts": TIMESTAMP3,
}


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_csv_rows(zoned: SparkSession, tmp_path: Path, ending: str) -> None:
    """Quotes, blanks, line ends, empty lines, unicode; the rowtime as an instant; in two zones."""
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "a.csv").write_bytes(ending.join(_LINES).encode())
    (tmp_path / "in" / "sub" / "b.csv").write_bytes(b"\xef\xbb\xbf" + (ending.join(_LINES[:3]) + ending).encode())
    (tmp_path / "in" / "_hidden.csv").write_text("nonsense", encoding="utf-8")
    for rowtime in ("ts", None):
        table = table_of(tmp_path / "in", "csv", _COLUMNS, rowtime=rowtime)
        found = by_arrow(table, tmp_path / f"log-{rowtime}", tasks=5)
        assert found is not None
        assert len(found) == 8
        assert found == by_spark(zoned, table)


@pytest.mark.parametrize("null", ["", "NULL", "5"])
def test_csv_null_literal(zoned: SparkSession, tmp_path: Path, null: str) -> None:
    """A text that stands for NULL does so in each column, quoted or not."""
    (tmp_path / "in").mkdir()
    lines = ["1,NULL,5", '2,"NULL",', '3,,"5"', '4,"",6']
    (tmp_path / "in" / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    columns: dict[str, LogicalType] = {"id": INT, "s": STRING, "n": STRING if null == "NULL" else INT}
    table = table_of(tmp_path / "in", "csv", columns, csv_null_literal=null)
    assert by_arrow(table, tmp_path / "log") == by_spark(zoned, table)


def test_csv_broken_lines(tmp_path: Path) -> None:
    """A line of the wrong length fails, as in Flink, and so does a quote within quotes."""
    for number, line in enumerate(["1", "1,2,3", '1,"a"b', '1,""a']):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "a.csv").write_text(f"0,x\n{line}\n", encoding="utf-8")
        table = table_of(tmp_path / str(number), "csv", {"id": INT, "s": STRING})
        assert by_arrow(table, tmp_path / f"log-{number}") is None, line


_JSON_COLUMNS: dict[str, LogicalType] = {
    "id": BIGINT,
    "s": STRING,
    "n": INT,
    "d": DOUBLE,
    "b": BOOLEAN,
    "ts": TIMESTAMP_LTZ3,
    "w": TIMESTAMP3,
}
_OBJECTS = [
    '{"id":1,"s":"a","n":1,"d":1.5,"b":true,"ts":"2024-01-01 00:00:00","w":"2024-03-10 02:30:00"}',
    '{"id":2,"unknown":{"x":[1,"}\\n{"]},"d":3}',
    '{"id":3,"s":null,"n":null,"s":"twice"}',
    '{"id":4,"s":5,"d":-0.0}',
    '{"id":5,"s":true}',
    '{"id":6,"s":"\\u00e4 \\ud834\\udd1e \\"q\\" \\\\","ts":"2024-01-01T00:00:00.123456Z"}',
    '{"id":7,"ts":1700000000}',
    '{"id":8,"d":"NaN"}',
    '{"id":9,"ts":"1969-12-31 23:59:59.999"}',
    "",
    ' { "id" : 10 , "w":"2024-01-01T00:00:00" } ',
    '[{"id":11},{"id":12}]',
]


def test_json_rows(zoned: SparkSession, tmp_path: Path) -> None:
    """Keys that are missing, unknown or there twice, numbers for texts, escapes, arrays; in two zones."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text("\n".join(_OBJECTS), encoding="utf-8")
    table = table_of(tmp_path / "in", "json", _JSON_COLUMNS)
    found = by_arrow(table, tmp_path / "log", tasks=4)
    assert found is not None
    assert found == by_spark(zoned, table)


@pytest.mark.parametrize(
    "line", ['{"id":"1"}', '{"id":1.5}', '{"n":2147483648}', "nonsense", '{"id":1', '{"b":1}', '{"w":5}']
)
def test_json_broken_lines(zoned: SparkSession, tmp_path: Path, line: str) -> None:
    """What does not fit its column fails on both paths."""
    if zoned.conf.get("spark.sql.session.timeZone") != "UTC":
        pytest.skip("a zone changes nothing here")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text(f'{{"id":0}}\n{line}\n', encoding="utf-8")
    table = table_of(tmp_path / "in", "json", _JSON_COLUMNS)
    assert by_arrow(table, tmp_path / "log") is None
    assert by_spark(zoned, table) is None


_PEOPLE = LogicalType(
    "ROW",
    fields=(
        RowField("id", BIGINT),
        RowField("name", STRING),
        RowField("at", TIMESTAMP3),
        RowField("home", LogicalType("ROW", fields=(RowField("zip", INT), RowField("city", STRING)))),
    ),
)
_NESTED: dict[str, LogicalType] = {"id": BIGINT, "who": _PEOPLE, "n": INT}
_WHO = (
    '{"id": 7, "name": "ä", "at": "2024-03-10 02:30:00.5", "home": {"zip": 1, "city": "x", "more": [1]}}',
    '{"home": {}, "id": null, "extra": {"id": 1}}',
    '{"home": null, "name": "a{b}", "at": "2024-01-01T00:00:00"}',
    "{}",
    "null",
)


@pytest.mark.parametrize("more", [(), ('{"who": {"id": 1, "name": 5, "home": {"zip": 3}}}',)])
def test_json_rows_in_rows(zoned: SparkSession, tmp_path: Path, more: tuple[str, ...]) -> None:
    """By Arrow's parser; and line by line, where one line has a value that Arrow takes for another type."""
    (tmp_path / "in").mkdir()
    lines = [f'{{"id": {n}, "who": {who}, "n": {n}}}' for n, who in enumerate(_WHO)] + ['{"id": 9}', *more]
    (tmp_path / "in" / "a.json").write_text("\n".join(lines), encoding="utf-8")
    table = table_of(tmp_path / "in", "json", _NESTED)
    assert by_arrow(table, tmp_path / "log") == by_spark(zoned, table)


@pytest.mark.parametrize("who", ["5", '"x"', "[]", '[{"id": 1}]', '{"id": "x"}', '{"at": "soon"}', '{"home": 1}', '""'])
def test_json_rows_in_rows_that_are_none(spark: SparkSession, tmp_path: Path, who: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text(f'{{"id": 1, "who": {{}}}}\n{{"id": 0, "who": {who}}}\n', encoding="utf-8")
    table = table_of(tmp_path / "in", "json", _NESTED)
    assert by_arrow(table, tmp_path / "log") == by_spark(spark, table)


def test_parquet_rows(zoned: SparkSession, tmp_path: Path) -> None:
    """Files of Spark, with several row groups, NULLs, decimals, dates and both kinds of times."""
    frame = zoned.range(0, 5_000, 1, 2).selectExpr(
        "id",
        "IF(id % 7 = 0, NULL, concat('k', id % 10)) AS s",
        "CAST(id % 100 - 50 AS INT) AS n",
        "CAST(id / 3 AS DOUBLE) AS d",
        "CAST(id / 8 AS DECIMAL(10, 3)) AS c",
        "date_add(DATE '1969-01-01', CAST(id AS INT)) AS day",
        "timestamp_millis(id * 1000000 - 9000) AS ts",
        "TIMESTAMP_NTZ '2024-03-10 02:30:00' AS w",
    )
    frame.write.option("parquet.block.size", "20000").parquet(str(tmp_path / "in"))
    columns: dict[str, LogicalType] = {
        "id": BIGINT,
        "s": STRING,
        "n": INT,
        "d": DOUBLE,
        "c": decimal(10, 3),
        "day": DATE,
        "ts": TIMESTAMP_LTZ3,
        "w": TIMESTAMP3,
        "missing": INT,
    }
    table = table_of(tmp_path / "in", "parquet", columns)
    found = by_arrow(table, tmp_path / "log", tasks=7)
    assert found is not None
    assert found == by_spark(zoned, table)

"""Files read as Flink 2.3.0 reads them: what each test expects was recorded there unless it says otherwise."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from connectors.tables import table
from pyspark.sql import DataFrame, SparkSession

from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.spark.reading.spark_sources import open_batch, open_stream
from sqlext.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIME,
    TIMESTAMP3,
    TIMESTAMP_LTZ3,
    Field,
    array,
    decimal,
    map_of,
    multiset,
    row,
)

UTC = dt.timezone.utc


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(r) for r in frame.collect()]


def streamed(session: SparkSession, frame: DataFrame, path: Path) -> list[tuple[Any, ...]]:
    """Run a streaming frame over what is there, and return its rows."""
    found: list[tuple[Any, ...]] = []
    query = (
        frame.writeStream.foreachBatch(lambda df, _: found.extend(tuple(r) for r in df.collect()))
        .option("checkpointLocation", str(path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return found


def read(session: SparkSession, definition: Any) -> list[tuple[Any, ...]]:
    zone = session.conf.get("spark.sql.session.timeZone") or "UTC"
    return rows(open_batch(session, connector_of(definition).read_spec(definition, zone)))


Csv = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def csv(session: SparkSession, tmp_path: Path) -> Csv:
    def run(text: str, columns: dict[str, Any], **options: str) -> list[tuple[Any, ...]]:
        (tmp_path / "a.csv").write_text(text)
        named = {f"csv.{k.replace('_', '-')}": v for k, v in options.items()}
        where = {"connector": "filesystem", "path": str(tmp_path / "a.csv"), "format": "csv"}
        return read(session, table(columns, where | named))

    return run


KV = {"k": STRING, "v": INT}


def test_an_empty_csv_field_is_an_empty_text(csv: Csv) -> None:
    assert csv('a,1\n,2\n"",3\n', KV) == [("a", 1), ("", 2), ("", 3)]


def test_an_empty_csv_field_is_no_number(csv: Csv) -> None:
    with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
        csv("a,\n", KV)


def test_a_null_literal_is_null_quoted_or_not(csv: Csv) -> None:
    assert csv('a,1\n,NULL\n"NULL",3\nNULL,4\n', KV, null_literal="NULL") == [
        ("a", 1),
        ("", None),
        (None, 3),
        (None, 4),
    ]


def test_an_empty_null_literal_makes_empty_fields_null(csv: Csv) -> None:
    assert csv('a,1\n,\n"",3\n', KV, null_literal="") == [("a", 1), (None, None), (None, 3)]


@pytest.mark.parametrize("text", ["a,1\nb\n", "a,1\nb,2,3\n", "a,1\nb,x\n"])
def test_a_malformed_csv_row_fails(csv: Csv, text: str) -> None:
    with pytest.raises(Exception, match=r"MALFORMED|CAST_INVALID_INPUT|FAILED_READ_FILE"):
        csv(text, KV)


def test_ignored_csv_errors_are_null_and_long_rows_are_skipped(csv: Csv) -> None:
    text = "a,1\nb,x\nc,3\nd\n,5\nlong,6,7\n"
    assert csv(text, KV, ignore_parse_errors="true") == [
        ("a", 1),
        ("b", None),
        ("c", 3),
        ("d", None),
        ("", 5),
    ]


def test_a_short_row_has_null_texts_where_errors_are_ignored(csv: Csv) -> None:
    assert csv("a\n", {"k": STRING, "t": STRING}, ignore_parse_errors="true") == [("a", None)]


def test_csv_numbers_are_trimmed_and_texts_are_not(csv: Csv) -> None:
    assert csv("a, 1\n b ,2 \n", KV) == [("a", 1), (" b ", 2)]


def test_csv_types(csv: Csv) -> None:
    columns = {
        "b": BOOLEAN,
        "t": TIME,
        "d": DATE,
        "ts": TIMESTAMP3,
        "l": TIMESTAMP_LTZ3,
        "n": decimal(10, 2),
        "y": BYTES,
        "a": array(STRING),
        "f": DOUBLE,
        "r": row(Field("i", INT), Field("s", STRING)),
    }
    line = "true,12:30:05,2024-01-01,2024-01-01 08:00:00.5,2024-01-01 08:00:00Z,1.50,aGk=,x;y;z,1.5,1;q\n"
    ((b, t, d, ts, _, n, y, a, f, r),) = csv(line, columns)
    assert (b, t, d, ts) == (True, dt.time(12, 30, 5), dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 8, 0, 0, 500000))
    assert (n, bytes(y), a, f, tuple(r)) == (Decimal("1.50"), b"hi", ["x", "y", "z"], 1.5, (1, "q"))


def test_csv_separators_quotes_and_comments(csv: Csv) -> None:
    options = {"field_delimiter": "\\t", "quote_character": "|", "allow_comments": "true"}
    assert csv("# no row\n|a\tb|\t1\n|c||d|\t2\n", KV, **options) == [("a\tb", 1), ("c|d", 2)]


def test_csv_without_quotes(csv: Csv) -> None:
    assert csv('"a,1\n', KV, disable_quote_character="true") == [('"a', 1)]


def test_csv_escape(csv: Csv) -> None:
    assert csv('"a\\"b",1\n', KV, escape_character="\\") == [('a"b', 1)]


def test_rows_keep_their_order_in_a_file(csv: Csv) -> None:
    text = "".join(f"k{i},{i}\n" for i in range(500))
    assert [v for _, v in csv(text, KV)] == list(range(500))


def json_table(path: Path, text: str, columns: dict[str, Any], options: dict[str, str] | None = None, **more: Any):  # type: ignore[no-untyped-def]
    path.write_text(text)
    where = {"connector": "filesystem", "path": str(path), "format": "json"}
    return table(columns, where | (options or {}), **more)


def test_json_errors_fail(session: SparkSession, tmp_path: Path) -> None:
    for text in ('{"i":1}\n{oops\n', '{"i":"x"}\n'):
        with pytest.raises(Exception, match=r"MALFORMED|FAILED_READ_FILE"):
            read(session, json_table(tmp_path / "a.json", text, {"i": INT}))


def test_ignored_json_errors(session: SparkSession, tmp_path: Path) -> None:
    text = '{"i":1}\n{"i":"x"}\n{oops\n\n{"i":3}\n'
    definition = json_table(tmp_path / "a.json", text, {"i": INT}, {"json.ignore-parse-errors": "true"})
    assert read(session, definition) == [(1,), (None,), (3,)]
    spec = connector_of(definition).read_spec(definition)
    assert open_batch(session, spec).selectExpr("count(*)").collect()[0][0] == 3


def test_json_texts_of_other_values(session: SparkSession, tmp_path: Path) -> None:
    text = '{"s":7,"o":{"x":1}}\n{"s":true,"o":[1,2]}\n{"s":1.50,"o":"t"}\n'
    definition = json_table(tmp_path / "a.json", text, {"s": STRING, "o": STRING})
    assert read(session, definition) == [("7", '{"x":1}'), ("true", "[1,2]"), ("1.50", "t")]


def test_json_missing_field(session: SparkSession, tmp_path: Path) -> None:
    option = {"json.fail-on-missing-field": "true"}
    good = json_table(tmp_path / "a.json", '{"a":null,"b":2}\n', {"a": INT, "b": INT}, option)
    assert read(session, good) == [(None, 2)]
    bad = json_table(tmp_path / "a.json", '{"a":1}\n', {"a": INT, "b": INT}, option)
    with pytest.raises(Exception, match="the row has no field b"):
        read(session, bad)


JSON_TIMES = (
    '{"ts":"2024-03-10 02:30:00.123","l":"2024-03-10 02:30:00.5Z","t":"12:30:00"}\n'
    '{"ts":"2024-03-10T02:30:00","l":"2024-03-10T02:30:00Z","t":"12:30:01"}\n'
)
EPOCHS = [(1710037800123, 1710037800500), (1710037800000, 1710037800000)]


@pytest.mark.parametrize("file_format", ["json", "csv", "parquet", "orc"])
def test_a_rowtime_is_the_instant_of_its_wall_clock_in_utc(
    zoned: SparkSession, tmp_path: Path, file_format: str
) -> None:
    """Also in the hour that New York's clocks skip."""
    path = tmp_path / "in"
    path.mkdir()
    if file_format == "json":
        (path / "a.json").write_text(JSON_TIMES)
    elif file_format == "csv":
        (path / "a.csv").write_text(
            "2024-03-10 02:30:00.123,2024-03-10 02:30:00.5Z\n2024-03-10 02:30:00,2024-03-10 02:30:00Z\n"
        )
    else:
        data = (
            "SELECT TIMESTAMP_NTZ '2024-03-10 02:30:00.123' ts, TIMESTAMP '2024-03-10 02:30:00.5Z' l "
            "UNION ALL SELECT TIMESTAMP_NTZ '2024-03-10 02:30:00' ts, TIMESTAMP '2024-03-10 02:30:00Z' l"
        )
        zoned.sql(data).coalesce(1).write.format(file_format).mode("append").save(str(path))
    options = {"connector": "filesystem", "path": str(path), "format": file_format}
    definition = table({"ts": TIMESTAMP3, "l": TIMESTAMP_LTZ3}, options, rowtime="ts")
    zone = zoned.conf.get("spark.sql.session.timeZone") or ""
    spec = connector_of(definition).read_spec(definition, zone)
    frame = open_batch(zoned, spec)
    assert [c.type for c in spec.columns] == ["TIMESTAMP", "TIMESTAMP"]
    assert [f.dataType.simpleString() for f in frame.schema] == ["timestamp", "timestamp"]
    assert sorted(rows(frame.selectExpr("unix_millis(ts)", "unix_millis(l)")), reverse=True) == EPOCHS


@pytest.mark.parametrize("file_format", ["json", "csv", "parquet", "orc"])
def test_other_times_stay_wall_clocks(zoned: SparkSession, tmp_path: Path, file_format: str) -> None:
    time = "TIME '12:30:00'" if file_format in ("parquet", "orc") else "'12:30:00'"
    data = f"SELECT TIMESTAMP_NTZ '2024-03-10 02:30:00.123' ts, {time} t"
    writer = zoned.sql(data).write.format(file_format).option("timestampNTZFormat", "yyyy-MM-dd HH:mm:ss.SSS")
    writer.save(str(tmp_path / "in"))
    options = {"connector": "filesystem", "path": str(tmp_path / "in"), "format": file_format}
    found = read(zoned, table({"ts": TIMESTAMP3, "t": TIME}, options))
    assert found == [(dt.datetime(2024, 3, 10, 2, 30, 0, 123000), dt.time(12, 30))]


def test_a_single_file_streams_and_a_watermark_takes_the_rowtime(session: SparkSession, tmp_path: Path) -> None:
    definition = json_table(tmp_path / "a.json", '{"ts":"2024-01-01 08:00:00"}\n', {"ts": TIMESTAMP3}, rowtime="ts")
    frame = open_stream(session, connector_of(definition).read_spec(definition)).withWatermark("ts", "5 seconds")
    assert streamed(session, frame.selectExpr("unix_seconds(ts)"), tmp_path) == [(1704096000,)]


def test_partition_columns_come_from_folders(session: SparkSession, tmp_path: Path) -> None:
    for name, text in (("dt=2024-01-01/n=07", "a,1\n"), ("dt=__DEFAULT_PARTITION__/n=8", "b,2\n")):
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / "f.csv").write_text(text)
    options = {"connector": "filesystem", "path": str(tmp_path / "in"), "format": "csv"}
    definition = table(KV | {"dt": DATE, "n": INT}, options, partitioned_by=("dt", "n"))
    expected = [("a", 1, dt.date(2024, 1, 1), 7), ("b", 2, None, 8)]
    assert sorted(read(session, definition)) == expected
    spec = connector_of(definition).read_spec(definition)
    assert sorted(streamed(session, open_stream(session, spec), tmp_path)) == expected


def test_folder_names_are_no_columns_without_partitioned_by(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "k=z").mkdir()
    (tmp_path / "k=z" / "f.csv").write_text("a,1\n")
    options = {"connector": "filesystem", "path": str(tmp_path), "format": "csv"}
    assert read(session, table(KV, options)) == [("a", 1)]


def test_file_metadata_and_the_path_pattern(session: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in +[x]"
    folder.mkdir()
    (folder / "a b.json").write_text('{"i":1}\n')
    (folder / "c.txt").write_text("no json\n")
    options = {"connector": "filesystem", "path": str(folder), "format": "json"}
    options["source.path.regex-pattern"] = ".*/[a-z ]+\\.json"
    metadata = {
        "p": (STRING, "file.path"),
        "n": (STRING, "file.name"),
        "s": (BIGINT, "file.size"),
        "m": (TIMESTAMP_LTZ3, "file.modification-time"),
    }
    definition = table({"i": INT}, options, metadata=metadata)
    spec = connector_of(definition).read_spec(definition)
    for found in (rows(open_batch(session, spec)), streamed(session, open_stream(session, spec), tmp_path)):
        assert [r[:4] for r in found] == [(1, f"{folder}/a b.json", "a b.json", 8)]


def test_nothing_at_the_path(session: SparkSession, tmp_path: Path) -> None:
    options = {"connector": "filesystem", "path": str(tmp_path / "none"), "format": "json"}
    definition = table({"i": INT}, options)
    spec = connector_of(definition).read_spec(definition)
    for opener in (open_batch, open_stream):
        with pytest.raises(SqlExtError, match="does not exist") as raised:
            opener(session, spec)
        assert raised.value.code == "OPT-009"


def test_delta_is_held_against_the_declared_columns(zoned: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "d")
    data = "SELECT 1 AS i, TIMESTAMP_NTZ '2024-03-10 02:30:00' AS w, TIMESTAMP '2024-03-10 02:30:00Z' AS t"
    zoned.sql(data).write.format("delta").save(path)
    options = {"connector": "delta", "path": path}
    definition = table({"i": BIGINT, "w": TIMESTAMP3, "t": TIMESTAMP3}, options, rowtime="w")
    zone = zoned.conf.get("spark.sql.session.timeZone") or ""
    spec = connector_of(definition).read_spec(definition, zone)
    frame = open_batch(zoned, spec).selectExpr("i", "unix_seconds(w)", "t")
    assert rows(frame) == [(1, 1710037800, dt.datetime(2024, 3, 10, 2, 30))]
    assert len(streamed(zoned, open_stream(zoned, spec), tmp_path)) == 1
    for columns in ({"x": INT}, {"i": STRING}):
        wrong = table(columns, options)
        with pytest.raises(SqlExtError) as raised:
            open_batch(zoned, connector_of(wrong).read_spec(wrong, zone))
        assert raised.value.code == "OPT-012"


def test_datagen_is_the_same_in_every_run_and_ends(session: SparkSession, tmp_path: Path) -> None:
    options = {
        "connector": "datagen",
        "number-of-rows": "50",
        "fields.id.kind": "sequence",
        "fields.id.start": "1",
        "fields.id.end": "30",
        "fields.v.min": "-3",
        "fields.v.max": "3",
        "fields.s.length": "70",
    }
    columns = {"id": BIGINT, "v": INT, "s": STRING, "d": DOUBLE, "n": decimal(10, 2), "y": BYTES, "t": TIMESTAMP3}
    definition = table(columns, options)
    connector = connector_of(definition)
    connector.validate(definition, "source")
    spec = connector.read_spec(definition)
    batch = sorted(r[:6] for r in rows(open_batch(session, spec)))
    assert [r[0] for r in batch] == list(range(1, 31))
    assert {r[1] for r in batch} <= set(range(-3, 4))
    assert all(len(r[2]) == 70 for r in batch)
    assert sorted(r[:6] for r in streamed(session, open_stream(session, spec), tmp_path)) == batch


def test_datagen_makes_parts_of_values(session: SparkSession) -> None:
    options = {
        "connector": "datagen",
        "number-of-rows": "40",
        "fields.a.length": "2",
        "fields.a.element.length": "5",
        "fields.m.key.max": "3",
        "fields.m.key.min": "1",
        "fields.m.length": "9",
        "fields.s.element.min": "1",
        "fields.s.element.max": "2",
        "fields.r.x.min": "7",
        "fields.r.x.max": "8",
        "fields.r.null-rate": "0.5",
        "fields.d.min": "-1",
        "fields.d.max": "1",
        "fields.v.var-len": "true",
        "fields.v.length": "9",
        "fields.l.element.at.max-past": "1 d",
    }
    pair = row(Field("x", INT), Field("y", array(INT)))
    columns = {"a": array(STRING), "m": map_of(INT, STRING), "s": multiset(INT), "r": pair, "d": decimal(8, 3),
               "v": STRING, "l": array(row(Field("at", TIMESTAMP3))), "t": TIME}  # fmt: skip
    definition = table(columns, options)
    connector = connector_of(definition)
    connector.validate(definition, "source")
    found = rows(open_batch(session, connector.read_spec(definition)))
    assert len(found) == 40
    assert all(len(r[0]) == 2 and all(len(e) == 5 for e in r[0]) and r[0][0] != r[0][1] for r in found)
    assert {k for r in found for k in r[1]} == {1, 2, 3}
    assert all(set(r[2]) <= {1, 2} and all(1 <= n <= 10 for n in r[2].values()) for r in found)
    there = [r[3] for r in found if r[3] is not None]
    assert 5 < len(there) < 35
    assert {r.x for r in there} == {7, 8}
    assert all(len(r.y) == 3 for r in there)
    assert all(-1 <= r[4] < 1 for r in found)
    assert {len(r[5]) for r in found} == set(range(1, 9))
    assert all(len({e.at for e in r[6]}) == 3 for r in found)


def test_rate(session: SparkSession) -> None:
    definition = table({"ts": TIMESTAMP3, "n": INT}, {"connector": "rate", "rows-per-second": "5"}, rowtime="ts")
    frame = open_stream(session, connector_of(definition).read_spec(definition))
    assert [f.dataType.simpleString() for f in frame.schema] == ["timestamp", "int"]


def test_any_spark_format(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\ny\n")
    definition = table({"value": STRING}, {"connector": "spark", "format": "text", "path": str(tmp_path / "a.txt")})
    assert read(session, definition) == [("x",), ("y",)]
    unknown = table({"value": STRING}, {"connector": "spark", "format": "nosuch"})
    with pytest.raises(SqlExtError, match="no data source 'nosuch'"):
        read(session, unknown)

"""Values of topics decoded by Arrow: the rows that Spark makes of them, or a failure where it fails; windows too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from kafka_broker import fetch_spark_avro, fetch_spark_connector, make_topic
from pyspark.sql import SparkSession

import sqlext
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.sources.tables import reader_of
from sqlext.spark.reading.spark_sources import open_batch
from sqlext.spark.settings_scope import query_settings
from sqlext.stores.location import Location
from sqlext.types import BIGINT, INT, STRING, TIMESTAMP3, TIMESTAMP_LTZ3, LogicalType
from sqlext.types import Field as RowField
from sqlext_catalog.model import Column, ObjectName, Table, Watermark
from tests.avro_bytes import NULL, some, text, whole
from tests.workspace import Workspace

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

_COLUMNS: dict[str, LogicalType] = {
    "k": STRING,
    "v": INT,
    "ts": TIMESTAMP3,
    "r": LogicalType("ROW", fields=(RowField("a", INT), RowField("b", STRING))),
}
_GOOD = '{"k": "a", "v": 1, "ts": "2024-01-01 00:00:01", "r": {"a": 1, "b": "x"}}'


@pytest.fixture
def connected(spark: SparkSession) -> SparkSession:
    """A session that has Spark's Kafka connector, and Avro."""
    session = spark.newSession()
    for key, value in query_settings("UTC", ()).items():
        session.conf.set(key, value)
    for jar in (*fetch_spark_connector(), *fetch_spark_avro()):
        session.sql(f"ADD JAR '{jar}'")
    return session


def table_of(broker: str, topic: str, form: str = "json", **more: str) -> Table:
    """Return a table with the columns and metadata of a topic."""
    metadata = (("o", BIGINT, "offset"), ("p", INT, "partition"), ("at", TIMESTAMP_LTZ3, "timestamp"))
    options = {"connector": "kafka", "topic": topic, "properties.bootstrap.servers": broker, "format": form}
    return Table(
        name=ObjectName("default_catalog", "default_database", "t"),
        columns=(
            *(Column(n, t) for n, t in _COLUMNS.items() if form == "json" or n != "r"),
            *(Column(n, t, kind="metadata", metadata_key=key) for n, t, key in metadata),
        ),
        watermark=Watermark("ts", "ts"),
        options=tuple({**options, "scan.bounded.mode": "latest-offset", **more}.items()),
    )


def by_spark(session: SparkSession, table: Table) -> list[Any] | None:
    """Return the rows by Spark, in the order of their offsets; None if it fails."""
    try:
        return _rows(open_batch(session, connector_of(table).read_spec(table)).toArrow())
    except Exception as error:
        if "NOT_LOADED" in str(error):
            raise
        return None


def by_arrow(table: Table, state: Path) -> list[Any] | None:
    """Return the rows by Arrow, in the order of their offsets; None if it fails as the JVM path does."""
    reader = reader_of(table).reader(table, [c.name for c in table.columns], Location.of(state), 2)
    pieces = reader.slices(reader.initial(), reader.latest(reader.initial(), None))
    try:
        batches = [b for piece in pieces for b in reader.read(piece)]
    except SqlExtError as error:
        told = (error.code, ", offset 1: " in error.message)
        assert told == ("RUN-066", True), error  # noqa: PT017 - the code is part of the answer
        return None
    return _rows(pa.Table.from_batches(batches))


def _rows(table: pa.Table) -> list[Any]:
    instants = {n: table.column(n).cast(pa.timestamp("us", "UTC")).cast(pa.int64()) for n in ("ts", "at")}
    shown = [n for n in (*_COLUMNS, "o", "p", "at") if n in table.schema.names]
    columns = [instants.get(n, table.column(n)).to_pylist() for n in shown]
    return sorted(zip(*columns, strict=True), key=lambda row: row[-3])


def _send(broker: str, topic: str, *values: str | bytes | None) -> None:
    producer = Producer({"bootstrap.servers": broker})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(30) == 0


_VALUES: dict[str, tuple[str | bytes | None, ...]] = {
    "plain": (_GOOD, _GOOD.replace('"a"', '"ä\\n\\u00e4"', 1), _GOOD.replace(" 1,", " null,")),
    "tombstones": (None, _GOOD, None),
    "missing": ('{"ts": "2024-01-01 00:00:01"}', '{"v": 5, "more": [1, {}]}'),
    "over lines": ('{"k": "a",\n "v": 2}', _GOOD, '{"k":\r\n"b"}'),
    "line end": (_GOOD + "\n", _GOOD),
    "blanks": (f"  {_GOOD} ", _GOOD),
    "converted": ('{"k": 5}', '{"k": true}', '{"r": {"b": 1}}'),
}
_ODD = (
    '[{"k": "a"}]',
    "[]",
    '[{"k": "a"}, {"k": "b"}]',
    "",
    "  ",
    "null",
    "5",
    '"x"',
    '{"k": "a"} {"k": "b"}',
    '{"k": "a"',
    '{"k": "a"}x',
    '{"v": "1"}',
    '{"v": 1.5}',
    '{"ts": "soon"}',
    '{"r": 1}',
    "{}{}",
    "nonsense",
    b'{"k": "\xff"}',
)


@pytest.mark.parametrize("values", _VALUES.values(), ids=_VALUES)
def test_rows(connected: SparkSession, broker: str, tmp_path: Path, values: tuple[str | None, ...]) -> None:
    topic = make_topic(broker, f"values-{abs(hash(values))}", 1)
    _send(broker, topic, *values)
    table = table_of(broker, topic)
    found = by_arrow(table, tmp_path)
    assert found is not None
    assert found == by_spark(connected, table)


_TABLES = """
SET 'sqlext.source' = '{source}'; SET 'pipeline.name' = '{source}';
CREATE TABLE IF NOT EXISTS events (k STRING, v INT, ts TIMESTAMP(3), at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector' = 'kafka', 'topic' = '{topic}',
  'properties.bootstrap.servers' = '{broker}', 'format' = '{form}', 'scan.startup.mode' = 'earliest-offset' {more});
CREATE TABLE {source} (k STRING, s TIMESTAMP(3), n BIGINT, total BIGINT, at TIMESTAMP_LTZ(3))
WITH ('connector' = 'delta', 'path' = '${{OUT}}/{source}');
INSERT INTO {source} SELECT k, window_start, COUNT(*), SUM(v), MIN(at)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE v > 0 GROUP BY k, window_start, window_end;
"""


def _timed(*rows: tuple[str, int, int], form: str = "json") -> list[str | bytes]:
    """Return values with a key, a number and a second."""
    return [_WRITTEN[form](k, v, second) for k, v, second in rows]


_WRITTEN: dict[str, Callable[[str, int, int], str | bytes]] = {
    "json": lambda k, v, second: f'{{"k": "{k}", "v": {v}, "ts": "2024-01-01 00:00:{second:02d}"}}',
    "csv": lambda k, v, second: f"{k},{v},2024-01-01 00:00:{second:02d}",
    "avro": lambda k, v, second: some(text(k)) + some(whole(v)) + some(whole(1_704_067_200_000 + second * 1000)),
}


@pytest.mark.parametrize("form", _WRITTEN)
def test_windows_of_what_is_there(connected: SparkSession, broker: str, tmp_path: Path, form: str) -> None:
    topic = make_topic(broker, f"windows-{form}", 2)
    _send(broker, topic, *_timed(("a", 1, 1), ("b", 2, 3), ("a", 3, 9), ("a", 0, 9), ("b", 5, 12), form=form))
    workspace = Workspace(connected, tmp_path)
    # In a stream, Spark finds its package for avro or not, by the thread that began it, if a session has added the jar.
    for source in ("arrow",) if form == "avro" else ("spark", "arrow"):
        more = ", 'scan.bounded.mode' = 'latest-offset'"
        script = _TABLES.format(source=source, topic=topic, broker=broker, form=form, more=more)
        (explained,) = sqlext.connect().explain(script, workspace.variables)
        assert ("events: Arrow reads" in explained) == (source == "arrow")
        query = workspace.run(script)[-1].query
        assert query.progress["rows_in"] == 5
        rows = [(k, s[-8:], int(n), int(total)) for k, s, n, total, _ in workspace.delta(source)]
        assert rows == [("a", "00:00:00", 2, 4), ("b", "00:00:00", 1, 2), ("b", "00:00:10", 1, 5)]


def test_a_partition_s_watermark_is_its_own(connected: SparkSession, broker: str, tmp_path: Path) -> None:
    """The partition that is behind holds the windows open; what each has had is told."""
    topic = make_topic(broker, "watermarks", 2)
    producer = Producer({"bootstrap.servers": broker})

    def send(partition: int, *rows: tuple[str, int, int]) -> None:
        for value in _timed(*rows):
            producer.produce(topic, value, partition=partition)
        assert producer.flush(30) == 0

    send(0, ("a", 1, 1), ("a", 2, 40))
    send(1, ("b", 3, 3))
    workspace = Workspace(connected, tmp_path)
    query = workspace.run(_TABLES.format(source="arrow", topic=topic, broker=broker, form="json", more=""))[-1].query
    query.process_available()
    assert workspace.delta("arrow") == []
    counts = {i["split"]: i["rows"] for i in query.progress["inputs"]}
    assert counts == {f"{topic}-0": 2, f"{topic}-1": 1}
    send(1, ("b", 4, 4), ("b", 1, 30))
    workspace.until(lambda: len(workspace.delta("arrow")) == 2)
    assert [(k, n, total) for k, _, n, total, _ in workspace.delta("arrow")] == [("a", "1", "1"), ("b", "2", "7")]
    assert query.progress["rows_in"] == 5
    query.stop()


@pytest.mark.parametrize("value", _ODD)
def test_odd_values(connected: SparkSession, broker: str, tmp_path: Path, value: str | bytes) -> None:
    topic = make_topic(broker, f"odd-{abs(hash(value))}", 1)
    _send(broker, topic, _GOOD, value)
    table = table_of(broker, topic)
    assert by_arrow(table, tmp_path) == by_spark(connected, table)


_LINE = "a,1,2024-01-01 00:00:01"
_LINES: dict[str, tuple[str | bytes | None, ...]] = {
    "plain": (_LINE, "ä,2,2024-01-01 00:00:02", " b , 3 ,2024-01-01 00:00:03.5"),
    "tombstones": (None, _LINE, None),
    "quotes": ('"a,b",1,2024-01-01 00:00:01', '"say ""it""",2,2024-01-01 00:00:02', _LINE),
    "line ends": (_LINE + "\n", _LINE + "\r\n", _LINE),
    "a line end in quotes": ('"a\nb",1,2024-01-01 00:00:01', _LINE),
    "a line end without quotes": ("a\nb,1,2024-01-01 00:00:01", "\n" + _LINE, "\r\n" + _LINE),
    "numbers": ("a,+5,2024-01-01 00:00:01", "a,007,2024-01-01 00:00:01"),
    "times": ("a,1,2024-01-01 00:00:01.123456", "a,1,2024-01-01 00:00:01.1"),
}
_ODD_LINES = (
    "",
    " ",
    "\n",
    _LINE + "\nb,2,2024-01-01 00:00:02",
    "a",
    "a,1",
    _LINE + ",",
    _LINE + ",more",
    "a,,2024-01-01 00:00:01",
    ",1,2024-01-01 00:00:01",
    "a,1,",
    "a,x,2024-01-01 00:00:01",
    "a,0x1,2024-01-01 00:00:01",
    "a,1.5,2024-01-01 00:00:01",
    "a,99999999999,2024-01-01 00:00:01",
    "a,1,soon",
    '"a,1,2024-01-01 00:00:01',
    b"\xff,1,2024-01-01 00:00:01",
)


@pytest.mark.parametrize("values", _LINES.values(), ids=_LINES)
def test_lines_of_csv(connected: SparkSession, broker: str, tmp_path: Path, values: tuple[str | None, ...]) -> None:
    topic = make_topic(broker, f"lines-{abs(hash(values))}", 1)
    _send(broker, topic, *values)
    table = table_of(broker, topic, "csv")
    found = by_arrow(table, tmp_path)
    assert found is not None
    assert found == by_spark(connected, table)


_EMPTY_FIELDS = [v for v in _ODD_LINES if isinstance(v, str) and (",," in v or v[:1] == "," or v[-1:] == ",")]
#: A quote within a value is one of its letters.
_NULLS = [(v, None) for v in (*_ODD_LINES, 'x"y,1,2024-01-01 00:00:01')] + [
    (v, null) for v in _EMPTY_FIELDS for null in ("", "-")
]


@pytest.mark.parametrize(("value", "null"), _NULLS)
def test_odd_lines(connected: SparkSession, broker: str, tmp_path: Path, value: str | bytes, null: str | None) -> None:
    topic = make_topic(broker, f"odd-lines-{abs(hash((value, null)))}", 1)
    _send(broker, topic, _LINE, value)
    table = table_of(broker, topic, "csv", **({} if null is None else {"csv.null-literal": null}))
    assert by_arrow(table, tmp_path) == by_spark(connected, table)


@pytest.mark.parametrize("value", ['"a"b,1,2024-01-01 00:00:01', '"a,1,2024-01-01 00:00:01'])
def test_quotes_that_no_reader_takes(broker: str, tmp_path: Path, value: str) -> None:
    topic = make_topic(broker, f"quotes-{abs(hash(value))}", 1)
    _send(broker, topic, _LINE, value)
    table = table_of(broker, topic, "csv")
    reader = reader_of(table).reader(table, ["k"], Location.of(tmp_path), 2)
    (piece,) = reader.slices(reader.initial(), reader.latest(reader.initial(), None))
    with pytest.raises(SqlExtError, match="offset 1: ") as refused:
        list(reader.read(piece))
    assert refused.value.hint == "'csv.ignore-parse-errors' = 'true' skips such rows"


_MOMENT = some(whole(1_704_067_201_000))
_AVRO = some(text("a")) + some(whole(1)) + _MOMENT
_RECORDS: dict[str, tuple[bytes | None, ...]] = {
    "plain": (_AVRO, some(text("ä")) + some(whole(-70000)) + _MOMENT),
    "tombstones": (None, _AVRO, None),
    "nulls": (NULL + NULL + _MOMENT, _AVRO),
    "more behind": (_AVRO + b"x", _AVRO),
    "long numbers": (some(text("a")) + some(b"\x82\x80\x80\x80\x00") + _MOMENT, _AVRO),
}
_ODD_RECORDS = (
    b"",
    _AVRO[:-1],
    _AVRO[1:],
    b"\x04" + _AVRO[1:],
    some(whole(-1)) + some(whole(1)) + _MOMENT,
    some(whole(1 << 40)) + some(whole(1)) + _MOMENT,
    some(text("a")) + some(b"\xff" * 6) + _MOMENT,
    some(text("a")) + some(whole(1)) + some(b"\xff" * 11),
)


@pytest.mark.parametrize("values", _RECORDS.values(), ids=_RECORDS)
def test_records_of_avro(
    connected: SparkSession, broker: str, tmp_path: Path, values: tuple[bytes | None, ...]
) -> None:
    topic = make_topic(broker, f"records-{abs(hash(values))}", 1)
    _send(broker, topic, *values)
    table = table_of(broker, topic, "avro")
    found = by_arrow(table, tmp_path)
    assert found is not None
    assert found == by_spark(connected, table)


@pytest.mark.parametrize("value", _ODD_RECORDS)
def test_odd_records(connected: SparkSession, broker: str, tmp_path: Path, value: bytes) -> None:
    topic = make_topic(broker, f"odd-records-{abs(hash(value))}", 1)
    _send(broker, topic, _AVRO, value)
    table = table_of(broker, topic, "avro")
    assert by_arrow(table, tmp_path) == by_spark(connected, table)

"""Connectors: which options, which refusals, what is bounded. No Spark."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from connectors.tables import table

from sqlext.connectors.base import Connector, loaded
from sqlext.connectors.options import OptionError
from sqlext.connectors.registry import CONNECTORS, connector_of, register
from sqlext.connectors.search.options import index_parts
from sqlext.errors import SqlExtError
from sqlext.types import BIGINT, BYTES, DATE, DOUBLE, INT, STRING, TIMESTAMP3, TIMESTAMP_LTZ3, LogicalType, array

K = {"k": STRING}
FILES = {"connector": "filesystem", "path": "/in", "format": "json"}
KAFKA = {"connector": "kafka", "topic": "t", "properties.bootstrap.servers": "b:9092", "format": "json"}
REGISTRY = {"format": "avro-confluent", "avro-confluent.url": "http://registry"}
DEBEZIUM_AVRO = "debezium-avro-confluent"


def refusal(options: dict[str, str], columns: dict[str, LogicalType] = K, role: str = "source") -> OptionError:
    definition = table(columns, options)
    with pytest.raises(OptionError) as raised:
        connector_of(definition).validate(definition, role)  # type: ignore[arg-type]
    return raised.value


@pytest.mark.parametrize(
    ("options", "code", "option", "word"),
    [
        ({}, "OPT-001", None, "has no 'connector' option"),
        ({"connector": "filesytem"}, "OPT-002", "connector", "did you mean `filesystem`?"),
        ({"connector": "mysql-cdc"}, "OPT-002", "connector", "Debezium"),
        ({"connector": "elasticsearch-6"}, "OPT-002", "connector", "Kafka Connect"),
        ({"connector": "hudi"}, "OPT-002", "connector", "class path"),
        ({"connector": "mongodb"}, "OPT-002", "connector", "'jdbc' knows"),
        (FILES | {"no-such-option": "1"}, "OPT-003", "no-such-option", "no option 'no-such-option'"),
        (FILES | {"source.monitor-intervall": "1s"}, "OPT-003", "source.monitor-intervall", "did you mean"),
        (FILES | {"csv.null-literal": ""}, "OPT-003", "csv.null-literal", "csv.null-literal"),
        ({"connector": "filesystem", "format": "json"}, "OPT-004", None, "needs option 'path'"),
        (FILES | {"format": "jsn"}, "OPT-005", "format", "did you mean `json`?"),
        (FILES | {"format": "avro"}, "OPT-005", "format", "'connector' = 'spark'"),
        (FILES | {"format": "debezium"}, "OPT-005", "format", "did you mean `debezium-json`?"),
        (
            FILES | {"format": "ogg-json", "ogg-json.ignore-parse-errors": "1"},
            "OPT-005",
            "ogg-json.ignore-parse-errors",
            "true or",
        ),
        (
            FILES | {"format": "canal-json", "canal-json.table.include": "("},
            "OPT-005",
            "canal-json.table.include",
            "regular",
        ),
        (
            KAFKA | {"key.fields": "k", "key.format": "ogg-json"},
            "OPT-005",
            "key.format",
            "json or csv or avro or avro-confluent or raw",
        ),
        (FILES | {"source.monitor-interval": "soon"}, "OPT-005", "source.monitor-interval", "a duration"),
        (FILES | {"source.path.regex-pattern": "("}, "OPT-005", "source.path.regex-pattern", "regular expression"),
        (FILES | {"json.ignore-parse-errors": "yes"}, "OPT-005", "json.ignore-parse-errors", "true or false"),
        (
            FILES | {"json.ignore-parse-errors": "true", "json.fail-on-missing-field": "true"},
            "OPT-005",
            "json.fail-on-missing-field",
            "both be true",
        ),
        ({"connector": "delta"}, "OPT-004", None, "'path' or 'table-name'"),
        ({"connector": "delta", "path": "/a", "table-name": "b"}, "OPT-005", "table-name", "not both"),
        ({"connector": "rate"}, "OPT-008", None, "`k` (STRING)"),
        ({"connector": "datagen", "fields.x.min": "1"}, "OPT-003", "fields.x.min", "no column `x`"),
        ({"connector": "datagen", "fields.k.kind": "sequence"}, "OPT-004", "fields.k.kind", "fields.k.start"),
        ({"connector": "datagen", "fields.k.kind": "odd"}, "OPT-005", "fields.k.kind", "random or sequence"),
        ({"connector": "spark"}, "OPT-004", None, "needs option 'format'"),
        ({"connector": "kafka", "format": "json", "topic": "t"}, "OPT-004", None, "bootstrap.servers"),
        (KAFKA | {"topic-pattern": "t.*"}, "OPT-004", None, "either option 'topic'"),
        (KAFKA | {"format": "protobuf"}, "OPT-005", "format", "no format 'protobuf'"),
        (KAFKA | {"format": "avro-confluent"}, "OPT-004", None, "needs option 'avro-confluent.url'"),
        (KAFKA | REGISTRY | {"sqlext.source": "spark"}, "OPT-005", "sqlext.source", "a reader of ours"),
        (
            {"connector": "filesystem", "path": "/p", "format": "avro-confluent"},
            "OPT-005",
            "format",
            "connector 'kafka'",
        ),
        (KAFKA | {"json.ignore-parse-erors": "true"}, "OPT-003", "json.ignore-parse-erors", "json.ignore-parse-errors"),
        (KAFKA | {"csv.null-literal": ""}, "OPT-003", "csv.null-literal", "no option"),
        (KAFKA | {"json.ignore-parse-errors": "yes"}, "OPT-005", "json.ignore-parse-errors", "true or false"),
        (KAFKA | {"value.json.fail": "1"}, "OPT-003", "value.json.fail", "value.json.fail"),
        (
            KAFKA | REGISTRY | {"avro-confluent.subjct": "s"},
            "OPT-003",
            "avro-confluent.subjct",
            "avro-confluent.subject",
        ),
        (
            KAFKA | {"key.fields": "k", "key.format": "csv", "key.csv.delimiter": ";"},
            "OPT-003",
            "key.csv.delimiter",
            "key.csv.field-delimiter",
        ),
        (
            {"connector": "socket", "hostname": "h", "port": "1", "format": "json", "json.fail": "1"},
            "OPT-003",
            "json.fail",
            "no option 'json.fail'",
        ),
        (KAFKA | {"format": DEBEZIUM_AVRO}, "OPT-004", None, "needs option 'debezium-avro-confluent.url'"),
        (
            {k: v for k, v in KAFKA.items() if k != "format"} | {"value.format": DEBEZIUM_AVRO},
            "OPT-004",
            None,
            "needs option 'value.debezium-avro-confluent.url'",
        ),
        (
            KAFKA | {"format": DEBEZIUM_AVRO, f"{DEBEZIUM_AVRO}.url": "http://r", f"{DEBEZIUM_AVRO}.subjct": "s"},
            "OPT-003",
            f"{DEBEZIUM_AVRO}.subjct",
            f"{DEBEZIUM_AVRO}.subject",
        ),
        (
            KAFKA
            | {"format": DEBEZIUM_AVRO, f"{DEBEZIUM_AVRO}.url": "http://r"}
            | {f"{DEBEZIUM_AVRO}.ssl.keystore.location": "/k"},
            "OPT-005",
            f"{DEBEZIUM_AVRO}.ssl.keystore.location",
            "files of PEM: 'debezium-avro-confluent.properties.ssl.ca.location'",
        ),
        ({"connector": "filesystem", "path": "/p", "format": DEBEZIUM_AVRO}, "OPT-005", "format", "connector 'kafka'"),
        (KAFKA | {"raw.charset": "UTF-8"}, "OPT-003", "raw.charset", "no option"),
        (FILES | {"format": "raw", "raw.charset": "GBK"}, "OPT-005", "raw.charset", "UTF-8"),
        (KAFKA | {"key.fields": "k"}, "OPT-004", "key.format", "go together"),
        (KAFKA | {"key.fields": "x", "key.format": "json"}, "OPT-005", "key.fields", "`x` is no column"),
        (KAFKA | {"scan.startup.mode": "timestamp"}, "OPT-004", "scan.startup.mode", "timestamp-millis"),
        (KAFKA | {"scan.startup.specific-offsets": "0:1"}, "OPT-005", "scan.startup.specific-offsets", "partition:0"),
    ],
)
def test_refusals(options: dict[str, str], code: str, option: str | None, word: str) -> None:
    error = refusal(options)
    assert (error.code, error.option) == (code, option)
    assert word in f"{error.message} {error.hint}"


SEARCH = {"connector": "opensearch", "hosts": "http://a:9200;https://b:9200", "index": "i"}


@pytest.mark.parametrize(
    ("options", "keys", "code", "word"),
    [
        ({"hosts": "a:9200"}, (), "OPT-005", "URLs as"),
        ({"hosts": None}, (), "OPT-004", "'hosts'"),
        ({"index": "i-{x}"}, (), "OPT-005", "`x` is no column"),
        ({"index": "i-{at}"}, (), "OPT-005", "{c|yyyy-MM-dd}"),
        ({"index": "i-{k|yyyy}"}, (), "OPT-005", "{c|yyyy-MM-dd}"),
        ({"index": "i-{now()|yyyy}"}, ("k",), "OPT-005", "the clock would move rows"),
        ({"username": "u"}, (), "OPT-004", "'username' and 'password' together"),
        ({"failure-handler": "com.acme.Handler"}, (), "OPT-005", "retry-rejected"),
        ({"document-type": "d"}, (), "OPT-003", "document-type"),
        ({}, ("b",), "OPT-008", "cannot be part of a document's id"),
    ],
)
def test_refusals_of_an_index(options: dict[str, str | None], keys: tuple[str, ...], code: str, word: str) -> None:
    given = {k: v for k, v in (SEARCH | options).items() if v is not None}
    definition = table({"k": STRING, "at": TIMESTAMP3, "b": BYTES}, given, primary_key=keys)
    with pytest.raises(OptionError) as raised:
        connector_of(definition).validate(definition, "sink")
    assert raised.value.code == code
    assert word in f"{raised.value.message} {raised.value.hint}"


@pytest.mark.parametrize("key", ["format", "value.format"])
def test_a_format_that_is_not_there_is_named_before_its_options(key: str) -> None:
    of_format = f"{key.removesuffix('format')}protobuf-confluent.schema-registry.url"
    definition = table({"k": STRING}, KAFKA | {of_format: "http://h", key: "protobuf-confluent"})
    connector = connector_of(definition)
    assert connector.refused_option(definition, of_format) is None
    error = connector.refused_option(definition, key)
    assert error is not None
    assert (error.code, error.option) == ("OPT-005", key)
    assert "Python function" in (error.hint or "")


def test_parts_of_an_index() -> None:
    parts = index_parts("a-{k}.{at|yyyy-MM}{now()|dd}")
    assert [(p.text, p.column, p.pattern) for p in parts] == [
        ("a-", "", ""),
        ("", "k", ""),
        (".", "", ""),
        ("", "at", "yyyy-MM"),
        ("", "now()", "dd"),
    ]


def test_a_role_is_no_fault_of_an_option() -> None:
    sink = table(K, {"connector": "print"})
    with pytest.raises(SqlExtError, match="only be written to") as raised:
        connector_of(sink).validate(sink, "source")
    assert (raised.value.code, isinstance(raised.value, OptionError)) == ("OPT-006", False)


@pytest.mark.parametrize(
    ("options", "keys", "code", "word"),
    [
        ({}, (), "OPT-008", "needs a PRIMARY KEY"),
        ({"key.format": None}, ("k",), "OPT-004", "'key.format'"),
        ({"value.format": None}, ("k",), "OPT-004", "'value.format'"),
        ({"value.format": "debezium-json"}, ("k",), "OPT-005", "json or csv or avro or avro-confluent or raw"),
        ({"key.fields": "k"}, ("k",), "OPT-003", "no option 'key.fields'"),
        ({"scan.startup.mode": "earliest-offset"}, ("k",), "OPT-003", "scan.startup.mode"),
        ({"topic": None}, ("k",), "OPT-004", "either option 'topic'"),
        ({"scan.bounded.mode": "timestamp"}, ("k",), "OPT-004", "scan.bounded.timestamp-millis"),
        ({"key.fields-prefix": "x_", "value.fields-include": "EXCEPT_KEY"}, ("k",), "OPT-005", "beginning with 'x_'"),
        ({"sink.delivery-guarantee": "exactly-once", "properties.sasl.jaas.config": "x"}, ("k",), "OPT-005", "Java's"),
        ({"sink.semantic": "exactly-once", "properties.sasl.jaas.config": "x"}, ("k",), "OPT-005", "Java's client"),
    ],
)
def test_refusals_of_a_topic_of_current_rows(
    options: dict[str, str | None], keys: tuple[str, ...], code: str, word: str
) -> None:
    given = {"connector": "upsert-kafka", "key.format": "json", "value.format": "json", "topic": "t"} | options
    given["properties.bootstrap.servers"] = "b:9092"
    definition = table({"k": STRING, "n": INT}, {k: v for k, v in given.items() if v is not None}, primary_key=keys)
    with pytest.raises(OptionError) as raised:
        connector_of(definition).validate(definition, "sink")
    assert raised.value.code == code
    assert word in f"{raised.value.message} {raised.value.hint}"
    if not options.keys() & {"sink.delivery-guarantee", "sink.semantic"}:
        with pytest.raises(OptionError, match=re.escape(raised.value.message)):
            connector_of(definition).validate(definition, "source")


def test_columns_a_connector_cannot_hold() -> None:
    assert refusal({"connector": "rate"}, {"a": array(INT)}).code == "OPT-008"
    assert refusal({"connector": "datagen", "fields.i.min": "5", "fields.i.max": "4"}, {"i": INT}).code == "OPT-005"
    assert refusal(KAFKA | {"format": "raw"}, {"a": STRING, "b": STRING}).code == "OPT-008"
    assert "BOOLEAN, TINYINT" in refusal(KAFKA | {"format": "raw"}, {"a": DOUBLE}).message
    # A number in a file could have the byte that ends a line.
    assert "STRING or BYTES" in refusal(FILES | {"format": "raw"}, {"a": INT}).message
    for good in (INT, BYTES):
        number = table({"a": good}, KAFKA | {"format": "raw", "raw.endianness": "little-endian"})
        connector_of(number).validate(number, "source")
    for key in ("raw.charset", "value.raw.charset"):
        error = refusal(KAFKA | {"format": "raw", key: "GBK"}, {"a": STRING})
        assert (error.code, error.option) == ("OPT-005", key)
    accepted = table({"a": STRING}, KAFKA | {"value.format": "raw", "value.raw.charset": "utf-8"})
    connector_of(accepted).validate(accepted, "source")
    definition = table(K, FILES, metadata={"m": (STRING, "file.pat")})
    with pytest.raises(OptionError, match="no metadata") as raised:
        connector_of(definition).validate(definition, "source")
    assert "`file.path`" in (raised.value.hint or "")
    for partitions in (("x",), ("k",)):
        definition = table(K, FILES, partitioned_by=partitions)
        with pytest.raises(OptionError) as raised:
            connector_of(definition).validate(definition, "source")
        assert raised.value.code == "OPT-008"
    options = FILES | {"source.path.empty-if-not-exists": "true"}
    definition = table(K | {"d": STRING}, options, partitioned_by=("d",))
    with pytest.raises(OptionError, match="needs a folder that is there"):
        connector_of(definition).validate(definition, "source")


@pytest.mark.parametrize(
    "options",
    [
        FILES | {"json.no-such-option": "1"},
        FILES | {"format": "csv", "csv.field-delimiter": "\\t", "csv.whatever": "x"},
        FILES | {"scan.watermark.emit.strategy": "on-event", "scan.watermark.idle-timeout": "1min"},
        FILES | {"sqlext.source": "arrow", "scan.mode": "snapshot", "sink.rolling-policy.file-size": "128MB"},
        FILES | {"format": "parquet", "parquet.compression": "snappy"},
        KAFKA
        | {"properties.group.id": "g", "properties.sasl.jaas.config": "env:JAAS", "json.ignore-parse-errors": "true"},
        KAFKA | {"json.decode.json-parser.enabled": "false", "value.json.map-null-key.mode": "DROP"},
        {"connector": "delta", "path": "/d", "startingVersion": "latest", "delta.appendOnly": "true"},
        {"connector": "datagen", "rows-per-second": "5", "fields.k.length": "3", "fields.k.null-rate": "0.5"},
        {"connector": "spark", "format": "socket", "host": "localhost", "port": "1"},
    ],
)
def test_accepted(options: dict[str, str]) -> None:
    definition = table(K, options)
    connector_of(definition).validate(definition, "source")


@pytest.mark.parametrize(
    ("options", "bounded"),
    [
        (FILES, True),
        (FILES | {"source.monitor-interval": "5 s"}, False),
        ({"connector": "delta", "path": "/d"}, True),
        ({"connector": "delta", "path": "/d", "scan.mode": "streaming"}, False),
        (KAFKA, False),
        (KAFKA | {"scan.bounded.mode": "latest-offset"}, True),
        ({"connector": "rate"}, False),
        ({"connector": "datagen"}, False),
        ({"connector": "datagen", "number-of-rows": "5"}, True),
        ({"connector": "datagen", "fields.k.kind": "sequence", "fields.k.start": "1", "fields.k.end": "3"}, True),
        ({"connector": "spark", "format": "csv"}, True),
        ({"connector": "spark", "format": "socket"}, False),
    ],
)
def test_bounded(options: dict[str, str], bounded: bool) -> None:
    definition = table(K, options)
    assert connector_of(definition).bounded(definition) is bounded


def test_a_source_as_portable_sql() -> None:
    definition = table({"k": STRING, "ts": TIMESTAMP3}, FILES, rowtime="ts")
    spec = connector_of(definition).read_spec(definition)
    assert spec.schema == (("k", "STRING"), ("ts", "TIMESTAMP"))
    assert dict(spec.options) == {"mode": "FAILFAST", "timeZone": "UTC", "recursiveFileLookup": "true"}
    assert (spec.format, spec.path, spec.is_projection_only) == ("json", "/in", True)
    csv = table({"v": INT, "ts": TIMESTAMP3}, FILES | {"format": "csv", "csv.null-literal": ""}, rowtime="ts")
    assert connector_of(csv).read_spec(csv).select("raw") == (
        "SELECT CAST(v AS INT) AS v, CAST(ts AS TIMESTAMP) AS ts FROM raw"
    )
    with_path = table(K, FILES, metadata={"p": (STRING, "file.path")})
    assert connector_of(with_path).read_spec(with_path).file_metadata


def test_kafka_options_by_sparks_names() -> None:
    options = KAFKA | {
        "topic": "a;b",
        "properties.security.protocol": "SSL",
        "properties.auto.offset.reset": "latest",
        "properties.group.id": "g",
        "scan.bounded.mode": "timestamp",
        "scan.bounded.timestamp-millis": "7",
        "key.format": "json",
        "key.fields": "key_id",
        "key.fields-prefix": "key_",
        "value.fields-include": "EXCEPT_KEY",
    }
    columns = {"key_id": BIGINT, "d": DATE, "ts": TIMESTAMP_LTZ3}
    definition = table(columns, options, metadata={"o": (BIGINT, "offset"), "h": (BYTES, "timestamp-type")})
    spec = connector_of(definition).read_spec(definition)
    assert dict(spec.options) == {
        "kafka.bootstrap.servers": "b:9092",
        "kafka.security.protocol": "SSL",
        "subscribe": "a,b",
        "groupIdPrefix": "g",
    }
    assert spec.stream_options == (("startingOffsets", "latest"),)
    assert ("endingTimestamp", "7") in spec.batch_options
    assert spec.filters == ("value IS NOT NULL", "timestamp < timestamp_millis(7)")
    assert dict(spec.derived)["__key"].startswith("from_json(CAST(key AS STRING), 'id BIGINT'")
    assert spec.columns[0].expression == "__key.id"
    offsets = KAFKA | {
        "scan.startup.mode": "specific-offsets",
        "scan.startup.specific-offsets": "partition:0,offset:42;partition:1,offset:300",
    }
    definition = table(K, offsets)
    found = connector_of(definition).read_spec(definition).stream_options
    assert found == (("startingOffsets", '{"t": {"0": 42, "1": 300}}'),)


def test_every_connector_has_a_name_and_roles() -> None:
    assert {name: c.name for name, c in CONNECTORS.items()} == {n: n for n in CONNECTORS}
    assert all(c.roles for c in CONNECTORS.values())


def test_readers_and_sinks_are_where_they_are_said_to_be() -> None:
    for connector in CONNECTORS.values():
        assert bool(connector.sink) == ("sink" in connector.roles)
        assert not connector.sink or callable(loaded(connector.sink))
        assert not connector.reader or connector.table_reader().require
        assert connector.reader or not connector.decodes


def test_a_connector_can_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counter(Connector):
        name = "counter"

    monkeypatch.setitem(CONNECTORS, "counter", Connector())  # so that it is taken away again
    register(Counter())
    assert connector_of(table(K, {"connector": "counter"})).name == "counter"
    assert refusal({"connector": "countr"}).hint == "did you mean `counter`?"


def test_descriptions_need_no_spark() -> None:
    code = (
        "import sys, sqlext.connectors.registry as r; sys.exit(any(m in sys.modules for m in ('pyspark', 'pyarrow')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("format_", "path", "place"),
    [
        ("iceberg", "lake.shop.orders", "lake.shop.orders"),
        ("iceberg", "/lake/shop/orders", "/lake/shop/orders"),
        ("json", "orders.d", str(Path("orders.d").absolute())),
        ("hudi", "orders", str(Path("orders").absolute())),
    ],
)
def test_a_name_in_a_catalog_of_sparks_is_no_path(format_: str, path: str, place: str) -> None:
    definition = table(K, {"connector": "spark", "format": format_, "path": path})
    connector = connector_of(definition)
    assert (connector.read_spec(definition).path, connector.write_spec(definition).path) == (place, place)

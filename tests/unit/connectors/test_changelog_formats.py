"""Formats of changes: how messages are taken apart and put together. No Spark."""

from __future__ import annotations

import pytest
from connectors.tables import table

from sqlext.connectors.formats.changelog import CHANGELOG_FORMATS, DEBEZIUM, JSON_CHANGELOG_FORMATS
from sqlext.connectors.formats.changelog_messages import written_message
from sqlext.connectors.options import OptionError
from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import ReadSpec
from sqlext.types import BIGINT, INT, STRING, TIMESTAMP_LTZ3

FILES = {"connector": "filesystem", "path": "/in"}
KAFKA = {"connector": "kafka", "topic": "t", "properties.bootstrap.servers": "b:9092"}


def spec_of(options: dict[str, str], metadata: dict[str, object] | None = None) -> ReadSpec:
    definition = table({"k": STRING, "v": INT}, options, metadata=metadata)  # type: ignore[arg-type]
    connector = connector_of(definition)
    connector.validate(definition, "source")
    assert connector.changelog(definition)
    assert connector.takes_changes(definition)
    return connector.read_spec(definition)


@pytest.mark.parametrize("name", JSON_CHANGELOG_FORMATS)
def test_each_row_has_its_kind_behind_its_columns(name: str) -> None:
    spec = spec_of(FILES | {"format": name})
    assert [(c.name, c.type) for c in spec.columns] == [("k", "STRING"), ("v", "INT"), ("__row_kind", "TINYINT")]
    assert (spec.format, spec.schema) == ("text", (("value", "STRING"),))
    assert not spec.is_projection_only


def test_a_message_of_debezium_as_sql() -> None:
    spec = spec_of(FILES | {"format": "debezium-json"})
    row = "STRUCT<k: STRING, v: INT>"
    envelope = f"STRUCT<before: {row}, `after`: {row}, op: STRING>"
    parsed = f"from_json(`value`, '{envelope}', map('mode', 'FAILFAST', 'timeZone', 'UTC'))"
    assert spec.derived == (("__message", parsed),)
    assert spec.exploded is not None
    exploded = f"SELECT *, explode({spec.exploded[1]}) AS __change FROM (SELECT *, {parsed} AS __message FROM raw)"
    assert spec.select("raw").endswith(f"FROM ({exploded})")
    assert "WHEN __message.op IN ('c', 'r') AND __message.`after` IS NOT NULL THEN" in spec.exploded[1]
    assert "ELSE raise_error(concat('[RUN-044]" in spec.exploded[1]


@pytest.mark.parametrize(("key", "prefix"), [("format", ""), ("value.format", "value.")])
def test_a_record_of_debezium_as_sql(key: str, prefix: str) -> None:
    of_format = f"{prefix}debezium-avro-confluent.schema-registry.url"
    options = KAFKA | {key: "debezium-avro-confluent", of_format: "http://r"}
    spec = spec_of(options)
    ((name, parsed),) = spec.derived
    assert name == "__message"
    assert parsed.startswith("from_avro(value, ")
    assert '"name":"before","type":["null",{"type":"record","name":"record_before"' in parsed
    assert '{"name":"op","type":["null","string"],"default":null}' in parsed
    assert spec.exploded is not None
    assert "WHEN value IS NULL THEN NULL WHEN __message.op IN ('c', 'r')" in spec.exploded[1]
    assert "missing: ', hex(value)))" in spec.exploded[1]
    assert spec.avro
    definition = table({"k": STRING, "v": INT}, options)
    connector = connector_of(definition)
    assert connector.only_own_reader(definition)
    assert connector.reaches(definition)[of_format].places == ("http://r",)


def test_the_schema_around_a_message_and_broken_messages() -> None:
    own = {"debezium-json.schema-include": "true", "debezium-json.ignore-parse-errors": "true"}
    spec = spec_of(FILES | {"format": "debezium-json"} | own)
    assert "'STRUCT<payload: STRUCT<before:" in spec.derived[0][1]
    assert "'PERMISSIVE'" in spec.derived[0][1]
    assert spec.exploded is not None
    assert "__message.payload.op" in spec.exploded[1]
    assert spec.exploded[1].endswith("ELSE NULL END")


def test_what_an_update_has_not_changed_comes_from_the_row_after() -> None:
    spec = spec_of(FILES | {"format": "maxwell-json"})
    assert [name for name, _ in spec.derived] == ["__message", "__old"]
    assert spec.exploded is not None
    assert "IF(map_contains_key(__old.old, 'k'), __message.old.k, __message.`data`.k)" in spec.exploded[1]


def test_canal_takes_the_tables_that_match() -> None:
    spec = spec_of(FILES | {"format": "canal-json", "canal-json.table.include": "ord.*"})
    assert spec.exploded is not None
    assert "WHEN NOT coalesce(__message.`table` RLIKE '^(?:ord.*)$', false) THEN NULL" in spec.exploded[1]
    assert "database" not in spec.exploded[1]


def test_metadata_of_a_message_in_kafka() -> None:
    metadata = {"at": (TIMESTAMP_LTZ3, "value.ingestion-timestamp"), "o": (BIGINT, "offset")}
    spec = spec_of(KAFKA | {"value.format": "debezium-json"}, metadata)  # type: ignore[arg-type]
    found = {c.name: c.expression for c in spec.columns}
    assert found["at"] == "timestamp_millis(CAST(__message.ts_ms AS BIGINT))"
    assert found["o"] == "offset"
    assert "ts_ms: BIGINT" in spec.derived[0][1]
    definition = table({"k": STRING}, KAFKA | {"format": "json"}, metadata={"at": (BIGINT, "value.ts")})
    with pytest.raises(OptionError, match="no metadata"):
        connector_of(definition).validate(definition, "source")


def test_a_schema_is_not_written() -> None:
    options = FILES | {"format": "debezium-json", "debezium-json.schema-include": "true"}
    definition = table({"k": STRING}, options)
    connector_of(definition).validate(definition, "source")
    with pytest.raises(OptionError, match="not written") as raised:
        connector_of(definition).validate(definition, "sink")
    assert raised.value.option == "debezium-json.schema-include"


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("debezium-json", ["IF(d, r, NULL)", "IF(d, NULL, r)", "IF(d, 'd', 'c')"]),
        ("canal-json", ["array(r)", "IF(d, 'DELETE', 'INSERT')"]),
        ("maxwell-json", ["r", "IF(d, 'delete', 'insert')"]),
        ("ogg-json", ["IF(d, r, NULL)", "IF(d, NULL, r)", "IF(d, 'D', 'I')"]),
    ],
)
def test_messages_as_they_are_written(name: str, fields: list[str]) -> None:
    assert [text for _, text in written_message(CHANGELOG_FORMATS[name], "r", "d")] == fields
    assert [field for field, _ in written_message(DEBEZIUM, "r", "d")] == ["before", "after", "op"]


def test_the_change_feed_of_delta() -> None:
    options = {"connector": "delta", "path": "/d", "readChangeFeed": "true", "startingVersion": "3"}
    definition = table({"k": STRING}, options, metadata={"at": (TIMESTAMP_LTZ3, "commit-timestamp")})
    connector = connector_of(definition)
    connector.validate(definition, "source")
    assert (connector.changelog(definition), connector.takes_changes(definition)) == (True, False)
    spec = connector.read_spec(definition)
    assert (spec.options, spec.stream_options) == ((("readChangeFeed", "true"),), (("startingVersion", "3"),))
    assert [c.expression for c in spec.columns[:2]] == ["k", "_commit_timestamp"]
    assert "WHEN 'update_preimage' THEN 1" in spec.columns[2].expression
    plain = table({"k": STRING}, {"connector": "delta", "path": "/d"}, metadata={"at": (BIGINT, "commit-version")})
    with pytest.raises(OptionError, match="no metadata"):
        connector_of(plain).validate(plain, "source")

"""Describe formats whose messages are changes of rows: debezium-json, canal-json, and others.

Names of fields, operations and options are those of Flink 2.3's formats of these names. A message tells what happened
in one field (``op``) and carries images of the row; it becomes one row for each image, with its kind
(``sqlext_udfs.kernel.row_kinds``): an update is the row before (-U) and the row after (+U).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sqlext.connectors.formats.avro_confluent import AvroConfluentFormat
from sqlext.connectors.formats.debezium_avro import NAME, PREFIX
from sqlext.connectors.options import Check, OptionError, Rules, any_text, boolean, one_of, pattern
from sqlext.types import INT, STRING, TIMESTAMP_LTZ3, LogicalType, array, map_of

Images = Literal["pair", "old", "old-lists"]


@dataclass(frozen=True, slots=True)
class Metadata:
    """A metadata column of a format: the field of the message, its Spark type, and SQL with ``{}`` for its value."""

    type: LogicalType
    field: str
    stored: str
    value: str = "{}"


@dataclass(frozen=True, slots=True)
class ChangelogFormat:
    """A format of changes.

    Attributes:
        name: in the option ``format``.
        op: the field that says what happened.
        inserts, updates, deletes: its values, the first one is written.
        skipped: values of messages that change no row (DDL).
        images: ``pair``: the fields before and after; ``old``: data, and in old what an update has changed;
            ``old-lists``: lists of these.
        metadata: its metadata columns, by key.
        own_options: options beside those that all of JSON have, without the format's prefix, and their checks.
        avro: whether a message is a record of Avro by a schema of a registry, no text of JSON.
    """

    name: str
    op: str
    inserts: tuple[str, ...]
    updates: tuple[str, ...]
    deletes: tuple[str, ...]
    images: Images
    skipped: tuple[str, ...] = ()
    metadata: Mapping[str, Metadata] = field(default_factory=dict)
    own_options: Mapping[str, Check] = field(default_factory=dict)
    avro: bool = False

    @property
    def rules(self) -> Rules:
        """The options that it takes."""
        if self.avro:
            return AvroConfluentFormat.rules.behind(PREFIX)
        common = {
            "ignore-parse-errors": boolean,
            "timestamp-format.standard": one_of("SQL", "ISO-8601"),
            "map-null-key.mode": one_of("FAIL", "DROP", "LITERAL"),
            "map-null-key.literal": any_text,
            "encode.decimal-as-plain-number": boolean,
            "encode.ignore-null-fields": boolean,
        }
        checks = {f"{self.name}.{k}": check for k, check in (common | dict(self.own_options)).items()}
        return Rules(checks)

    def validate(self, owner: str, options: Mapping[str, str], role: str) -> None:
        """Refuse to write the schema that Debezium can put around its messages, as Flink does."""
        if role == "sink" and self.has_schema(options):
            key = f"{self.name}.schema-include"
            raise OptionError("OPT-005", f"{owner}: '{key}' = 'true' can be read, not written", option=key)

    def has_schema(self, options: Mapping[str, str]) -> bool:
        """Whether the message is inside a ``payload`` that stands beside its schema."""
        return options.get(f"{self.name}.schema-include", "false").strip().lower() == "true"

    def json_options(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return the format's options by the names of the json format."""
        prefix = f"{self.name}."
        return {f"json.{k[len(prefix) :]}": v for k, v in options.items() if k.startswith(prefix)}


_MILLIS = "timestamp_millis(CAST({} AS BIGINT))"
_SOURCE = "MAP<STRING, STRING>"


def _of_source(key: str, type_: LogicalType = STRING, value: str = "{}") -> Metadata:
    return Metadata(type_, "source", _SOURCE, value.format(f"{{}}['{key}']"))


DEBEZIUM = ChangelogFormat(
    "debezium-json",
    "op",
    # `r` is a row of the snapshot with which Debezium begins.
    inserts=("c", "r"),
    updates=("u",),
    deletes=("d",),
    images="pair",
    metadata={
        "ingestion-timestamp": Metadata(TIMESTAMP_LTZ3, "ts_ms", "BIGINT", _MILLIS),
        "source.timestamp": _of_source("ts_ms", TIMESTAMP_LTZ3, _MILLIS),
        "source.database": _of_source("db"),
        "source.schema": _of_source("schema"),
        "source.table": _of_source("table"),
        "source.properties": Metadata(map_of(STRING, STRING), "source", _SOURCE),
    },
    own_options={"schema-include": boolean},
)
CANAL = ChangelogFormat(
    "canal-json",
    "type",
    inserts=("INSERT",),
    updates=("UPDATE",),
    deletes=("DELETE",),
    images="old-lists",
    # DDL, which Flink's format passes over as well.
    skipped=("CREATE",),
    metadata={
        "database": Metadata(STRING, "database", "STRING"),
        "table": Metadata(STRING, "table", "STRING"),
        "sql-type": Metadata(map_of(STRING, INT), "sqlType", "MAP<STRING, INT>"),
        "pk-names": Metadata(array(STRING), "pkNames", "ARRAY<STRING>"),
        "ingestion-timestamp": Metadata(TIMESTAMP_LTZ3, "ts", "BIGINT", _MILLIS),
        "event-timestamp": Metadata(TIMESTAMP_LTZ3, "es", "BIGINT", _MILLIS),
    },
    own_options={"database.include": pattern, "table.include": pattern},
)
MAXWELL = ChangelogFormat(
    "maxwell-json",
    "type",
    inserts=("insert",),
    updates=("update",),
    deletes=("delete",),
    images="old",
    metadata={
        "database": Metadata(STRING, "database", "STRING"),
        "table": Metadata(STRING, "table", "STRING"),
        "primary-key-columns": Metadata(array(STRING), "primary_key_columns", "ARRAY<STRING>"),
        # Maxwell counts seconds where the others count milliseconds.
        "ingestion-timestamp": Metadata(TIMESTAMP_LTZ3, "ts", "BIGINT", "timestamp_seconds({})"),
    },
)
OGG = ChangelogFormat(
    "ogg-json",
    "op_type",
    inserts=("I",),
    updates=("U",),
    deletes=("D",),
    images="pair",
    skipped=("T",),
    metadata={
        "table": Metadata(STRING, "table", "STRING"),
        "primary-keys": Metadata(array(STRING), "primary_keys", "ARRAY<STRING>"),
        # Both times have no zone: they are UTC, never of the session's zone.
        "ingestion-timestamp": Metadata(TIMESTAMP_LTZ3, "current_ts", "STRING", "CAST(concat({}, 'Z') AS TIMESTAMP)"),
        "event-timestamp": Metadata(TIMESTAMP_LTZ3, "op_ts", "STRING", "CAST(concat({}, 'Z') AS TIMESTAMP)"),
    },
)
DEBEZIUM_AVRO = ChangelogFormat(
    NAME, DEBEZIUM.op, DEBEZIUM.inserts, DEBEZIUM.updates, DEBEZIUM.deletes, DEBEZIUM.images, avro=True
)
#: Those that files hold too.
JSON_CHANGELOG_FORMATS: dict[str, ChangelogFormat] = {f.name: f for f in (DEBEZIUM, CANAL, MAXWELL, OGG)}
CHANGELOG_FORMATS: dict[str, ChangelogFormat] = JSON_CHANGELOG_FORMATS | {DEBEZIUM_AVRO.name: DEBEZIUM_AVRO}

"""``'connector' = 'kafka'``: topics, by Flink's option names, through Spark's Kafka connector.

A query's position is in its checkpoint, not in a consumer group: ``group-offsets`` (Flink's default start) begins,
where there is no checkpoint yet, at ``properties.auto.offset.reset``, else at the earliest offset.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sqlext.catalog.model import Column, Options, Table
from sqlext.connectors.base import (
    Connector,
    OwnSource,
    Role,
    declared_type,
    is_instant,
    metadata_columns,
    metadata_key,
    physical_fields,
    read_columns,
    written_columns,
)
from sqlext.connectors.changelog_formats import CHANGELOG_FORMATS
from sqlext.connectors.changelog_messages import ParsedChanges, parsed_changes
from sqlext.connectors.conversions import output_type, wall_to_instant
from sqlext.connectors.csv_format import CsvFormat
from sqlext.connectors.formats import ReadField, TextFormat, unknown_format
from sqlext.connectors.json_format import JsonFormat, fails_on_missing
from sqlext.connectors.messages import missing_field_check, parsed
from sqlext.connectors.options import OptionError, Rules, any_text, duration, one_of, positive, whole
from sqlext.connectors.spec import ReadColumn, ReadSpec, WriteSpec, kind_column
from sqlext.types import BIGINT, BYTES, INT, STRING, TIMESTAMP_LTZ3, LogicalType, map_of

_TEXT_FORMATS: dict[str, TextFormat] = {"json": JsonFormat(), "csv": CsvFormat()}
_KEY_FORMATS = (*_TEXT_FORMATS, "raw")
_FORMATS = (*_KEY_FORMATS, *CHANGELOG_FORMATS)
#: Beginnings of the options of formats, in the value and, for those of keys, in the key.
_FORMAT_OPTIONS = tuple(f"{name}." for name in (*_TEXT_FORMATS, *CHANGELOG_FORMATS))

_STARTUP = ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
_BOUNDED = ("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
_OFFSETS = re.compile(r"\s*partition:(\d+)\s*,\s*offset:(\d+)\s*")


def _offsets_text(value: str) -> str | None:
    good = all(_OFFSETS.fullmatch(part) for part in value.split(";") if part.strip())
    return None if good else "`partition:0,offset:42;partition:1,offset:300`"


_RULES = Rules(
    {
        "topic": any_text,
        "topic-pattern": any_text,
        "properties.bootstrap.servers": any_text,
        "format": one_of(*_FORMATS),
        "value.format": one_of(*_FORMATS),
        "key.format": one_of(*_KEY_FORMATS),
        "key.fields": any_text,
        "key.fields-prefix": any_text,
        "value.fields-include": one_of("ALL", "EXCEPT_KEY"),
        "scan.startup.mode": one_of(*_STARTUP),
        "scan.startup.specific-offsets": _offsets_text,
        "scan.startup.timestamp-millis": whole,
        "scan.bounded.mode": one_of(*_BOUNDED),
        "scan.bounded.specific-offsets": _offsets_text,
        "scan.bounded.timestamp-millis": whole,
        "scan.topic-partition-discovery.interval": duration,
        "maxOffsetsPerTrigger": positive,
        "sink.partitioner": any_text,
        "sink.semantic": any_text,
        "sink.delivery-guarantee": one_of("at-least-once", "exactly-once", "none"),
        "sink.transactional-id-prefix": any_text,
        "sink.parallelism": positive,
        "raw.charset": any_text,
    },
    required=("properties.bootstrap.servers",),
    prefixes=(
        "properties.",
        "kafka.",
        *_FORMAT_OPTIONS,
        *(f"value.{p}" for p in _FORMAT_OPTIONS),
        *(f"key.{name}." for name in _TEXT_FORMATS),
    ),
)

# Consumer settings that Spark decides itself; Flink's scripts carry them.
_SPARKS_OWN = {"group.id", "auto.offset.reset", "enable.auto.commit", "auto.commit.interval.ms"}

_METADATA: dict[str, tuple[LogicalType, str]] = {
    "topic": (STRING, "topic"),
    "partition": (INT, "partition"),
    "headers": (map_of(STRING, BYTES), "map_from_entries(headers)"),
    "leader-epoch": (INT, "CAST(NULL AS INT)"),
    "offset": (BIGINT, "offset"),
    "timestamp": (TIMESTAMP_LTZ3, "timestamp"),
    "timestamp-type": (
        STRING,
        "CASE timestampType WHEN 0 THEN 'CreateTime' WHEN 1 THEN 'LogAppendTime' ELSE 'NoTimestampType' END",
    ),
}
_RAW = (
    ("key", "BINARY"),
    ("value", "BINARY"),
    ("topic", "STRING"),
    ("partition", "INT"),
    ("offset", "BIGINT"),
    ("timestamp", "TIMESTAMP"),
    ("timestampType", "INT"),
)


class Kafka(Connector):
    """Topics of Kafka. Unbounded unless ``scan.bounded.mode`` is set."""

    name = "kafka"
    rules = _RULES

    def validate(self, table: Table, role: Role) -> None:
        """Refuse what cannot work; see Connector.validate."""
        name = table.option("value.format") or table.option("format") or "json"
        if name not in _FORMATS:
            raise unknown_format(name, dict.fromkeys(_FORMATS), self.owner)
        super().validate(table, role)
        if not (table.option("format") or table.option("value.format")):
            raise OptionError("OPT-004", f"{self.owner} needs option 'format' or 'value.format'")
        self._validate_topic(table, role)
        if role == "sink":
            self._validate_sink(table)
        if self.changelog(table):
            CHANGELOG_FORMATS[value_format(table)].validate(self.owner, part_options(table.options, "value"), role)
        _validate_keys(table)
        for mode, option in (("timestamp", "timestamp-millis"), ("specific-offsets", "specific-offsets")):
            for scan in ("scan.startup", "scan.bounded"):
                if table.option(f"{scan}.mode") == mode and not table.option(f"{scan}.{option}"):
                    message = f"'{scan}.mode' = '{mode}' needs option '{scan}.{option}'"
                    raise OptionError("OPT-004", message, option=f"{scan}.mode")
        for fields, form in ((key_fields(table), key_format(table)), (value_fields(table), value_format(table))):
            _validate_raw(fields, form)

    def _validate_topic(self, table: Table, role: Role) -> None:
        topic, pattern = table.option("topic"), table.option("topic-pattern")
        if (topic is None) == (pattern is None):
            raise OptionError("OPT-004", f"{self.owner} needs either option 'topic' or option 'topic-pattern'")
        if role == "sink" and (topic is None or ";" in topic):
            raise OptionError("OPT-005", f"a {self.owner} sink writes to one 'topic'", option="topic")

    def _validate_sink(self, table: Table) -> None:
        if (table.option("sink.delivery-guarantee") or "").lower() == "exactly-once":
            message = "Spark writes to Kafka at least once: a batch that is run again sends its records again"
            raise OptionError("OPT-005", message, option="sink.delivery-guarantee")
        for column in written_columns(table):
            if column.metadata_key not in (None, "headers"):
                message = f"Spark writes no metadata '{column.metadata_key}' to Kafka: declare `{column.name}` VIRTUAL"
                raise OptionError("OPT-007", message)

    def bounded(self, table: Table) -> bool:
        """Return whether ``scan.bounded.mode`` ends it."""
        return (table.option("scan.bounded.mode") or "unbounded") != "unbounded"

    def own_reader(self, table: Table) -> str:
        """Return why ``sources.kafka`` cannot read it, empty if it can."""
        from sqlext.connectors.kafka_reader import why_not

        return why_not(table)

    def prefers_own_reader(self, table: Table) -> bool:
        """Return True: it knows the time of each partition."""
        return True

    def own_source(self, table: Table, state: Path | None, tasks: int) -> OwnSource:
        """Return the topics' records."""
        from sqlext.connectors.kafka_reader import kafka_source

        return kafka_source(table, state)

    def has_splits(self, table: Table) -> bool:
        """Return that partitions have."""
        return True

    def split_column(self) -> str:
        """Return topic and partition, as ``sources.kafka`` names its splits."""
        return "concat(topic, '-', partition)"

    def changelog(self, table: Table) -> bool:
        """Return whether its values are messages of changes."""
        return value_format(table) in CHANGELOG_FORMATS

    def takes_changes(self, table: Table) -> bool:
        """Return whether its values are messages of changes."""
        return self.changelog(table)

    def metadata(self, table: Table) -> Mapping[str, LogicalType]:
        """Return what a record carries beside key and value, and, as ``value.x``, what a message of changes does."""
        own = {key: type_ for key, (type_, _) in _METADATA.items()}
        form = CHANGELOG_FORMATS.get(value_format(table))
        return own | ({f"value.{k}": m.type for k, m in form.metadata.items()} if form is not None else {})

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return how records are read and taken apart. A record without value (a tombstone) is no row."""
        derived: list[tuple[str, str]] = []
        filters = ["value IS NOT NULL", *_end_filters(table)]
        expressions: dict[str, str] = {}
        metadata = {key: expression for key, (_, expression) in _METADATA.items()}
        changes = _changes(table, zone) if self.changelog(table) else None
        if changes is not None:
            derived += changes.derived
            metadata |= {f"value.{k}": v for k, v in changes.metadata.items()}
        parts = (
            ("key", key_format(table), key_fields(table)),
            ("value", value_format(table), value_fields(table)),
        )
        for raw, form, fields in parts:
            if changes is not None and raw == "value":
                expressions |= changes.columns
                continue
            if form == "raw" or not fields:
                expressions.update({f.name: f"CAST({raw} AS {f.type.spark()})" for f in fields})
                continue
            stripped = tuple(replace(f, name=f.name[len(_prefix(table, raw)) :]) for f in fields)
            options = part_options(table.options, raw)
            text = f"CAST({raw} AS STRING)"
            message = parsed(_TEXT_FORMATS[form], text, f"__{raw}", stripped, options, zone)
            derived += message.derived
            filters += message.decoded.filters
            if form == "json" and fails_on_missing(options):
                filters.append(missing_field_check(text, stripped))
            expressions.update(zip((f.name for f in fields), dict(message.decoded.expressions).values(), strict=True))
        for column in metadata_columns(table):
            expressions[column.name] = self._metadata_value(table, column, metadata[metadata_key(column)], zone)
        headers = any(metadata_key(c) == "headers" for c in metadata_columns(table))
        return ReadSpec(
            format="kafka",
            schema=_RAW,
            fixed_schema=True,
            columns=(
                *(
                    ReadColumn(c.name, expressions[c.name], output_type(declared_type(c), is_instant(table, c)))
                    for c in read_columns(table)
                ),
                *((kind_column(changes.kind),) if changes is not None else ()),
            ),
            options=(*_connection(table), *((("includeHeaders", "true"),) if headers else ())),
            stream_options=(*_start(table), *_limit(table)),
            batch_options=(*_start(table), *_end(table)),
            derived=tuple(derived),
            exploded=changes.exploded if changes is not None else None,
            filters=tuple(filters),
            bounded=self.bounded(table),
        )

    def write_spec(self, table: Table) -> WriteSpec:
        """Return how records are written."""
        return replace(super().write_spec(table), format=value_format(table))

    def _metadata_value(self, table: Table, column: Column, expression: str, zone: str) -> str:
        own, declared = self.metadata(table)[metadata_key(column)], declared_type(column)
        value = expression if own == declared else f"CAST({expression} AS {declared.spark()})"
        return wall_to_instant(value, zone) if is_instant(table, column) else value


def _changes(table: Table, zone: str) -> ParsedChanges:
    """Return how the values of records become changes."""
    form = CHANGELOG_FORMATS[value_format(table)]
    keys = (metadata_key(c) for c in metadata_columns(table))
    wanted = tuple(k.removeprefix("value.") for k in keys if k.startswith("value."))
    options = part_options(table.options, "value")
    return parsed_changes(form, "CAST(value AS STRING)", value_fields(table), options, zone, wanted)


def value_format(table: Table) -> str:
    """Return the format of a record's value."""
    return (table.option("value.format") or table.option("format") or "").lower()


def key_format(table: Table) -> str:
    """Return the format of a record's key, empty where keys are not read."""
    return (table.option("key.format") or "").lower()


def key_fields(table: Table) -> tuple[ReadField, ...]:
    """Return the columns that are in a record's key."""
    return tuple(f for f in physical_fields(table) if f.name in key_names(table.options))


def value_fields(table: Table) -> tuple[ReadField, ...]:
    """Return the columns that are in a record's value."""
    left_out = key_names(table.options) if _keys_only_in_key(table) else ()
    return tuple(f for f in physical_fields(table) if f.name not in left_out)


def key_names(options: Options) -> tuple[str, ...]:
    """Return the names of the key's columns."""
    return tuple(n.strip() for n in dict(options).get("key.fields", "").split(";") if n.strip())


def part_options(options: Options, part: str) -> dict[str, str]:
    """Return the format options of a record's ``key`` or ``value``: ``json.x``, ``value.json.x``, ``key.json.x``."""
    plain = {} if part == "key" else {k: v for k, v in options if k.startswith(_FORMAT_OPTIONS)}
    own = {k[len(part) + 1 :]: v for k, v in options if k.startswith(tuple(f"{part}.{p}" for p in _FORMAT_OPTIONS))}
    return plain | own


def _keys_only_in_key(table: Table) -> bool:
    return (table.option("value.fields-include") or "ALL").upper() == "EXCEPT_KEY"


def _prefix(table: Table, part: str) -> str:
    return table.option("key.fields-prefix") or "" if part == "key" else ""


def _validate_keys(table: Table) -> None:
    names, physical = key_names(table.options), [f.name for f in physical_fields(table)]
    if bool(names) != bool(table.option("key.format")):
        raise OptionError("OPT-004", "'key.format' and 'key.fields' go together", option="key.format")
    prefix = table.option("key.fields-prefix") or ""
    for name in names:
        if name not in physical or not name.startswith(prefix):
            message = f"'key.fields': `{name}` is no column of `{table.name.name}` beginning with '{prefix}'"
            raise OptionError("OPT-005", message, option="key.fields")
    if prefix and not _keys_only_in_key(table):
        message = "'key.fields-prefix' needs 'value.fields-include' = 'EXCEPT_KEY'"
        raise OptionError("OPT-005", message, option="key.fields-prefix")


def _validate_raw(fields: tuple[ReadField, ...], form: str) -> None:
    if form != "raw":
        return
    if len(fields) != 1 or not (fields[0].type.is_text or fields[0].type.root in ("BINARY", "VARBINARY")):
        raise OptionError("OPT-008", "format 'raw' holds exactly one column, of type STRING or BYTES", option="format")


def connection_options(options: Options) -> Options:
    """Return ``properties.x`` as Spark's ``kafka.x``."""
    found = [(f"kafka.{k[len('properties.') :]}", v) for k, v in options if k.startswith("properties.")]
    direct = [(k, v) for k, v in options if k.startswith("kafka.")]
    return tuple((k, v) for k, v in (*found, *direct) if k.removeprefix("kafka.") not in _SPARKS_OWN)


def _connection(table: Table) -> Options:
    topic, pattern = table.option("topic"), table.option("topic-pattern")
    which = ("subscribePattern", pattern or "") if topic is None else ("subscribe", topic.replace(";", ","))
    group = table.option("properties.group.id")
    return (*connection_options(table.options), which, *((("groupIdPrefix", group),) if group else ()))


def _start(table: Table) -> Options:
    mode = (table.option("scan.startup.mode") or "group-offsets").lower()
    if mode == "timestamp":
        return (("startingTimestamp", table.option("scan.startup.timestamp-millis") or "0"),)
    if mode == "specific-offsets":
        return (("startingOffsets", _offsets(table, "scan.startup.specific-offsets")),)
    if mode == "group-offsets":
        mode = table.option("properties.auto.offset.reset") or "earliest"
    return (("startingOffsets", "latest" if mode.startswith("latest") else "earliest"),)


def _limit(table: Table) -> Options:
    most = table.option("maxOffsetsPerTrigger")
    return (("maxOffsetsPerTrigger", most),) if most is not None else ()


def _end(table: Table) -> Options:
    mode = (table.option("scan.bounded.mode") or "unbounded").lower()
    if mode == "timestamp":
        return (("endingTimestamp", table.option("scan.bounded.timestamp-millis") or "0"),)
    if mode == "specific-offsets":
        return (("endingOffsets", _offsets(table, "scan.bounded.specific-offsets")),)
    return (("endingOffsets", "latest"),)


def _end_filters(table: Table) -> list[str]:
    """Return what ends a stream early: Spark's stream reader only knows the latest offset as an end."""
    mode = (table.option("scan.bounded.mode") or "unbounded").lower()
    if mode == "timestamp":
        return [f"timestamp < timestamp_millis({table.option('scan.bounded.timestamp-millis')})"]
    if mode == "specific-offsets":
        ends = parsed_offsets(table, "scan.bounded.specific-offsets")
        cases = " ".join(f"WHEN {p} THEN offset < {o}" for p, o in ends.items())
        return [f"CASE partition {cases} ELSE true END"]
    return []


def parsed_offsets(table: Table, option: str) -> dict[str, int]:
    """Return the offsets that an option names, by partition."""
    found = (_OFFSETS.fullmatch(part) for part in (table.option(option) or "").split(";"))
    return {m.group(1): int(m.group(2)) for m in found if m}


def _offsets(table: Table, option: str) -> str:
    return json.dumps({table.option("topic"): parsed_offsets(table, option)})

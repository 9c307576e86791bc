"""Describe ``'connector' = 'kafka'``: topics, by Flink's option names, through Spark's Kafka connector.

A query's position is in its checkpoint, not in a consumer group: ``group-offsets`` (Flink's default start) begins,
where there is no checkpoint yet, at ``properties.auto.offset.reset``, else at the earliest offset.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlext.connectors.bad_rows import first_fault, why_not_judged, with_faults
from sqlext.connectors.base import (
    Connector,
    Reach,
    Role,
    declared_type,
    is_instant,
    metadata_columns,
    metadata_key,
    read_columns,
)
from sqlext.connectors.formats.base import shown, unknown_format
from sqlext.connectors.formats.changelog import CHANGELOG_FORMATS
from sqlext.connectors.formats.changelog_messages import ParsedChanges, parsed_changes
from sqlext.connectors.formats.conversions import output_type, wall_to_instant
from sqlext.connectors.kafka.client import why_no_client
from sqlext.connectors.kafka.guarantee import exactly_once, validate_sink
from sqlext.connectors.kafka.options import (
    FORMAT_KEYS,
    FORMATS,
    MESSAGE_FORMATS,
    RULES,
    format_rules,
    has_avro,
    has_registry,
    part_options,
    registry_urls,
    validate_avro,
    validate_bounds,
    validate_keys,
    validate_raw,
    validate_topic,
    value_fields,
    value_format,
)
from sqlext.connectors.kafka.records import RecordPart, record_part
from sqlext.connectors.kafka.spark_options import connection, end, end_filters, limit, start
from sqlext.connectors.options import BAD_ROWS_OPTION, FAIL, OptionError, Rules, bad_rows_policy
from sqlext.connectors.spec import Faults, ReadColumn, ReadSpec, WriteSpec, kind_column
from sqlext.types import BIGINT, BYTES, INT, STRING, TIMESTAMP_LTZ3, LogicalType, map_of
from sqlext_catalog.model import Column, Table

#: Key -> type, and SQL over a raw record.
METADATA: dict[str, tuple[LogicalType, str]] = {
    "topic": (STRING, "topic"),
    "partition": (INT, "partition"),
    "headers": (map_of(STRING, BYTES), "map_from_entries(headers)"),
    # Flink offers it; Spark's connector does not hand it on.
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


_SERVERS = "properties.bootstrap.servers"
_PLACE = "concat('topic ', topic, ', partition ', partition, ', offset ', offset)"


class Kafka(Connector):
    """Topics of Kafka. Unbounded unless ``scan.bounded.mode`` is set."""

    name = "kafka"
    reader = "sqlext.connectors.kafka.reader.tables:READER"
    places = "sqlext.connectors.kafka.reader.places:PLACES"
    sink = "sqlext.connectors.kafka.sink:KafkaSink"
    local_sink = "sqlext.connectors.kafka.local_sink:local_kafka"
    decodes = True
    keeps_order = True
    passes_on = True
    rules = RULES

    def rules_for(self, table: Table, role: Role) -> Rules:
        """Return the connector's options and those of the formats of keys and values."""
        return self.rules.merged(format_rules(table))

    def refused_option(self, table: Table, key: str) -> OptionError | None:
        """Return also that a format is not there, in place of what is wrong with its options."""
        unknown = {k: v for k in FORMAT_KEYS if (v := table.option(k)) is not None and v.lower() not in FORMATS}
        if key in unknown:
            return unknown_format(unknown[key], dict.fromkeys(FORMATS), self.owner, key)
        of_format = key.removeprefix("value.").removeprefix("key.")
        if any(of_format.startswith(f"{name}.") for name in unknown.values()):
            return None
        return super().refused_option(table, key)

    def validate(self, table: Table, role: Role) -> None:
        """Refuse what cannot work; see Connector.validate."""
        name = table.option("value.format") or table.option("format") or "json"
        if name not in FORMATS:
            raise unknown_format(name, dict.fromkeys(FORMATS), self.owner)
        super().validate(table, role)
        if not (table.option("format") or table.option("value.format")):
            raise OptionError("OPT-004", f"{self.owner} needs option 'format' or 'value.format'")
        validate_topic(self.owner, table, role)
        if role == "sink":
            validate_sink(table)
        if self.changelog(table):
            CHANGELOG_FORMATS[value_format(table)].validate(self.owner, part_options(table.options, "value"), role)
        validate_keys(table)
        validate_bounds(table)
        validate_raw(table)
        validate_avro(self.owner, table)

    def reaches(self, table: Table) -> Mapping[str, Reach]:
        """Return its brokers, and the registries of its schemas."""
        found = {_SERVERS: table.option(_SERVERS) or "", **registry_urls(table)}
        return {k: Reach(tuple(b.strip() for b in v.split(",") if b.strip()), local=False) for k, v in found.items()}

    def only_own_reader(self, table: Table) -> bool:
        """Return whether its schemas are in a registry, which Spark's connector does not know."""
        return has_registry(table)

    def bounded(self, table: Table) -> bool:
        """Return whether ``scan.bounded.mode`` ends it."""
        return (table.option("scan.bounded.mode") or "unbounded") != "unbounded"

    def no_own_reader(self, table: Table) -> str:
        """Return why our own client does not read it, empty if it does."""
        return why_no_client(table.options)

    def not_real_time(self, table: Table, *, written: bool) -> str:
        """Return why Spark alone cannot read (or write) the topic, empty if it can."""
        if written:
            return "records are written exactly once by transactions of ours" if exactly_once(table.options) else ""
        return "our own reader alone reads it" if self.only_own_reader(table) else ""

    def prefers_own_reader(self, table: Table) -> bool:
        """Return True: it knows the time of each partition."""
        return True

    def has_splits(self, table: Table) -> bool:
        """Return that partitions have."""
        return True

    def has_own_positions(self, table: Table) -> bool:
        """Return that offsets are the topic's."""
        return True

    def split_column(self) -> str:
        """Return topic and partition, as our own reader names its splits."""
        return "concat(topic, '-', partition)"

    def cannot_judge(self, table: Table) -> str:
        """Return why bad rows are not told from others, empty if they are."""
        form = value_format(table)
        if has_registry(table):
            return "what is no record of a registry's schema fails where it is read"
        # Format 'raw' takes any bytes, so no value of it is bad.
        return "" if form == "raw" else why_not_judged(form, MESSAGE_FORMATS, part_options(table.options, "value"))

    def naming_bad_rows(self, table: Table) -> Table:
        """Return the table with a policy for bad rows: Spark's own failure says neither partition nor offset."""
        if bad_rows_policy(table) is not None or self.changelog(table) or self.cannot_judge(table):
            return table
        return replace(table, options=(*table.options, (BAD_ROWS_OPTION, FAIL)))

    def changelog(self, table: Table) -> bool:
        """Return whether its values are messages of changes."""
        return value_format(table) in CHANGELOG_FORMATS

    def takes_changes(self, table: Table) -> bool:
        """Return whether its values are messages of changes."""
        return self.changelog(table)

    def tells_refused(self, table: Table) -> bool:
        """Return that records are measured before they are sent."""
        return True

    def metadata(self, table: Table) -> Mapping[str, LogicalType]:
        """Return what a record carries beside key and value, and, as ``value.x``, what a message of changes does."""
        own = {key: type_ for key, (type_, _) in METADATA.items()}
        form = CHANGELOG_FORMATS.get(value_format(table))
        return own | ({f"value.{k}": m.type for k, m in form.metadata.items()} if form is not None else {})

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return how records are read and taken apart. A record without value (a tombstone) is no row."""
        changes = _changes(table, zone) if self.changelog(table) else None
        if changes is None:
            return self._spec(table, zone, self._parts(table, zone), ("value IS NOT NULL",))
        # Rows of messages of changes are not judged one by one, so their keys are not either.
        key = record_part(table, "key", zone, judges=False)
        parts = {"key": key, "value": RecordPart(changes.derived, changes.columns)}
        metadata = {f"value.{k}": v for k, v in changes.metadata.items()}
        spec = self._spec(table, zone, parts, ("value IS NOT NULL",), metadata)
        return replace(spec, columns=(*spec.columns, kind_column(changes.kind)), exploded=changes.exploded)

    def _parts(self, table: Table, zone: str) -> dict[str, RecordPart]:
        """Return how key and value are taken apart; a column that is in both is the value's."""
        judges = bad_rows_policy(table) is not None and not self.cannot_judge(table)
        return {
            "key": record_part(table, "key", zone, judges=judges),
            "value": record_part(table, "value", zone, judges=judges),
        }

    def _spec(
        self,
        table: Table,
        zone: str,
        parts: Mapping[str, RecordPart],
        filters: tuple[str, ...],
        more_metadata: Mapping[str, str] | None = None,
    ) -> ReadSpec:
        """Return how records are read, given how their parts are taken apart.

        Args:
            filters: what a record must meet to be a row.
            more_metadata: SQL of further metadata, by key.
        """
        expressions = {name: text for part in parts.values() for name, text in part.columns.items()}
        metadata = {key: expression for key, (_, expression) in METADATA.items()} | dict(more_metadata or {})
        for column in metadata_columns(table):
            expressions[column.name] = self._metadata_value(table, column, metadata[metadata_key(column)], zone)
        headers = any(metadata_key(c) == "headers" for c in metadata_columns(table))
        spec = ReadSpec(
            format="kafka",
            schema=_RAW,
            fixed_schema=True,
            columns=tuple(
                ReadColumn(c.name, expressions[c.name], output_type(declared_type(c), is_instant(table, c)))
                for c in read_columns(table)
            ),
            options=(*connection(table), *((("includeHeaders", "true"),) if headers else ())),
            stream_options=(*start(table), *limit(table)),
            batch_options=(*start(table), *end(table)),
            derived=tuple(d for part in parts.values() for d in part.derived),
            filters=(*filters, *end_filters(table), *(f for part in parts.values() for f in part.filters)),
            bounded=self.bounded(table),
            avro=has_avro(table),
        )
        told = {"" if n == "value" else n: part for n, part in parts.items() if part.reason is not None}
        reasons = {name: part.reason or "" for name, part in told.items()}
        rests = {name: part.rest for name, part in told.items()}
        text = shown(MESSAGE_FORMATS.get(value_format(table)), "value")
        faults = Faults(first_fault(reasons), text, _PLACE, first_fault(rests)) if told else None
        return with_faults(spec, table, faults) if faults is not None else spec

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
    content = "value" if form.avro else "CAST(value AS STRING)"
    return parsed_changes(form, content, value_fields(table), options, zone, wanted)

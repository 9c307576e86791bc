"""Describe ``'connector' = 'upsert-kafka'``: a topic that holds the current row of every key, by Flink's option names.

The key of a record is the PRIMARY KEY; a row that is gone is a record without a value (a tombstone), which a compacted
topic forgets. Written, of a micro-batch each key sends its last row; what is sent again after a failure says the same.
Read, a topic is a changelog, always from its beginning: ``plan.current_rows`` makes changes of its records. All records
of a key are in one partition, and a record without a key is no row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlext.connectors.base import Connector, Role
from sqlext.connectors.kafka.guarantee import validate_sink
from sqlext.connectors.kafka.options import (
    UPSERT_RULES,
    validate_avro,
    validate_bounds,
    validate_keys,
    validate_raw,
    validate_topic,
)
from sqlext.connectors.kafka.records import RecordPart
from sqlext.connectors.kafka.table import METADATA, Kafka
from sqlext.connectors.options import OptionError
from sqlext.connectors.spec import ReadSpec, WriteSpec, kind_column, position_column
from sqlext.types import LogicalType
from sqlext_catalog.model import Table
from sqlext_udfs.kernel.row_kinds import DELETE, UPDATE_AFTER

_GONE = "value IS NULL"


class UpsertKafka(Kafka):
    """A topic as a table of current rows. Unbounded unless ``scan.bounded.mode`` is set."""

    name = "upsert-kafka"
    reader = "sqlext.connectors.kafka.reader.tables:UPSERT_READER"
    sink = "sqlext.connectors.kafka.sink:UpsertKafkaSink"
    local_sink = "sqlext.connectors.kafka.local_sink:local_upserts"
    decodes = False
    keeps_order = False
    rules = UPSERT_RULES

    def validate(self, table: Table, role: Role) -> None:
        """Refuse what cannot work; see Connector.validate."""
        Connector.validate(self, table, role)
        if table.primary_key is None:
            hint = "add PRIMARY KEY (...) NOT ENFORCED: its columns are the key of a record"
            raise OptionError("OPT-008", f"{self.owner} needs a PRIMARY KEY in `{table.name.name}`", hint=hint)
        validate_topic(self.owner, table, role)
        if role == "sink":
            validate_sink(table)
        validate_bounds(table)
        validate_keys(keyed(table))
        validate_raw(keyed(table))
        validate_avro(self.owner, keyed(table))

    def changelog(self, table: Table) -> bool:
        """Return that a record changes the table."""
        return True

    def upserts(self, table: Table) -> bool:
        """Return that a record replaces the row of its key."""
        return True

    def takes_changes(self, table: Table) -> bool:
        """Return that it takes current rows, not their changes."""
        return False

    def merges(self, table: Table) -> bool:
        """Return that a row replaces the one with its key."""
        return True

    def metadata(self, table: Table) -> Mapping[str, LogicalType]:
        """Return what a record carries beside key and value."""
        return {key: type_ for key, (type_, _) in METADATA.items()}

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return how records are read; one without value has the columns of its key alone."""
        known = keyed(table)
        parts = self._parts(known, zone)
        key, value = parts["key"], parts["value"]
        columns = {n: f"IF({_GONE}, {key.columns.get(n, 'NULL')}, {text})" for n, text in value.columns.items()}
        # A tombstone has no value that could be malformed.
        filters = tuple(f"({_GONE} OR {f})" for f in value.filters)
        guarded = {"key": key, "value": RecordPart(value.derived, columns, filters, value.reason, value.rest)}
        spec = self._spec(known, zone, guarded, ("key IS NOT NULL",))
        kind = kind_column(f"CAST(IF({_GONE}, {DELETE}, {UPDATE_AFTER}) AS TINYINT)")
        return replace(spec, columns=(*spec.columns, kind, position_column("offset")))

    def write_spec(self, table: Table) -> WriteSpec:
        """Return how records are written."""
        return super().write_spec(keyed(table))


def keyed(table: Table) -> Table:
    """Return the table as one of Kafka: the columns of its PRIMARY KEY are the record's key, and it begins early."""
    columns = table.primary_key.columns if table.primary_key is not None else ()
    # From the beginning: the current row of a key may be in its oldest record.
    more = (("key.fields", ";".join(columns)), ("scan.startup.mode", "earliest-offset"))
    return replace(table, options=(*table.options, *more))

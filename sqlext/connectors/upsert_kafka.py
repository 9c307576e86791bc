"""``'connector' = 'upsert-kafka'``: a topic that holds the current row of every key, by Flink's option names.

Written only. The key of a record is the PRIMARY KEY; a row that is gone is a record without a value (a tombstone),
which a compacted topic forgets. Of a micro-batch each key sends its last row; what is sent again after a failure says
the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlext.catalog.model import Table
from sqlext.connectors.base import Connector, Role
from sqlext.connectors.kafka import METADATA
from sqlext.connectors.kafka_options import (
    UPSERT_RULES,
    validate_avro,
    validate_keys,
    validate_raw,
    validate_sink,
    validate_topic,
    value_format,
)
from sqlext.connectors.options import OptionError
from sqlext.connectors.spec import WriteSpec
from sqlext.types import LogicalType


class UpsertKafka(Connector):
    """A topic as a table of current rows."""

    name = "upsert-kafka"
    roles = ("sink",)
    rules = UPSERT_RULES

    def validate(self, table: Table, role: Role) -> None:
        """Refuse what cannot work; see Connector.validate."""
        super().validate(table, role)
        if table.primary_key is None:
            hint = "add PRIMARY KEY (...) NOT ENFORCED: its columns are the key of a record"
            raise OptionError("OPT-008", f"{self.owner} needs a PRIMARY KEY in `{table.name.name}`", hint=hint)
        validate_topic(self.owner, table, role)
        validate_sink(table)
        validate_keys(_keyed(table))
        validate_raw(_keyed(table))
        validate_avro(self.owner, _keyed(table))

    def merges(self, table: Table) -> bool:
        """Return that a row replaces the one with its key."""
        return True

    def metadata(self, table: Table) -> Mapping[str, LogicalType]:
        """Return the headers of a record."""
        return {"headers": METADATA["headers"][0]}

    def write_spec(self, table: Table) -> WriteSpec:
        """Return how records are written."""
        return replace(super().write_spec(_keyed(table)), format=value_format(table))


def _keyed(table: Table) -> Table:
    """Return the table with the columns of its PRIMARY KEY as the record's key."""
    columns = table.primary_key.columns if table.primary_key is not None else ()
    return replace(table, options=(*table.options, ("key.fields", ";".join(columns))))

"""Describe ``'connector' = 'socket'``: records of a TCP server, by the option names of Flink's example connector.

A socket gives nothing twice, so rows come at most once: what has been taken when a query fails is lost.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.connectors.base import Connector, Reach, Role, declared_type, is_instant, read_columns
from sqlext.connectors.formats.base import unknown_format
from sqlext.connectors.formats.conversions import output_type
from sqlext.connectors.kafka.options import MESSAGE_FORMATS, validate_raw
from sqlext.connectors.kafka.records import record_part
from sqlext.connectors.options import RAW_OPTIONS, OptionError, Rules, any_text, whole
from sqlext.connectors.spec import ReadColumn, ReadSpec
from sqlext_catalog.model import Table

#: A record of Avro has no character that ends it.
_FORMATS = (*(name for name, form in MESSAGE_FORMATS.items() if not form.binary), "raw")


def _port(value: str) -> str | None:
    return None if value.strip().isdecimal() and 0 < int(value) < 2**16 else "a port from 1 to 65535"


def _byte(value: str) -> str | None:
    return None if whole(value) is None and int(value) < 2**8 else "the number of a byte, from 0 to 255"


class Socket(Connector):
    """Records of a server, without end; read by one task."""

    name = "socket"
    roles = ("source",)
    reader = "sqlext.connectors.socket.reader:READER"
    reads_itself = True
    needs_stream = True
    gives_once = True
    rules = Rules(
        {"hostname": any_text, "port": _port, "byte-delimiter": _byte, "format": any_text, **RAW_OPTIONS},
        required=("hostname", "port", "format"),
    )

    def reaches(self, table: Table) -> Mapping[str, Reach]:
        """Return the server."""
        return {"hostname": Reach((f"{table.option('hostname')}:{table.option('port')}",), local=False)}

    def rules_for(self, table: Table, role: Role) -> Rules:
        """Return the connector's options and those of the format."""
        form = MESSAGE_FORMATS.get(table.option("format") or "")
        return self.rules if form is None else self.rules.merged(form.rules)

    def validate(self, table: Table, role: Role) -> None:
        """Refuse what cannot work; see Connector.validate."""
        super().validate(table, role)
        form = table.option("format") or ""
        if form not in _FORMATS:
            raise unknown_format(form, dict.fromkeys(_FORMATS), self.owner)
        if table.option("sqlext.source") == "spark":
            message = f"option 'sqlext.source' of {self.owner} cannot be 'spark'"
            hint = "leave it out; Spark's own reader is 'connector' = 'spark', 'format' = 'socket'"
            raise OptionError("OPT-005", message, option="sqlext.source", hint=hint)
        validate_raw(table)

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return how records are taken apart."""
        part = record_part(table, "value", zone, judges=False)
        return ReadSpec(
            format=self.name,
            schema=(("value", "BINARY"),),
            fixed_schema=True,
            columns=tuple(
                ReadColumn(c.name, part.columns[c.name], output_type(declared_type(c), is_instant(table, c)))
                for c in read_columns(table)
            ),
            derived=part.derived,
            filters=part.filters,
            bounded=False,
        )

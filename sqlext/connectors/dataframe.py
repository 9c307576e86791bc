"""Describe ``'connector' = 'dataframe'``: a DataFrame that ``Session.register`` has made a table."""

from __future__ import annotations

from sqlext.connectors.base import Connector, is_instant
from sqlext.connectors.formats.conversions import wall_to_instant
from sqlext.connectors.options import Rules, any_text, boolean
from sqlext.connectors.spec import ReadColumn, ReadSpec
from sqlext.quoting import identifier
from sqlext_catalog.model import Column, Table

#: The option that says which of the session's DataFrames it is.
KEY = "dataframe"
BOUNDED = "bounded"


class RegisteredFrame(Connector):
    """A streaming DataFrame has no end unless the user says that it has one; a static one is a snapshot."""

    name = "dataframe"
    roles = ("source",)
    rules = Rules({KEY: any_text, BOUNDED: boolean}, required=(KEY,))

    def bounded(self, table: Table) -> bool:
        """Return whether it has an end."""
        return table.option("scan.mode") == "snapshot" or (table.option(BOUNDED) or "").lower() == "true"

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return its columns as they are, a rowtime without zone as an instant."""
        columns = tuple(_column(c, table, zone) for c in table.columns if c.kind == "physical")
        return ReadSpec(format=self.name, columns=columns, frame=table.option(KEY), bounded=self.bounded(table))


def _column(column: Column, table: Table, zone: str) -> ReadColumn:
    raw, type_ = identifier(column.name), column.type.spark() if column.type is not None else ""
    if is_instant(table, column):
        return ReadColumn(column.name, wall_to_instant(raw, zone), "TIMESTAMP")
    return ReadColumn(column.name, raw, type_)

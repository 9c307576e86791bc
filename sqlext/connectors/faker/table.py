"""Describe ``'connector' = 'faker'``: rows of made-up values, by the expressions of Datafaker.

The same rows come again when a micro-batch is run again. Bounded where ``number-of-rows`` says how many there are.
"""

from __future__ import annotations

from sqlext.connectors.base import Connector, Role, declared_type, is_instant, read_columns
from sqlext.connectors.faker.fields import EXPRESSION, LENGTH, NULL_RATE, fake_fields
from sqlext.connectors.formats.conversions import output_type
from sqlext.connectors.options import OptionError, Rules, any_text, number, positive, whole
from sqlext.connectors.rate import time_value
from sqlext.connectors.spec import ReadColumn, ReadSpec
from sqlext.quoting import identifier
from sqlext_catalog.model import Column, Table


class Faker(Connector):
    """Made-up rows, at most 10000 a second unless ``rows-per-second`` says otherwise."""

    name = "faker"
    roles = ("source",)
    needs_stream = True
    reader = "sqlext.connectors.faker.reader.tables:READER"
    reads_itself = True
    rules = Rules(
        {"rows-per-second": positive, "number-of-rows": whole},
        patterns=(
            (rf"fields\..+\.{EXPRESSION}", any_text),
            (rf"fields\..+\.{NULL_RATE}", number),
            (rf"fields\..+\.{LENGTH}", positive),
        ),
    )

    def validate(self, table: Table, role: Role) -> None:
        """Refuse expressions that are not understood, and types that cannot be made; see Connector.validate."""
        super().validate(table, role)
        if table.option("sqlext.source") == "spark":
            hint = "leave it out: the library Faker runs in Python"
            message = f"option 'sqlext.source' of {self.owner} cannot be 'spark'"
            raise OptionError("OPT-005", message, option="sqlext.source", hint=hint)
        fake_fields(table)

    def refused_option(self, table: Table, key: str) -> OptionError | None:
        """Return also what is wrong with an option of a column; see Connector.refused_option."""
        found = super().refused_option(table, key)
        if found is None and key.startswith("fields."):
            try:
                fake_fields(table)
            except OptionError as error:
                return error if error.option == key else None
        return found

    def bounded(self, table: Table) -> bool:
        """Return whether the number of rows is known."""
        return table.option("number-of-rows") is not None

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return the columns of what the reader makes: times come as instants."""
        columns = tuple(_column(table, c, zone) for c in read_columns(table))
        return ReadSpec(self.name, columns, bounded=self.bounded(table))


def _column(table: Table, column: Column, zone: str) -> ReadColumn:
    declared, instant = declared_type(column), is_instant(table, column)
    spark, raw = output_type(declared, instant), identifier(column.name)
    value = time_value(raw, table, column, zone) if declared.is_timestamp else f"CAST({raw} AS {spark})"
    return ReadColumn(column.name, value, spark)

"""Describe ``'connector' = 'rate'``: Spark's clock source, some rows a second, without end."""

from __future__ import annotations

from sqlext.connectors.base import Connector, Role, declared_type, is_instant, read_columns
from sqlext.connectors.formats.conversions import output_type, wall_to_instant
from sqlext.connectors.options import OptionError, Rules, duration, positive
from sqlext.connectors.spec import ReadColumn, ReadSpec
from sqlext.settings import parse_duration
from sqlext_catalog.model import Column, Table

#: What Spark's rate source gives.
RAW = (("timestamp", "TIMESTAMP"), ("value", "BIGINT"))


class Rate(Connector):
    """A time column gets the row's time, an integer column its number, counted from 0."""

    name = "rate"
    roles = ("source",)
    rules = Rules({"rows-per-second": positive, "ramp-up-time": duration, "num-partitions": positive})

    def validate(self, table: Table, role: Role) -> None:
        """Refuse columns that it cannot fill; see Connector.validate."""
        super().validate(table, role)
        for column in read_columns(table):
            _value(table, column, "UTC")

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return the source, one column for each of the table's."""
        options = [("rowsPerSecond", table.option("rows-per-second") or "1")]
        if ramp := table.option("ramp-up-time"):
            # Spark takes whole seconds here.
            options.append(("rampUpTime", f"{(parse_duration(ramp) or 0) // 1000}s"))
        if partitions := table.option("num-partitions"):
            options.append(("numPartitions", partitions))
        return ReadSpec(
            format="rate",
            schema=RAW,
            fixed_schema=True,
            columns=tuple(_column(table, c, zone) for c in read_columns(table)),
            options=tuple(options),
            bounded=False,
        )


def _column(table: Table, column: Column, zone: str) -> ReadColumn:
    spark = output_type(declared_type(column), is_instant(table, column))
    return ReadColumn(column.name, _value(table, column, zone), spark)


def _value(table: Table, column: Column, zone: str) -> str:
    declared = declared_type(column)
    if declared.is_integer:
        return "value" if declared.root == "BIGINT" else f"CAST(value AS {declared.spark()})"
    if declared.is_timestamp:
        return time_value("timestamp", table, column, zone)
    message = f"connector 'rate' fills columns of a time or an integer type, not `{column.name}` ({declared})"
    raise OptionError("OPT-008", message)


def time_value(instant: str, table: Table, column: Column, zone: str) -> str:
    """Return an instant as the column's type: what clocks of the session show for TIMESTAMP(p)."""
    if declared_type(column).root == "TIMESTAMP_LTZ":
        return instant
    wall = f"CAST({instant} AS TIMESTAMP_NTZ)"
    return wall_to_instant(wall, zone) if is_instant(table, column) else wall

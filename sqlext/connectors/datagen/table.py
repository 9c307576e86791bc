"""Describe ``'connector' = 'datagen'``: made-up rows, Flink's option names.

A value is a hash of the row's number and the column's name: random to look at, the same in every run, so that a
batch that is run again writes the same rows. Bounded where ``number-of-rows`` or a sequence ends it.
"""

from __future__ import annotations

from sqlext.connectors.base import Connector, Role, declared_type, is_instant, read_columns
from sqlext.connectors.datagen.fields import CHECKS, GeneratedField, generated_fields
from sqlext.connectors.datagen.values import Made
from sqlext.connectors.formats.conversions import output_type
from sqlext.connectors.options import OptionError, Rules, positive, whole
from sqlext.connectors.rate import RAW, time_value
from sqlext.connectors.spec import ReadColumn, ReadSpec
from sqlext_catalog.model import Column, Table


class Datagen(Connector):
    """Rows of random or counted values, 10000 a second unless ``rows-per-second`` says otherwise."""

    name = "datagen"
    roles = ("source",)
    rules = Rules(
        {"rows-per-second": positive, "number-of-rows": whole},
        patterns=tuple((rf"fields\..+\.{name}", check) for name, check in CHECKS.items()),
    )

    def validate(self, table: Table, role: Role) -> None:
        """Refuse options of fields that do not exist and types that cannot be made; see Connector.validate."""
        super().validate(table, role)
        _columns(table, "UTC")

    def refused_option(self, table: Table, key: str) -> OptionError | None:
        """Return also what is wrong with an option of a column; see Connector.refused_option."""
        found = super().refused_option(table, key)
        if found is None and key.startswith("fields."):
            try:
                generated_fields(table)
            except OptionError as error:
                return error if error.option == key else None
        return found

    def bounded(self, table: Table) -> bool:
        """Return whether the number of rows is known."""
        return _row_count(table) is not None

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return the source: a counter, and an expression of it for each column."""
        count, columns = _row_count(table), _columns(table, zone)
        if count is None:
            rate = (("rowsPerSecond", table.option("rows-per-second") or "10000"),)
            return ReadSpec("rate", columns, RAW, fixed_schema=True, options=rate, bounded=False)
        return ReadSpec(
            format="rate-micro-batch",
            columns=columns,
            schema=RAW,
            fixed_schema=True,
            # Spark refuses a batch of 0 rows; the filter below then takes the one row away.
            options=(("rowsPerBatch", str(max(count, 1))),),
            # The source itself never ends: each further batch would bring as many rows again.
            filters=(f"value < {count}",),
            # Spark reads its rate sources as streams only.
            batch_relation=f"(SELECT id AS value, current_timestamp() AS timestamp FROM range(0, {count}))",
        )


def _row_count(table: Table) -> int | None:
    counts = [int(n) for n in (table.option("number-of-rows"),) if n]
    for field in generated_fields(table):
        bounds = _sequence(field)
        if bounds:
            counts.append(max(bounds[1] - bounds[0] + 1, 0))
    return min(counts) if counts else None


def _sequence(field: GeneratedField) -> tuple[int, int] | None:
    if not field.counted:
        return None
    bounds: list[int] = []
    for option in ("start", "end"):
        key, value = field.key(option), field.options.get(option)
        if value is None:
            raise OptionError("OPT-004", f"a sequence needs option '{key}'", option=field.key("kind"))
        try:
            bounds.append(int(value))
        except ValueError:
            raise OptionError("OPT-005", f"option '{key}' must be a whole number, not '{value}'", option=key) from None
    return bounds[0], bounds[1]


def _columns(table: Table, zone: str) -> tuple[ReadColumn, ...]:
    made = zip(read_columns(table), generated_fields(table), strict=True)
    return tuple(_column(table, column, field, zone) for column, field in made)


def _column(table: Table, column: Column, field: GeneratedField, zone: str) -> ReadColumn:
    spark = output_type(declared_type(column), is_instant(table, column))
    bounds = _sequence(field)
    if bounds:
        return ReadColumn(column.name, f"CAST(value + {bounds[0]}L AS {spark})", spark)
    made = Made(field, wall_clock=lambda instant: time_value(instant, table, column, zone))
    return ReadColumn(column.name, made.value(), spark)

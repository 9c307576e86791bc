"""Describe ``'connector' = 'datagen'``: made-up rows, Flink's option names.

A value is a hash of the row's number and the column's name: random to look at, the same in every run, so that a
batch that is run again writes the same rows. Bounded where ``number-of-rows`` or a sequence ends it.
"""

from __future__ import annotations

from sqlext.connectors.base import Connector, Role, declared_type, is_instant, read_columns
from sqlext.connectors.formats.conversions import output_type
from sqlext.connectors.options import (
    Check,
    OptionError,
    Rules,
    any_text,
    boolean,
    duration,
    number,
    one_of,
    positive,
    whole,
)
from sqlext.connectors.rate import RAW, time_value
from sqlext.connectors.spec import ReadColumn, ReadSpec
from sqlext.errors import did_you_mean
from sqlext.quoting import string
from sqlext.settings import parse_duration
from sqlext.types import UNBOUNDED, LogicalType
from sqlext_catalog.model import Column, Table

_FIELD_OPTIONS: dict[str, Check] = {
    "kind": one_of("random", "sequence"),
    "min": number,
    "max": number,
    "max-past": duration,
    "length": positive,
    "var-len": boolean,
    "null-rate": number,
    "start": any_text,
    "end": any_text,
}
_RANGES = {
    "TINYINT": (-(2**7), 2**7 - 1),
    "SMALLINT": (-(2**15), 2**15 - 1),
    "INT": (-(2**31), 2**31 - 1),
    "BIGINT": (-(2**63), 2**63 - 1),
}
#: Flink's default of ``fields.#.length``.
_DEFAULT_LENGTH = 100
#: SHA-256 in hexadecimal digits.
_HASH_DIGITS = 64


class Datagen(Connector):
    """Rows of random or counted values, 10000 a second unless ``rows-per-second`` says otherwise."""

    name = "datagen"
    roles = ("source",)
    rules = Rules(
        {"rows-per-second": positive, "number-of-rows": whole},
        patterns=tuple((rf"fields\..+\.{name}", check) for name, check in _FIELD_OPTIONS.items()),
    )

    def validate(self, table: Table, role: Role) -> None:
        """Refuse options of fields that do not exist and types that cannot be made; see Connector.validate."""
        super().validate(table, role)
        names = [c.name for c in read_columns(table)]
        for key, _ in table.options:
            field = key[len("fields.") : key.rfind(".")]
            if key.startswith("fields.") and field not in names:
                message = f"option '{key}': `{table.name.name}` has no column `{field}`"
                raise OptionError("OPT-003", message, option=key, hint=did_you_mean(field, names))
        for column in read_columns(table):
            _value(table, column, "UTC")

    def bounded(self, table: Table) -> bool:
        """Return whether the number of rows is known."""
        return _row_count(table) is not None

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return the source: a counter, and an expression of it for each column."""
        count = _row_count(table)
        columns = tuple(_column(table, c, zone) for c in read_columns(table))
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
    for column in read_columns(table):
        bounds = _sequence(table, column)
        if bounds:
            counts.append(max(bounds[1] - bounds[0] + 1, 0))
    return min(counts) if counts else None


def _field(table: Table, column: Column, option: str) -> str | None:
    return table.option(f"fields.{column.name}.{option}")


def _sequence(table: Table, column: Column) -> tuple[int, int] | None:
    if (_field(table, column, "kind") or "random").strip().lower() != "sequence":
        return None
    bounds: list[int] = []
    for option in ("start", "end"):
        key, value = f"fields.{column.name}.{option}", _field(table, column, option)
        if value is None:
            raise OptionError("OPT-004", f"a sequence needs option '{key}'", option=f"fields.{column.name}.kind")
        try:
            bounds.append(int(value))
        except ValueError:
            raise OptionError("OPT-005", f"option '{key}' must be a whole number, not '{value}'", option=key) from None
    return bounds[0], bounds[1]


def _column(table: Table, column: Column, zone: str) -> ReadColumn:
    spark = output_type(declared_type(column), is_instant(table, column))
    return ReadColumn(column.name, _value(table, column, zone), spark)


def _value(table: Table, column: Column, zone: str) -> str:
    spark = output_type(declared_type(column), is_instant(table, column))
    bounds = _sequence(table, column)
    if bounds:
        return f"CAST(value + {bounds[0]}L AS {spark})"
    value = _random(table, column, zone)
    share = float(_field(table, column, "null-rate") or 0)
    return f"IF({_unit(column.name + '/null')} < {share}D, NULL, {value})" if share > 0 else value


def _random(table: Table, column: Column, zone: str) -> str:
    declared, seed = declared_type(column), _hash(column.name)
    if declared.is_timestamp:
        past = parse_duration(_field(table, column, "max-past") or "0") or 0
        ago = f" - make_dt_interval(0, 0, 0, pmod({seed}, {past}L) / 1000BD)" if past else ""
        return time_value(f"(current_timestamp(){ago})", table, column, zone)
    maker = _MAKERS.get(declared.root)
    if maker is None:
        raise OptionError("OPT-008", f"connector 'datagen' makes no values of type {declared} (`{column.name}`)")
    return maker(table, column, declared)


def _boolean(table: Table, column: Column, declared: LogicalType) -> str:
    return f"(pmod({_hash(column.name)}, 2L) = 0)"


def _integer(table: Table, column: Column, declared: LogicalType) -> str:
    lowest, highest = _RANGES[declared.root]
    low, high = (int(float(_field(table, column, o) or d)) if _field(table, column, o) else d
                 for o, d in (("min", lowest), ("max", highest)))  # fmt: skip
    if not lowest <= low <= high <= highest:
        key = f"fields.{column.name}.max"
        message = f"fields.{column.name}: min {low} and max {high} are no range of {declared}"
        raise OptionError("OPT-005", message, option=key)
    span = high - low + 1
    # Spans beyond BIGINT are counted in DECIMAL.
    return f"CAST({low}BD + pmod(CAST({_hash(column.name)} AS DECIMAL(38, 0)), {span}BD) AS {declared.spark()})"


def _float(table: Table, column: Column, declared: LogicalType) -> str:
    low, high = (float(_field(table, column, o) or d) for o, d in (("min", 0.0), ("max", 1.0)))
    return f"CAST({low!r}D + {_unit(column.name)} * ({high!r}D - {low!r}D) AS {declared.spark()})"


def _decimal(table: Table, column: Column, declared: LogicalType) -> str:
    precision, scale = declared.precision or 10, declared.scale or 0
    # The hash is a BIGINT, of which 18 digits can have any value.
    digits = min(precision, 18)
    unscaled = f"pmod({_hash(column.name)}, {10**digits}L)"
    return f"CAST({unscaled} / CAST({10**scale} AS DECIMAL(38, 0)) AS {declared.spark()})"


def _text(table: Table, column: Column, declared: LogicalType) -> str:
    return f"substring({_digits(column.name, _length(table, column, declared))}, 1, {_length(table, column, declared)})"


def _bytes(table: Table, column: Column, declared: LogicalType) -> str:
    length = _length(table, column, declared)
    return f"unhex(substring({_digits(column.name, 2 * length)}, 1, {2 * length}))"


def _date(table: Table, column: Column, declared: LogicalType) -> str:
    days = (parse_duration(_field(table, column, "max-past") or "0") or 0) // 86_400_000
    return f"date_sub(current_date(), CAST(pmod({_hash(column.name)}, {days + 1}L) AS INT))"


def _length(table: Table, column: Column, declared: LogicalType) -> int:
    given = _field(table, column, "length")
    bound = declared.precision if declared.precision not in (None, UNBOUNDED) else None
    return int(given) if given else bound or _DEFAULT_LENGTH


def _digits(name: str, length: int) -> str:
    chunks = (f"sha2(concat(value, {string(f'/{name}/{i}')}), 256)" for i in range(-(-length // _HASH_DIGITS)))
    return f"concat({', '.join(chunks)})"


def _hash(name: str) -> str:
    return f"xxhash64(value, {string(name)})"


def _unit(name: str) -> str:
    """Return a DOUBLE in [0, 1)."""
    # A DOUBLE has 53 bits: each such fraction is exact, and none is 1.
    return f"(pmod({_hash(name)}, {2**53}L) / {float(2**53)!r}D)"


_MAKERS = {
    "BOOLEAN": _boolean,
    **dict.fromkeys(_RANGES, _integer),
    **dict.fromkeys(("FLOAT", "DOUBLE"), _float),
    "DECIMAL": _decimal,
    **dict.fromkeys(("CHAR", "VARCHAR"), _text),
    **dict.fromkeys(("BINARY", "VARBINARY"), _bytes),
    "DATE": _date,
}

"""Describe what holds columns under their own types: parquet, ORC, tables of Spark. Only times need a word.

Parquet hands a wall clock out as the instant that it is in UTC at no cost; ORC refuses, so it is converted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlext.connectors.formats.base import Decoded, ReadField, Ref
from sqlext.connectors.formats.conversions import (
    convert,
    output_type,
    stored_type,
    time_as_text,
    time_from_text,
    wall_to_instant,
)
from sqlext.connectors.options import Rules
from sqlext.connectors.spec import ReadColumn
from sqlext.quoting import identifier
from sqlext_catalog.model import Options


@dataclass(frozen=True)
class ColumnarFormat:
    """``'format' = 'parquet' | 'orc'``."""

    name: str
    reads_wall_clock_as_instant: bool
    rules: Rules

    def validate(self, owner: str, options: Mapping[str, str]) -> None:
        """Accept: no option contradicts another."""

    def raw_schema(self, fields: tuple[ReadField, ...], options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Return the columns as the file holds them."""
        direct = self.reads_wall_clock_as_instant
        # Spark's parquet reader takes a wall clock under the type TIMESTAMP for the instant that it is in UTC.
        return tuple((f.name, "TIMESTAMP" if f.instant and direct else f.type.spark()) for f in fields)

    def reader_options(self, options: Mapping[str, str]) -> Options:
        """Return no option: Flink's parquet.* and orc.* concern its own readers."""
        return ()

    def decode(self, fields: tuple[ReadField, ...], options: Mapping[str, str], zone: str, ref: Ref) -> Decoded:
        """Return the columns, rowtimes as instants."""
        return Decoded(tuple((f.name, self._value(f, zone, ref(f.name))) for f in fields))

    def _value(self, field: ReadField, zone: str, raw: str) -> str:
        converted = field.instant and not self.reads_wall_clock_as_instant
        return wall_to_instant(raw, zone) if converted else raw


PARQUET = ColumnarFormat("parquet", True, Rules(prefixes=("parquet.",)))
ORC = ColumnarFormat("orc", False, Rules(prefixes=("orc.",)))


def stored_schema(fields: tuple[ReadField, ...]) -> tuple[tuple[str, str], ...]:
    """Return the columns as a table of Spark holds them: under their own types, TIME as text."""
    return tuple((f.name, stored_type(f.type, time_as_text)) for f in fields)


def stored_columns(fields: tuple[ReadField, ...], zone: str) -> tuple[ReadColumn, ...]:
    """Return the columns that come out of such a table: rowtimes as instants."""
    return tuple(ReadColumn(f.name, _stored_value(f, zone), output_type(f.type, f.instant)) for f in fields)


def _stored_value(field: ReadField, zone: str) -> str:
    raw = identifier(field.name)
    return wall_to_instant(raw, zone) if field.instant else convert(field.type, raw, time_from_text)

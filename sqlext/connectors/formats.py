"""Formats of files and messages: one interface, and the formats by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlext.catalog.model import Options
from sqlext.connectors.options import OptionError, Rules
from sqlext.errors import did_you_mean
from sqlext.rewrite.quoting import identifier
from sqlext.types import LogicalType

Ref = Callable[[str], str]
"""Name of a raw column -> the SQL that refers to it."""


@dataclass(frozen=True, slots=True)
class ReadField:
    """A column to read: ``instant`` for a TIMESTAMP(p) rowtime, which comes out as a Spark TIMESTAMP."""

    name: str
    type: LogicalType
    instant: bool = False


@dataclass(frozen=True, slots=True)
class Decoded:
    """How the fields come out of the raw columns: an expression for each, and predicates rows must meet."""

    expressions: tuple[tuple[str, str], ...]
    filters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """A text that holds a row, and the struct that it is parsed to.

    Attributes:
        text: SQL of a STRING.
        name: of the struct.
        fields: those of the row.
        options: of its format, with their prefix.
        zone: the session's time zone.
    """

    text: str
    name: str
    fields: tuple[ReadField, ...]
    options: Mapping[str, str]
    zone: str

    @property
    def struct(self) -> str:
        """The struct, in SQL."""
        return identifier(self.name)

    def part(self, name: str) -> str:
        """Return a field of the struct, in SQL."""
        return f"{self.struct}.{identifier(name)}"


class Format(Protocol):
    """A format: pure functions of the table's options (with their prefix, for instance ``csv.``)."""

    @property
    def name(self) -> str:
        """Its name in the option ``format``."""

    @property
    def rules(self) -> Rules:
        """The options that it takes."""

    def validate(self, owner: str, options: Mapping[str, str]) -> None:
        """Refuse what single values cannot show: options that contradict each other."""

    def raw_schema(self, fields: tuple[ReadField, ...], options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Return the raw columns as (name, Spark type)."""

    def reader_options(self, options: Mapping[str, str]) -> Options:
        """Return the options of Spark's reader."""

    def decode(self, fields: tuple[ReadField, ...], options: Mapping[str, str], zone: str, ref: Ref) -> Decoded:
        """Return the fields as expressions over the raw columns."""


class TextFormat(Format, Protocol):
    """A format whose rows are also messages (of Kafka): a value is parsed by a function of SQL."""

    @property
    def parser(self) -> str:
        """``from_json`` or ``from_csv``."""

    def is_row(self, line: str, options: Mapping[str, str]) -> tuple[str, ...]:
        """Return what a line of a file (SQL of a STRING) must meet to be a row: others are passed over."""

    def fault(self, message: Message) -> str:
        """Return SQL that says why a message that is not NULL cannot be decoded, NULL if it can.

        Args:
            message: parsed with errors ignored.
        """


def unknown_format(name: str, known: Mapping[str, object], owner: str) -> OptionError:
    """Return the refusal of a format."""
    hint = did_you_mean(name, known) or f"it takes {', '.join(known)}"
    return OptionError("OPT-005", f"{owner} has no format '{name}'", option="format", hint=hint)

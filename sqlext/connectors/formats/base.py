"""Define what a format of files or messages says of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlext.connectors.options import OptionError, Rules
from sqlext.errors import did_you_mean
from sqlext.quoting import identifier, string
from sqlext.types import LogicalType
from sqlext_catalog.model import Options

#: What stands behind a row of a format that has none.
NO_REST = "CAST(NULL AS STRING)"

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
    """A text, or bytes, that holds a row, and the struct that it is parsed to.

    Attributes:
        content: SQL of it: a STRING, or a BINARY where the format is binary.
        name: of the struct.
        fields: those of the row.
        options: of its format, with their prefix.
        zone: the session's time zone.
    """

    content: str
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


class MessageFormat(Protocol):
    """A format of messages (of Kafka): each is parsed by a function of SQL."""

    @property
    def name(self) -> str:
        """Its name in the option ``format``."""

    @property
    def rules(self) -> Rules:
        """The options that it takes."""

    @property
    def binary(self) -> bool:
        """Whether a message is bytes, no text."""

    def struct(self, message: Message) -> str:
        """Return SQL of the struct that a message is parsed to."""

    def decode(self, fields: tuple[ReadField, ...], options: Mapping[str, str], zone: str, ref: Ref) -> Decoded:
        """Return the fields as expressions over those of the struct."""

    def fault(self, message: Message) -> str:
        """Return SQL that says why a message that is not NULL cannot be decoded, NULL if it can.

        Args:
            message: parsed with errors ignored.
        """

    def rest(self, message: Message) -> str:
        """Return SQL that says what stands behind the row of a message and is not read, NULL if nothing does."""


class TextFormat(Format, MessageFormat, Protocol):
    """A format of files whose lines are rows, and of messages."""

    def message(self, line: str) -> str:
        """Return the message that a line of a file (SQL of a STRING) is."""

    def is_row(self, line: str, options: Mapping[str, str]) -> tuple[str, ...]:
        """Return what a line of a file (SQL of a STRING) must meet to be a row: others are passed over."""


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """The struct that a message is parsed to, and the columns in it."""

    derived: tuple[tuple[str, str], ...]
    decoded: Decoded


def parsed(form: MessageFormat, message: Message) -> ParsedMessage:
    """Return how a message is parsed, and taken apart."""
    decoded = form.decode(message.fields, message.options, message.zone, message.part)
    return ParsedMessage(((message.name, form.struct(message)),), decoded)


def content_of(form: MessageFormat, raw: str) -> str:
    """Return what is parsed of a record's key or value (``raw``: SQL of a BINARY)."""
    return raw if form.binary else f"CAST({raw} AS STRING)"


def shown(form: MessageFormat | None, raw: str) -> str:
    """Return the text that stands for a record's value where it cannot be decoded: hexadecimal digits of bytes."""
    return f"hex({raw})" if form is not None and form.binary else f"CAST({raw} AS STRING)"


def parse_call(parser: str, content: str, schema: str, settings: Options) -> str:
    """Return the call of a function such as ``from_json``."""
    pairs = ", ".join(f"{string(k)}, {string(v)}" for k, v in settings)
    return f"{parser}({content}, {string(schema)}, map({pairs}))"


def columns_text(schema: tuple[tuple[str, str], ...]) -> str:
    """Return columns (name, Spark type) as a schema in SQL."""
    return ", ".join(f"{identifier(n)} {t}" for n, t in schema)


#: Formats of Flink that are not there, or not everywhere, and what is.
_NOT_HERE = {
    "avro": "files of Avro are read and written by 'connector' = 'spark', 'format' = 'avro', and Spark's package",
    "avro-confluent": "the records of connector 'kafka' and connector 'upsert-kafka' have it",
    "debezium-avro-confluent": "the records of connector 'kafka' have it",
    **dict.fromkeys(
        ("protobuf", "protobuf-confluent", "proto-registry"),
        "read the messages by 'raw' into BYTES, and take them apart with a Python function",
    ),
    **dict.fromkeys(("avro-registry", "json-registry", "avro-glue", "json-glue"), "'avro-confluent' asks a registry"),
}


def unknown_format(name: str, known: Mapping[str, object], owner: str, option: str = "format") -> OptionError:
    """Return the refusal of a format that an option names."""
    hint = _NOT_HERE.get(name) or did_you_mean(name, known) or f"it takes {', '.join(known)}"
    return OptionError("OPT-005", f"{owner} has no format '{name}'", option=option, hint=hint)

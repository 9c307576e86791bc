"""Rows inside a text or a message: parsed by a SQL function instead of a file reader."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.connectors.formats import Decoded, Message, ReadField, TextFormat
from sqlext.connectors.json_format import missing_fields
from sqlext.rewrite.quoting import identifier, string


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """The struct that a message is parsed to, and the columns in it."""

    derived: tuple[tuple[str, str], ...]
    decoded: Decoded


def parsed(text_format: TextFormat, message: Message) -> ParsedMessage:
    """Return how a message is parsed, and taken apart."""
    fields, options = message.fields, message.options
    schema = ", ".join(f"{identifier(n)} {t}" for n, t in text_format.raw_schema(fields, options))
    settings = ", ".join(f"{string(k)}, {string(v)}" for k, v in text_format.reader_options(options))
    struct = f"{text_format.parser}({message.text}, {string(schema)}, map({settings}))"
    decoded = text_format.decode(fields, options, message.zone, message.part)
    return ParsedMessage(((message.name, struct),), decoded)


def missing_field_check(text: str, fields: tuple[ReadField, ...]) -> str:
    """Return a predicate that fails the job where the JSON object ``text`` lacks a field."""
    missing = missing_fields(text, fields)
    message = f"concat('json.fail-on-missing-field: the row has no field ', array_join({missing}, ', '))"
    return f"IF(size({missing}) = 0, true, CAST(raise_error({message}) AS BOOLEAN))"

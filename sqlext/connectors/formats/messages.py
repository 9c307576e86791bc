"""Rows inside a line or a message: parsed by a SQL function instead of a file reader."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.connectors.formats.base import Decoded, Message, MessageFormat, ReadField
from sqlext.connectors.formats.json import missing_fields


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """The struct that a message is parsed to, and the columns in it."""

    derived: tuple[tuple[str, str], ...]
    decoded: Decoded


def parsed(form: MessageFormat, message: Message) -> ParsedMessage:
    """Return how a message is parsed, and taken apart."""
    decoded = form.decode(message.fields, message.options, message.zone, message.part)
    return ParsedMessage(((message.name, form.struct(message)),), decoded)


def missing_field_check(text: str, fields: tuple[ReadField, ...]) -> str:
    """Return a predicate that fails the job where the JSON object ``text`` lacks a field."""
    missing = missing_fields(text, fields)
    message = f"concat('json.fail-on-missing-field: the row has no field ', array_join({missing}, ', '))"
    return f"IF(size({missing}) = 0, true, CAST(raise_error({message}) AS BOOLEAN))"

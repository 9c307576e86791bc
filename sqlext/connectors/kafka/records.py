"""Take key and value of Kafka's records apart, in Spark SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlext.connectors.bad_rows import judged, why_not_judged
from sqlext.connectors.formats.base import NO_REST, Message, ReadField, content_of, parsed
from sqlext.connectors.formats.json import fails_on_missing, missing_field_check
from sqlext.connectors.formats.raw import raw_value
from sqlext.connectors.kafka.options import (
    MESSAGE_FORMATS,
    key_fields,
    key_format,
    part_options,
    unprefixed,
    value_fields,
    value_format,
)
from sqlext_catalog.model import Table


@dataclass(frozen=True, slots=True)
class RecordPart:
    """How the key or the value of a record becomes columns; SQL over the raw record.

    Attributes:
        derived: what it is parsed to.
        columns: column of the table -> expression.
        filters: what must hold for a row.
        reason: why it cannot be decoded, NULL if it can; None where that is not asked.
        rest: what stands behind its row and is not read, NULL if nothing does.
    """

    derived: tuple[tuple[str, str], ...]
    columns: dict[str, str]
    filters: tuple[str, ...] = ()
    reason: str | None = None
    rest: str = NO_REST


def record_part(table: Table, part: Literal["key", "value"], zone: str, *, judges: bool) -> RecordPart:
    """Return how a part of a table's records is taken apart.

    Args:
        judges: whether rows that cannot be decoded are told from others.
    """
    is_key = part == "key"
    form, fields = (key_format(table), key_fields(table)) if is_key else (value_format(table), value_fields(table))
    options = part_options(table.options, part)
    if form == "raw" or not fields:
        return RecordPart((), {f.name: raw_value(f.type, part, options) for f in fields})
    known = MESSAGE_FORMATS[form]
    # ``key.fields-prefix`` keeps columns apart in the table; the record's fields go without it.
    inner = unprefixed(table, part, fields)
    message = Message(content_of(known, part), f"__{part}", inner, options, zone)
    if judges and not why_not_judged(form, MESSAGE_FORMATS, options):
        told = judged(known, message)
        return RecordPart(told.derived, _of(fields, told.expressions), reason=told.reason, rest=told.rest)
    found = parsed(known, message)
    checks = (missing_field_check(message.content, inner),) if form == "json" and fails_on_missing(options) else ()
    columns = _of(fields, found.decoded.expressions)
    return RecordPart(found.derived, columns, (*found.decoded.filters, *checks))


def _of(fields: tuple[ReadField, ...], expressions: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return the expressions by the names that the table has for their fields, which can have a prefix."""
    return {f.name: expression for f, (_, expression) in zip(fields, expressions, strict=True)}

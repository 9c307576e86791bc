"""Tell rows that cannot be decoded from others, in SQL.

Spark's own readers fail without saying where, or make NULLs of what does not fit. So where a table says what is to be
done with bad rows, its rows are read as texts (or bytes). Each is parsed leniently, and judged by what came of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from sqlext.connectors.formats.base import Message, MessageFormat, parsed
from sqlext.connectors.options import FAIL, bad_rows_policy
from sqlext.connectors.spec import Faults, ReadSpec
from sqlext.quoting import string
from sqlext_catalog.model import Table

#: How much of a row a failure shows, in characters.
_SHOWN = 500


@dataclass(frozen=True, slots=True)
class Judged:
    """The struct that a message is parsed to, its columns, and what is wrong with it.

    Attributes:
        reason: why it cannot be decoded (SQL, NULL if it can).
        rest: what is told of what stands behind its row and is not read (SQL, NULL if nothing does).
    """

    derived: tuple[tuple[str, str], ...]
    expressions: tuple[tuple[str, str], ...]
    reason: str
    rest: str


def judged(form: MessageFormat, message: Message) -> Judged:
    """Return how a message is parsed and judged."""
    options = {**message.options, f"{form.name}.ignore-parse-errors": "true"}
    lenient = replace(message, options=options)
    found, why = parsed(form, lenient), form.fault(lenient)
    told = f"CASE WHEN {message.content} IS NOT NULL THEN {why} END"
    return Judged(found.derived, found.decoded.expressions, told, form.rest(lenient))


def why_not_judged(name: str, formats: Collection[str], options: Mapping[str, str]) -> str:
    """Return why bad rows of a format are not told from others, empty if they are.

    Args:
        formats: those of texts and messages.
        options: of the format, with its prefix.
    """
    if name not in formats:
        return f"format '{name}' has no rows that are looked at one by one"
    if options.get(f"{name}.ignore-parse-errors", "").strip().lower() == "true":
        return f"'{name}.ignore-parse-errors' = 'true' makes NULLs of them"
    return ""


def with_faults(spec: ReadSpec, table: Table, faults: Faults) -> ReadSpec:
    """Return a source that treats bad rows as its table says."""
    if bad_rows_policy(table) != FAIL:
        return replace(spec, faults=faults)
    begin = string(f"[RUN-066] a row of `{table.name.name}` cannot be decoded: ")
    text = f"translate(substring({faults.text}, 1, {_SHOWN}), '\\n\\r', '  ')"
    told = f"concat({begin}, {faults.reason}, '; at ', {faults.place}, ': ', {text})"
    check = f"IF({faults.reason} IS NULL, true, CAST(raise_error({told}) AS BOOLEAN))"
    return replace(spec, filters=(*spec.filters, check))


def first_fault(reasons: Mapping[str, str]) -> str:
    """Return why a row of several parts cannot be decoded; ``reasons`` by what the part is called, empty for all."""
    named = (f"concat({string(f'{part}: ')}, {reason})" if part else reason for part, reason in reasons.items())
    return f"coalesce({', '.join(named)})"

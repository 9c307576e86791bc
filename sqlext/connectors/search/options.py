"""Check the options of indexes: Flink's names (OpensearchConnectorOptions, ElasticsearchConnectorOptions)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from sqlext.connectors.formats.json import JsonFormat
from sqlext.connectors.options import (
    OptionError,
    Rules,
    any_text,
    boolean,
    duration,
    memory,
    one_of,
    positive,
    whole,
)
from sqlext.settings import parse_duration
from sqlext_catalog.model import Table

_PLACE = re.compile(r"\{([^{}]*)\}")
#: Stands for the time of the clock in the name of an index.
NOW = "now()"


def _hosts(value: str) -> str | None:
    good = all(urlsplit(h.strip()).scheme in ("http", "https") and urlsplit(h.strip()).netloc for h in value.split(";"))
    return None if good else "URLs as `http://host:9200;https://other:9200`"


RULES = Rules(
    {
        "hosts": _hosts,
        "index": any_text,
        "document-id.key-delimiter": any_text,
        "username": any_text,
        "password": any_text,
        "allow-insecure": boolean,
        "failure-handler": one_of("fail", "ignore", "retry-rejected"),
        "format": one_of("json"),
        "connection.path-prefix": any_text,
        "connection.request-timeout": duration,
        "connection.timeout": duration,
        "socket.timeout": duration,
        "sink.flush-on-checkpoint": boolean,
        "sink.delivery-guarantee": one_of("at-least-once", "none"),
        "sink.bulk-flush.max-actions": whole,
        "sink.bulk-flush.max-size": memory,
        "sink.bulk-flush.interval": duration,
        "sink.bulk-flush.backoff.strategy": one_of("DISABLED", "CONSTANT", "EXPONENTIAL"),
        "sink.bulk-flush.backoff.max-retries": positive,
        "sink.bulk-flush.backoff.delay": duration,
    },
    required=("hosts", "index"),
).merged(JsonFormat.rules)


@dataclass(frozen=True, slots=True)
class IndexPart:
    """A part of an index's name: a text, or a column (``now()``: the clock) and how its time is written."""

    text: str = ""
    column: str = ""
    pattern: str = ""


def index_parts(name: str) -> tuple[IndexPart, ...]:
    """Return the parts of the name of an index: ``orders-{day|yyyy-MM}`` has two."""
    found: list[IndexPart] = []
    for number, part in enumerate(_PLACE.split(name)):
        if number % 2:
            column, _, pattern = part.partition("|")
            found.append(IndexPart(column=column.strip(), pattern=pattern.strip()))
        elif part:
            found.append(IndexPart(part))
    return tuple(found)


def validate_index(owner: str, table: Table) -> None:
    """Refuse a name that is made of what a row does not have.

    Raises:
        OptionError: OPT-005.
    """
    types = {c.name: c.type for c in table.columns if c.kind == "physical" and c.type is not None}

    def refused(why: str, hint: str) -> OptionError:
        return OptionError("OPT-005", f"option 'index' of {owner}: {why}", option="index", hint=hint)

    for part in index_parts(table.option("index") or ""):
        if part.text:
            continue
        if part.column == NOW:
            if table.primary_key is not None:
                hint = "name a column that stays the same, as {ts|yyyy-MM-dd}"
                raise refused("with a PRIMARY KEY the clock would move rows to other indexes", hint)
            continue
        kind = types.get(part.column)
        if kind is None:
            raise refused(f"`{part.column}` is no column of `{table.name.name}`", f"it has {', '.join(types)}")
        timed = kind.is_timestamp or kind.root == "DATE"
        if timed != bool(part.pattern) or not (timed or kind.is_text or kind.is_integer):
            hint = "a text or whole number as {c}, a date or timestamp as {c|yyyy-MM-dd}"
            raise refused(f"`{part.column}` ({kind}) cannot be written so", hint)


def milliseconds(options: Mapping[str, str], key: str, default: int) -> int:
    """Return a duration."""
    return parse_duration(options[key]) or default if key in options else default

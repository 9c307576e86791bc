"""Check the options of connector ``jdbc``: Flink's names (JdbcConnectorOptions, LookupOptions)."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from sqlext.connectors.base import physical_fields
from sqlext.connectors.options import OptionError, Rules, any_text, boolean, duration, one_of, positive, whole
from sqlext.settings import parse_duration
from sqlext_catalog.model import Options, Table

PARTITIONS = tuple(f"scan.partition.{part}" for part in ("column", "num", "lower-bound", "upper-bound"))
GUARANTEE = "sink.delivery-guarantee"
#: Rows that a driver is given or asked for at once, where no option says how many.
AT_ONCE = 5_000
_RETRIES = 3


def _integer(value: str) -> str | None:
    return None if re.fullmatch(r"\s*[+-]?\d+\s*", value) else "a whole number"


RULES = Rules(
    {
        "url": any_text,
        "table-name": any_text,
        "username": any_text,
        "password": any_text,
        "driver": any_text,
        "connection.max-retry-timeout": duration,
        **dict(zip(PARTITIONS, (any_text, positive, _integer, _integer), strict=True)),
        "scan.fetch-size": whole,
        "scan.auto-commit": boolean,
        "lookup.cache": one_of("NONE", "PARTIAL"),
        "lookup.cache.max-rows": whole,
        "lookup.cache.ttl": duration,
        "lookup.cache.caching-missing-key": boolean,
        "lookup.partial-cache.max-rows": whole,
        "lookup.partial-cache.expire-after-write": duration,
        "lookup.partial-cache.expire-after-access": duration,
        "lookup.partial-cache.cache-missing-key": boolean,
        "lookup.max-retries": whole,
        "sink.buffer-flush.max-rows": whole,
        "sink.buffer-flush.interval": duration,
        "sink.max-retries": whole,
        GUARANTEE: one_of("exactly-once", "at-least-once"),
    },
    required=("url", "table-name"),
)


class Cache(NamedTuple):
    """How long rows that were looked up may stand in for those of the table.

    Attributes:
        milliseconds: since they were read.
        rows: the most that are kept.
    """

    milliseconds: int
    rows: int


def validate_partitions(owner: str, table: Table) -> None:
    """Check how a table is read in parts.

    Raises:
        OptionError: OPT-004 for one option without the others, OPT-005 for bounds that are none, OPT-008 for a column
            that is none or is no number.
    """
    given = [key for key in PARTITIONS if table.option(key) is not None]
    if not given:
        return
    missing = [key for key in PARTITIONS if key not in given]
    if missing:
        message = f"{owner} takes '{given[0]}' together with {', '.join(missing)}"
        raise OptionError("OPT-004", message, option=given[0], hint="give all four, or none of them")
    lower, upper = (int(table.option(key) or 0) for key in PARTITIONS[2:])
    if lower > upper:
        message = f"option '{PARTITIONS[2]}' ({lower}) is above '{PARTITIONS[3]}' ({upper})"
        raise OptionError("OPT-005", message, option=PARTITIONS[2])
    column = table.option(PARTITIONS[0])
    if not any(field.name == column and field.type.is_numeric for field in physical_fields(table)):
        message = f"option '{PARTITIONS[0]}': `{column}` is no column of `{table.name.name}` that is a number"
        raise OptionError("OPT-008", message, option=PARTITIONS[0])


def ranges(table: Table) -> tuple[tuple[int, int, bool], ...]:
    """Return the parts of a table: from where, to where, whether that is included. None: it is read as a whole.

    As in Flink, rows outside of the bounds are not read.
    """
    if table.option(PARTITIONS[0]) is None:
        return ()
    parts, lower, upper = (int(table.option(key) or 0) for key in PARTITIONS[1:])
    values = upper - lower + 1
    parts = min(parts, values)
    ends = [lower + values * n // parts for n in range(parts)]
    return (*((begin, end, False) for begin, end in pairwise(ends)), (ends[-1], upper, True))


def cache_of(table: Table) -> Cache | None:
    """Return how long a lookup may do without the table; None where each micro-batch reads it."""
    missing = table.option("lookup.partial-cache.cache-missing-key") or table.option("lookup.cache.caching-missing-key")
    if (missing or "true").strip().lower() == "false":
        return None  # a key that is not there must be looked for each time
    if (table.option("lookup.cache") or "NONE").strip().upper() == "PARTIAL":
        expiry, rows = (
            table.option("lookup.partial-cache.expire-after-write"),
            table.option("lookup.partial-cache.max-rows"),
        )
    else:
        expiry, rows = table.option("lookup.cache.ttl"), table.option("lookup.cache.max-rows")
    milliseconds = parse_duration(expiry) if expiry is not None else None
    return Cache(milliseconds, int(rows)) if milliseconds and rows is not None and int(rows) > 0 else None


def retries(text: str | None) -> int:
    """Return how often connecting is tried again."""
    return int(text) if text is not None else _RETRIES


def at_once(text: str | None) -> int:
    """Return how many rows go to or from the driver at once; '0' leaves it to the driver, in Flink too."""
    return int(text or 0) or AT_ONCE


def is_exactly_once(options: Options) -> bool:
    """Return whether the database keeps which batches it has."""
    return dict(options).get(GUARANTEE, "exactly-once").strip().lower() == "exactly-once"

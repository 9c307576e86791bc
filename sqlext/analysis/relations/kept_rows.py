"""Find the tables that keep rows which a query cannot use: those of bad rows, and those of dead letters.

Both have some of the columns of ``plan.bad_rows``, by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.relations.same_place import place_of
from sqlext.analysis.types.coercion import can_implicitly_cast
from sqlext.connectors.base import written_columns
from sqlext.connectors.options import BAD_ROWS_OPTION, DROP, FAIL, OptionError
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.bad_rows import BAD_COLUMNS, LETTER
from sqlext.plan.columns import PlanColumn
from sqlext.settings import DEAD_LETTERS
from sqlext.source import Span
from sqlext_catalog.model import Column, Table

_KNOWN = {c.name: c for c in BAD_COLUMNS}
#: A part of a name, in backticks or not.
_PART = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([^.`]+))\s*(?:\.|$)")


@dataclass(frozen=True, slots=True)
class Keeper:
    """An option that names a table of such rows.

    Attributes:
        code: of a refusal of the table.
        words: what else the option takes.
        rows: what its rows are called.
    """

    option: str
    code: str
    words: tuple[str, ...]
    rows: str


BAD_ROWS = Keeper(BAD_ROWS_OPTION, "OPT-035", (FAIL, DROP), "bad rows")
LETTERS = Keeper(DEAD_LETTERS, "OPT-038", (), "dead letters")


def kept_in(name: str, keeper: Keeper, env: Environment, span: Span) -> Table:
    """Return a table that keeps such rows; ``span`` is where they come from.

    Raises:
        OptionError: its keeper's code if there is no such table or it has other columns; OPT-... if it cannot be
            written to.
    """
    parts = tuple(quoted.replace("``", "`") or plain.strip() for quoted, plain in _PART.findall(name))
    found = env.catalog.lookup(parts)
    if not isinstance(found, Table):
        hint = did_you_mean((parts or (name,))[-1], (*keeper.words, *env.catalog.candidates()))
        message = f"'{keeper.option}': there is no table `{name}`"
        raise OptionError(keeper.code, message, option=keeper.option, hint=hint)
    try:
        env.admit(found, "sink")
    except SqlExtError as error:
        raise env.placed(error, found, span) from None
    for column in kept_columns(found):
        _check(column, found, keeper)
    key = found.primary_key.columns if found.primary_key is not None else ()
    # Of bad rows a key may be meant: their place names one.
    if keeper is LETTERS and key and LETTER not in key:
        what = f"has the PRIMARY KEY {', '.join(key)}: of {keeper.rows} with the same one the last would stay alone"
        message = f"'{keeper.option}': `{found.name.name}` {what}"
        hint = f"leave the key out, or make it `{LETTER}`, which names each of them"
        raise OptionError(keeper.code, message, option=keeper.option, hint=hint)
    return found


def refuse_read(table: Table, read: Iterable[Table], keeper: Keeper, span: Span) -> None:
    """Refuse a table of such rows that the query reads: each would come in again, and be another one for ever.

    Args:
        read: the tables that the query reads as streams.

    Raises:
        SqlExtError: the keeper's code.
    """
    if place_of(table) in set(map(place_of, read)):
        message = f"'{keeper.option}': the query reads `{table.name.name}`: what it puts there would come in again"
        raise SqlExtError(keeper.code, message, span=span, hint=f"RESET '{keeper.option}' before it, or SET another")


def kept_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns of a table of bad rows that are written."""
    writable = {w.name for w in written_columns(table)}
    return tuple(c for c in table.columns if c.name in writable)


def source_of(column: Column) -> PlanColumn:
    """Return what fills a column of a table that was taken for one of bad rows, or of dead letters."""
    return _KNOWN[column.name]


def _check(column: Column, table: Table, keeper: Keeper) -> None:
    source = _KNOWN.get(column.name)
    if source is None:
        what = f"has a column `{column.name}`, which {keeper.rows} do not have"
    elif source.type and column.type and not can_implicitly_cast(source.type, column.type):
        what = f"has a column `{column.name}` of type {column.type}; it is {source.type}"
    elif keeper is LETTERS and _may_lack(source) and column.type and not column.type.nullable:
        what = f"has a column `{column.name}` that is NOT NULL; some {keeper.rows} have none"
    else:
        return
    shown = ", ".join(f"`{c.name}` {c.type.flink() if c.type else ''}" for c in BAD_COLUMNS)
    message = f"'{keeper.option}': `{table.name.name}` {what}"
    raise OptionError(keeper.code, message, option=keeper.option, hint=f"its columns may be {shown}")


def _may_lack(source: PlanColumn) -> bool:
    """Whether a dead letter may have NULL there; the name of one is made when it is written."""
    return source.type is not None and source.type.nullable and source.name != LETTER

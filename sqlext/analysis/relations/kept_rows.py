"""Find the tables that keep rows which a query cannot use: those of bad rows, and those of dead letters.

Both have some of the columns of ``plan.bad_rows``, by name.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.types.coercion import can_implicitly_cast
from sqlext.connectors.base import written_columns
from sqlext.connectors.options import BAD_ROWS_OPTION, DROP, FAIL, OptionError
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.bad_rows import BAD_COLUMNS
from sqlext.plan.columns import PlanColumn
from sqlext.settings import DEAD_LETTERS
from sqlext.source import Span
from sqlext_catalog.model import Column, Table

_KNOWN = {c.name: c for c in BAD_COLUMNS}


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
    parts = tuple(p.strip().strip("`") for p in name.split("."))
    found = env.catalog.lookup(parts)
    if not isinstance(found, Table):
        hint = did_you_mean(parts[-1], (*keeper.words, *env.catalog.candidates()))
        message = f"'{keeper.option}': there is no table `{name}`"
        raise OptionError(keeper.code, message, option=keeper.option, hint=hint)
    try:
        env.admit(found, "sink")
    except SqlExtError as error:
        raise env.placed(error, found, span) from None
    for column in kept_columns(found):
        _check(column, found, keeper)
    return found


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
    else:
        return
    shown = ", ".join(f"`{c.name}` {c.type.flink() if c.type else ''}" for c in BAD_COLUMNS)
    message = f"'{keeper.option}': `{table.name.name}` {what}"
    raise OptionError(keeper.code, message, option=keeper.option, hint=f"its columns may be {shown}")

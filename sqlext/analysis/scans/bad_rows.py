"""Apply ``'sqlext.bad-rows'``: the policy of a source for rows that it cannot decode.

``fail`` refuses them, ``drop`` counts them, a table keeps them. Such a table may have the columns ``text`` (the row),
``source`` (the table that it was read from), ``place`` (where in its file or topic), ``reason`` and ``read_at``.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.types.coercion import can_implicitly_cast
from sqlext.connectors.base import written_columns
from sqlext.connectors.options import BAD_ROWS_OPTION, DROP, FAIL, OptionError, bad_rows_policy
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.bad_rows import BAD_COLUMNS, BadRows
from sqlext.plan.columns import PlanColumn
from sqlext.source import Span
from sqlext_catalog.model import Column, Table

_KNOWN = {c.name: c for c in BAD_COLUMNS}


def with_policy(table: Table, env: Environment, *, stream: bool) -> Table:
    """Return a table with what is done with its bad rows as an option of its own.

    SET is for the tables that can tell bad rows from others; what an option of the table asks for is done or refused.

    Raises:
        OptionError: OPT-034 if its rows cannot be told apart, or cannot be counted.
    """
    others = tuple(o for o in table.options if o[0] != BAD_ROWS_OPTION)
    own = table.option(BAD_ROWS_OPTION)
    asked = replace(table, options=(*others, (BAD_ROWS_OPTION, own or env.settings.get(BAD_ROWS_OPTION) or "")))
    wanted = bad_rows_policy(asked)
    why = connector_of(table).cannot_judge(table)
    if not why and not stream and wanted != FAIL:
        why = "only a stream counts or keeps them"
    if not why and wanted is not None:
        return asked
    if own is not None and wanted != FAIL:
        message = f"'{BAD_ROWS_OPTION}' = '{own}' of `{table.name.name}`: {why}"
        raise OptionError("OPT-034", message, option=BAD_ROWS_OPTION)
    return replace(table, options=others)


def bad_rows_of(table: Table, env: Environment, span: Span) -> BadRows | None:
    """Return the table that keeps the bad rows of another one, None if none does; ``span`` is where that one is read.

    Raises:
        OptionError: OPT-035 if there is no such table or it has other columns; OPT-... if it cannot be written to.
    """
    wanted = bad_rows_policy(table)
    if wanted in (None, FAIL, DROP):
        return None
    parts = tuple(p.strip().strip("`") for p in wanted.split("."))
    found = env.catalog.lookup(parts)
    if not isinstance(found, Table):
        hint = did_you_mean(parts[-1], (FAIL, DROP, *env.catalog.candidates()))
        message = f"'{BAD_ROWS_OPTION}': there is no table `{wanted}`"
        raise OptionError("OPT-035", message, option=BAD_ROWS_OPTION, hint=hint)
    try:
        env.admit(found, "sink")
    except SqlExtError as error:
        raise env.placed(error, found, span) from None
    for column in kept_columns(found):
        source_of(column, found)
    return BadRows(found, span)


def kept_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns of a table of bad rows that are written."""
    writable = {w.name for w in written_columns(table)}
    return tuple(c for c in table.columns if c.name in writable)


def source_of(column: Column, table: Table) -> PlanColumn:
    """Return what fills a column of a table of bad rows.

    Raises:
        OptionError: OPT-035 for a column that bad rows do not have.
    """
    source = _KNOWN.get(column.name)
    if source is None:
        what = f"has a column `{column.name}`, which bad rows do not have"
    elif source.type and column.type and not can_implicitly_cast(source.type, column.type):
        what = f"has a column `{column.name}` of type {column.type}; it is {source.type}"
    else:
        return source
    shown = ", ".join(f"`{c.name}` {c.type.flink() if c.type else ''}" for c in BAD_COLUMNS)
    message = f"'{BAD_ROWS_OPTION}': `{table.name.name}` {what}"
    raise OptionError("OPT-035", message, option=BAD_ROWS_OPTION, hint=f"its columns may be {shown}")

"""Apply ``'sqlext.bad-rows'``: the policy of a source for rows that it cannot decode.

``fail`` refuses them, ``drop`` counts them, a table keeps them. Where nothing else is said, a table of dead letters
takes them.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.relations.kept_rows import BAD_ROWS, LETTERS, kept_in
from sqlext.connectors.options import BAD_ROWS_OPTION, DROP, FAIL, OptionError, bad_rows_policy
from sqlext.connectors.registry import connector_of
from sqlext.plan.bad_rows import BadRows
from sqlext.source import Span
from sqlext_catalog.model import Table


def with_policy(table: Table, env: Environment, *, stream: bool) -> Table:
    """Return a table with what is done with its bad rows as an option of its own.

    SET is for the tables that can tell bad rows from others; what an option of the table asks for is done or refused.

    Raises:
        OptionError: OPT-034 if its rows cannot be told apart, or cannot be counted.
    """
    others = tuple(o for o in table.options if o[0] != BAD_ROWS_OPTION)
    own = table.option(BAD_ROWS_OPTION)
    asked = replace(table, options=(*others, (BAD_ROWS_OPTION, own or _set(env) or "")))
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


def _set(env: Environment) -> str | None:
    """Return what SET says is done with bad rows: a table of dead letters takes them unless it says so itself."""
    return env.settings.get(BAD_ROWS_OPTION) or env.settings.dead_letters("decode")


def judges(table: Table, env: Environment) -> bool:
    """Whether anything says what is done with the bad rows of a table."""
    return table.option(BAD_ROWS_OPTION) is not None or _set(env) is not None


def bad_rows_of(table: Table, own: str | None, env: Environment, span: Span) -> BadRows | None:
    """Return the table that keeps the bad rows of another one, None if none does.

    Args:
        table: with its policy.
        own: what its own option says.
        span: where it is read.

    Raises:
        OptionError: OPT-035 (OPT-038 of dead letters) if there is no such table or it has other columns; OPT-... if
            it cannot be written to.
    """
    wanted = bad_rows_policy(table)
    if wanted in (None, FAIL, DROP):
        return None
    letters = own is None and env.settings.get(BAD_ROWS_OPTION) is None
    return BadRows(kept_in(wanted, LETTERS if letters else BAD_ROWS, env, span), span, letters)

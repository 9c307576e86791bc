"""``LATE DATA TO table``: the table and whether it can take the rows."""

from __future__ import annotations

from sqlext.analysis.environment import Environment
from sqlext.catalog.model import Table
from sqlext.dialect.emit.nodes import EmitClause
from sqlext.errors import SqlExtError, did_you_mean


def late_table(clause: EmitClause | None, env: Environment) -> Table | None:
    """Return the table that a clause names for rows that come too late, None if it names none.

    Raises:
        SqlExtError: EMIT-114 if there is no such table.
    """
    if clause is None or clause.late_table is None:
        return None
    name = clause.late_table
    found = env.catalog.lookup(name.parts)
    if not isinstance(found, Table):
        hint = did_you_mean(name.parts[-1], env.catalog.candidates())
        message = f"late table `{'.'.join(name.parts)}` does not exist"
        raise SqlExtError("EMIT-114", message, span=name.span, hint=hint)
    return found

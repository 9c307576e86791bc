"""Say which columns a star leaves out: Spark's ``* EXCEPT (a, b)``."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.dialect.ast.expressions import Star
from sqlext.errors import SqlExtError, did_you_mean


def left_out(star: Star, names: Sequence[str]) -> frozenset[str]:
    """Return those of the names that a star has not.

    Args:
        star: what is written; names are compared as Spark compares them, whatever their case.
        names: of the columns that it would have without EXCEPT.

    Raises:
        SqlExtError: NAME-003 for a name that is no column's, or where no column is left.
    """
    found: set[str] = set()
    for column in star.excluded:
        name = column.parts[-1]
        meant = {n for n in names if n.lower() == name.lower()}
        if not meant:
            hint = did_you_mean(name, list(names)) or f"the columns are {', '.join(names)}"
            raise SqlExtError("NAME-003", f"there is no column `{name}` to leave out", span=column.span, hint=hint)
        found |= meant
    if star.excluded and found.issuperset(names):
        raise SqlExtError("NAME-003", "EXCEPT leaves no column", span=star.span)
    return frozenset(found)

"""Tell by which keys of GROUPING SETS, ROLLUP or CUBE a row of the result may have been grouped."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.ast.queries import GroupingSets
from sqlext.plan.key_sets import KeySet, key_sets


def common_keys(
    items: Sequence[Expr | GroupingSets], form: Callable[[Expr], str], may_be: Callable[[KeySet], bool]
) -> tuple[KeySet, bool] | None:
    """Return the keys that all sets have which a row may be of, and whether that is one set; None where there is none.

    Rows of any of these sets are among the rows that agree in the common keys.

    Args:
        items: of GROUP BY.
        form: a text that is the same for keys that mean the same.
        may_be: whether the row may be of a set.
    """
    found = [keys for keys in key_sets(items) if may_be(keys)]
    if not found:
        return None
    first, *others = found
    named = [{form(key) for key in keys} for keys in others]
    common = tuple(key for key in first if all(form(key) in texts for texts in named))
    return common, len({frozenset(form(key) for key in keys) for keys in found}) == 1

"""Group by GROUPING SETS, ROLLUP and CUBE in a stateful aggregate.

Each row goes in once for every set, and the set is one of the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.ast.queries import GroupingSets
from sqlext.plan.key_sets import key_sets
from sqlext.plan.scope import Scope, Shape, shape

#: The column that says which set a row is for.
SET = "__set"


@dataclass(frozen=True, slots=True)
class Sets:
    """The sets that a GROUP BY stands for.

    Attributes:
        expressions: every grouping expression, in order.
        members: of each set, the expressions in it.
    """

    expressions: tuple[Shape, ...]
    members: tuple[frozenset[Shape], ...]

    def numbers_with(self, expression: Shape) -> list[int]:
        """Return the numbers of the sets that an expression is in."""
        return [i for i, members in enumerate(self.members) if expression in members]

    def key(self, expression: Shape, text: str) -> str:
        """Return a key: the expression in the sets that have it, NULL in the others."""
        numbers = self.numbers_with(expression)
        if len(numbers) == len(self.members):
            return text
        return f"CASE WHEN {SET} IN ({_list(numbers)}) THEN {text} END"

    def is_left_out(self, expression: Shape) -> str:
        """Return 1 in the sets that lack an expression, else 0: what GROUPING says."""
        return f"CAST(CASE WHEN {SET} IN ({_list(self.numbers_with(expression))}) THEN 0 ELSE 1 END AS BIGINT)"

    @property
    def lateral_view(self) -> str:
        """Return what makes of each row one for every set."""
        return f" LATERAL VIEW explode(array({_list(range(len(self.members)))})) __sets AS {SET}"


def sets_of(items: Sequence[Expr | GroupingSets], scope: Scope) -> Sets | None:
    """Return the sets of a GROUP BY, None if it has none: of several items, every combination."""
    if not any(isinstance(i, GroupingSets) for i in items):
        return None
    members = [tuple(dict.fromkeys(shape(key, scope) for key in keys)) for keys in key_sets(items)]
    expressions = tuple(dict.fromkeys(chain(*members)))
    return Sets(expressions, tuple(frozenset(m) for m in members))


def _list(numbers: Sequence[int]) -> str:
    # IN () is no SQL; IN (NULL) holds for no row.
    return ", ".join(str(n) for n in numbers) or "NULL"

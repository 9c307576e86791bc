"""The node of UNNEST and table functions: each row with the rows that a function makes of it.

Spark computes it row by row, without state. A row that is taken back takes back all rows that were made of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.dialect.ast.expressions import Expr
from sqlext.plan.columns import PlanColumn
from sqlext.plan.nodes import UnaryNode
from sqlext.types import LogicalType

if TYPE_CHECKING:
    from sqlext.plan.scope import Scope


@dataclass(frozen=True, slots=True)
class Elements:
    """``UNNEST(operand)``, an array, map or multiset; ``ordinality``: and the number of each element, from 1."""

    operand: Expr
    type: LogicalType
    ordinality: bool


@dataclass(frozen=True, slots=True)
class TableCall:
    """A call of a registered table function, by its name and the qualified name of its class."""

    function: str
    implementation: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Unnested(UnaryNode):
    """The columns of the input, then ``made``: those of the rows that ``source`` makes of each row.

    Attributes:
        source: what makes them; its expressions are in the names of ``scope``.
        scope: the relations of the input, under the aliases that they go on having.
        alias: of the made rows.
        outer: a row of which nothing is made stays, with NULL beside it (LEFT JOIN).
    """

    source: Elements | TableCall
    scope: Scope
    alias: str
    made: tuple[PlanColumn, ...]
    outer: bool = False

    @property
    def what(self) -> str:
        """What is done, as EXPLAIN names it: ``LEFT UNNEST(tags) WITH ORDINALITY``."""
        kind = "LEFT " if self.outer else ""
        # By the function's registered name: the user may have written it in another case.
        if isinstance(self.source, TableCall):
            shown = ", ".join(a.span.one_line for a in self.source.arguments)
            return f"{kind}{self.source.function}({shown})"
        return (
            f"{kind}UNNEST({self.source.operand.span.one_line}){' WITH ORDINALITY' if self.source.ordinality else ''}"
        )

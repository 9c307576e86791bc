"""Aggregates in DEFINE: over the rows of a variable so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlext.dialect.ast import expressions as e
from sqlext.errors import SqlExtError
from sqlext.types import LogicalType
from sqlext_udfs.expressions import trees as core

if TYPE_CHECKING:
    from sqlext.analysis.matching.definitions import Definition

_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")


def aggregate_tree(call: e.Call, trees: Definition) -> core.Expression:
    """Return an aggregate as a tree.

    Raises:
        SqlExtError: MATCH-012 to MATCH-014 for one that the operator does not know.
    """
    if call.function not in _AGGREGATES or call.distinct or call.filter is not None or len(call.args) > 1:
        raise SqlExtError(
            "MATCH-014",
            f"{call.name} cannot be asked for in DEFINE like this",
            span=call.span,
            hint="DEFINE has COUNT, SUM, AVG, MIN and MAX of the rows so far, without DISTINCT and FILTER",
        )
    of = next((a for a in call.args if isinstance(a, e.Expr) and not isinstance(a, e.Star)), None)
    group = trees.names.only_group(call, call.function)
    if of is None:
        return core.Running("count", None, group)
    if not trees.names.is_single(of):
        raise SqlExtError("MATCH-013", f"{call.function} takes columns of one row", span=of.span)
    value = trees.value(of)
    if call.function in ("COUNT", "MIN", "MAX"):
        return core.Running(call.function.lower(), value, group)
    result = trees.number(call)
    if call.function == "SUM":
        return core.Running("sum", value, group, result)
    total = core.Running("sum", value, group, _exact(trees.type_of(of), result))
    return core.Arithmetic("/", total, core.Running("count", value, group), result)


def _exact(of: LogicalType | None, result: core.Number) -> core.Number:
    """Return the type in which AVG sums up."""
    if of is None or of.is_approximate:
        return core.Number("DOUBLE")
    if of.root == "DECIMAL":
        return core.Number("DECIMAL", 38, of.scale or 0)
    return core.Number("BIGINT" if result.root in ("TINYINT", "SMALLINT", "INT", "BIGINT") else "DOUBLE")

"""Say what stars are: ``r.*`` the fields of a ROW, and Spark's ``* EXCEPT (a, b)`` not all columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlext.dialect.ast.expressions import ColumnRef, Star
from sqlext.dialect.ast.queries import Select, SelectItem
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions.operations import parse_expression
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.scope import Scope
from sqlext.types import LogicalType, quote


def with_fields(select: Select, scope: Scope) -> Select:
    """Return a SELECT in which ``r.*`` of a column of type ROW is its fields; relations go before columns.

    Raises:
        SqlExtError: NAME-002 for a column of another type.
    """
    if not any(isinstance(item.expr, Star) and item.expr.qualifier for item in select.items):
        return select
    return replace(select, items=tuple(made for item in select.items for made in _fields(item, scope)))


def _fields(item: SelectItem, scope: Scope) -> Iterator[SelectItem]:
    star, fold = item.expr, scope.mode == "spark"
    if not isinstance(star, Star) or any(r.answers_to(star.qualifier, fold) for r in scope.relations):
        yield item
        return
    row = ColumnRef(star.span, star.qualifier)
    type_ = scope.column_type(row) if star.qualifier and scope.has(row) else None
    if type_ is None:
        yield item
        return
    if type_.root != "ROW":
        raise _no_row(row, type_)
    names = [f.name for f in type_.fields]
    without = left_out(star, names)
    for name in names:
        if name not in without:
            text = star.span.source.reworded(star.span, ".".join(map(quote, (*star.qualifier, name))))
            yield SelectItem(item.span, parse_expression(Cursor.over(text, scope.mode)))


def _no_row(column: ColumnRef, type_: LogicalType) -> SqlExtError:
    name = ".".join(map(quote, column.parts))
    parts = "UNNEST gives its elements" if type_.root in ("ARRAY", "MAP", "MULTISET") else f"write {name} for its value"
    message = f"column {name} is no ROW but {type_}: it has no fields for .*"
    return SqlExtError("NAME-002", message, span=column.span, hint=parts)


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

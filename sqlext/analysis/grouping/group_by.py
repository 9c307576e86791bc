"""Find the grouping of a SELECT and its window, and check what stands beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlext.analysis.types.calls import contains_aggregate, is_aggregate
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Literal, Node, Star
from sqlext.dialect.ast.queries import GroupingSets, Query, Select
from sqlext.errors import SqlExtError
from sqlext.plan.nodes import AssignWindows, PlanNode
from sqlext.plan.scope import Found, Scope, Shape, column_shape, own_parts, shape
from sqlext.source import Span


@dataclass(frozen=True)
class Grouping:
    """What a SELECT groups by.

    Attributes:
        items: grouping items without the window's columns.
        expressions: every single grouping expression among them, those inside GROUPING SETS too.
        window: physical column of the window struct, None if no window groups.
        bounds: which of the window's ``start``, ``end``, ``time`` are grouped by.
        shapes: shapes of all grouping expressions, window columns included.
    """

    items: tuple[Expr | GroupingSets, ...]
    expressions: tuple[Expr, ...]
    window: str | None
    bounds: frozenset[str]
    shapes: frozenset[Shape]
    scope: Scope

    @property
    def has_sets(self) -> bool:
        """Whether ROLLUP, CUBE or GROUPING SETS is among the items."""
        return any(isinstance(i, GroupingSets) for i in self.items)

    def keeps(self, found: Found) -> bool:
        """Whether a column is one of the grouped window's: it stays what it is."""
        return (
            self.window is not None
            and found.column.physical == self.window
            and found.column.window_bound in self.bounds
        )


@dataclass(frozen=True)
class Grouped:
    """A SELECT that groups.

    Attributes:
        node: the rows that it groups.
        scope: of these rows.
        expressions: of its select list.
        assign: the window function that gives its window, if one does.
    """

    select: Select
    node: PlanNode
    scope: Scope
    grouping: Grouping
    expressions: Sequence[Expr]
    assign: AssignWindows | None

    def aggregates(self) -> Iterator[Call]:
        """Yield its aggregates."""
        yield from (c for c in self.calls() if is_aggregate(c, self.scope.mode))

    def calls(self) -> Iterator[Call]:
        """Yield what is called in its select list and its HAVING."""
        having = [self.select.having] if self.select.having is not None else []
        for expr in (*self.expressions, *having):
            yield from (p for p in own_parts(expr) if isinstance(p, Call))


def is_grouped(select: Select, mode: str) -> bool:
    """Whether a SELECT groups, by a clause or by its aggregates (those with OVER are none)."""
    aggregated = any(contains_aggregate(i.expr, mode) for i in select.items)
    return select.group_by is not None or select.having is not None or aggregated


def find_grouping(select: Select, items: Sequence[Expr | None], scope: Scope) -> Grouping | None:
    """Return what a SELECT groups by, None if it does not group.

    A window groups if both its start and its end are grouping columns (Flink's rule; else an ordinary,
    updating aggregation).
    """
    mode = scope.mode
    expressions = [e for e in items if e is not None]
    aggregated = any(contains_aggregate(e, mode) for e in expressions) or select.having is not None
    if select.group_by is None and not aggregated and not select.distinct:
        return None
    if select.distinct:
        # Distinct windows are a grouping by them: they come when the watermark passes, as Flink's do.
        # Columns of a star have no expression here, so SELECT DISTINCT * is left to distinct_rows.
        whole = _grouping(list(expressions), scope) if len(expressions) == len(items) else None
        return whole if whole is not None and whole.window is not None else None
    group_by = select.group_by.items if select.group_by else ()
    grouping = _grouping([_resolve(i, select, scope) for i in group_by], scope)
    for expr in grouping.expressions:
        _check_key(expr, mode)
    return grouping


def _grouping(raw: list[Expr | GroupingSets], scope: Scope) -> Grouping:
    single = [i for i in raw if not isinstance(i, GroupingSets)]
    bounds: dict[str, set[str]] = {}
    for expr in single:
        found = scope.bare(expr)
        if found is not None and found.column.window_bound:
            bounds.setdefault(found.column.physical, set()).add(found.column.window_bound)
    window = next((p for p, b in bounds.items() if {"start", "end"} <= b), None)
    items: list[Expr | GroupingSets] = []
    for item in raw:
        found = None if isinstance(item, GroupingSets) else scope.bare(item)
        if window is None or found is None or found.column.physical != window or not found.column.window_bound:
            items.append(item)
    expressions = tuple(e for i in items for e in _expressions(i))
    shapes = frozenset(shape(e, scope) for i in raw for e in _expressions(i))
    return Grouping(tuple(items), expressions, window, frozenset(bounds.get(window or "", ())), shapes, scope)


def _expressions(item: Expr | GroupingSets) -> list[Expr]:
    if not isinstance(item, GroupingSets):
        return [item]
    unique: dict[str, Expr] = {}
    for group in item.sets:
        for member in group:
            for expr in _expressions(member):
                # One key, however many sets name it.
                unique.setdefault(expr.span.text, expr)
    return list(unique.values())


def _resolve(item: Expr | GroupingSets, select: Select, scope: Scope) -> Expr | GroupingSets:
    """Return a grouping item with Spark's ordinals and select aliases replaced by what they stand for."""
    # FlinkSqlConformance allows neither ordinals nor aliases in GROUP BY: there a number is a constant.
    if isinstance(item, GroupingSets) or scope.mode != "spark":
        return item
    if isinstance(item, Literal) and item.kind == "NUMBER" and item.value.isdigit():
        index = int(item.value) - 1
        if 0 <= index < len(select.items) and not isinstance(select.items[index].expr, Star):
            return select.items[index].expr
        raise SqlExtError("NAME-009", f"GROUP BY {item.value} is not in the select list", span=item.span)
    # As in Spark, a column of FROM goes before an alias of the same name.
    if isinstance(item, ColumnRef) and len(item.parts) == 1 and not scope.has(item):
        aliased = [i.expr for i in select.items if i.alias and i.alias.lower() == item.parts[0].lower()]
        if aliased:
            return aliased[0]
    return item


def check_grouped(expr: Node, grouping: Grouping, scope: Scope, mode: str) -> None:
    """Check that an expression is made of grouping expressions and aggregates.

    Raises:
        SqlExtError: NAME-010 naming the column that is neither.
    """
    # The whole before its parts: in GROUP BY a + b, a alone is not grouped by, but a + b may stand anywhere.
    if isinstance(expr, Expr) and shape(expr, scope) in grouping.shapes:
        return
    if isinstance(expr, Call) and (is_aggregate(expr, mode) or expr.function in ("GROUPING", "GROUPING_ID")):
        for part in expr.children():
            _no_nested_aggregate(part, mode)
        if not is_aggregate(expr, mode):
            _check_keys(expr, grouping, scope)
        return
    if isinstance(expr, ColumnRef):
        name = expr.span.one_line.replace("`", "")  # as written: it may stand in the place of a call
        raise SqlExtError(
            "NAME-010",
            f"`{name}` is neither grouped by nor inside an aggregate",
            span=expr.span,
            hint=f"add it to GROUP BY, or write MAX({name})",
        )
    for child in expr.children():
        if not isinstance(child, Query):
            check_grouped(child, grouping, scope, mode)


def check_star(found: Found, grouping: Grouping, star: Span) -> None:
    """Check that a column that ``*`` stands for is grouped by.

    Raises:
        SqlExtError: NAME-010 naming the column.
    """
    if column_shape(found) not in grouping.shapes:
        name = found.column.name
        message = f"`{name}`, a column of *, is neither grouped by nor inside an aggregate"
        raise SqlExtError("NAME-010", message, span=star, hint="name the columns of GROUP BY in place of *")


def _check_keys(call: Call, grouping: Grouping, scope: Scope) -> None:
    """Check that GROUPING is asked about grouping expressions."""
    for argument in call.args:
        if isinstance(argument, Expr) and shape(argument, scope) not in grouping.shapes:
            message = f"{call.function} takes what is grouped by, and `{argument.span.one_line}` is not"
            raise SqlExtError("NAME-010", message, span=argument.span, hint="name one of the items of GROUP BY")


def _check_key(key: Expr, mode: str) -> None:
    """Refuse what is known only when the rows are grouped."""
    for part in own_parts(key):
        if isinstance(part, Call) and (is_aggregate(part, mode) or part.over is not None):
            what = "a call with OVER" if part.over is not None else "an aggregate"
            hint = "compute it in a sub-query of FROM, and group by its column"
            raise SqlExtError("NAME-011", f"{what} cannot be grouped by", span=part.span, hint=hint)


def _no_nested_aggregate(node: Node, mode: str) -> None:
    for part in own_parts(node):
        if isinstance(part, Call) and is_aggregate(part, mode) and part.over is None:
            raise SqlExtError("NAME-011", f"{part.name} stands inside another aggregate", span=part.span)

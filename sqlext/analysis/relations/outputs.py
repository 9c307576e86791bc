"""Build the output columns of a SELECT: those that it computes and those that it hands on."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.names.time_attributes import loss_of
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Binary, Call, ColumnRef, Expr, Interval
from sqlext.plan.columns import Part, PlanColumn, Time
from sqlext.plan.nodes import KEY_ALL, KEY_PREFIX, KEY_SET, KEY_WINDOW, Output
from sqlext.plan.scope import Found, Scope, own_parts
from sqlext.types import TIMESTAMP_LTZ3


class OutputBuilder:
    """Collects output columns; physical names are unique, a window's struct is handed on once."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.columns: list[PlanColumn] = []
        self.outputs: list[Output] = []
        self._handed_on: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def add(self, name: str, expr: Expr | None, found: Found | None, *, grouped: bool = False) -> None:
        """Add a column: handed on as it is if ``found``, else computed by ``expr``."""
        if found is not None and not grouped:
            self._hand_on(name, found)
        elif isinstance(expr, Call) and expr.function == "PROCTIME" and not grouped:
            # No row holds it (physical is empty): each step that asks for it reads the clock of the micro-batch.
            type_ = TIMESTAMP_LTZ3.not_null()
            self.columns.append(PlanColumn(name, type_, "", Part.PROCTIME, Time.PROCTIME))
        else:
            assert expr is not None
            self._compute(name, expr, grouped)

    def add_keys(self, expressions: tuple[Expr, ...], *, has_sets: bool, windowed: bool) -> tuple[str, ...]:
        """Add hidden key columns, one per grouping expression; return their names and those of the window's bounds."""
        names = []
        for i, expr in enumerate(expressions):
            names.append(f"{KEY_PREFIX}{i}")
            self.outputs.append(Output(names[-1], expr))
        if has_sets:
            names.append(KEY_SET)
        if windowed:
            names += KEY_WINDOW
        return tuple(names) or (KEY_ALL,)

    def _hand_on(self, name: str, found: Found) -> None:
        column = found.column
        if column.part is Part.PROCTIME:
            self.columns.append(replace(column, name=name, physical=""))
            return
        key = (found.relation.alias, column.physical)
        shared = column.window_bound is not None
        if not shared or key not in self._handed_on:
            # A window's struct keeps its name if it can: groupings know it by that alone.
            physical = self._unique(column.physical if shared else name)
            self.outputs.append(Output(physical, None, column, found.relation.alias))
            self._handed_on[key] = physical
        self.columns.append(replace(column, name=name, physical=self._handed_on[key]))

    def _compute(self, name: str, expr: Expr, grouped: bool) -> None:
        physical = self._unique(name)
        self.outputs.append(Output(physical, expr))
        column = PlanColumn(name, infer(expr, self.scope), physical, shown=self._shown(expr))
        for part in own_parts(expr):
            found = self.scope.find(part) if isinstance(part, ColumnRef) else None
            if found is None:
                continue
            if found.column.time is not None:
                loss = loss_of(expr, found.column.name)
                if grouped and self.scope.bare(expr) is not None:
                    loss = replace(loss, reason="GROUP BY without the window's bounds makes it ordinary")
                column = replace(column, loss=loss)
            elif found.column.loss is not None:
                column = replace(column, loss=found.column.loss)
        self.columns.append(column)

    def _shown(self, expr: Expr) -> Time | None:
        operand = _keeps_type_mark(expr)
        if operand is None:
            return None
        found = self.scope.bare(operand)
        return (found.column.time or found.column.shown) if found else None

    def _unique(self, name: str) -> str:
        physical, i = name, 1
        while physical.lower() in self._taken:
            physical, i = f"{name}_{i}", i + 1
        self._taken.add(physical.lower())
        return physical


def _keeps_type_mark(expr: Expr) -> Expr | None:
    """Return the operand whose time mark DESCRIBE goes on showing for this expression, or None.

    Measured on Flink 2.3 (statements/describe_types): a key of GROUP BY, MAX(ts), ts + INTERVAL and FLOOR(ts TO HOUR)
    are still shown with *ROWTIME*, although a window function over them is refused. GROUP BY TUMBLE takes them.
    """
    if isinstance(expr, ColumnRef):
        return expr
    if isinstance(expr, Call) and expr.function in ("MAX", "MIN", "FLOOR", "CEIL") and expr.args:
        first = expr.args[0]
        return first if isinstance(first, Expr) else None
    if isinstance(expr, Binary) and expr.op in ("+", "-") and isinstance(expr.right, Interval):
        return expr.left
    return None

"""Render what a grouping's columns have in windows without rows, and tell the operator which windows these are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlext.plan.filling import FilledColumn, WindowFill
from sqlext.plan.nodes import AssignWindows, Output, WindowKind
from sqlext.rewrite.expressions.accumulators import Accumulators
from sqlext.rewrite.expressions.grouped import GroupedContext
from sqlext.rewrite.expressions.renderer import render
from sqlext.rewrite.operators.step import Arguments

#: The operator's columns behind all others, where windows wait for the next one with rows: prefix of the results of
#: that one, and how far the window is on the way to it.
NEXT, WEIGHT = "__n", "__weight"


@dataclass(frozen=True)
class FilledOutputs:
    """Renders the outputs of a grouping whose windows are filled.

    Attributes:
        fill: what they have in windows without rows.
        context: renders expressions over the operator's rows.
    """

    fill: WindowFill
    context: GroupedContext

    def text(self, output: Output) -> str:
        """Return the text of an output that is computed."""
        assert output.expr is not None
        column = self.fill.column(output.physical)
        if column is None:
            return render(output.expr, replace(self.context, fills=True))
        # A window without rows has the results of the last one with rows: LAST is what they give.
        text = render(output.expr, self.context)
        if column.value is not None:
            return self.context.filled(_cast(render(column.value, self.context), column), text)
        return self._linear(text, output, column) if column.kind == "LINEAR" else text

    def _linear(self, text: str, output: Output, column: FilledColumn) -> str:
        assert output.expr is not None
        self.context.asked.add(WEIGHT)
        following = render(output.expr, replace(self.context, into=nexts(self.context.into)))
        before, after = (f"CAST({t} AS DOUBLE)" for t in (text, following))
        between = f"{before} + ({after} - {before}) * {WEIGHT}"
        rounded = f"round({between})" if column.type is not None and column.type.is_integer else between
        return self.context.filled(_cast(rounded, column), text)


def nexts(into: Accumulators) -> Accumulators:
    """Return what collects into the same lists, by the names that the results of the next window have."""
    return replace(into, prefix=NEXT)


def next_columns(fill: WindowFill | None, into: Accumulators) -> tuple[str, ...]:
    """Return the names of the columns of a filled window behind all others."""
    return (*nexts(into).result_names(), WEIGHT) if fill is not None and fill.joins else ()


def filling(
    fill: WindowFill | None, assign: AssignWindows | None, *, walls: bool, table: int | None = None
) -> Arguments | None:
    """Return the fields of the operator's ``Filling``.

    Args:
        fill: what the grouping fills; None for nothing.
        assign: gives its windows.
        walls: whether the bounds on the wall clock are keys of the operator.
        table: the input's column that says which rows are those of the table whose keys are filled.
    """
    if fill is None:
        return None
    assert assign is not None
    spec = assign.spec
    return (
        ("length", fill.ms),
        ("size", spec.size),
        ("step", spec.slide),
        ("offset", spec.offset),
        ("cumulates", spec.kind is WindowKind.CUMULATE),
        ("zone", spec.wall_clock if spec.aligned else None),
        ("walls", walls),
        ("carries", fill.carries),
        ("joins", fill.joins),
        ("limit", fill.limit),
        *(() if table is None else (("table", table),)),
    )


def _cast(text: str, column: FilledColumn) -> str:
    return f"CAST({text} AS {column.type.spark()})" if column.type is not None else text

"""Render expressions of a SELECT with a stateful aggregate, over the operator's rows.

Those rows have the grouping keys, the window, the results of accumulators and the pane.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlext.analysis import functions
from sqlext.analysis.functions.aggregates import COUNTS
from sqlext.analysis.functions.model import CallTexts
from sqlext.analysis.functions.panes import PANE_COLUMNS
from sqlext.analysis.functions.rendering import fill
from sqlext.analysis.types.calls import is_aggregate
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Node
from sqlext.plan.scope import Shape, shape
from sqlext.rewrite.expressions.accumulators import Accumulators
from sqlext.rewrite.expressions.aggregates import AggregateForm, aggregate_text, registered_text
from sqlext.rewrite.expressions.calls import call_texts
from sqlext.rewrite.expressions.columns import value
from sqlext.rewrite.expressions.context import ScopeContext
from sqlext.rewrite.expressions.grouping_sets import SET, Sets
from sqlext.rewrite.expressions.renderer import ExpressionRenderer
from sqlext_udfs.windows.filling.specification import FILLED


@dataclass(frozen=True)
class GroupedContext(ScopeContext):
    """Replaces keys, window columns and aggregates by the operator's columns.

    Attributes:
        keys: the column of each grouping expression, by its shape.
        sets: the GROUPING SETS, None without any.
        into: collects what the aggregates need; they are made of the rows below, so their arguments are rendered
            in the plain context.
        asked: collects the operator's columns that the texts name; those of the aggregates are in ``into``.
        fills: whether an aggregate is what it is of no rows, where the window had none.
    """

    keys: Mapping[Shape, str]
    sets: Sets | None
    into: Accumulators
    asked: set[str]
    fills: bool = False

    def replacement(self, node: Node) -> str | None:
        """Return the text that replaces a node, None where its parts are looked at in turn."""
        if not isinstance(node, Expr):
            return None
        # First of all: the operator's rows have the value of a grouping expression, and no longer its parts.
        key = self.keys.get(shape(node, self.scope))
        if key is not None:
            self.asked.add(key)
            return key
        if not isinstance(node, Call):
            return None
        if node.function in PANE_COLUMNS:
            self.asked.add(PANE_COLUMNS[node.function])
        if self.sets is not None and node.function in ("GROUPING", "GROUPING_ID"):
            return self._grouping(node, self.sets)
        if is_aggregate(node, self.mode):
            return self._aggregate(node)
        return self.call(node)

    def column(self, ref: ColumnRef) -> str | None:
        """Return a column of the window by the name under which the operator's rows have it."""
        return value(self.scope.find(ref).column, self.zone)

    def _grouping(self, call: Call, sets: Sets) -> str:
        self.asked.add(SET)
        arguments = [shape(a, self.scope) for a in call.args] or sets.expressions
        bits = [sets.is_left_out(a) for a in arguments]
        shifted = [f"shiftleft({b}, {len(bits) - 1 - i})" if i < len(bits) - 1 else b for i, b in enumerate(bits)]
        return f"({' + '.join(shifted)})" if bits else f"CAST({SET} AS BIGINT)"

    def _aggregate(self, call: Call) -> str:
        text = accumulated(call, ExpressionRenderer(ScopeContext(self.scope, self.render_plan)), self.into)
        return self.filled("CAST(0 AS BIGINT)" if call.function in COUNTS else "NULL", text) if self.fills else text

    def filled(self, without: str, text: str) -> str:
        """Return one text in windows without rows, and another one in all others; the text is atomic."""
        self.asked.add(PANE_COLUMNS["PANE_TIMING"])
        timing = PANE_COLUMNS["PANE_TIMING"]
        if without == "NULL":  # Arrow knows no NULL without a type
            return f"(CASE WHEN {timing} <> '{FILLED}' THEN {text} END)"
        return f"(CASE WHEN {timing} = '{FILLED}' THEN {without} ELSE {text} END)"


def accumulated(call: Call, below: ExpressionRenderer, into: Accumulators) -> str:
    """Return an aggregate as a text over accumulators; the text is atomic.

    Args:
        call: the aggregate.
        below: renders its arguments, which are of the rows that go in.
        into: collects what it needs.
    """
    seen = call_texts(call, below)
    condition = below.text(call.filter) if call.filter is not None else ""
    # The suffix is empty: FILTER is in the inputs (`condition`), and OVER is the operator's.
    collecting = _Collecting(
        seen.call,
        seen.args,
        seen.types,
        seen.result,
        seen.mode,
        seen.zone,
        seen.atomic,
        "",
        seen.ordering,
        condition,
        into,
    )
    if call.registered is not None:
        return registered_text(collecting.aggregation(call.function.lower(), *seen.args), call.registered)
    function = functions.find(call.function)
    ours = function is not None and function.flink is not None
    if function is None or not ours or (seen.mode == "spark" and functions.is_spark_call(function, call)):
        return _atomic(collecting.aggregate(call.function.lower(), *seen.args))
    if isinstance(function.flink, str):
        return fill(function.flink, collecting)
    assert function.flink is not None
    return _atomic(function.flink(collecting))


def _atomic(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


@dataclass(frozen=True, slots=True)
class _Collecting(CallTexts):
    """A call whose aggregates become texts over accumulators."""

    condition: str = ""
    into: Accumulators | None = None

    def aggregate(self, name: str, *args: str, distinct: bool | None = None) -> str:
        """Return an aggregate of Spark as a text over accumulators."""
        return aggregate_text(self.aggregation(name, *args, distinct=distinct))

    def aggregation(self, name: str, *args: str, distinct: bool | None = None) -> AggregateForm:
        """Return an aggregate with what its text is made of."""
        assert self.into is not None
        is_distinct = self.call.distinct if distinct is None else distinct
        keeps_nulls = "IGNORE NULLS" not in self.call.clauses
        # Who rewrites the arguments changes their types, and nobody infers those again.
        types = self.types if args == self.args else ()
        return AggregateForm(
            name, args, types, is_distinct, self.condition, keeps_nulls, self.ordering, self.span, self.into
        )

"""Render an expression as Spark SQL: copy the user's text, and splice in what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sqlext.dialect.ast import expressions as e
from sqlext.dialect.ast.queries import Query
from sqlext.errors import SqlExtError
from sqlext.rewrite.expressions import arithmetic, calls, casts, forms, quantified
from sqlext.rewrite.expressions.protocols import RenderContext
from sqlext.source import Span
from sqlext.types import LogicalType


def render(expr: e.Expr, context: RenderContext) -> str:
    """Return an expression as Spark SQL; what needs no change is byte-identical to the user's text."""
    return ExpressionRenderer(context).text(expr)


def cast_to(sql_text: str, from_: LogicalType | None, to: LogicalType, mode: str) -> str:
    """Return ``sql_text`` converted to a sink column's type, unchanged where it has it already.

    Args:
        sql_text: a value as Spark SQL.
        from_: its type, None if unknown (then it is cast in any case).
        to: the column's type.
        mode: ``'flink'`` for Flink's conversions (overflow to NULL, ...), ``'spark'`` for Spark's.
    """
    if from_ is not None and from_.spark() == to.spark() and not casts.narrows(from_, to):
        return sql_text
    return casts.cast(sql_text, from_, to) if mode == "flink" else casts.plain(sql_text, to)


class ExpressionRenderer:
    """Renders nodes in one context."""

    def __init__(self, context: RenderContext, *, in_lambda: bool = False) -> None:
        self.context = context
        self.mode = context.mode
        self.zone = context.zone
        self._in_lambda = in_lambda
        self._done: dict[int, str] = {}  # by node: rules ask for their operands' texts several times

    def text(self, node: e.Node) -> str:
        """Return a node as Spark SQL."""
        if id(node) not in self._done:
            self._done[id(node)] = self._text(node)
        return self._done[id(node)]

    def _text(self, node: e.Node) -> str:
        if isinstance(node, Query):
            return self.context.query(node)
        if isinstance(node, _MAKE_TYPES):
            self._require_type(node)
        replaced = self.context.replacement(node)
        if replaced is not None:
            return replaced
        rule = _BOTH.get(type(node))
        if rule is None and self.mode == "flink":
            rule = _FLINK.get(type(node))
        text = rule(node, self) if rule else None
        return self.verbatim(node) if text is None else text

    def verbatim(self, node: e.Node) -> str:
        """Return a node's own text with only its changed children spliced in."""
        edits = [(child.span, self.text(child)) for child in node.children()]
        return _splice(node.span, [(span, new) for span, new in edits if new != span.text])

    def type_of(self, node: e.Node) -> LogicalType | None:
        """Return the type of an expression, None inside a lambda or if it is unknown."""
        if self._in_lambda or not isinstance(node, e.Expr) or isinstance(node, (e.Keyword, e.Star, e.Lambda)):
            return None
        return self.context.type_of(node)

    def _require_type(self, node: e.Node) -> None:
        """Refuse, where it stands, a value of a type that the installed Spark has not."""
        type_ = self.type_of(node)
        try:
            if type_ is not None:
                type_.spark()
        except SqlExtError as error:
            raise error.at(node.span) from None

    def atom(self, node: e.Node) -> str:
        """Return a node as text that can stand beside any operator."""
        text = self.text(node)
        # What differs from the user's text is a replacement, and these are atomic (`RenderContext`).
        return text if is_atomic(node) or text != node.span.text else f"({text})"

    def inside(self) -> ExpressionRenderer:
        """Return the renderer of a lambda's body."""
        return ExpressionRenderer(self.context, in_lambda=True)


#: What can be of a type that no column below has.
_MAKE_TYPES = (e.Literal, e.Call, e.Cast)

_ATOMIC = (
    e.Literal,
    e.ColumnRef,
    e.Parameter,
    e.Call,
    e.Cast,
    e.Paren,
    e.Case,
    e.ScalarQuery,
    e.Exists,
    e.RowValue,
    e.ArrayValue,
    e.MapValue,
    e.Subscript,
    e.FieldAccess,
    e.Difference,
    e.Interval,
    e.Keyword,
)


def is_atomic(node: e.Node) -> bool:
    """Whether a node's own text needs no parentheses beside an operator."""
    return isinstance(node, _ATOMIC)


def _column(node: e.ColumnRef, renderer: ExpressionRenderer) -> str | None:
    return renderer.context.column(node)


def _lambda(node: e.Lambda, renderer: ExpressionRenderer) -> str:
    inside = renderer.inside()
    return _splice(node.span, [(part.span, inside.text(part)) for part in (*node.parameters, node.body)])


def _unary(node: e.Unary, renderer: ExpressionRenderer) -> str | None:
    """Return ``-x``; a literal -0.0 is 0.0, as Calcite reads it."""
    if node.op == "-" and isinstance(node.operand, e.Literal) and not node.operand.value.upper().strip("0.E+-"):
        return renderer.text(node.operand)
    return arithmetic.unary(node, renderer)


def _all_of(node: e.AllOf, renderer: ExpressionRenderer) -> str:
    return " AND ".join(renderer.text(o) if is_atomic(o) else f"({renderer.text(o)})" for o in node.operands)


_Rule = Callable[[Any, ExpressionRenderer], "str | None"]

#: What is rendered in both modes: forms that Spark has not.
_BOTH: dict[type[e.Node], _Rule] = {
    e.ColumnRef: _column,
    e.Lambda: _lambda,
    e.AllOf: _all_of,
    e.Call: calls.call,
    e.Cast: forms.cast,
    e.Literal: forms.literal,
    e.Between: forms.between,
    e.Like: forms.like,
    e.IsTest: forms.is_test,
    e.RowValue: forms.row,
    e.ArrayValue: forms.array,
    e.MapValue: forms.map_,
    e.OverSpec: forms.over,
    e.Binary: arithmetic.binary,
    e.InQuery: quantified.in_query,
    e.ListComparison: quantified.list_comparison,
    e.QueryComparison: quantified.query_comparison,
}

#: What means something else in Flink.
_FLINK: dict[type[e.Node], _Rule] = {
    e.Difference: arithmetic.difference,
    e.Case: forms.case,
    e.Interval: forms.interval,
    e.Unary: _unary,
    e.InList: forms.in_list,
    e.Subscript: forms.subscript,
}


def _splice(span: Span, edits: Iterable[tuple[Span, str]]) -> str:
    """Return the text of ``span`` with the given inner spans replaced.

    Args:
        span: what to copy.
        edits: spans inside it that do not overlap, in any order, and their new texts.
    """
    text = span.source.text
    pieces: list[str] = []
    position = span.start
    for inner, new in sorted(edits, key=lambda edit: edit[0].start):
        pieces += (text[position : inner.start], new)
        position = inner.end
    pieces.append(text[position : span.end])
    return "".join(pieces)

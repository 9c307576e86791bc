"""Print expressions as Flink does in DESCRIBE and SHOW CREATE: in Calcite's normal form.

Identifiers are in backticks, keywords and function names in upper case. Parentheses stand only where precedence needs
them. Some functions print as what Calcite makes of them. Recorded from Flink 2.3.0
(tests/unit/analysis/definitions/flink_expressions.jsonl).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from sqlext.analysis.definitions import flink_calls
from sqlext.analysis.definitions.type_text import cast_type
from sqlext.dialect.ast import expressions as e
from sqlext.dialect.ast.queries import OrderItem, Query
from sqlext.types import quote

#: Calcite's precedences (SqlStdOperatorTable); an atom never needs parentheses.
_ATOM = 1000
_UNARY = 80
_NOT = 26
_IS = 28
_IN = 32
_BINARY = {
    "OR": 22,
    "AND": 24,
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"), 30),
    **dict.fromkeys(("+", "-"), 40),
    **dict.fromkeys(("*", "/", "%", "||"), 60),
}
_NUMBER = re.compile(r"(\d*)(\.\d*)?([eE][+-]?\d+)?")
_JSON_TESTS = {"JSON": "JSON VALUE"}


class Unprintable(Exception):  # noqa: N818 - it is caught, never shown
    """An expression of Spark's that Flink's printer has no form for."""


def expression_text(expression: e.Expr, mode: str = "flink") -> str:
    """Return an expression as Flink prints it; the user's text if it has parts that Flink does not know."""
    text = expression.span.text
    if mode == "spark" and "\\" in text:  # an escape, which Flink's quoting would not keep
        return text
    try:
        return ExpressionPrinter().text(expression)
    except Unprintable:
        return text


class ExpressionPrinter:
    """Prints expressions.

    Args:
        column: how a column reference is printed; by default its parts in backticks.
        query: how a sub-query is printed.
    """

    def __init__(
        self, column: Callable[[e.ColumnRef], str] | None = None, query: Callable[[Query], str] | None = None
    ) -> None:
        self._column = column or (lambda ref: ".".join(map(quote, ref.parts)))
        self._query = query or _no_query

    def text(self, node: e.Node) -> str:
        """Return the text of an expression.

        Raises:
            Unprintable: for what Flink has no form for.
        """
        return self._print(node)[0]

    def list(self, nodes: Iterable[e.Node]) -> str:
        """Return the texts with commas."""
        return ", ".join(self.text(n) for n in nodes)

    def left(self, node: e.Node, precedence: int) -> str:
        """Return the text of an operand left of an operator."""
        text, own = self._print(node)
        return f"({text})" if own < precedence else text

    def right(self, node: e.Node, precedence: int) -> str:
        """Return the text of an operand right of an operator."""
        text, own = self._print(node)
        # Operators go from left to right, so the right operand of an equal one keeps its parentheses: a - (b - c).
        return f"({text})" if own <= precedence else text

    def order(self, item: OrderItem) -> str:
        """Return the text of an item of ORDER BY."""
        nulls = f" NULLS {item.nulls}" if item.nulls else ""
        return self.text(item.expr) + (" DESC" if item.descending else "") + nulls

    def column(self, ref: e.ColumnRef) -> str:
        """Return the text of a column reference."""
        return self._column(ref)

    def query(self, query: Query) -> str:
        """Return the text of a sub-query."""
        return self._query(query)

    def _print(self, node: e.Node) -> tuple[str, int]:
        form = _FORMS.get(type(node))
        if form is None:
            raise Unprintable
        result = form(node, self)
        return result if isinstance(result, tuple) else (result, _ATOM)


def _no_query(query: Query) -> str:
    raise Unprintable


_Text = str | tuple[str, int]


def string_literal(value: str) -> str:
    """Return a string in quotes."""
    return "'" + value.replace("'", "''") + "'"


def _literal(node: e.Literal, printer: ExpressionPrinter) -> str:
    if node.kind == "NUMBER":
        return number(node.value)
    if node.kind == "BINARY":
        return f"X'{node.value.upper()}'"
    if node.kind in ("BOOLEAN", "NULL"):
        return node.value.upper()
    text = string_literal(node.value)
    return text if node.kind == "STRING" else f"{node.kind} {text}"


def number(text: str) -> str:
    """Return a number as Calcite prints it: without leading zeros, ``.5`` as 0.5, ``1e3`` as 1E3."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise Unprintable
    whole, fraction, exponent = match.groups()
    return (whole.lstrip("0") or "0") + (fraction or "") + (exponent or "").upper()


def _interval(node: e.Interval, printer: ExpressionPrinter) -> str:
    sign = re.match(r"(?i)INTERVAL\s*-", node.span.text)
    value = ("-" if sign else "") + string_literal(node.value.lstrip("-") if sign else node.value)
    return f"INTERVAL {value} {node.unit}" + (f" TO {node.to_unit}" if node.to_unit else "")


def _unary(node: e.Unary, printer: ExpressionPrinter) -> _Text:
    if node.op == "NOT":
        return f"NOT {printer.left(node.operand, _NOT)}", _NOT
    if node.op not in ("-", "+"):
        raise Unprintable
    operand = node.operand
    # Calcite folds a minus into a numeric literal, which then needs no parentheses.
    if node.op == "-" and isinstance(operand, e.Literal) and operand.kind == "NUMBER":
        return f"-{number(operand.value)}"
    return f"{node.op} {printer.left(operand, _UNARY)}", _UNARY


def _binary(node: e.Binary, printer: ExpressionPrinter) -> _Text:
    op = "<>" if node.op == "!=" else node.op
    if op == "OVERLAPS":
        return f"{_period(node.left, printer)} OVERLAPS {_period(node.right, printer)}", 30
    precedence = _BINARY.get(op)
    if precedence is None:
        raise Unprintable
    return _chain(node, op, precedence, printer), precedence


def _chain(node: e.Binary, op: str, precedence: int, printer: ExpressionPrinter) -> str:
    """Print a chain of one operator without a call per link: a generated one may have a thousand."""
    parts: list[str] = []
    current: e.Expr = node
    while isinstance(current, e.Binary) and current.op == node.op:
        parts.append(printer.right(current.right, precedence))
        current = current.left
    parts.append(printer.left(current, precedence))
    return f" {op} ".join(reversed(parts))


def _period(node: e.Expr, printer: ExpressionPrinter) -> str:
    if not isinstance(node, e.RowValue):
        raise Unprintable
    return f"PERIOD ({printer.list(node.items)})"


def _between(node: e.Between, printer: ExpressionPrinter) -> _Text:
    words = ("NOT " if node.negated else "") + "BETWEEN " + ("SYMMETRIC" if node.symmetric else "ASYMMETRIC")
    operand, low, high = printer.left(node.operand, _IN), printer.right(node.low, _IN), printer.right(node.high, _IN)
    return f"{operand} {words} {low} AND {high}", _IN


def _in_list(node: e.InList, printer: ExpressionPrinter) -> _Text:
    word = "NOT IN" if node.negated else "IN"
    return f"{printer.left(node.operand, _IN)} {word} ({printer.list(node.items)})", _IN


def _in_query(node: e.InQuery, printer: ExpressionPrinter) -> _Text:
    if node.quantified:  # no form of Flink's is recorded
        raise Unprintable
    word = "NOT IN" if node.negated else "IN"
    return f"{printer.left(node.operand, _IN)} {word} ({printer.query(node.query)})", _IN


def _like(node: e.Like, printer: ExpressionPrinter) -> _Text:
    if node.op not in ("LIKE", "SIMILAR TO"):
        raise Unprintable
    word = ("NOT " if node.negated else "") + node.op
    escape = f" ESCAPE {printer.right(node.escape, _IN)}" if node.escape else ""
    return f"{printer.left(node.operand, _IN)} {word} {printer.right(node.pattern, _IN)}{escape}", _IN


def _is_test(node: e.IsTest, printer: ExpressionPrinter) -> _Text:
    word = "IS NOT" if node.negated else "IS"
    return f"{printer.left(node.operand, _IS)} {word} {_JSON_TESTS.get(node.test, node.test)}", _IS


def _case(node: e.Case, printer: ExpressionPrinter) -> str:
    """Print CASE as Calcite rewrites it: always searched, always with an ELSE."""
    whens = []
    for when in node.whens:
        condition = printer.text(when.condition)
        if node.operand is not None:
            condition = f"{printer.left(node.operand, 30)} = {printer.right(when.condition, 30)}"
        whens.append(f"WHEN {condition} THEN {printer.text(when.result)}")
    otherwise = printer.text(node.otherwise) if node.otherwise else "NULL"
    return f"CASE {' '.join(whens)} ELSE {otherwise} END"


def _cast(node: e.Cast, printer: ExpressionPrinter) -> str:
    word = "TRY_CAST" if node.try_ else "CAST"
    return f"{word}({printer.text(node.operand)} AS {cast_type(node.type, node.type_span.text)})"


def _column(node: e.ColumnRef, printer: ExpressionPrinter) -> str:
    return printer.column(node)


def _paren(node: e.Paren, printer: ExpressionPrinter) -> _Text:
    return printer._print(node.operand)  # noqa: SLF001 - the form of a node in parentheses is its operand's


def _star(node: e.Star, printer: ExpressionPrinter) -> str:
    return ".".join([*map(quote, node.qualifier), "*"])


_FORMS: dict[type[e.Node], Callable[[Any, ExpressionPrinter], _Text]] = {
    e.Literal: _literal,
    e.Interval: _interval,
    e.ColumnRef: _column,
    e.Star: _star,
    e.Keyword: lambda node, printer: str(node.word),
    e.NamedArgument: lambda node, printer: f"{quote(node.name)} => {printer.text(node.value)}",
    e.Paren: _paren,
    e.Unary: _unary,
    e.Binary: _binary,
    e.Between: _between,
    e.InList: _in_list,
    e.InQuery: _in_query,
    e.Like: _like,
    e.IsTest: _is_test,
    e.Case: _case,
    e.Cast: _cast,
    e.Exists: lambda node, printer: f"EXISTS ({printer.query(node.query)})",
    e.ScalarQuery: lambda node, printer: f"({printer.query(node.query)})",
    e.RowValue: lambda node, printer: f"ROW({printer.list(node.items)})",
    e.ArrayValue: lambda node, printer: f"ARRAY[{printer.list(node.items)}]",
    e.MapValue: lambda node, printer: f"MAP[{printer.list(node.items)}]",
    e.Subscript: lambda node, printer: f"{printer.left(node.operand, 100)}[{printer.text(node.index)}]",
    e.FieldAccess: lambda node, printer: f"{printer.left(node.operand, 100)}.{quote(node.name)}",
    e.Call: lambda node, printer: flink_calls.call_text(node, printer),
}

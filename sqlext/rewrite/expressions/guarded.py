"""Render expressions that give NULL where they would fail, and texts that say for which rows they would, and why.

Both are made of Spark's TRY functions, and of forms of Python functions that never fail. So it does not matter in which
order Spark evaluates them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlext.analysis.expressions.failing import DIVIDES, RowFailure, failure_of
from sqlext.dialect.ast import expressions as e
from sqlext.dialect.ast.queries import Query
from sqlext.quoting import string
from sqlext.rewrite.expressions import casts
from sqlext.rewrite.expressions.protocols import RenderContext
from sqlext.rewrite.expressions.python_functions import RAISED, VALUE, tried
from sqlext.rewrite.expressions.renderer import render
from sqlext.types import LogicalType

_TRY = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}
#: Functions that look at their next argument only if those before are NULL.
_FIRST_OF = ("COALESCE", "IFNULL", "NVL")


@dataclass(frozen=True)
class SafeContext:
    """A context in which what can fail gives NULL.

    Attributes:
        plain: the context in which it fails.
        skipped: a node that is rendered as in the plain one.
        instead: text of its right operand.
    """

    plain: RenderContext
    skipped: e.Node | None = None
    instead: tuple[e.Node, str] | None = None

    @property
    def mode(self) -> str:
        """``spark`` or ``flink``."""
        return self.plain.mode

    @property
    def zone(self) -> str:
        """The session's time zone."""
        return self.plain.zone

    def column(self, ref: e.ColumnRef) -> str | None:
        """Return the text that replaces a column."""
        return self.plain.column(ref)

    def type_of(self, expr: e.Expr) -> LogicalType | None:
        """Return the type of an expression."""
        return self.plain.type_of(expr)

    def query(self, query: Query) -> str:
        """Return the text of a sub-query."""
        return self.plain.query(query)

    def replacement(self, node: e.Node) -> str | None:
        """Return what gives NULL in place of a node that can fail."""
        if self.instead is not None and node is self.instead[0]:
            return self.instead[1]
        failure = self.failure(node) if node is not self.skipped else None
        return self._safe(node, failure) if failure is not None else self.plain.replacement(node)

    def failure(self, node: e.Node) -> RowFailure | None:
        """Return how a node can fail."""
        return failure_of(node, self.type_of, self.mode)

    def text(self, node: e.Node) -> str:
        """Return a node's text, never failing where ``failing`` knows how it fails."""
        return render(node, SafeContext(self.plain)) if isinstance(node, e.Expr) else node.span.text

    def _safe(self, node: e.Node, failure: RowFailure) -> str:
        if isinstance(node, e.Cast):
            return self._tried(node)
        if isinstance(node, e.Subscript):
            return f"get({self.text(node.operand)}, {self.text(node.index)})"
        if isinstance(node, e.Call):
            return f"{self.tried(node)}.{VALUE}" if node.python is not None else self._time(node)
        assert isinstance(node, e.Binary)
        if failure is RowFailure.DIVISION:
            divisor = f"nullif({self.text(node.right)}, 0)"
            return f"({render(node, SafeContext(self.plain, node, (node.right, divisor)))})"
        return f"{_TRY[node.op]}({self.text(node.left)}, {self.text(node.right)})"

    def tried(self, node: e.Call) -> str:
        """Return what a Python function gives: its value, and what it raised."""
        assert node.python is not None
        return tried(node.python, [self.text(a) for a in node.args])

    def _time(self, node: e.Call) -> str:
        args = [self.text(a) for a in node.args]
        if node.function == "TO_TIMESTAMP":
            return f"try_to_timestamp({', '.join(args)})"
        return (
            f"TRY_CAST({args[0]} AS DATE)" if len(args) == 1 else f"CAST(try_to_timestamp({', '.join(args)}) AS DATE)"
        )

    def _tried(self, node: e.Cast) -> str:
        operand = self.text(node.operand)
        if self.mode == "flink":
            return f"({casts.cast(operand, self.type_of(node.operand), node.type, True)})"
        return casts.plain(operand, node.type, True)


def operands(node: e.Node) -> tuple[e.Expr, ...]:
    """Return what must be known of a node that can fail; it fails where these have values and it has none."""
    if isinstance(node, e.Cast):
        return (node.operand,)
    if isinstance(node, e.Subscript):
        return (node.operand, node.index)
    if isinstance(node, e.Call):
        return tuple(a for a in node.args if isinstance(a, e.Expr))
    assert isinstance(node, e.Binary)
    return (node.left, node.right)


def reason(expr: e.Node, context: RenderContext) -> str | None:
    """Return why an expression fails for a row, as SQL: code and reason in a struct, NULL where it does not.

    Returns:
        None for an expression that cannot fail.
    """
    return _Reasons(SafeContext(context)).of(expr)


@dataclass(frozen=True)
class _Reasons:
    safe: SafeContext

    def of(self, node: e.Node) -> str | None:
        """Return why a node fails, None if it cannot; what SQL does not look at does not fail."""
        if isinstance(node, (Query, e.Lambda)):
            return None
        if isinstance(node, e.Case):
            return self._case(node)
        if isinstance(node, e.AllOf):
            return self._in_turn(node.operands, "coalesce({}, true)")
        if isinstance(node, e.Binary) and node.op == "AND":
            return self._in_turn((node.left, node.right), "coalesce({}, true)")
        if isinstance(node, e.Binary) and node.op == "OR":
            return self._in_turn((node.left, node.right), "NOT coalesce({}, false)")
        if isinstance(node, e.Call) and node.function in _FIRST_OF:
            return self._in_turn(node.args, "{} IS NULL")
        if isinstance(node, e.InList):
            equal = f"NOT coalesce({self.safe.text(node.operand)} = {{}}, false)"
            return first_of([self.of(node.operand), self._in_turn(node.items, equal)])
        if isinstance(node, e.Call) and node.function == "NVL2" and len(node.args) == len(("x", "a", "b")):
            value, known, missing = node.args
            return _choice(self.of(value), f"({self.safe.text(value)}) IS NOT NULL", self.of(known), self.of(missing))
        if isinstance(node, e.Call) and node.function == "IF" and len(node.args) == len(("c", "a", "b")):
            test = self.of(node.args[0]), self.safe.text(node.args[0])
            return _choice(*test, self.of(node.args[1]), self.of(node.args[2]))
        return first_of([*map(self.of, node.children()), self._own(node)])

    def _own(self, node: e.Node) -> str | None:
        failure = self.safe.failure(node)
        if failure is None:
            return None
        if isinstance(node, e.Call) and node.python is not None:
            raised = f"{self.safe.tried(node)}.{RAISED}"
            said = f"concat({string(f'{node.span.one_line}: ')}, {raised})"
            return failed(f"{raised} IS NOT NULL", failure.code, said)
        known = [f"{self.safe.text(o)} IS NOT NULL" for o in operands(node)]
        condition = " AND ".join([*known, self._is_missing(node)])
        return failed(condition, failure.code, string(f"{node.span.one_line}: {failure.why}"))

    def _is_missing(self, node: e.Node) -> str:
        """Return what holds, of operands that have values, where a node that can fail has none."""
        if isinstance(node, e.Subscript):  # an element that is there may be NULL
            index, elements = self.safe.text(node.index), self.safe.text(node.operand)
            return f"(({index}) < 0 OR ({index}) >= size({elements}))"
        if isinstance(node, e.Binary) and node.op in DIVIDES:
            return f"({self.safe.text(node.right)}) = 0"
        return f"{render(node, self.safe) if isinstance(node, e.Expr) else ''} IS NULL"

    def _in_turn(self, nodes: Sequence[e.Node], goes_on: str) -> str | None:
        """Return why one of several fails, of which the next is looked at if the one before says ``goes_on``."""
        found: str | None = None
        for node in reversed(nodes):
            own = self.of(node)
            if found is not None:
                found = f"CASE WHEN {goes_on.format(f'({self.safe.text(node)})')} THEN {found} END"
            found = first_of([own, found])
        return found

    def _case(self, node: e.Case) -> str | None:
        found = self.of(node.otherwise) if node.otherwise is not None else None
        operand = f"({self.safe.text(node.operand)}) = " if node.operand is not None else ""
        for when in reversed(node.whens):
            test = f"{operand}({self.safe.text(when.condition)})"
            found = _choice(self.of(when.condition), test, self.of(when.result), found)
        return first_of([self.of(node.operand), found]) if node.operand is not None else found


def _choice(condition: str | None, test: str, then: str | None, otherwise: str | None) -> str | None:
    """Return why a choice fails: by its condition, or by what is chosen where ``test`` holds or does not."""
    chosen = None
    if then is not None or otherwise is not None:
        chosen = f"CASE WHEN {test} THEN {then or 'NULL'} ELSE {otherwise or 'NULL'} END"
    return first_of([condition, chosen])


def failed(condition: str, code: str, why: str) -> str:
    """Return code and reason where a condition holds, else NULL.

    Args:
        why: the reason (SQL).
    """
    return f"CASE WHEN {condition} THEN named_struct('code', {string(code)}, 'reason', {why}) END"


def first_of(reasons: Iterable[str | None]) -> str | None:
    """Return the first reason that is no NULL; None if there can be none."""
    found = [r for r in reasons if r is not None]
    return f"coalesce({', '.join(found)})" if len(found) > 1 else next(iter(found), None)

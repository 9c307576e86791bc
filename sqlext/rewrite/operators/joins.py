"""Render a join of two streams: the union of both sides goes in, each under columns of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlext.dialect.ast.expressions import ColumnRef, Expr, FieldAccess, Literal, Paren
from sqlext.plan.joins import Carried, JoinBound, JoinSide, JoinTime, Pair, StreamJoin
from sqlext.plan.nodes import KIND, PlanNode
from sqlext.plan.scope import own_parts
from sqlext.quoting import identifier
from sqlext.rewrite.expressions.columns import held, instant, value
from sqlext.rewrite.operators.step import SpecifiedStep
from sqlext.rewrite.relations.operator_input import OperatorInput
from sqlext.rewrite.relations.rendering import Rendering
from sqlext_udfs.expressions.cells import with_cells
from sqlext_udfs.joins.specification import LEFT_SIDE, RIGHT_SIDE
from sqlext_udfs.kernel.row_kinds import INSERT
from sqlext_udfs.matching.specification import expression_to_json

_NULL_SAFE = "IS NOT DISTINCT FROM"
_NONE = "NULL"
#: What these make of values never fails.
_SAFE = (ColumnRef, Literal, Paren, FieldAccess)


@dataclass
class _Columns:
    """The columns ``c0``, ``c1``, ... of the operator's input: what each side computes for them."""

    texts: list[tuple[str, str]] = field(default_factory=list)

    def both(self, left: str, right: str) -> int:
        """Return the place of a new column that both sides fill."""
        self.texts.append((left, right))
        return len(self.texts) - 1

    def left(self, text: str) -> int:
        """Return the place of a column of the left side; equal texts share one."""
        return self._of((text, _NONE))

    def right(self, text: str) -> int:
        """Return the place of a column of the right side."""
        return self._of((_NONE, text))

    def of(self, side: int) -> list[str]:
        """Return what a side computes."""
        return [texts[side] for texts in self.texts]

    def _of(self, texts: tuple[str, str]) -> int:
        return self.texts.index(texts) if texts in self.texts else self.both(*texts)


def stream_join_sql(node: StreamJoin, renderer: Rendering) -> str:
    """Return the query of the joined rows."""
    columns = _Columns()
    specification = _specification(node, columns, renderer)
    sides = (
        _side(node.sources[0], node.left, columns.of(LEFT_SIDE), renderer),
        _side(node.sources[1], node.right, columns.of(RIGHT_SIDE), renderer),
    )
    names = tuple(c.physical for c in node.carried)
    operated = SpecifiedStep(node, specification, names).over(renderer, *sides)
    shown = [*(identifier(n) for n in names), *node.hidden]
    alias = node.scope.relations[0].alias
    text = f"SELECT {', '.join(shown) or '1 AS __one'} FROM {operated} AS {identifier(alias)}"
    rest = [f"({renderer.expr(e, node.scope)})" for e in node.rest]
    return text + (f" WHERE {' AND '.join(rest)}" if rest else "")


def _specification(node: StreamJoin, columns: _Columns, renderer: Rendering) -> tuple[tuple[str, object], ...]:
    for pair in node.equal:
        columns.both(*_pair(pair, node, renderer))
    if node.left.needs or node.right.needs:  # a row with a NULL key matches nothing
        columns.both(_needed(node.left, renderer), _needed(node.right, renderer))
    # What follows are no keys: the side, what comes out, and what conditions look at.
    keys = len(columns.texts)
    side = columns.both(*(f"CAST({s} AS TINYINT)" for s in (LEFT_SIDE, RIGHT_SIDE)))
    left = tuple(columns.left(_carried(c, renderer)) for c in node.left.carried)
    right = tuple(columns.right(_carried(c, renderer)) for c in node.right.carried)
    conditions = []
    for pair in node.conditions:
        left_text, right_text = _pair(pair, node, renderer)
        places = columns.left(left_text), columns.right(right_text)
        conditions.append((places[0], pair.operator, places[1], pair.null_aware))
    values = (
        [columns.left(_value(e, node.left, renderer)) for e in node.left.values],
        [columns.right(_value(e, node.right, renderer)) for e in node.right.values],
    )
    asked = [with_cells(e, lambda cell: values[cell.group][cell.value]) for e in node.asked]
    bound: tuple[object, ...] = ("none", node.left.ttl, node.right.ttl)
    if node.bounded is JoinBound.ARRIVAL:
        assert node.left.time is not None
        assert node.right.time is not None
        # ``later`` is the upper bound on the left side, and minus the lower one on the right.
        bound = ("arrival", -node.right.time.later, node.left.time.later)
    elif node.bounded is not JoinBound.NONE:
        times = (_time(node.left, node.bounded), _time(node.right, node.bounded))
        bound = (node.bounded.name.lower(), columns.both(*times))
        if node.match is not None:
            bound = (*bound, node.match.nearest.value, node.match.tolerance)
            if node.match.updates:
                bound = (*bound, node.match.early, node.match.lateness)
    kind = None
    if any(s.changelog for s in node.sources):
        kind = columns.both(*(KIND if s.changelog else f"CAST({INSERT} AS TINYINT)" for s in node.sources))
    return (
        ("keys", keys),
        ("side", side),
        ("left", left),
        ("right", right),
        ("join", node.join.value),
        ("kind", kind),
        ("conditions", tuple(conditions)),
        ("bound", bound),
        ("rest", tuple(map(expression_to_json, asked))),
        ("wraps", node.scope.mode == "flink"),
    )


def _side(source: PlanNode, side: JoinSide, texts: list[str], renderer: Rendering) -> OperatorInput:
    filters = [f"({renderer.expr(e, side.scope)})" for e in side.filters]
    return OperatorInput(source, texts, " AND ".join(filters) or None)


def _pair(pair: Pair, node: StreamJoin, renderer: Rendering) -> tuple[str, str]:
    texts = _cast(pair.left, node.left, pair, renderer), _cast(pair.right, node.right, pair, renderer)
    # A struct is never NULL itself, and equal to one with the same NULLs.
    return (f"struct({texts[0]})", f"struct({texts[1]})") if pair.operator == _NULL_SAFE else texts


def _cast(expr: Expr, side: JoinSide, pair: Pair, renderer: Rendering) -> str:
    text = _value(expr, side, renderer)
    return f"CAST({text} AS {pair.type.spark()})" if pair.type is not None else text


def _value(expr: Expr, side: JoinSide, renderer: Rendering) -> str:
    """Return what a side computes; what may fail is not computed of rows that match nothing."""
    text = renderer.expr(expr, side.scope)
    guarded = side.needs and not all(isinstance(p, _SAFE) for p in own_parts(expr))
    return f"CASE WHEN {_needs(side, renderer)} THEN {text} END" if guarded else text


def _needed(side: JoinSide, renderer: Rendering) -> str:
    if not side.needs:
        return "true"
    return f"CASE WHEN {_needs(side, renderer)} THEN true END"


def _needs(side: JoinSide, renderer: Rendering) -> str:
    return " AND ".join(f"({renderer.expr(e, side.scope)})" for e in side.needs)


def _carried(carried: Carried, renderer: Rendering) -> str:
    if carried.as_value:
        return value(carried.column, renderer.zone, carried.relation)
    return held(carried.column, carried.relation)


def _time(side: JoinSide, bound: JoinBound) -> str:
    time = side.time
    assert isinstance(time, JoinTime)
    if bound is JoinBound.WINDOW:
        return f"unix_millis({held(time.column, time.relation)}.end)"
    text = f"unix_millis({instant(time.column, time.relation)})"
    return f"{text} + {time.later}" if time.later else text

"""Split the condition of a join: equalities, comparisons, conditions on one side, and the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlext.analysis.expressions.rows import divides
from sqlext.analysis.relations.join_names import LEFT, RIGHT, JoinNames
from sqlext.analysis.types.coercion import least_restrictive
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Between, Binary, Expr, Paren, RowValue, and_parts
from sqlext.plan.joins import Pair
from sqlext.types import LogicalType

_FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
NULL_SAFE = "IS NOT DISTINCT FROM"
#: How operators are written besides.
_SAME = {"==": "=", "!=": "<>", "<=>": NULL_SAFE}


@dataclass(frozen=True)
class JoinConditions:
    """The conjuncts of a join's condition by what they are.

    Attributes:
        keys: equalities of an expression of the left side and one of the right.
        comparisons: other comparisons of both sides.
        left, right: conditions on one side alone; constants are among those of the left.
        rest: everything else.
    """

    keys: tuple[Pair, ...] = ()
    comparisons: tuple[Pair, ...] = ()
    left: tuple[Expr, ...] = ()
    right: tuple[Expr, ...] = ()
    rest: tuple[Expr, ...] = ()


def conditions_of(expr: Expr | None, names: JoinNames) -> JoinConditions:
    """Return the conjuncts of a condition by what they are.

    Raises:
        SqlExtError: NAME-... for a name that means nothing.
    """
    found: dict[str, list[Expr]] = {LEFT: [], RIGHT: [], "rest": []}
    pairs: list[Pair] = []
    for part in and_parts(expr):
        sides = names.sides_of(part)
        # SQL computes conditions on one side for all of its rows, and ANSI mode fails on a division by zero.
        # Behind another condition, which may keep the zero away, the operator divides for the pairs that are left.
        guarded = bool(found["rest"]) or any(p.operator not in ("=", NULL_SAFE) for p in pairs)
        if len(sides) < 2 and not (guarded and divides(part)):
            found[RIGHT if sides == {RIGHT} else LEFT].append(part)
            continue
        asked = [pair_of(c, names) for c in comparisons_of(part)]
        pairs += [p for p in asked if p is not None]
        if None in asked:
            found["rest"].append(part)
    keys = tuple(p for p in pairs if p.operator in ("=", NULL_SAFE))
    return JoinConditions(
        tuple(dict.fromkeys(keys)),
        tuple(p for p in pairs if p not in keys),
        tuple(found[LEFT]),
        tuple(found[RIGHT]),
        tuple(found["rest"]),
    )


def comparisons_of(part: Expr) -> list[Expr]:
    """Return what a conjunct says, in parts: BETWEEN is two comparisons, an equality of rows one for each field."""
    # NOT BETWEEN connects its comparisons by OR, and SYMMETRIC may swap the bounds: neither is a conjunction.
    if isinstance(part, Between) and not part.negated and not part.symmetric:
        return [Binary(part.span, ">=", part.operand, part.low), Binary(part.span, "<=", part.operand, part.high)]
    if isinstance(part, Binary) and part.op == "=":
        rows = row_items(part.left), row_items(part.right)
        if len(rows[0]) == len(rows[1]):
            return [Binary(part.span, "=", left, right) for left, right in zip(*rows, strict=True)]
    return [part]


def pair_of(expr: Expr, names: JoinNames) -> Pair | None:
    """Return a comparison of both sides, its left side first; None if it is none, or cannot be asked of two rows."""
    if not isinstance(expr, Binary):
        return None
    operator = _SAME.get(expr.op, expr.op)
    if operator not in _FLIPPED and operator != NULL_SAFE:
        return None
    left, right = names.sides_of(expr.left), names.sides_of(expr.right)
    if left == {LEFT} and right == {RIGHT}:
        return compared(expr.left, operator, expr.right, names)
    if left == {RIGHT} and right == {LEFT}:
        return compared(expr.right, _FLIPPED.get(operator, operator), expr.left, names)
    return None


def compared(left: Expr, operator: str, right: Expr, names: JoinNames) -> Pair | None:
    """Return a comparison of an expression of each side, cast to one type; None if Spark SQL must do it."""
    types = infer(left, names.left), infer(right, names.right)
    if types[0] is None or types[1] is None:
        return Pair(left, operator, right) if operator in ("=", NULL_SAFE) else None
    common = _common(types[0], types[1], names.left.mode)
    # Spark compares no maps, and a MULTISET is a map there.
    if common is None or common.root in ("MAP", "MULTISET"):
        return None
    # CHAR(n) and VARCHAR(n) are one type in Spark, so texts of all lengths compare without a cast.
    same = types[0].spark() == types[1].spark() or common.is_text
    return Pair(left, operator, right, None if same else common)


def _common(left: LogicalType, right: LogicalType, mode: str) -> LogicalType | None:
    families = ("is_numeric", "is_text")
    if left.root != right.root and not any(getattr(left, f) and getattr(right, f) for f in families):
        return None
    common = least_restrictive((left, right), mode)
    return replace(common, nullable=True) if common is not None else None


def row_items(expr: Expr) -> tuple[Expr, ...]:
    """Return the fields of a row, or the one value that an expression is."""
    while isinstance(expr, Paren):
        expr = expr.operand
    return expr.items if isinstance(expr, RowValue) else (expr,)

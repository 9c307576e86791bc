"""List the conditional functions (Flink docs: Conditional Functions, Type Conversion Functions)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlext import quoting
from sqlext.analysis.functions.model import CallTexts, CallTypes, TypeRule, fn
from sqlext.analysis.functions.rendering import as_branch, as_written
from sqlext.analysis.functions.results import common, nullable
from sqlext.analysis.types import constructors
from sqlext.analysis.types.coercion import comparable
from sqlext.analysis.types.operands import need_condition, refused
from sqlext.dialect.ast.expressions import Expr
from sqlext.types import STRING, LogicalType


def _branches(what: str, first: int = 0) -> TypeRule:
    """Return a rule: the common type of the alternatives from one argument on, NULL if one may be."""

    def rule(call: CallTypes) -> LogicalType | None:
        return constructors.branches_type(call.call, what, call.types[first:], call.mode)

    return rule


def _if_type(call: CallTypes) -> LogicalType | None:
    condition = call.call.args[0] if call.call.args else None
    if isinstance(condition, Expr):
        need_condition(condition, call.type(0))
    result = _branches("IF", 1)(call)
    return result.as_nullable() if result else None


def _first_value_type(what: str) -> TypeRule:
    """Return a rule: the common type, NULL only if the last alternative may be (COALESCE, IFNULL)."""

    def rule(call: CallTypes) -> LogicalType | None:
        result = _branches(what)(call)
        if result is None:
            return None
        # One alternative that is never NULL is enough, wherever it stands.
        always = any(t is not None and not t.nullable for t in call.types)
        return result.not_null() if always else result.as_nullable()

    return rule


def _typeof(call: CallTexts) -> str:
    type_ = call.type(0)
    return quoting.string(str(type_)) if type_ else f"typeof({call.args[0]})"


def _converted(call: CallTexts, first: int = 0) -> CallTexts:
    """Return a call whose alternatives, from one argument on, have the common type."""
    pairs = zip(call.args[first:], call.types[first:], strict=True)
    return replace(call, args=(*call.args[:first], *(as_branch(text, type_, call.result) for text, type_ in pairs)))


def _alternatives(call: CallTexts) -> str:
    return as_written(_converted(call))


def _null_if_type(call: CallTypes) -> LogicalType | None:
    """NULLIF compares as ``=`` does."""
    left, right = call.type(0), call.type(1)
    if call.mode == "flink" and left and right and not comparable(left, right):
        raise refused(call.call, "NULLIF", [left, right])
    return left.as_nullable() if left else None


def _if(call: CallTexts) -> str:
    return as_written(_converted(call, 1))


def _extreme(name: str) -> Callable[[CallTexts], str]:
    """NULL if any argument is (Spark skips NULLs)."""

    def render(call: CallTexts) -> str:
        maybe = [call.atom(i) for i, t in enumerate(call.types) if t is None or t.nullable]
        plain = f"{name}({', '.join(_converted(call).args)})"
        if not maybe:
            return plain
        return f"CASE WHEN {' AND '.join(f'{a} IS NOT NULL' for a in maybe)} THEN {plain} END"

    return render


CONDITIONAL = (
    fn("IF", "boolean, any, any", _if_type, _if),
    fn("COALESCE", "any, any...", _first_value_type("COALESCE"), _alternatives),
    fn("IFNULL", "any, any", _first_value_type("IFNULL"), _alternatives),
    fn("NULLIF", "any, any", _null_if_type),
    fn("GREATEST", "any, any...", _branches("GREATEST"), _extreme("greatest"), spark=common(nulls="all")),
    fn("LEAST", "any, any...", _branches("LEAST"), _extreme("least"), spark=common(nulls="all")),
    fn("TYPEOF", "any, boolean?", nullable(STRING), _typeof),
)

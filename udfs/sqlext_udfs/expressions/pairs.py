"""Conditions on pairs of rows that are more than a comparison of one side with the other: ``a.x + b.y > 1 OR a.z``.

They are trees of ``match_expressions`` on whole columns: a ``Cell`` is a column (``value``) of a side (``group``).
Values compare as in ``join_conditions``: NaN is the largest number. What Arrow does not do as SQL does (division, LIKE)
goes through Python value by value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import singledispatchmethod
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.errors import SqlExtError
from sqlext_udfs.expressions import trees as e
from sqlext_udfs.expressions.like import like_pattern
from sqlext_udfs.expressions.numbers import calculate
from sqlext_udfs.joins.conditions import compared
from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Bools, Ints

_INTEGERS: Mapping[str, pa.DataType] = {
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
}
_KERNELS: Mapping[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "+": (pc.add, pc.add_checked),
    "-": (pc.subtract, pc.subtract_checked),
    "*": (pc.multiply, pc.multiply_checked),
}
_COMPARISONS: Mapping[str, Callable[..., Any]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


class PairConditions:
    """Conditions, all of which must hold.

    Args:
        conditions: of cells whose values are places among the columns of their side.
        wraps: whether integers wrap around where they are too large (Flink); else they fail.
    """

    def __init__(self, conditions: Sequence[e.Expression], *, wraps: bool) -> None:
        self._conditions = conditions
        self._wraps = wraps

    def holds(self, sides: tuple[Sequence[pa.Array], Sequence[pa.Array]], left: Ints, right: Ints) -> Bools:
        """Return for pairs of places in the columns of both sides whether all conditions are true.

        Raises:
            SqlExtError: RUN-041 for a number that is too large.
        """
        keep = np.ones(len(left), np.bool_)
        if not len(left) or not self._conditions:
            return keep
        pairs = _Pairs(sides, (left, right), wraps=self._wraps)
        for condition in self._conditions:
            keep &= _filled(pairs.value(condition))
        return keep


class _Pairs:
    """Evaluates expressions over some pairs."""

    def __init__(
        self, sides: tuple[Sequence[pa.Array], Sequence[pa.Array]], places: tuple[Ints, Ints], *, wraps: bool
    ) -> None:
        self._sides = sides
        self._places = places
        self._wraps = wraps

    @singledispatchmethod
    def value(self, of: e.Expression) -> pa.Array:
        """Return an expression's value of each pair."""
        raise TypeError(f"{type(of).__name__} is no condition of a join")

    @value.register
    def _(self, of: e.Cell) -> pa.Array:
        return taken(self._sides[of.group][of.value], self._places[of.group])

    @value.register
    def _(self, of: e.Constant) -> pa.Array:
        value = Decimal(str(of.value)) if of.decimal else of.value
        return pa.repeat(pa.scalar(value), len(self._places[0]))

    @value.register
    def _(self, of: e.And) -> pa.Array:
        return self._connected(of.items, pc.and_kleene)

    @value.register
    def _(self, of: e.Or) -> pa.Array:
        return self._connected(of.items, pc.or_kleene)

    def _connected(self, items: Sequence[e.Expression], connect: Callable[..., Any]) -> pa.Array:
        first, *others = (self.value(item).cast(pa.bool_()) for item in items)
        for other in others:
            first = connect(first, other)
        return first

    @value.register
    def _(self, of: e.Not) -> pa.Array:
        return pc.invert(self.value(of.operand).cast(pa.bool_()))

    @value.register
    def _(self, of: e.Is) -> pa.Array:
        operand = self.value(of.operand)
        if of.test in ("NULL", "UNKNOWN"):
            return pc.is_null(operand)
        held = operand.cast(pa.bool_())
        return pc.fill_null(held if of.test == "TRUE" else pc.invert(held), False)

    @value.register
    def _(self, of: e.Like) -> pa.Array:
        known: dict[str, re.Pattern[str]] = {}

        def like(text: str | None, pattern: str | None) -> bool | None:
            if text is None or pattern is None:
                return None
            if pattern not in known:
                known[pattern] = like_pattern(pattern, of.escape)
            return known[pattern].fullmatch(text) is not None

        columns = self.value(of.operand).to_pylist(), self.value(of.pattern).to_pylist()
        return pa.array(map(like, *columns), pa.bool_())

    @value.register
    def _(self, of: e.Case) -> pa.Array:
        left, parts = np.arange(len(self._places[0])), []
        for when in of.whens:
            holds = _filled(self._at(left).value(when.condition))
            parts.append((left[holds], when.result))
            left = left[~holds]
        return _merged([(at, self._at(at).value(result)) for at, result in [*parts, (left, of.otherwise)]])

    @value.register
    def _(self, of: e.Coalesce) -> pa.Array:
        left, parts = np.arange(len(self._places[0])), []
        for item in of.items:
            column = self._at(left).value(item)
            there = np.asarray(column.is_valid().to_numpy(zero_copy_only=False))
            parts.append((left[there], column.filter(pa.array(there))))
            left = left[~there]
        return _merged([*parts, (left, pa.nulls(len(left)))])

    @value.register
    def _(self, of: e.Extreme) -> pa.Array:
        best, *others = _as_one_type([self.value(item) for item in of.items])
        for other in others:
            better = _compared(of.op, best, other)
            if of.skips_nulls:
                better = pc.fill_null(pc.or_kleene(better, pc.is_null(other)), False)
            best = pc.if_else(better, best, other)
        return best

    def _at(self, some: Ints) -> _Pairs:
        """Return some of the pairs: what is asked of others is not to fail for them."""
        left, right = self._places
        return _Pairs(self._sides, (left[some], right[some]), wraps=self._wraps)

    @value.register
    def _(self, of: e.Compare) -> pa.Array:
        left, right = _alike(self.value(of.left), self.value(of.right))
        if of.op == "<=>":
            neither = pc.and_(pc.is_null(left), pc.is_null(right))
            return pc.or_(neither, pc.fill_null(_compared("=", left, right), False))
        return _compared(of.op, left, right)

    @value.register
    def _(self, of: e.Negate) -> pa.Array:
        zero = e.Constant(0)
        return self.value(e.Arithmetic("-", zero, of.operand, of.result))

    @value.register
    def _(self, of: e.Arithmetic) -> pa.Array:
        left, right = self.value(of.left), self.value(of.right)
        result = of.result
        if of.op not in _KERNELS:
            return self._divided(of.op, left, right, result)
        wrapping, checked = _KERNELS[of.op]
        try:
            if result.root in ("FLOAT", "DOUBLE"):
                wide = pa.float32() if result.root == "FLOAT" else pa.float64()
                return wrapping(left.cast(wide), right.cast(wide))
            if result.root == "DECIMAL":
                return self._decimals(wrapping, left, right, result)
            kernel = wrapping if self._wraps else checked
            made = kernel(left.cast(pa.int64()), right.cast(pa.int64()))
            return made.cast(_INTEGERS[result.root], safe=not self._wraps)
        except pa.ArrowInvalid as error:
            raise _too_large(result) from error

    def _divided(self, op: str, left: pa.Array, right: pa.Array, result: e.Number) -> pa.Array:
        """Return ``/`` or ``%``, whose roundings and refusals are SQL's."""
        pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
        made = (calculate(op, one, other, result, wraps=self._wraps) for one, other in pairs)
        return pa.array(list(made), _INTEGERS.get(result.root))

    def _decimals(self, kernel: Callable[..., Any], left: pa.Array, right: pa.Array, result: e.Number) -> pa.Array:
        """Return the exact result, rounded to the scale of its type."""
        wide = [c if pa.types.is_decimal(c.type) else c.cast(pa.decimal128(19, 0)) for c in (left, right)]
        exact = kernel(*(c.cast(pa.decimal256(c.type.precision, c.type.scale)) for c in wide))
        rounded = pc.round(exact, result.scale, "half_towards_infinity") if exact.type.scale > result.scale else exact
        fits = pc.less(pc.abs(rounded), pa.scalar(Decimal(10) ** (result.precision - result.scale)))
        if not self._wraps and not pc.all(pc.fill_null(fits, True)).as_py():
            raise _too_large(result)
        kept = pc.if_else(fits, rounded, pa.scalar(None, rounded.type))
        return kept.cast(pa.decimal128(result.precision, result.scale))


def _filled(condition: pa.Array) -> Bools:
    """Return where a condition is true."""
    return np.asarray(pc.fill_null(condition.cast(pa.bool_()), False).to_numpy(zero_copy_only=False))


def _merged(parts: Sequence[tuple[Ints, pa.Array]]) -> pa.Array:
    """Return a column of values that are given with their places."""
    places = np.concatenate([at for at, _ in parts])
    return pa.concat_arrays(_as_one_type([values for _, values in parts])).take(pa.array(np.argsort(places)))


def _as_one_type(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Return branches of one expression as the type that holds all of them."""
    types = {c.type for c in columns if not pa.types.is_null(c.type)}
    if len(types) <= 1:
        common = next(iter(types), pa.null())
    elif any(pa.types.is_floating(t) for t in types):
        common = pa.float64()
    elif any(pa.types.is_decimal(t) for t in types):
        common = pa.decimal128(38, max(t.scale for t in types if pa.types.is_decimal(t)))
    else:
        common = pa.int64()
    return [c.cast(common) for c in columns]


def _compared(operator: str, left: pa.Array, right: pa.Array) -> pa.Array:
    if pa.types.is_null(left.type) or pa.types.is_decimal(left.type) or pa.types.is_decimal(right.type):
        return _COMPARISONS[operator](left, right)
    pairs = compared(operator, left, right, (0, 0), null_aware=False)
    places = np.arange(len(left))
    return pa.array(pairs.holds(places, places), mask=~(pairs.left_known & pairs.right_known))


def _alike(left: pa.Array, right: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return two columns as one type, or as two that Arrow compares exactly."""
    of = left.type, right.type
    if of[0] == of[1]:
        return left, right
    if pa.types.is_null(of[0]) or pa.types.is_null(of[1]):
        known = of[1] if pa.types.is_null(of[0]) else of[0]
        return left.cast(known), right.cast(known)
    if any(pa.types.is_floating(t) for t in of):
        return left.cast(pa.float64()), right.cast(pa.float64())
    if any(pa.types.is_decimal(t) for t in of):
        return left, right
    return left.cast(pa.int64()), right.cast(pa.int64())


def _too_large(to: e.Number) -> SqlExtError:
    name = f"DECIMAL({to.precision}, {to.scale})" if to.root == "DECIMAL" else to.root
    message = f"a number in the condition of a join is too large for {name}"
    return SqlExtError("RUN-041", message, hint="CAST to a larger type")

"""Expressions that Arrow computes exactly as Spark does under ANSI rules; what is not here stays in Spark.

Spark's three-valued logic is Arrow's Kleene logic; integer arithmetic that overflows fails as in Spark. Arrow computes
all rows, Spark only those that a condition leaves: below one, an expression that can fail is ``Guarded``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.arrow_numpy import known, numbers

Columns = Mapping[str, pa.Array]

INSTANT, WALL_CLOCK = pa.timestamp("us", "UTC"), pa.timestamp("us")
_MICROS = 1000


@dataclass(frozen=True)
class Expression:
    """A computed column.

    Attributes:
        type: of its values.
        fails: whether it can fail for some values.
        inputs: the expressions that it is computed of.
    """

    type: pa.DataType
    fails: bool = field(default=False, kw_only=True)
    inputs: tuple[Expression, ...] = field(default=(), kw_only=True)

    def columns(self) -> frozenset[str]:
        """Return the columns that it reads."""
        return frozenset().union(*(i.columns() for i in self.inputs))

    def evaluate(self, columns: Columns, rows: int) -> pa.Array:
        """Return its values.

        Raises:
            SqlExtError: RUN-100 for a number that its type cannot hold.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Column(Expression):
    """A column by its name."""

    name: str = ""

    def columns(self) -> frozenset[str]:
        """Return itself."""
        return frozenset([self.name])

    def evaluate(self, columns: Columns, rows: int) -> pa.Array:
        """Return the column."""
        return columns[self.name]


@dataclass(frozen=True)
class FieldOf(Expression):
    """A field of the row that its input is; NULL where there is no row."""

    name: str = ""

    def evaluate(self, columns: Columns, rows: int) -> pa.Array:
        """Return the field's values."""
        (row,) = self.inputs
        return pc.struct_field(row.evaluate(columns, rows), self.name)


@dataclass(frozen=True)
class Literal(Expression):
    """The same value in each row; None is NULL."""

    value: Any = None

    def evaluate(self, columns: Columns, rows: int) -> pa.Array:
        """Return the value as a column."""
        return pa.repeat(pa.scalar(self.value, self.type), rows)


@dataclass(frozen=True)
class Apply(Expression):
    """A function of columns, by the name that it has in ``FUNCTIONS``."""

    function: str = ""

    def evaluate(self, columns: Columns, rows: int) -> pa.Array:
        """Return the function's values."""
        values = [i.evaluate(columns, rows) for i in self.inputs]
        try:
            return FUNCTIONS[self.function](self.type, *values)
        except pa.ArrowInvalid as error:
            raise SqlExtError("RUN-100", f"[ARITHMETIC_OVERFLOW] {self.function}: {error}") from error


@dataclass(frozen=True)
class Guarded(Expression):
    """The second input where the first, a condition, holds; elsewhere it is not computed, and NULL."""

    def evaluate(self, columns: Columns, rows: int) -> pa.Array:
        """Return its values."""
        condition, value = self.inputs
        holds = condition.evaluate(columns, rows)
        places = selected(holds)
        if places is None:
            return value.evaluate(columns, rows)
        taken = pa.array(places)
        some = value.evaluate({name: columns[name].take(taken) for name in value.columns()}, len(places))
        return pc.replace_with_mask(pa.nulls(rows, self.type), holds.fill_null(False), some)


def guarded(value: Expression, condition: Expression) -> Expression:
    """Return an expression that is not computed where a condition does not hold, if it matters."""
    return Guarded(value.type, fails=True, inputs=(condition, value)) if value.fails else value


def holding(condition: Expression, *, otherwise: bool) -> Expression:
    """Return a condition that is known: ``otherwise`` where it is NULL."""
    return Apply(
        pa.bool_(),
        function="coalesce",
        inputs=(condition, Literal(pa.bool_(), value=otherwise)),
        fails=condition.fails,
    )


def negated(condition: Expression) -> Expression:
    """Return NOT of a condition."""
    return Apply(pa.bool_(), function="not", inputs=(condition,), fails=condition.fails)


def _widened(compute: Callable[..., Any]) -> Callable[..., pa.Array]:
    """Return a function whose operands are first of the type of its result."""
    return lambda of, *values: compute(*(_cast(of, v) for v in values))


def _cast(of: pa.DataType, value: pa.Array) -> pa.Array:
    return value if value.type == of else value.cast(of, safe=False)


def _checked_cast(of: pa.DataType, value: pa.Array) -> pa.Array:
    return value.cast(of, safe=True)


def _millis(of: pa.DataType, instants: pa.Array) -> pa.Array:
    """Return milliseconds since 1970, rounded down as Spark does before 1970 too."""
    return _with_nulls_of(instants, numbers(instants) // _MICROS, of)


def _instant_of_millis(of: pa.DataType, millis: pa.Array) -> pa.Array:
    return pc.multiply_checked(millis.cast(pa.int64()), _MICROS).view(of)


def _instant_of_seconds(of: pa.DataType, seconds: pa.Array) -> pa.Array:
    return pc.multiply_checked(seconds.cast(pa.int64()), _MICROS * 1000).view(of)


def _with_nulls_of(source: pa.Array, values: Any, of: pa.DataType) -> pa.Array:
    present = known(source)
    return pa.array(values, of, mask=None if present is None else ~present)


def _if(of: pa.DataType, condition: pa.Array, then: pa.Array, otherwise: pa.Array) -> pa.Array:
    """Return CASE WHEN: a condition that is NULL does not hold."""
    known_condition = condition.fill_null(False) if condition.null_count else condition
    return pc.if_else(known_condition, _cast(of, then), _cast(of, otherwise))


def _coalesced(of: pa.DataType, *values: pa.Array) -> pa.Array:
    return pc.coalesce(*(_cast(of, v) for v in values))


def _narrowed(of: pa.DataType, value: pa.Array) -> pa.Array:
    """Return the low bits of integers, as Java's casts do: Flink's integers wrap around."""
    low = numbers(value).astype(of.to_pandas_dtype())
    return _with_nulls_of(value, low, of)


def _wrapping_sum(of: pa.DataType, one: pa.Array, other: pa.Array) -> pa.Array:
    return pc.add(_cast(of, one), _cast(of, other))


def _comparison(compute: Callable[..., Any]) -> Callable[..., pa.Array]:
    def compare(of: pa.DataType, one: pa.Array, other: pa.Array) -> pa.Array:
        return compute(one, other if other.type == one.type else _cast(one.type, other))

    return compare


FUNCTIONS: Mapping[str, Callable[..., pa.Array]] = {
    "+": _widened(pc.add_checked),
    "-": _widened(pc.subtract_checked),
    "*": _widened(pc.multiply_checked),
    "wrapping +": _wrapping_sum,
    "narrowed": _narrowed,
    "shifted": lambda of, time, by: pc.add_checked(time.view(pa.int64()), by).view(of),
    "cast": _cast,
    "checked cast": _checked_cast,
    "=": _comparison(pc.equal),
    "<>": _comparison(pc.not_equal),
    "<": _comparison(pc.less),
    "<=": _comparison(pc.less_equal),
    ">": _comparison(pc.greater),
    ">=": _comparison(pc.greater_equal),
    "and": lambda of, one, other: pc.and_kleene(one, other),
    "or": lambda of, one, other: pc.or_kleene(one, other),
    "not": lambda of, value: pc.invert(value),
    "is null": lambda of, value: pc.is_null(value),
    "is not null": lambda of, value: pc.is_valid(value),
    "if": _if,
    "coalesce": _coalesced,
    "unix_millis": _millis,
    "timestamp_millis": _instant_of_millis,
    "timestamp_seconds": _instant_of_seconds,
    "as instant": lambda of, wall: wall.view(pa.int64()).view(of),
    "as wall clock": lambda of, instant: instant.view(pa.int64()).view(of),
}


def selected(condition: pa.Array) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    """Return the places of rows for which a condition holds; None for all."""
    holds = condition.fill_null(False) if condition.null_count else condition
    flags = holds.to_numpy(zero_copy_only=False)
    return None if flags.all() else np.flatnonzero(flags)

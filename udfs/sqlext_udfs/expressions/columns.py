"""Expressions over columns: an operand is evaluated for the rows that need it, and fails for no others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.errors import SqlExtError
from sqlext_udfs.expressions.arithmetic import arithmetic, negative, tried
from sqlext_udfs.expressions.casts import SPARK, number_type, widened
from sqlext_udfs.expressions.comparisons import compared
from sqlext_udfs.expressions.functions import FUNCTIONS
from sqlext_udfs.expressions.like import like_patterns
from sqlext_udfs.expressions.numbers import Policy, type_name
from sqlext_udfs.expressions.trees import Number
from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Ints

#: What a column is known by.
Name = Any
LONG = Number("BIGINT")


class Rows:
    """Some rows, whose columns are made when they are looked at.

    Args:
        column: returns a column by its name.
        count: how many rows there are.
    """

    def __init__(self, column: Callable[[Name], pa.Array], count: int) -> None:
        self._make = column
        self._made: dict[Name, pa.Array] = {}
        self.count = count

    @classmethod
    def of(cls, columns: Mapping[Name, pa.Array], count: int) -> Rows:
        """Return the rows of columns that are there."""
        return cls(columns.__getitem__, count)

    def column(self, name: Name) -> pa.Array:
        """Return a column."""
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def at(self, places: Ints) -> Rows:
        """Return the rows at some places."""
        return Rows(lambda name: taken(self.column(name), places), len(places))


@dataclass(frozen=True)
class Expression:
    """A computed column.

    Attributes:
        type: of its values.
        fails: whether it can fail for some values, itself or what it is computed of.
        inputs: the expressions that it is computed of.
    """

    type: pa.DataType
    fails: bool = field(default=False, kw_only=True)
    inputs: tuple[Expression, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        # The class is frozen, and ``fails`` follows from the inputs.
        object.__setattr__(self, "fails", self.fails or any(i.fails for i in self.inputs))

    def columns(self) -> frozenset[Name]:
        """Return the columns that it reads."""
        return frozenset().union(*(i.columns() for i in self.inputs))

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return its values.

        Raises:
            SqlExtError: RUN-040 for a division by zero, RUN-041 for a number that its type cannot hold.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Column(Expression):
    """A column by its name."""

    name: Name = ""

    def columns(self) -> frozenset[Name]:
        """Return itself."""
        return frozenset([self.name])

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return the column."""
        return rows.column(self.name)


@dataclass(frozen=True)
class FieldOf(Expression):
    """A field of the row that its input is; NULL where there is no row."""

    name: str = ""

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return the field's values."""
        (row,) = self.inputs
        return pc.struct_field(row.evaluate(rows), self.name)


@dataclass(frozen=True)
class RowOf(Expression):
    """A row whose fields are its inputs; it is never NULL itself."""

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return the rows."""
        values = [widened(i.evaluate(rows), f.type) for i, f in zip(self.inputs, self.type.fields, strict=True)]
        return pa.StructArray.from_arrays(values, fields=self.type.fields)


@dataclass(frozen=True)
class Literal(Expression):
    """The same value in each row; None is NULL."""

    value: Any = None

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return the value as a column."""
        return pa.repeat(pa.scalar(self.value, self.type), rows.count)


@dataclass(frozen=True)
class Refused(Expression):
    """Fails for every row that it is asked for."""

    code: str = ""
    message: str = ""

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return the values of no rows; raises what it says for others."""
        if rows.count:
            raise SqlExtError(self.code, self.message)
        return pa.nulls(0, self.type)


@dataclass(frozen=True)
class Apply(Expression):
    """A function of columns, by the name that it has in ``FUNCTIONS``."""

    function: str = ""

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return the function's values."""
        values = [i.evaluate(rows) for i in self.inputs]
        try:
            return FUNCTIONS[self.function](self.type, *values)
        except pa.ArrowInvalid as error:
            of = "TIMESTAMP" if pa.types.is_timestamp(self.type) else type_name(number_type(self.type))
            raise SPARK.too_large(of) from error


@dataclass(frozen=True)
class Arithmetic(Expression):
    """``+ - * / %`` of two numbers, and ``-x``; ``tries``: of two, and NULL where there is no such number."""

    op: str = ""
    result: Number = LONG
    policy: Policy = SPARK
    tries: bool = False

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return the results."""
        if len(self.inputs) == 1:
            return negative(self.inputs[0].evaluate(rows), self.result, self.policy)
        compute = tried if self.tries else arithmetic
        return compute(self.op, *_both(self.inputs, rows), self.result, self.policy)


@dataclass(frozen=True)
class Compare(Expression):
    """``= <> < <= > >=``, and ``<=>``, which takes NULL for a value."""

    op: str = ""
    nan_is_largest: bool = True

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return whether the values compare so."""
        sides = tuple(i.evaluate(rows) for i in self.inputs) if self.op == "<=>" else _both(self.inputs, rows)
        return compared(self.op, *sides, nan_is_largest=self.nan_is_largest)


@dataclass(frozen=True)
class Connected(Expression):
    """AND or OR: an operand is evaluated where none before it decides.

    Attributes:
        decides: the value of an operand that decides: False of AND, True of OR.
    """

    decides: bool = False

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return the conditions' value (three-valued)."""
        first, *others = self.inputs
        connect = pc.or_kleene if self.decides else pc.and_kleene
        value = _truth(first.evaluate(rows))
        for other in others:
            # A NULL does not decide either: the other operand may still be the value that does.
            undecided = pc.fill_null(pc.invert(value) if self.decides else value, True)
            value = connect(value, _truth(evaluated_where(other, rows, undecided)))
        return value


@dataclass(frozen=True)
class Case(Expression):
    """CASE: its inputs are the conditions, each with its result, and what stands for ELSE."""

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return the value of the first branch whose condition is true."""
        *whens, otherwise = self.inputs
        open_, parts = pa.repeat(pa.scalar(True), rows.count), []
        for condition, result in zip(whens[::2], whens[1::2], strict=True):
            holds = pc.fill_null(_truth(evaluated_where(condition, rows, open_)), False)
            here = pc.and_(open_, holds)
            if here.true_count:
                parts.append((here, self._value(result, rows, here)))
                open_ = pc.and_not(open_, holds)
        # Where a branch takes each row, nobody looks at ELSE; the last branch is what the others replace.
        made = self._value(otherwise, rows, open_) if open_.true_count or not parts else parts.pop()[1]
        # Branches do not overlap, so any order would do; each replaces what ELSE left there.
        for here, value in reversed(parts):
            made = pc.if_else(here, value, made)
        return made

    def _value(self, of: Expression, rows: Rows, where: pa.BooleanArray) -> pa.Array:
        return widened(evaluated_where(of, rows, where), self.type)


@dataclass(frozen=True)
class Coalesce(Expression):
    """The first value that is not NULL."""

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return the values."""
        first, *others = self.inputs
        value = widened(first.evaluate(rows), self.type)
        for other in others:
            missing = value.is_null()
            value = pc.if_else(missing, widened(evaluated_where(other, rows, missing), self.type), value)
        return value


@dataclass(frozen=True)
class Extreme(Expression):
    """GREATEST (``op`` is ``>=``) or LEAST (``<=``); ``skips_nulls``: of what is not NULL, else NULL if one is."""

    op: str = ">="
    skips_nulls: bool = False
    nan_is_largest: bool = True

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return the values."""
        best, *others = (widened(i.evaluate(rows), self.type) for i in self.inputs)
        for other in others:
            better = compared(self.op, best, other, nan_is_largest=self.nan_is_largest)
            if self.skips_nulls:
                better = pc.fill_null(pc.or_kleene(better, other.is_null()), False)
            best = pc.if_else(better, best, other)
        return best


@dataclass(frozen=True)
class Like(Expression):
    """``x LIKE pattern``; ``escape`` is one character or empty."""

    escape: str = ""

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return whether the texts are like the patterns."""
        texts, patterns = (i.evaluate(rows).to_pylist() for i in self.inputs)
        return pa.array(map(like_patterns(self.escape), texts, patterns), pa.bool_())


def evaluated_where(of: Expression, rows: Rows, where: pa.BooleanArray) -> pa.Array:
    """Return values for the rows for which a known condition holds; any other where it does not."""
    # What cannot fail is computed for all rows: that is cheaper than taking some out.
    places = selected(where) if of.fails else None
    if places is None:
        return of.evaluate(rows)
    back = np.full(rows.count, -1)
    back[places] = np.arange(len(places))
    return taken(of.evaluate(rows.at(places)), back)


def _both(sides: tuple[Expression, ...], rows: Rows) -> tuple[pa.Array, pa.Array]:
    """Return two operands; behind a NULL the other is not asked and cannot fail (Spark: ``BinaryExpression``)."""
    first, second = sides
    left = first.evaluate(rows)
    return left, evaluated_where(second, rows, left.is_valid())


def negated(condition: Expression) -> Expression:
    """Return NOT of a condition."""
    return Apply(pa.bool_(), function="not", inputs=(condition,))


def all_of(conditions: Iterable[Expression]) -> Expression:
    """Return AND of conditions."""
    return Connected(pa.bool_(), inputs=tuple(conditions))


def selected(condition: pa.Array) -> Ints | None:
    """Return the places of rows for which a condition holds; None for all."""
    holds = condition.fill_null(False) if condition.null_count else condition
    flags = holds.to_numpy(zero_copy_only=False)
    return None if flags.all() else np.flatnonzero(flags)


def _truth(column: pa.Array) -> pa.BooleanArray:
    """Return conditions; a NULL that is written has no type."""
    return column.cast(pa.bool_()) if pa.types.is_null(column.type) else column

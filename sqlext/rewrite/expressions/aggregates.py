"""Render Spark's aggregates as texts over accumulators: one entry an aggregate.

A FILTER is part of every input. Where it does not hold the input is NULL, which accumulators skip.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sqlext.dialect.ast.expressions import Registered
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.rewrite.expressions.accumulators import Accumulators
from sqlext.source import Span
from sqlext.types import LogicalType

#: A percentage as a literal: 0.5, 5e-1 or 0.5D.
_NUMBER = re.compile(r"[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?D?")
#: A literal that is a DECIMAL in Flink's dialect.
_DECIMAL = re.compile(r"CAST\(([\d.]+) AS DECIMAL\(\d+, \d+\)\)")


@dataclass(frozen=True, slots=True)
class AggregateForm:
    """A call of one of Spark's aggregates, its arguments as text.

    Attributes:
        name: lower case.
        types: those of the arguments, None where unknown.
        condition: the text of its FILTER, empty without one.
        keeps_nulls: whether it says RESPECT NULLS, or is silent; first and last then take a NULL for a value.
        ordering: the text of the ORDER BY inside it.
    """

    name: str
    args: tuple[str, ...]
    types: tuple[LogicalType | None, ...]
    distinct: bool
    condition: str
    keeps_nulls: bool
    ordering: str
    span: Span
    into: Accumulators

    def input(self, text: str) -> str:
        """Return an input as it is where the FILTER holds, else NULL."""
        return f"CASE WHEN {self.condition} THEN {text} END" if self.condition else text

    def one(self, function: str, *inputs: str, distinct: bool | None = None) -> str:
        """Return the result column of an accumulator over these inputs."""
        wanted = self.distinct if distinct is None else distinct
        return self.into.one(function, *(self.input(i) for i in inputs), distinct=wanted)

    def fields(self, function: str, *inputs: str) -> tuple[str, ...]:
        """Return the result columns of an accumulator of several."""
        return self.into.add(function, *(self.input(i) for i in inputs))

    def is_decimal(self, index: int = 0) -> bool:
        """Whether an argument is a DECIMAL."""
        type_ = self.types[index] if index < len(self.types) else None
        return type_ is not None and type_.root == "DECIMAL"


Form = Callable[[AggregateForm], str]


def aggregate_text(call: AggregateForm) -> str:
    """Return an aggregate as a text over accumulators.

    Raises:
        SqlExtError: FUNC-020 for an aggregate that no accumulator can keep.
    """
    form = _FORMS.get(call.name)
    if form is None:
        hint = did_you_mean(call.name, _FORMS) or "collect_list(...) keeps the values themselves"
        raise _not_kept(call, call.name.upper(), hint)
    return form(call)


def _not_kept(call: AggregateForm, what: str, hint: str) -> SqlExtError:
    message = f"{what} cannot be kept in the state of a window with EMIT, DISTINCT or CUMULATE"
    return SqlExtError("FUNC-020", message, span=call.span, hint=hint)


def registered_text(call: AggregateForm, registered: Registered) -> str:
    """Return a user's aggregate as the result column of an accumulator; its class is found when it runs."""
    returns = registered.returns.spark()
    parameters = (("name", registered.name), ("bare", not call.args), ("returns", returns))
    inputs = tuple(call.input(text) for text in call.args or ("1",))
    return call.into.one("python", *inputs, distinct=call.distinct, parameters=parameters)


def _count(call: AggregateForm) -> str:
    if call.args in (("*",), ("1",), ()):
        return call.into.one("count", call.input("1")) if call.condition else call.into.one("count")
    if len(call.args) == 1:
        return call.one("count", call.args[0])
    # COUNT(a, b) counts rows in which none is NULL; the struct keeps the values for DISTINCT.
    known = " AND ".join(f"({a}) IS NOT NULL" for a in call.args)
    return call.one("count", f"CASE WHEN {known} THEN struct({', '.join(call.args)}) END")


def _count_if(call: AggregateForm) -> str:
    return call.one("count", f"CASE WHEN {call.args[0]} THEN 1 END")


def _sum(call: AggregateForm) -> str:
    return call.one("sum", call.args[0])


def _avg(call: AggregateForm) -> str:
    """Spark's: of DECIMAL(p, s) a DECIMAL(p + 4, s + 4), of everything else the DOUBLE sum by the count."""
    count = call.one("count", call.args[0])
    # try_divide below: the count of NULLs alone is 0, and ANSI mode fails on a division by zero.
    type_ = call.types[0] if call.types else None
    if type_ is not None and type_.root == "DECIMAL":
        precision, scale = min(38, (type_.precision or 10) + 4), min(37, (type_.scale or 0) + 4)
        total = call.one("sum", call.args[0])
        return f"CAST(try_divide({total}, {count}) AS DECIMAL({precision}, {scale}))"
    return f"try_divide({call.one('sum', f'CAST({call.args[0]} AS DOUBLE)')}, {count})"


def _plain(function: str) -> Form:
    return lambda call: call.one(function, call.args[0])


def _extreme(function: str) -> Form:
    # DISTINCT changes no extreme; without it the operator keeps one value and no set.
    return lambda call: call.one(function, call.args[0], distinct=False)


def _edge(function: str) -> Form:
    """FIRST and LAST take NULLs for values unless told otherwise: a struct keeps a NULL apart from no row."""

    def form(call: AggregateForm) -> str:
        skips = (len(call.args) > 1 and call.args[1].strip().lower() == "true") or not call.keeps_nulls
        if skips:
            return call.one(function, call.args[0], distinct=False)
        return f"{call.one(function, f'struct({call.args[0]} AS v)', distinct=False)}.v"

    return form


def _variance(text: str) -> Form:
    """A text over ``n`` and ``m2``, the sum of squared distances from the mean."""

    def form(call: AggregateForm) -> str:
        n, mean, m2 = call.fields("variance", f"CAST({call.args[0]} AS DOUBLE)")
        return text.format(n=n, mean=mean, m2=m2)

    return form


def _covariance(text: str) -> Form:
    def form(call: AggregateForm) -> str:
        # A pair counts only if both sides are known, so each side is NULL where the other is.
        both = f"({call.args[0]}) IS NOT NULL AND ({call.args[1]}) IS NOT NULL"
        x, y = (f"CASE WHEN {both} THEN CAST({a} AS DOUBLE) END" for a in call.args[:2])
        names = ("n", "mean_x", "mean_y", "cxy", "m2x", "m2y")
        return text.format(**dict(zip(names, call.fields("covariance", x, y), strict=True)))

    return form


def _collect(function: str) -> Form:
    # Of no values Spark gives an empty array, and the accumulator NULL.
    return lambda call: f"coalesce({call.one(function, call.args[0])}, array())"


def _listagg(call: AggregateForm) -> str:
    separator = call.args[1] if len(call.args) > 1 else "''"
    if call.ordering and call.ordering not in (call.args[0], f"{call.args[0]} ASC"):
        raise SqlExtError(
            "FUNC-021",
            "LISTAGG in a window with EMIT, DISTINCT or CUMULATE can be ordered by its own values alone",
            span=call.span,
        )
    values = call.one("collect_list", f"CAST({call.args[0]} AS STRING)")
    values = f"array_sort({values})" if call.ordering else values
    # Spark's listagg of nothing is NULL; array_join of nothing is ''.
    return f"CASE WHEN cardinality({values}) > 0 THEN array_join({values}, {separator}) END"


def _by(function: str) -> Form:
    return lambda call: call.one(function, *call.args[:2], distinct=False)


def _percentile(call: AggregateForm) -> str:
    text = _DECIMAL.sub(r"\1", call.args[1]) if len(call.args) > 1 else "0.5"
    # ARRAY[0.1, 0.9] has become a call by now (`forms.array`).
    several = text.startswith("array(")
    shares = [_number(s.strip()) for s in (text[len("array(") : -1].split(",") if several else [text])]
    if len(call.args) > 2 or not all(s is not None and 0 <= s <= 1 for s in shares):
        what = "with a frequency" if len(call.args) > 2 else f"of {text}"
        raise _not_kept(call, f"PERCENTILE {what}", "its percentages are numbers from 0 to 1, or an ARRAY of such")
    values = call.input(f"CAST({call.args[0]} AS DOUBLE)")
    found = [call.into.one("percentile", values, parameters=(("percentage", s),)) for s in shares]
    return f"CASE WHEN {found[0]} IS NOT NULL THEN array({', '.join(found)}) END" if several else found[0]


def _number(text: str) -> float | None:
    return float(text.rstrip("D")) if _NUMBER.fullmatch(text) else None


def _median(call: AggregateForm) -> str:
    values = f"CAST({call.args[0]} AS DOUBLE)"
    return call.into.one("percentile", call.input(values), parameters=(("percentage", 0.5),))


def _distinct_count(call: AggregateForm) -> str:
    """Counted exactly: the state has the values, and an exact number is the best approximation."""
    return call.one("count", call.args[0], distinct=True)


_FORMS: dict[str, Form] = {
    "count": _count,
    "count_if": _count_if,
    "sum": _sum,
    "avg": _avg,
    "mean": _avg,
    "min": _extreme("min"),
    "max": _extreme("max"),
    # FALSE is less than TRUE: AND is the least value, OR the greatest.
    "every": _extreme("min"),
    "bool_and": _extreme("min"),
    "some": _extreme("max"),
    "any": _extreme("max"),
    "bool_or": _extreme("max"),
    "first": _edge("first"),
    "first_value": _edge("first"),
    "any_value": _edge("first"),
    "last": _edge("last"),
    "last_value": _edge("last"),
    "var_pop": _variance("CASE WHEN {n} > 0 THEN {m2} / {n} END"),
    "var_samp": _variance("CASE WHEN {n} > 1 THEN {m2} / ({n} - 1) END"),
    "variance": _variance("CASE WHEN {n} > 1 THEN {m2} / ({n} - 1) END"),
    "stddev_pop": _variance("CASE WHEN {n} > 0 THEN sqrt({m2} / {n}) END"),
    "stddev_samp": _variance("CASE WHEN {n} > 1 THEN sqrt({m2} / ({n} - 1)) END"),
    "stddev": _variance("CASE WHEN {n} > 1 THEN sqrt({m2} / ({n} - 1)) END"),
    "std": _variance("CASE WHEN {n} > 1 THEN sqrt({m2} / ({n} - 1)) END"),
    "covar_pop": _covariance("CASE WHEN {n} > 0 THEN {cxy} / {n} END"),
    "covar_samp": _covariance("CASE WHEN {n} > 1 THEN {cxy} / ({n} - 1) END"),
    # The divisor is 0 where a side does not vary.
    "corr": _covariance("CASE WHEN {n} > 1 THEN try_divide({cxy}, sqrt({m2x} * {m2y})) END"),
    "collect_list": _collect("collect_list"),
    "array_agg": _collect("collect_list"),
    "collect_set": _collect("collect_set"),
    "listagg": _listagg,
    "string_agg": _listagg,
    "min_by": _by("min_by"),
    "max_by": _by("max_by"),
    "bit_and": _plain("bit_and"),
    "bit_or": _plain("bit_or"),
    "bit_xor": _plain("bit_xor"),
    "percentile": _percentile,
    "percentile_cont": _percentile,
    "median": _median,
    "approx_count_distinct": _distinct_count,
}

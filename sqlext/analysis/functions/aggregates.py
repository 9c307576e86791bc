"""List the aggregate functions (Flink docs: System (Built-in) Functions, Aggregate Functions).

Every form here runs inside one aggregation of a streaming query: no windows, no sub-queries.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlext.analysis.functions.model import CallTexts, CallTypes, fn
from sqlext.analysis.functions.rendering import wrapped
from sqlext.analysis.functions.results import array_of, multiset_of, never_null, nullable, nullable_as, unknown
from sqlext.analysis.types import decimals
from sqlext.types import BIGINT, DOUBLE, STRING, LogicalType, array, decimal


def _sum_type(call: CallTypes) -> LogicalType | None:
    """SUM keeps its operand's type, DECIMAL(p, s) gives DECIMAL(38, s); NULL for no rows."""
    type_ = call.type(0)
    if type_ is None:
        return None
    return decimals.total(type_) if type_.root == "DECIMAL" else type_.as_nullable()


def _spark_sum_type(call: CallTypes) -> LogicalType | None:
    type_ = call.type(0)
    if type_ is None or not type_.is_numeric:
        return None
    if type_.root == "DECIMAL":
        return decimal(min(38, (type_.precision or 10) + 10), type_.scale or 0)
    return BIGINT if type_.is_integer else DOUBLE


def _average_type(call: CallTypes) -> LogicalType | None:
    """AVG, STDDEV and VARIANCE keep the operand's type too; of DECIMAL it is DECIMAL(38, max(6, s))."""
    type_ = call.type(0)
    if type_ is None:
        return None
    return decimals.average(type_) if type_.root == "DECIMAL" else type_.as_nullable()


def _spark_average_type(call: CallTypes) -> LogicalType | None:
    type_ = call.type(0)
    if type_ is None or not type_.is_numeric:
        return None
    if type_.root == "DECIMAL":
        precision, scale = type_.precision or 10, type_.scale or 0
        return decimals.adjust(precision + 4, scale + 4)
    return DOUBLE


def _percentile_type(call: CallTypes) -> LogicalType | None:
    second = call.type(1)
    return array(DOUBLE) if second and second.root == "ARRAY" else DOUBLE


def _listagg_type(call: CallTypes) -> LogicalType | None:
    type_ = call.type(0)
    if type_ is None:
        return STRING
    return LogicalType("VARCHAR", type_.precision)


def _sum(call: CallTexts) -> str:
    """The sum of integers wraps around at its own type, as Flink's does; Spark's is a BIGINT and fails."""
    total = call.aggregate("sum", call.args[0])
    if call.result is None or call.result.root in ("BIGINT", "DOUBLE"):
        return total
    if call.result.is_integer:
        return wrapped(total, call.result)
    return f"CAST({total} AS {call.result.spark()})"


def _avg(call: CallTexts) -> str:
    """AVG of integers divides as integers do; of decimals it divides DECIMAL(38, s) by the count."""
    result = call.result
    if result is None or result.root == "DOUBLE":
        return call.aggregate("avg", call.args[0])
    if result.root == "FLOAT":
        return f"CAST({call.aggregate('avg', call.args[0])} AS FLOAT)"
    total, count = call.aggregate("sum", call.args[0]), call.aggregate("count", call.args[0])
    if result.is_integer:
        quotient = f"{total} DIV {count}"
        return f"({quotient})" if result.root == "BIGINT" else f"CAST({quotient} AS {result.root})"
    type_ = call.type(0)
    exact = f"CAST({total} AS DECIMAL(38, {type_.scale if type_ else 0}))"
    return f"CAST({exact} / {count} AS {result.spark()})"


def _deviation(name: str) -> Callable[[CallTexts], str]:
    """Return a rendering of STDDEV_..., VAR_...: Spark's DOUBLE, cut to the operand's type as Flink does."""

    def render(call: CallTexts) -> str:
        text = call.aggregate(name, call.args[0])
        if call.result is None or call.result.root == "DOUBLE":
            return text
        # The sample forms are NaN-free in Spark 4 (NULL for one row), so the cast cannot fail.
        return f"CAST({text} AS {call.result.spark()})"

    return render


def _edge(name: str) -> Callable[[CallTexts], str]:
    """Return a rendering of FIRST_VALUE / LAST_VALUE: Flink skips NULLs unless told RESPECT NULLS."""

    def render(call: CallTexts) -> str:
        skip = "false" if "RESPECT NULLS" in call.call.clauses else "true"
        return call.aggregate(name, call.args[0], skip)

    return render


def _listagg(call: CallTexts) -> str:
    separator = call.args[1] if call.count > 1 else "','"
    text = call.aggregate("listagg", call.args[0], separator)
    if not call.ordering:
        return text
    head, suffix = text[: len(text) - len(call.suffix)], call.suffix
    return f"{head} WITHIN GROUP (ORDER BY {call.ordering}){suffix}"


def _array_agg(call: CallTexts) -> str:
    """Flink keeps NULLs and gives NULL for no rows; Spark drops NULLs and gives an empty array."""
    operand = call.args[0]
    if "IGNORE NULLS" in call.call.clauses or _is_not_null(call, 0):
        collected = _collect(call, operand)
    else:
        # collect_list drops NULLs, but not a struct that holds one.
        collected = f"{_collect(call, f'struct({operand} AS v)')}.v"
    return f"nullif({collected}, array())"


def _is_not_null(call: CallTexts, index: int) -> bool:
    type_ = call.type(index)
    return type_ is not None and not type_.nullable


def _collect(call: CallTexts, operand: str) -> str:
    """Return collect_list / collect_set of an operand (DISTINCT by collect_set: streams have no DISTINCT)."""
    name = "collect_set" if call.call.distinct else "collect_list"
    return call.aggregate(name, operand, distinct=False)


def _multiset(call: CallTexts) -> str:
    """A multiset is a map from the element to its number; NULLs are left out."""
    # transform over an array of one element binds the collected list to a name, so that it is collected once.
    counted = "map_from_entries(transform(array_distinct(items), e -> struct(e, size(filter(items, i -> i = e)))))"
    return f"transform(array({_collect(call, call.args[0])}), items -> {counted})[0]"


def _percentile(call: CallTexts) -> str:
    return call.aggregate("percentile", *call.args)


def _plain(name: str) -> Callable[[CallTexts], str]:
    return lambda call: call.aggregate(name, *call.args)


_DEVIATIONS = {
    "STDDEV_POP": "stddev_pop",
    "STDDEV_SAMP": "stddev_samp",
    "STDDEV": "stddev_samp",
    "VAR_POP": "var_pop",
    "VAR_SAMP": "var_samp",
    "VARIANCE": "var_samp",
}

#: Aggregates that are 0 over no rows; all others are NULL.
COUNTS = frozenset({"COUNT", "COUNT_IF", "APPROX_COUNT_DISTINCT", "REGR_COUNT"})

AGGREGATES = (
    fn("COUNT", "any, any...", never_null(BIGINT), kind="aggregate"),
    fn("SUM", "numeric", _sum_type, _sum, spark=_spark_sum_type, kind="aggregate"),
    fn("AVG", "numeric", _average_type, _avg, spark=_spark_average_type, kind="aggregate"),
    fn("MIN", "ordered", nullable_as(0), kind="aggregate"),
    fn("MAX", "ordered", nullable_as(0), kind="aggregate"),
    *(
        fn(name, "numeric", _average_type, _deviation(spark), spark=nullable(DOUBLE), kind="aggregate")
        for name, spark in _DEVIATIONS.items()
    ),
    fn("FIRST_VALUE", "any, any?", nullable_as(0), _edge("first_value"), kind="aggregate"),
    fn("LAST_VALUE", "any, any?", nullable_as(0), _edge("last_value"), kind="aggregate"),
    fn("LISTAGG", "text, text?", _listagg_type, _listagg, spark=nullable(STRING), kind="aggregate"),
    fn("COLLECT", "any", multiset_of, _multiset, kind="aggregate"),
    fn("ARRAY_AGG", "any", array_of(0), _array_agg, spark=unknown, kind="aggregate"),
    fn("PERCENTILE", "numeric, numeric/array, integer?", _percentile_type, _percentile, kind="aggregate"),
    fn("APPROX_COUNT_DISTINCT", "any, any?", never_null(BIGINT), kind="aggregate"),
    fn("SINGLE_VALUE", "any", nullable_as(0), _plain("any_value"), kind="aggregate"),
    fn("ANY_VALUE", "any", nullable_as(0), kind="aggregate"),
)

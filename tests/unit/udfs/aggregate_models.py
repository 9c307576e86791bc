"""Aggregates in plain Python, one value at a time: the second opinion on accumulators."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from decimal import Context, localcontext
from fractions import Fraction
from functools import cmp_to_key, reduce
from operator import and_, or_, xor
from typing import Any

Values = Sequence[Any]


def same(one: Any, other: Any) -> bool:
    """Return whether two results are equal: NaN is NaN, floating-point numbers may differ by rounding."""
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    return bool(one == other) and type(one) is type(other)


def compared(one: Any, other: Any) -> int:
    """Compare as Spark: NULL first, NaN last, structs by their fields."""
    if one is None or other is None:
        return (one is not None) - (other is not None)
    if isinstance(one, dict):
        return next((c for c in (compared(one[k], other[k]) for k in sorted(one)) if c), 0)
    if isinstance(one, float) and (math.isnan(one) or math.isnan(other)):
        return math.isnan(one) - math.isnan(other)
    return (one > other) - (one < other)


def usual(value: Any) -> Hashable:
    """Return a value as something that Python compares as Spark compares values."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return tuple((k, usual(v)) for k, v in sorted(value.items()))
    return tuple(usual(v) for v in value) if isinstance(value, list) else value


def known(values: Values) -> list[Any]:
    """Return the values that are not NULL."""
    return [v for v in values if v is not None]


def different(values: Values) -> list[Any]:
    """Return the first of equal values."""
    found: dict[Hashable, Any] = {}
    for value in known(values):
        found.setdefault(usual(value), value)
    return list(found.values())


def total(values: Values) -> Any:
    """Return SUM: exact, also of floating-point numbers while they are finite."""
    found = known(values)
    if not found:
        return None
    if isinstance(found[0], float) and all(map(math.isfinite, found)):
        return float(sum(map(Fraction, found)))
    with localcontext(Context(prec=60)):
        return sum(found[1:], found[0])


def extreme(values: Values, *, largest: bool) -> Any:
    """Return MIN or MAX."""
    found = sorted(known(values), key=cmp_to_key(compared))
    return found[-1 if largest else 0] if found else None


def best(pairs: Sequence[tuple[Any, Any]], *, largest: bool) -> Any:
    """Return MIN_BY or MAX_BY: of equal keys the first."""
    found = [p for p in pairs if p[1] is not None]
    key = cmp_to_key(lambda a, b: compared(a[1], b[1]))
    return (max if largest else min)(found, key=key)[0] if found else None


def moments(values: Values) -> list[Any]:
    """Return n, mean, m2."""
    n, mean, _, _, m2, _ = co_moments([(v, v) for v in values])
    return [n, mean, m2]


def co_moments(pairs: Sequence[tuple[Any, Any]]) -> list[Any]:
    """Return n, mean_x, mean_y, cxy, m2x, m2y."""
    found = [(Fraction(x), Fraction(y)) for x, y in pairs if x is not None and y is not None]
    if not found:
        return [0, *[0.0] * 5]
    mean_x, mean_y = (sum(p[i] for p in found) / len(found) for i in (0, 1))
    near = [(x - mean_x, y - mean_y) for x, y in found]
    products = (sum(x * y for x, y in near), sum(x * x for x, _ in near), sum(y * y for _, y in near))
    return [len(found), *map(float, (mean_x, mean_y, *products))]


def bits(join: Callable[[int, int], int]) -> Callable[[Values], Any]:
    """Return BIT_AND, BIT_OR or BIT_XOR."""
    return lambda values: reduce(join, known(values)) if known(values) else None


def percentile(values: Values, share: float) -> float | None:
    """Return PERCENTILE between the nearest two values."""
    found = sorted((float(v) for v in known(values)), key=cmp_to_key(compared))
    if not found:
        return None
    where = share * (len(found) - 1)
    low, high = found[math.floor(where)], found[math.ceil(where)]
    return low if low == high else low + (high - low) * (where - math.floor(where))


def discrete(values: Values, share: float) -> Any:
    """Return PERCENTILE_DISC."""
    found = sorted(known(values), key=cmp_to_key(compared))
    return found[max(math.ceil(Fraction(share) * len(found)) - 1, 0)] if found else None


def mode(values: Values) -> Any:
    """Return MODE: of several values the least."""
    counts = Counter(usual(v) for v in known(values))
    most = max(counts.values(), default=0)
    return extreme([v for v in known(values) if counts[usual(v)] == most], largest=False)


MODELS: dict[str, Callable[[Values], Any]] = {
    "count": lambda values: len(known(values)),
    "sum": total,
    "min": lambda values: extreme(values, largest=False),
    "max": lambda values: extreme(values, largest=True),
    "bool_and": lambda values: extreme(values, largest=False),
    "bool_or": lambda values: extreme(values, largest=True),
    "bit_and": bits(and_),
    "bit_or": bits(or_),
    "bit_xor": bits(xor),
    "variance": moments,
    "covariance": co_moments,
    "first": lambda values: next(iter(known(values)), None),
    "last": lambda values: next(iter(known(values[::-1])), None),
    "min_by": lambda pairs: best(pairs, largest=False),
    "max_by": lambda pairs: best(pairs, largest=True),
    "collect_list": known,
    "collect_set": different,
    "percentile": lambda values: percentile(values, 0.3),
    "percentile_disc": lambda values: discrete(values, 0.3),
    "mode": mode,
    "approx_count_distinct": lambda values: len(different(values)),
}

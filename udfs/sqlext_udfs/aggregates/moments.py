"""Compute variance and covariance from counts, means and sums of squared distances (Chan, Golub, LeVeque 1979).

A sum of squares would lose all digits where values are large and near each other; distances do not.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Accumulator, Columns
from sqlext_udfs.aggregates.exact_sums import integer_sums
from sqlext_udfs.kernel.arrow_numpy import integers, known, numbers
from sqlext_udfs.kernel.groups import Groups, Ints

Floats = npt.NDArray[np.float64]


class Variance(Accumulator):
    """n, mean, m2: VAR_POP, STDDEV_SAMP and their kin are computed of these."""

    def __init__(self) -> None:
        types = (pa.int64(), pa.float64(), pa.float64())
        super().__init__(types, types)

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return the moments of each group's values."""
        ((x,), groups) = _pairs(inputs, groups)
        n = groups.sizes()
        mean = _means(x, np.ones_like(x), n, groups)
        return _columns(n, mean, _sums((x - mean[groups.ids]) ** 2, groups))

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return the moments of several together."""
        n, (mean, m2) = integers(partials[0]), _floats(partials[1:])
        total = integer_sums(n, groups)
        middle = _means(mean, n, total, groups)
        away = mean - middle[groups.ids]
        return _columns(total, middle, _sums(m2 + _spread(n, away, away), groups))


class Covariance(Accumulator):
    """n, mean_x, mean_y, cxy, m2x, m2y: COVAR_POP, CORR and the REGR functions are computed of these."""

    def __init__(self) -> None:
        types = (pa.int64(), *[pa.float64()] * 5)
        super().__init__(types, types)

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return the moments of each group's pairs; one with a NULL is none."""
        ((x, y), groups) = _pairs(inputs, groups)
        n = groups.sizes()
        one = np.ones_like(x)
        mean_x, mean_y = _means(x, one, n, groups), _means(y, one, n, groups)
        dx, dy = x - mean_x[groups.ids], y - mean_y[groups.ids]
        return _columns(n, mean_x, mean_y, *(_sums(product, groups) for product in (dx * dy, dx * dx, dy * dy)))

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return the moments of several together."""
        n, (mean_x, mean_y, cxy, m2x, m2y) = integers(partials[0]), _floats(partials[1:])
        total = integer_sums(n, groups)
        middle_x, middle_y = _means(mean_x, n, total, groups), _means(mean_y, n, total, groups)
        dx, dy = mean_x - middle_x[groups.ids], mean_y - middle_y[groups.ids]
        spreads = ((cxy, dx, dy), (m2x, dx, dx), (m2y, dy, dy))
        return _columns(total, middle_x, middle_y, *(_sums(of + _spread(n, a, b), groups) for of, a, b in spreads))


def _pairs(inputs: Columns, groups: Groups) -> tuple[tuple[Floats, ...], Groups]:
    """Return the values of rows without NULL."""
    values = tuple(np.asarray(_numeric(c), np.float64) for c in inputs)
    # A pair counts only where all of its values are known.
    for column in inputs:
        present = known(column)
        if present is not None:
            whole = np.logical_and.reduce([c.is_valid().to_numpy(zero_copy_only=False) for c in inputs])
            return tuple(v[whole] for v in values), groups.filter(whole)
    return values, groups


def _numeric(column: pa.Array) -> npt.NDArray[np.generic]:
    return numbers(column if pa.types.is_floating(column.type) else column.cast(pa.float64()))


def _floats(columns: Columns) -> list[Floats]:
    return [np.asarray(c.to_numpy(), np.float64) for c in columns]


def _sums(values: Floats, groups: Groups) -> Floats:
    return np.bincount(groups.ids, values, groups.count).astype(np.float64, copy=False)


def _means(values: Floats, weights: Ints | Floats, total: Ints, groups: Groups) -> Floats:
    """Return weighted means; 0 for no values."""
    # At least 1: a group of NULLs alone would divide 0 by 0.
    return np.asarray(_sums(np.asarray(values * weights), groups) / np.maximum(total, 1))


def _spread(n: Ints, dx: Floats, dy: Floats) -> Floats:
    """Return what parts add that lie away from the common mean; a part without values adds nothing, not NaN."""
    return np.where(n > 0, n * dx * dy, 0.0)


def _columns(n: Ints, *moments: Floats) -> list[pa.Array]:
    return [pa.array(n), *(pa.array(m) for m in moments)]

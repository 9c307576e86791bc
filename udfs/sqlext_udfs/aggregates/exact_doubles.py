"""Sum DOUBLE values exactly, so that a value that was added can be taken away without a trace.

A sum is a fixed-point number over the whole range of DOUBLE, as digits to the base 2 ** 32 (Neal, "Fast exact
summation using small and large superaccumulators", 2015). Only the digits in use are kept: three or four where the
values are of one size. Digits have the sign of the sum, so equal sums have equal digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers
from sqlext_udfs.kernel.groups import Groups, Ints
from sqlext_udfs.kernel.list_columns import elements
from sqlext_udfs.kernel.ranges import repeated

Doubles = npt.NDArray[np.float64]

# Bits of a digit, and of the mantissa of a DOUBLE.
_WORD = 32
_LOW = (1 << _WORD) - 1
_MANTISSA = 53
#: The last bit of the least DOUBLE, written with a mantissa of 53 bits, is worth 2 ** -_BIAS.
_BIAS = 1126
#: A DOUBLE reaches over three digits; a sum of many over one or two more.
_CARRIES = 2


class _Digits(NamedTuple):
    """Digits of sums: whose they are, their places (0 is worth 2 ** -_BIAS), and their values."""

    group: Ints
    place: Ints
    value: Ints


def started(values: Doubles, weights: Ints, groups: Groups) -> list[pa.Array]:
    """Return the sum of each group's values, each as often as its weight says.

    Args:
        values: finite numbers.
        weights: how often each counts; a negative weight takes away.
        groups: of the values.

    Returns:
        ``low`` (BIGINT, the place of the lowest digit) and ``digits`` (a list of BIGINT) of each group.
    """
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, _MANTISSA).astype(np.int64)
    bits = exponents.astype(np.int64) - _MANTISSA + _BIAS
    place, shift = bits // _WORD, bits % _WORD
    # Of a mantissa only its highest part has a sign; a sum of 2 ** 30 weighted parts fits 64 bits.
    low = (whole & _LOW) << shift
    high = ((whole >> _WORD) << shift) + (low >> _WORD)
    parts = (low & _LOW, high & _LOW, high >> _WORD)
    digits = _Digits(
        np.tile(groups.ids, len(parts)),
        np.concatenate([place + i for i in range(len(parts))]),
        np.concatenate([p * weights for p in parts]),
    )
    return _columns(digits, groups.count)


def merged(low: pa.Array, digits: pa.Array, groups: Groups) -> list[pa.Array]:
    """Return the sum of each group of sums: ``low`` and ``digits``."""
    kept = _read(low, digits)
    return _columns(kept._replace(group=groups.ids[kept.group]), groups.count)


def rounded(low: pa.Array, digits: pa.Array) -> Doubles:
    """Return sums as DOUBLE: exact where they fit one, else within one unit of the last place."""
    kept = _read(low, digits)
    sums = np.zeros(len(low), np.float64)
    with np.errstate(over="ignore"):
        # From the lowest digit up: small parts are not lost against large ones.
        np.add.at(sums, kept.group, np.ldexp(kept.value.astype(np.float64), kept.place * _WORD - _BIAS))
    return sums


def _read(low: pa.Array, digits: pa.Array) -> _Digits:
    # The digits of one sum lie behind each other: a digit's place is ``low`` and its place in the list.
    values, owners = elements(digits)
    _, within = repeated(np.bincount(owners.ids, minlength=len(low)))
    return _Digits(owners.ids, integers(low)[owners.ids] + within, integers(values))


def _columns(digits: _Digits, count: int) -> list[pa.Array]:
    """Return sums with digits carried and cut: the place of the lowest digit, and the digits from there on."""
    least = int(digits.place.min()) if len(digits.place) else 0
    width = int(digits.place.max()) - least + 1 + _CARRIES if len(digits.place) else 1
    table = np.zeros((count, width), np.int64)
    np.add.at(table, (digits.group, digits.place - least), digits.value)
    _carry(table)
    # After a carry only the highest digit has a sign. Negated and carried again, a negative sum has digits of its
    # absolute value: so it has the fewest digits, and -x the same ones as x.
    negative = table[:, -1] < 0
    table[negative] *= -1
    _carry(table)
    used = table != 0
    some = used.any(axis=1)
    # From the first to the last digit that is not 0; all others are cut off.
    first = np.where(some, used.argmax(axis=1), 0)
    end = np.where(some, width - used[:, ::-1].argmax(axis=1), 0)
    table[negative] *= -1
    places = np.arange(width)
    kept = table[(places >= first[:, None]) & (places < end[:, None])]
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(end - first, out=offsets[1:])
    return [pa.array(np.where(some, first + least, 0)), pa.ListArray.from_arrays(pa.array(offsets), pa.array(kept))]


def _carry(table: Ints) -> None:
    """Bring all digits but the highest between 0 and 2 ** 32."""
    for place in range(table.shape[1] - 1):
        table[:, place + 1] += table[:, place] >> _WORD
        table[:, place] &= _LOW

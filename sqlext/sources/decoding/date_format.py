"""Compute Spark's ``date_format`` for patterns of digits: years to seconds, and signs between them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.expressions.columns import Expression, Rows
from sqlext_udfs.kernel.arrow_numpy import numbers

_TOKEN = re.compile(r"yyyy|MM|dd|HH|mm|ss|[-/.:, _]+")
_PARTS = {"MM": pc.month, "dd": pc.day, "HH": pc.hour, "mm": pc.minute, "ss": pc.second}
#: From the finest part of a pattern on nothing else of a time matters (microseconds).
_UNITS = {"ss": 1_000_000, "mm": 60_000_000, "HH": 3_600_000_000}
_DAY = 86_400_000_000


def tokens(pattern: str) -> tuple[str, ...] | None:
    """Return the parts of a pattern; None for one that is not known here."""
    found = tuple(_TOKEN.findall(pattern))
    return found if "".join(found) == pattern else None


@dataclass(frozen=True)
class Formatted(Expression):
    """Texts of times (UTC or a wall clock's), as Spark and ``java.time.format.DateTimeFormatter`` write them.

    Attributes:
        pattern: see ``tokens``.
    """

    pattern: tuple[str, ...] = ()

    def evaluate(self, rows: Rows) -> pa.Array:
        """Return the texts; each is made once."""
        (of,) = self.inputs
        times = of.evaluate(rows)
        unit = min((_UNITS[token] for token in self.pattern if token in _UNITS), default=_DAY)
        known = times.is_valid().to_numpy(zero_copy_only=False)
        floors, places = np.unique(numbers(times) // unit, return_inverse=True)
        texts = self._texts(pa.array(floors * unit).view(pa.timestamp("us")))
        return texts.take(pa.array(places.astype(np.int64), mask=~known))

    def _texts(self, times: pa.Array) -> pa.Array:
        parts = (pa.repeat(t, len(times)) if t[0] in "-/.:, _" else _part(t, times) for t in self.pattern)
        return pc.binary_join_element_wise(*parts, "")


def _part(letters: str, times: pa.Array) -> pa.Array:
    if letters in _PARTS:
        return pc.utf8_lpad(_PARTS[letters](times).cast(pa.string()), 2, "0")
    year = pc.year(times)  # Spark takes ``y`` for a year that may be 0 and less, not for one of an era
    sign = pc.if_else(pc.less(year, 0), "-", pc.if_else(pc.greater(year, 9999), "+", ""))
    return pc.binary_join_element_wise(sign, pc.utf8_lpad(pc.abs(year).cast(pa.string()), 4, "0"), "")

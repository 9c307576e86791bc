"""Write floating-point numbers as Java does."""

from __future__ import annotations

import math
from typing import Any

#: Between these Java writes a number without an exponent.
_LEAST, _MOST = 1e-3, 1e7


def java_double(value: Any) -> str:
    """Return a number as ``Double.toString`` writes it: the fewest digits that tell it from its neighbours.

    Args:
        value: a ``float``, or a ``numpy.float32`` for ``Float.toString``.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    digits, exponent = _shortest(value)
    sign = "-" if value < 0 else ""
    if _LEAST <= abs(value) < _MOST:
        return sign + _plain(digits, exponent)
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _shortest(value: Any) -> tuple[str, int]:
    """Return the digits, and the power of ten of the first of them."""
    # ``repr`` of a float and ``str`` of a numpy number both have the fewest digits that suffice.
    text = repr(value) if isinstance(value, float) and type(value) is float else str(value)
    mantissa, _, power = text.lstrip("-").partition("e")
    before, _, behind = mantissa.partition(".")
    all_digits = before + behind
    digits = all_digits.lstrip("0")
    exponent = len(before) - 1 - (len(all_digits) - len(digits)) + int(power or 0)
    return digits.rstrip("0") or "0", exponent


def _plain(digits: str, exponent: int) -> str:
    if exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}"
    whole, rest = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{whole}.{rest or '0'}"

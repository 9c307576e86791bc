"""Call the users' Python functions: a result that is none of the function's type is a fault, as an exception is.

Spark would make NULL of such a result without a word.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

from sqlext.secrets import redact_text
from sqlext.types import LogicalType

#: How much of what a function raised is kept.
_LONGEST = 1000
#: How much of it is searched for secrets; a message may quote a value of many megabytes.
_SEARCHED = 20_000
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "INTEGER": 32, "BIGINT": 64}
_INEXACT = ("FLOAT", "DOUBLE")
_CLASSES: Mapping[str, tuple[type, ...]] = {
    "BOOLEAN": (bool,),
    "CHAR": (str,),
    "VARCHAR": (str,),
    "STRING": (str,),
    "BINARY": (bytes, bytearray),
    "VARBINARY": (bytes, bytearray),
    "BYTES": (bytes, bytearray),
    "TIMESTAMP": (datetime,),
    "TIMESTAMP_LTZ": (datetime,),
    "INTERVAL": (timedelta,),
    "ARRAY": (list, tuple),
    "MAP": (dict,),
    "ROW": (tuple, list, dict),
}
_MOST_DIGITS = 40


def plain(function: Callable[..., Any], returns: LogicalType) -> Callable[..., Any]:
    """Return a function that raises what the user's does, or TypeError for a result of another type."""

    def called(*arguments: Any) -> Any:
        return fitted(function(*arguments), returns)

    return called


def tried(function: Callable[..., Any], returns: LogicalType) -> Callable[..., tuple[Any, str | None]]:
    """Return a function that gives a value and what was raised, one of them None."""

    def called(*arguments: Any) -> tuple[Any, str | None]:
        try:
            return fitted(function(*arguments), returns), None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a function may raise anything, sys.exit() too: the row is kept
            return None, said(error)

    return called


def said(error: BaseException) -> str:
    """Return an exception with the place in the user's code that raised it, on one line, without secrets."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
    where = f" ({frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno})" if frames else ""
    # Half of a secret has no form that would tell it: it is hidden before the text is cut.
    text = redact_text(" ".join(f"{type(error).__name__}: {_text(error)[:_SEARCHED]}".split()))
    # What is no Unicode, as of a file's name, could not leave the process.
    return f"{text[:_LONGEST]}{where}".encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0")


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as other:  # noqa: BLE001 - an exception may even fail to say what it is
        return f"it cannot say more, for {type(other).__name__}"


def fitted(value: Any, type_: LogicalType) -> Any:
    """Return a value as one of a type.

    Raises:
        TypeError: for a value of another class.
        OverflowError: for a number that the type does not have.
        ValueError: for a text that is no Unicode, which could not leave the process.
    """
    if value is None:
        return None
    if hasattr(value, "dtype") and hasattr(value, "item") and not hasattr(value, "__len__"):
        value = value.item()  # a number of NumPy
    if type_.root in _BITS:
        return _integer(value, type_)
    if type_.root in _INEXACT:
        return float(_of(value, type_, (int, float)))
    if type_.root == "DECIMAL":
        return _decimal(value, type_)
    if type_.root == "DATE" and isinstance(value, datetime):
        raise _other(value, type_)
    found = _of(value, type_, (date,) if type_.root == "DATE" else _CLASSES.get(type_.root, (object,)))
    if isinstance(found, str) and not found.isascii():
        found.encode("utf-8")
    if type_.root == "ARRAY":
        return [fitted(item, type_.children[0]) for item in found]
    if type_.root == "MAP":
        key, item = type_.children
        return {fitted(k, key): fitted(v, item) for k, v in found.items()}
    return _row(found, type_) if type_.root == "ROW" else found


def _row(value: Any, type_: LogicalType) -> tuple[Any, ...]:
    if isinstance(value, dict):
        unknown = sorted(set(value) - {f.name for f in type_.fields})
        if unknown:
            raise TypeError(f"the function gives a field {unknown[0]!r}, which {type_} has not")
        value = [value.get(f.name) for f in type_.fields]
    if len(value) != len(type_.fields):
        raise TypeError(f"the function gives {len(value)} values for {type_}")
    return tuple(fitted(item, f.type) for item, f in zip(value, type_.fields, strict=True))


def _integer(value: Any, type_: LogicalType) -> int:
    number: int = _of(value, type_, (int,))
    half = 1 << (_BITS[type_.root] - 1)
    if not -half <= number < half:
        raise OverflowError(f"the function gives {number}, which is no {type_}")
    return number


def _decimal(value: Any, type_: LogicalType) -> Decimal:
    number = Decimal(_of(value, type_, (int, Decimal)))
    digits, scale = type_.precision or 0, type_.scale or 0
    with localcontext() as context:
        context.prec = _MOST_DIGITS
        try:
            rounded = number.quantize(Decimal(1).scaleb(-scale))
        except InvalidOperation:
            rounded = None
    if rounded is None or not rounded.is_finite() or rounded.copy_abs() >= Decimal(10) ** (digits - scale):
        raise OverflowError(f"the function gives {number}, which is no {type_}")
    return rounded


def _of(value: Any, type_: LogicalType, classes: tuple[type, ...]) -> Any:
    # To Python a bool is an int.
    if not isinstance(value, classes) or (isinstance(value, bool) and bool not in classes and object not in classes):
        raise _other(value, type_)
    return value


def _other(value: Any, type_: LogicalType) -> TypeError:
    return TypeError(f"the function gives {type(value).__name__}, and returns {type_}")

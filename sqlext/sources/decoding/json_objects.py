"""Make rows of parsed JSON objects, value by value, by the rules of Spark's JacksonParser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.json_scanner import BLANKS, WrittenArray, WrittenNumber, WrittenObject, decoded, scanned
from sqlext.sources.decoding.spark_casts import parser_of, to_date, to_decimal, to_instant, to_wall_clock

_MICROS = 1_000_000
#: A year has four digits at least.
_DAYS = re.compile(r"[+-]?[0-9]{1,3}")
#: Texts that Spark's JacksonParser takes for a FLOAT or a DOUBLE.
_SPECIAL = {"NaN": "nan", "Infinity": "inf", "+Infinity": "inf", "INF": "inf", "+INF": "inf", "-Infinity": "-inf"}
_SPECIAL["-INF"] = "-inf"

#: What fails for a text that is no JSON, or has a value that does not fit its column.
MALFORMED = (ValueError, TypeError, OverflowError)


class ObjectRows:
    """Collects objects as rows.

    Args:
        columns: those that are read; other keys are skipped, a missing key is NULL.
    """

    def __init__(self, columns: Sequence[ArrowField]) -> None:
        self._columns = columns
        self._converters = [(c.name, _converter(c.type)) for c in columns]
        self._made: dict[str, list[Any]] = {c.name: [] for c in columns}
        self._rows = 0

    def add(self, objects: Iterable[Mapping[str, Any]]) -> None:
        """Add objects, all or none; fails with one of ``MALFORMED``."""
        made = [[self._value(row, name, convert) for name, convert in self._converters] for row in objects]
        for row in made:
            for values, value in zip(self._made.values(), row, strict=True):
                values.append(value)
        self._rows += len(made)

    def _value(self, row: Mapping[str, Any], name: str, convert: Callable[[Any], Any]) -> Any:
        value = row.get(name)
        try:
            return None if value is None else convert(value)
        except MALFORMED as error:
            raise ValueError(f"a value does not fit its column: {name}") from error

    def batch(self) -> pa.RecordBatch:
        """Return all rows."""
        if not self._columns:
            return pa.record_batch({"": pa.nulls(self._rows)})
        return pa.record_batch({c.name: pa.array(self._made[c.name], c.type) for c in self._columns})


def add_line(rows: ObjectRows, line: bytes) -> None:
    """Add the object of a line of a file, or those of its array, as Spark's reader does.

    What stands behind it is not looked at. Python's parser comes first; where it or its values do not do, the scanner
    has the last word.

    Raises:
        ValueError: for one that is refused.
    """
    try:
        rows.add(_objects(_parsed(line)))
    except MALFORMED as error:
        try:
            objects = _objects(scanned(decoded(line)))
        except MALFORMED:
            raise error from None
        rows.add(objects)


def first_parsed(text: bytes) -> Any:
    """Return what a text says first, as Spark's ``from_json`` does: no object where nothing stands."""
    plain = text.decode("utf-8", "replace").strip(_BLANK)
    if not plain:
        return {}
    try:
        return _first(plain)
    except ValueError:
        return scanned(plain)


def _parsed(line: bytes) -> Any:
    """Return what a line says, by Python's parser; it does not see what is odd in halves of surrogate pairs."""
    if _HALVES.search(line):
        raise ValueError("it has halves of surrogate pairs")
    return _first(line.decode("utf-8").lstrip(BLANKS))


def _first(text: str) -> Any:
    try:
        return _DECODER.raw_decode(text)[0]
    # Its own message counts lines too: those of this text.
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON from character {error.pos + 1} on") from error
    except RecursionError as error:
        raise ValueError("it is nested deeply") from error


def _objects(found: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a line: one, or those of an array."""
    rows = found if isinstance(found, list) else [found]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("it is no JSON object")
    return rows


_BLANK = "".join(map(chr, range(33)))
_HALVES = re.compile(rb"\\u[dD][89a-fA-F]")
_DECODER = json.JSONDecoder(parse_int=WrittenNumber, parse_float=WrittenNumber, parse_constant=WrittenNumber)


def _converter(of: pa.DataType) -> Callable[[Any], Any]:
    """Return what makes a column's value of a parsed one; it raises ValueError for one that does not fit."""
    if pa.types.is_string(of):
        return _text
    if pa.types.is_boolean(of):
        return _boolean
    if pa.types.is_struct(of):
        return _row(of)
    if pa.types.is_integer(of):
        parse = parser_of(of)
        return lambda value: parse(_is(WrittenNumber, value))
    if pa.types.is_floating(of):
        return _float
    if pa.types.is_decimal(of):
        return lambda value: to_decimal(_decimal_text(value), of.precision, of.scale)
    if pa.types.is_date32(of):
        return lambda value: _date(_quoted(value))
    if not of.tz:
        return lambda value: to_wall_clock(_quoted(value), zoned=False)
    # A bare number is seconds since 1970, as in Spark's JacksonParser.
    return lambda value: int(value) * _MICROS if isinstance(value, WrittenNumber) else to_instant(_quoted(value))


def _row(of: pa.StructType) -> Callable[[Any], Any]:
    converters = [(field.name, _converter(field.type)) for field in of]

    def convert(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError(f"{value} is no object")
        found = {name: value.get(name) for name, _ in converters}
        return {name: None if found[name] is None else own(found[name]) for name, own in converters}

    return convert


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (WrittenObject, WrittenArray)):
        # A text that came whole is one of characters.
        value.text.encode()
        return value.text
    # Half of a surrogate pair is no character: Java shows it so.
    return _is(str, value).encode("utf-8", "replace").decode()


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value} is no BOOLEAN")
    return value


def _float(value: Any) -> float:
    if not isinstance(value, WrittenNumber) and value not in _SPECIAL:
        raise ValueError(f"{value} is no number")
    return float(_SPECIAL.get(value, value))


def _decimal_text(value: Any) -> str:
    """Return the text of a DECIMAL: in quotes commas between digits are left out, and blanks are not."""
    if isinstance(value, WrittenNumber):
        return value
    plain = _is(str, value).replace(",", "")
    if plain.strip(_BLANK) != plain:
        raise ValueError(f"{value} is no number")
    return plain


def _date(text: str) -> int:
    """Return a DATE in days. A number that is no year is days since 1970, as Spark 1.5 wrote them and still reads."""
    try:
        return to_date(text)
    except ValueError:
        if not _DAYS.fullmatch(text):
            raise
        return int(text)


def _quoted(value: Any) -> str:
    if isinstance(value, WrittenNumber):
        raise ValueError(f"{value} is no text")
    return _is(str, value)


def _is(kind: type[str], value: Any) -> str:
    if not isinstance(value, kind):
        raise ValueError(f"{value} does not fit its column")
    return value

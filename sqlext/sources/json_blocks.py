"""JSON, an object a line, in blocks of lines: by Arrow where its rules are those of Spark's reader, else line by line.

Lines that one program wrote, all of one layout, need no parser (``json_layout``).

Arrow takes several objects in a line for several rows and one over several lines for one; Spark does neither. Both
agree where a ``}`` ends each line and a ``{`` begins the next. Texts that Arrow refuses (a number for a STRING, a key
that stands twice) are looked at line by line, by the rules of Spark's JacksonParser.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyarrow import json as arrow_json

from sqlext.errors import SqlExtError
from sqlext.sources.fields import Field
from sqlext.sources.file_slices import Range
from sqlext.sources.json_layout import LayoutReader
from sqlext.sources.line_blocks import BLOCK_BYTES, blocks, can_cut
from sqlext.sources.spark_casts import parser_of, to_date, to_instant, to_wall_clock

_BETWEEN = (b"}\n{", b"}\r\n{")
_BLANK = bytes(range(33))
_MICROS = 1_000_000
_SPECIAL = {"NaN": "nan", "Infinity": "inf", "+Infinity": "inf", "INF": "inf", "+INF": "inf", "-Infinity": "-inf"}
_SPECIAL["-INF"] = "-inf"
_LINE_END = re.compile(rb"\r\n|\r|\n")


class _Number(str):
    """A number as it stands in the text."""

    __slots__ = ()


@dataclass(frozen=True)
class JsonDecoder:
    """Reads files of JSON objects.

    Attributes:
        columns: those that are read; other keys are skipped, a missing key is NULL.
    """

    columns: tuple[Field, ...]

    def can_cut(self, path: str) -> bool:
        """Return whether a file can be read in parts: an object never goes on behind a line end, as in Spark."""
        return can_cut(path)

    def read(self, part: Range) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the lines that begin in a part of a file.

        Raises:
            SqlExtError: RUN-100 for a line that is no JSON, or has a value that does not fit its column.
        """
        zoned, alike = False, LayoutReader(self.columns)
        for block in blocks(part):
            made = None
            if self.columns and _is_utf8(block):
                made = alike.read(block)
                if made is None:
                    made, zoned = self._by_arrow(block, zoned)
            yield made if made is not None else self._by_line(block, part.path)

    def _by_arrow(self, block: bytes, zoned: bool) -> tuple[pa.RecordBatch | None, bool]:
        """Return the rows of a block of UTF-8, None where Arrow may be wrong; and whether instants had zones."""
        for tried in (zoned, not zoned) if self._has_instants else (zoned,):
            try:
                table = arrow_json.read_json(pa.py_buffer(block), self._reading, self._parsing(tried))
            except pa.ArrowInvalid:
                continue
            if not _is_row_a_line(block, table.num_rows):
                return None, tried
            columns = {c.name: _as(table.column(c.name).combine_chunks(), c.type) for c in self.columns}
            return pa.record_batch(columns), tried
        return None, zoned

    def _by_line(self, block: bytes, path: str) -> pa.RecordBatch:
        made: dict[str, list[Any]] = {c.name: [] for c in self.columns}
        rows = 0
        for line in _LINE_END.split(block):
            if not line.strip(_BLANK):
                continue
            try:
                for row in _objects(line):
                    rows += 1
                    for column, convert in self._converters:
                        value = row.get(column.name)
                        made[column.name].append(None if value is None else convert(value))
            except (ValueError, TypeError, OverflowError) as error:
                text = line[:200].decode("utf-8", "replace")
                raise SqlExtError(
                    "RUN-100",
                    f"[MALFORMED_RECORD_IN_PARSING] {path}: {error} in {text}",
                    hint="'json.ignore-parse-errors' = 'true' skips such rows",
                ) from error
        if not self.columns:
            return pa.record_batch({"": pa.nulls(rows)})
        return pa.record_batch({c.name: pa.array(made[c.name], c.type) for c in self.columns})

    @cached_property
    def _converters(self) -> list[tuple[Field, Callable[[Any], Any]]]:
        return [(c, _converter(c.type)) for c in self.columns]

    @cached_property
    def _has_instants(self) -> bool:
        return any(pa.types.is_timestamp(c.type) and c.type.tz for c in self.columns)

    @property
    def _reading(self) -> arrow_json.ReadOptions:
        return arrow_json.ReadOptions(use_threads=False, block_size=4 * BLOCK_BYTES)

    def _parsing(self, zoned: bool) -> arrow_json.ParseOptions:
        schema = pa.schema([(c.name, _read_as(c.type, zoned)) for c in self.columns])
        return arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")


def _read_as(of: pa.DataType, zoned: bool) -> pa.DataType:
    return pa.timestamp("us") if pa.types.is_timestamp(of) and of.tz and not zoned else of


def _as(values: pa.Array, of: pa.DataType) -> pa.Array:
    return values if values.type == of else values.view(of)


def _is_row_a_line(block: bytes, rows: int) -> bool:
    """Return whether the rows that Arrow found are the lines: none blank, none of several objects, none of a part."""
    lines = block.strip(_BLANK)
    if lines.count(b"\n") != rows - 1 or lines.count(b"\r") != lines.count(b"\r\n"):
        return False
    return sum(lines.count(between) for between in _BETWEEN) == rows - 1


def _is_utf8(block: bytes) -> bool:
    if block.isascii():
        return True
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _objects(line: bytes) -> list[Mapping[str, Any]]:
    """Return the objects of a line: one, or those of an array."""
    text = line.decode("utf-8", "replace")
    found = json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
    rows = found if isinstance(found, list) else [found]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("no object")
    return rows


def _converter(of: pa.DataType) -> Callable[[Any], Any]:
    """Return what makes a column's value of a parsed one; it raises ValueError for one that does not fit."""
    if pa.types.is_string(of):
        return _text
    if pa.types.is_boolean(of):
        return _boolean
    if pa.types.is_integer(of):
        parse = parser_of(of)
        return lambda value: parse(_is(_Number, value))
    if pa.types.is_floating(of):
        return _float
    if pa.types.is_date32(of):
        return lambda value: to_date(_quoted(value))
    if not of.tz:
        return lambda value: to_wall_clock(_quoted(value))
    return lambda value: int(value) * _MICROS if isinstance(value, _Number) else to_instant(_quoted(value))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _is(str, value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value} is no BOOLEAN")
    return value


def _float(value: Any) -> float:
    if not isinstance(value, _Number) and value not in _SPECIAL:
        raise ValueError(f"{value} is no number")
    return float(_SPECIAL.get(value, value))


def _quoted(value: Any) -> str:
    if isinstance(value, _Number):
        raise ValueError(f"{value} is no text")
    return _is(str, value)


def _is(kind: type[str], value: Any) -> str:
    if not isinstance(value, kind):
        raise ValueError(f"{value} does not fit its column")
    return value

"""Decode JSON lines in blocks: by Arrow where its rules are those of Spark's reader, else line by line.

Lines that one program wrote, of few layouts, need no parser (``json_blocks``).

Arrow takes several objects in a line for several rows and one over several lines for one; Spark does neither. Both
agree where a ``}`` ends each line and a ``{`` begins the next. Texts that Arrow refuses (a number for a STRING, a key
that stands twice) are looked at line by line (``json_objects``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from sqlext.connectors.splits import Passes
from sqlext.sources.arrow_types import ArrowField, require_digits, with_fields
from sqlext.sources.decoding.json_blocks import LayoutReader
from sqlext.sources.decoding.json_objects import MALFORMED, ObjectRows, add_line
from sqlext.sources.decoding.json_scanner import BLANKS
from sqlext.sources.decoding.line_blocks import BLOCK_BYTES, LINE_END, blocks, can_cut, line_place
from sqlext.sources.decoding.malformed import SKIPS, malformed
from sqlext.sources.file_slices import Range
from sqlext_udfs.expressions.functions import WALL_CLOCK

_BETWEEN = (b"}\n{", b"}\r\n{")
#: What ends a time with a zone.
_ZONE = re.compile(rb'[0-9](?:Z|[+-][0-9:]{2,6})"')
_BLANK = bytes(range(33))
#: What JSON has between its tokens.
_SPACE = BLANKS.encode()


class JsonBlocks:
    """Reads blocks of lines without looking at each; keeps what those before were like.

    Args:
        columns: those that are read; other keys are skipped, a missing key is NULL.
    """

    def __init__(self, columns: Sequence[ArrowField]) -> None:
        self._columns = columns
        self._alike = LayoutReader(tuple(columns))
        self._has_instants = any(pa.types.is_timestamp(c.type) and c.type.tz for c in columns)
        self._has_inner_clocks = any(pa.types.is_struct(c.type) and _has_clocks(c.type) for c in columns)
        self._zoned = False

    def read(self, block: bytes) -> pa.RecordBatch | None:
        """Return the rows of a block, one for each line; None where each line must be looked at."""
        if not self._columns or not _is_utf8(block):
            return None
        made = self._alike.read(block)
        if made is not None:
            return made
        # Arrow's parser takes a wall clock in a row with a zone for the instant that it is; a layout's reader does not.
        return None if self._has_inner_clocks and _ZONE.search(block) else self._by_arrow(block)

    def _by_arrow(self, block: bytes) -> pa.RecordBatch | None:
        # As many rows: none of several objects in a line, none of a part of one.
        rows = _objects_in(block)
        if rows is None:
            return None
        # What fitted the block before comes first: a wrong guess parses a block twice.
        for zoned in (self._zoned, not self._zoned) if self._has_instants else (self._zoned,):
            try:
                table = arrow_json.read_json(pa.py_buffer(block), _READING, self._parsing(zoned))
                read = {c.name: _read(table.column(c.name).combine_chunks(), c) for c in self._columns}
            except pa.ArrowInvalid:
                continue
            self._zoned = zoned
            return pa.record_batch(read) if table.num_rows == rows else None
        return None

    def _parsing(self, zoned: bool) -> arrow_json.ParseOptions:
        schema = pa.schema([(c.name, _read_as(c.type, zoned)) for c in self._columns])
        return arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")


@dataclass(frozen=True)
class JsonDecoder:
    """Reads files of JSON objects.

    Attributes:
        columns: see ``JsonBlocks``.
    """

    columns: tuple[ArrowField, ...]

    def can_cut(self, path: str) -> bool:
        """Return whether a file can be read in parts: an object never goes on behind a line end, as in Spark."""
        return can_cut(path)

    def read(self, part: Range, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the lines that begin in a part of a file.

        Raises:
            SqlExtError: RUN-066 for a line that is no JSON, or has a value that does not fit its column.
        """
        reader = JsonBlocks(self.columns)
        for index, block in enumerate(blocks(part)):
            made = reader.read(block)
            yield self._by_line(block, partial(line_place, part, index)) if made is None else made

    def looking_at(self, types: Mapping[str, pa.DataType]) -> JsonDecoder:
        """Return the same; see ``LooksAtFields``."""
        return JsonDecoder(tuple(c._replace(looked_at=types.get(c.name)) for c in self.columns))

    def _by_line(self, block: bytes, place: Callable[[int], str]) -> pa.RecordBatch:
        made = ObjectRows(self.columns)
        for number, line in enumerate(LINE_END.split(block)):
            if not line.strip(_SPACE):
                continue
            try:
                add_line(made, line)
            except MALFORMED as error:
                raise malformed(place(number), line, error, SKIPS.format(form="json")) from error
        batch = made.batch()
        if all(c.looked_at is None for c in self.columns):
            return batch
        return pa.record_batch({c.name: with_fields(batch.column(c.name), c.made) for c in self.columns})


# Larger than a block and the end of its last line: Arrow refuses an object that crosses its own blocks.
# Spark runs a task for each core, so threads of Arrow would only compete with them.
_READING = arrow_json.ReadOptions(use_threads=False, block_size=4 * BLOCK_BYTES)


def _read_as(of: pa.DataType, zoned: bool) -> pa.DataType:
    """Return the type as which Arrow reads a column.

    To it a DATE of JSON would be a number of days, and a wall clock with a zone the instant that it is.
    """
    if pa.types.is_date32(of) or of == WALL_CLOCK:
        return pa.string()
    return pa.timestamp("us") if pa.types.is_timestamp(of) and of.tz and not zoned else of


def _read(values: pa.Array, column: ArrowField) -> pa.Array:
    return with_fields(_as(values, column.type), column.made)


def _as(values: pa.Array, of: pa.DataType) -> pa.Array:
    if values.type == of:
        require_digits(values)
        return values
    return values.cast(of) if pa.types.is_string(values.type) else values.view(of)


def _has_clocks(of: pa.DataType) -> bool:
    return any(field.type == WALL_CLOCK or (pa.types.is_struct(field.type) and _has_clocks(field.type)) for field in of)


def _objects_in(block: bytes) -> int | None:
    """Return how many lines a block has if each begins and ends as an object does; None if one does not.

    Arrow's parser ends the process where `null` begins a block, so it gets no other.
    """
    lines = block.strip(_BLANK)
    ends = lines.count(b"\n")
    if not lines.startswith(b"{") or lines.count(b"\r") != lines.count(b"\r\n"):
        return None
    return ends + 1 if sum(lines.count(between) for between in _BETWEEN) == ends else None


def _is_utf8(block: bytes) -> bool:
    # By numpy, since `isascii` holds the interpreter for as long: other threads would wait.
    if not len(block) or np.frombuffer(block, np.int8).min() >= 0:
        return True
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True

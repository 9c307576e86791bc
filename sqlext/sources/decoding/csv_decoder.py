"""Decode CSV in blocks of lines: by Arrow where its rules are those of Spark and Flink, else text by text.

Lines of integers and times need no parser (``csv_fields``). Arrow differs in what it takes for a number (``0x1F``, no
``+5``, no blanks), in quotes that stand inside a field, in lines of blanks, and in texts that are no UTF-8. Cheap looks
at the bytes, or Arrow's own refusal, find the blocks where that could matter; these are read as texts, and cast as
Spark casts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from sqlext.connectors.splits import Passes
from sqlext.errors import SqlExtError
from sqlext.sources.arrow_types import ArrowField, require_digits
from sqlext.sources.decoding.csv_fields import FieldReader
from sqlext.sources.decoding.line_blocks import LINE_END, blocks, can_cut, first_failing, java_text, line_place
from sqlext.sources.decoding.malformed import BAD_ROW, at_line
from sqlext.sources.decoding.spark_casts import cast_texts
from sqlext.sources.file_slices import Range

_BLANK = bytes(range(33))
#: What only a number in base 16 has, and how it begins: one byte is found ten times faster than two.
_HEXADECIMAL = ((b"x", b"0x"), (b"X", b"0X"))


@dataclass(frozen=True)
class CsvDecoder:
    """Reads csv files.

    Attributes:
        columns: all that a line has, in order.
        needed: the names of those that are read.
        delimiter, quote: one character each; no quote: quotes mean nothing.
        null: the text that stands for NULL, in any column.
    """

    columns: tuple[ArrowField, ...]
    needed: tuple[str, ...]
    delimiter: str = ","
    quote: str | None = '"'
    null: str | None = None

    def can_cut(self, path: str) -> bool:
        """Return whether a file can be read in parts: a line never goes on behind a line end, as in Spark."""
        return can_cut(path)

    def read(self, part: Range, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the lines that begin in a part of a file.

        Raises:
            SqlExtError: RUN-066 for a line of the wrong length, for a field that its type cannot hold.
        """
        plain = FieldReader(self.columns, self.read_columns, self.delimiter, self.quote or "", self.null or "")
        for index, block in enumerate(blocks(part)):
            made = plain.read(block)
            if made is not None:
                yield made
                continue
            try:
                made = self.decoded(block)
            except (pa.ArrowInvalid, SqlExtError) as error:
                raise self._refused(part, index, block, error) from error
            yield made

    def _refused(self, part: Range, index: int, block: bytes, error: Exception) -> SqlExtError:
        """Return what is wrong with a block, at the first line that cannot be read by itself if there is one."""
        lines = LINE_END.split(block)
        number = first_failing(lines, lambda some: self._why_not(some, self.decoded) is not None)
        if number is not None:
            line = lines[number]
            # Taken alone it is refused in words of ours, unless the two ways differ.
            why = self._why_not(line, self.line) or self._why_not(line + b"\n", self.decoded)
            if why is not None:
                return at_line(why, line_place(part, index, number), line)
        return (
            error
            if isinstance(error, SqlExtError)
            else SqlExtError(BAD_ROW, f"[MALFORMED_RECORD] {part.path}: {error}")
        )

    def _why_not(self, text: bytes, read: Callable[[bytes], pa.RecordBatch]) -> SqlExtError | None:
        try:
            read(text)
        except pa.ArrowInvalid as error:
            return SqlExtError(BAD_ROW, f"[MALFORMED_RECORD] {error}")
        except SqlExtError as error:
            return error
        return None

    def decoded(self, block: bytes) -> pa.RecordBatch:
        """Return the rows of some lines.

        Raises:
            SqlExtError: RUN-066 for quotes and fields of which parsers make different things.
            pa.ArrowInvalid: for any other line that cannot be read.
        """
        if self.quote and self.quote.encode() in block and not self._has_whole_quotes(block):
            return self._by_fields([line for line in LINE_END.split(block) if line.strip(_BLANK)])
        if not self._needs_care(block):
            # Arrow reads a column of times with a zone in each text, or in none.
            for zoned in (False, True) if self._has_instants else (False,):
                try:
                    return self._typed(block, zoned)
                except pa.ArrowInvalid:
                    continue
        return self._cast(block)

    def _needs_care(self, block: bytes) -> bool:
        # With one column a line of blanks may be a value; parsers differ there.
        return len(self.columns) == 1 or (
            self._has_integers and any(x in block and h in block for x, h in _HEXADECIMAL)
        )

    def _typed(self, block: bytes, zoned: bool) -> pa.RecordBatch:
        types = {c.name: _read_as(c.type, zoned) for c in self.read_columns}
        table = csv.read_csv(pa.py_buffer(block), self._reading, self._parsing, self._converting(types))
        made = {}
        for column in self.read_columns:
            values = table.column(column.name).combine_chunks()
            require_digits(values)
            # Arrow and Spark spell infinity and NaN differently: Spark's rules decide.
            if pa.types.is_floating(column.type) and not _all_finite(values):
                raise pa.ArrowInvalid("not a finite number")
            made[column.name] = _boolean(values) if pa.types.is_boolean(column.type) else _as(values, column.type)
        return pa.record_batch(made)

    def _cast(self, block: bytes) -> pa.RecordBatch:
        """Return a block's rows from texts: exact, a hundred times slower where there are many different ones."""
        lines = (line for line in block.splitlines() if line.strip(_BLANK))
        text = java_text(b"\n".join(lines)).encode()
        types = dict.fromkeys((c.name for c in self.read_columns), pa.string())
        table = csv.read_csv(pa.py_buffer(text + b"\n"), self._reading, self._parsing, self._converting(types))
        return self._of_texts({c.name: table.column(c.name).combine_chunks() for c in self.read_columns})

    def line(self, text: bytes) -> pa.RecordBatch:
        """Return the row of a text in which a line end is a character like any other.

        Raises:
            SqlExtError: RUN-066 for one that cannot be read.
        """
        return self._by_fields([text])

    def _by_fields(self, lines: Sequence[bytes]) -> pa.RecordBatch:
        """Return the rows of some lines, field by field."""
        texts: dict[str, list[str | None]] = {c.name: [] for c in self.columns}
        for line in lines:
            fields = self._fields(java_text(line))
            if not line or len(fields) != len(self.columns):
                raise SqlExtError(BAD_ROW, f"[MALFORMED_RECORD] it has {len(fields)} fields, not {len(self.columns)}")
            for values, field in zip(texts.values(), fields, strict=True):
                values.append(None if field == self.null else field)
        return self._of_texts({c.name: pa.array(texts[c.name], pa.string()) for c in self.read_columns})

    def _fields(self, text: str) -> list[str]:
        found: list[str] = []
        place = 0
        while place <= len(text):
            field, end = self._field(text, place)
            found.append(field)
            place = end + 1
        return found

    def _field(self, text: str, place: int) -> tuple[str, int]:
        """Return the field that begins at a place, and where it ends."""
        quote = self.quote or ""
        if quote and text.startswith(quote, place):
            for form in self._quoted_fields:
                found = form.match(text, place)
                if found is not None:
                    return found[1].replace(quote * 2, quote) if found.end() > place + 1 else quote, found.end()
            raise self._odd_quote()
        end = text.find(self.delimiter, place)
        end = len(text) if end < 0 else end
        return text[place:end], end

    def _of_texts(self, texts: Mapping[str, pa.Array]) -> pa.RecordBatch:
        made = {}
        for column in self.read_columns:
            values = texts[column.name]
            if pa.types.is_boolean(column.type):
                values = _boolean(values)
            elif not pa.types.is_string(column.type):
                values = cast_texts(values, column.type, column.name)
            made[column.name] = values
        return pa.record_batch(made)

    def _has_whole_quotes(self, block: bytes) -> bool:
        """Return whether all quotes stand around whole fields, or doubled in these: so much all parsers agree on."""
        quote = (self.quote or "").encode()
        return block.count(quote) == sum(m.group().count(quote) for m in self._quoted.finditer(block))

    def _odd_quote(self) -> SqlExtError:
        return SqlExtError(
            BAD_ROW, f"[MALFORMED_RECORD] a csv field in {self.quote} has a {self.quote} that is not doubled"
        )

    @cached_property
    def _quoted(self) -> re.Pattern[bytes]:
        quote, delimiter = re.escape((self.quote or "").encode()), re.escape(self.delimiter.encode())
        field = rb"%b[^%b\r\n]*(?:%b%b[^%b\r\n]*)*%b" % ((quote,) * 6)
        return re.compile(rb"(?:(?<=[%b\r\n])|\A)%b(?=[%b\r\n]|\Z)" % (delimiter, field, delimiter))

    @cached_property
    def _quoted_fields(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """A field that a quote begins: another ends it, blanks may follow; or it is left open, and the line ends it."""
        quote, delimiter = re.escape(self.quote or ""), re.escape(self.delimiter)
        inner = f"{quote}([^{quote}]*(?:{quote}{quote}[^{quote}]*)*)"
        blanks = f"(?:(?!{delimiter})[\\x00-\\x20])*"
        return re.compile(f"{inner}{quote}{blanks}(?={delimiter}|\\Z)"), re.compile(f"{inner}\\Z")

    @cached_property
    def read_columns(self) -> tuple[ArrowField, ...]:
        """The columns that are read; Arrow needs one to count rows by."""
        found = tuple(c for c in self.columns if c.name in self.needed)
        return found or self.columns[:1]

    @cached_property
    def _has_instants(self) -> bool:
        return any(pa.types.is_timestamp(c.type) and c.type.tz for c in self.read_columns)

    @cached_property
    def _has_integers(self) -> bool:
        return any(pa.types.is_integer(c.type) for c in self.read_columns)

    @property
    def _reading(self) -> csv.ReadOptions:
        # Above any block: Arrow refuses a line that crosses its own blocks (1 MB by default).
        return csv.ReadOptions(use_threads=False, column_names=[c.name for c in self.columns], block_size=1 << 30)

    @property
    def _parsing(self) -> csv.ParseOptions:
        return csv.ParseOptions(delimiter=self.delimiter, quote_char=self.quote or False)

    def _converting(self, types: dict[str, pa.DataType]) -> csv.ConvertOptions:
        return csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=[] if self.null is None else [self.null],
            strings_can_be_null=self.null is not None,
            quoted_strings_can_be_null=self.null is not None,
        )


def _read_as(of: pa.DataType, zoned: bool) -> pa.DataType:
    """Return the type as which Arrow reads a column: instants without their zone, unless there is one in each text."""
    if pa.types.is_boolean(of):
        return pa.string()
    return pa.timestamp("us") if pa.types.is_timestamp(of) and of.tz and not zoned else of


def _as(values: pa.Array, of: pa.DataType) -> pa.Array:
    return values if values.type == of else values.view(of)


def _boolean(texts: pa.Array) -> pa.Array:
    # As Flink's csv: any other text is FALSE, none is an error.
    return pc.equal(pc.utf8_lower(pc.utf8_trim(texts, " ")), "true")


def _all_finite(values: pa.Array) -> bool:
    return bool(pc.all(pc.is_finite(values)).as_py() is not False)

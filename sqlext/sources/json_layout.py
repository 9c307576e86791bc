"""JSON lines of one layout: the same keys in the same order with the same blanks, as one program writes them.

Their values stand between texts that are the same in each line, so the places of quotes and line ends say where. That
takes half the time of a parser that looks for keys. A block is only read so if it must mean the same to one: each line
is those texts, byte by byte; there is no escape, no control character, and values are of the types that are wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.sources.fields import Field
from sqlext.udfs.core.groups import Ints

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

_PAIR = re.compile(rb' *"([^"\\]*)" *: *(?:"[^"\\]*"|[^,"{}\[\]\s]+)(?= *[,}])')
_COMMA = re.compile(rb" *,")
_BLANK, _QUOTE, _MINUS, _ZERO, _NINE, _NEW_LINE = b' "-09\n'
_POINT, _EXPONENT = b".", (b"e", b"E")
_TRUTH, _NULL = pa.array(["true", "false"]), b"null"


#: How much is looked at in one go: little enough to stay in the processor's cache, which doubles the speed.
_PIECE = 1 << 19
#: After so many blocks of other layouts no more of a file are tried.
_TRIES = 2


class Unlike(Exception):  # noqa: N818 - not an error: a parser reads the block
    """A block whose lines are not sure to be of one layout."""


@dataclass(frozen=True, slots=True)
class Value:
    """Where a value stands in a line.

    Attributes:
        key: its own.
        quoted: whether it stands in quotes.
        word: whether it is ``true`` or ``false``.
        before: the text between the value before (or the line's begin) and this one.
        opening: how far in ``before`` the key's first quote is.
    """

    key: str
    quoted: bool
    word: bool
    before: bytes
    opening: int

    @property
    def behind_key(self) -> int:
        """How far the value is from the quote that ends its key."""
        return len(self.before) - self.before.index(b'"', self.opening + 1)


@dataclass(frozen=True, slots=True)
class Layout:
    """How lines look.

    Attributes:
        values: in their order.
        end: the text behind the last value, with the line end.
    """

    values: tuple[Value, ...]
    end: bytes

    @property
    def quotes(self) -> int:
        """How many quotes a line has."""
        return sum(4 if v.quoted else 2 for v in self.values)


class LayoutReader:
    """Reads the blocks of one file whose lines look alike.

    Args:
        columns: what is read.
    """

    def __init__(self, columns: Sequence[Field]) -> None:
        self._columns = columns
        self._layout: Layout | None = None
        self._zoned = False
        self._tries = _TRIES

    def read(self, block: bytes) -> pa.RecordBatch | None:
        """Return a block's rows; None if a parser must read it.

        Args:
            block: whole lines of UTF-8; the last may lack its end.
        """
        if not self._tries:
            return None
        try:
            return self._read(block if block.endswith(b"\n") else block + b"\n")
        except (Unlike, pa.ArrowInvalid):
            self._tries -= 1
            self._layout = None
            return None

    def _read(self, block: bytes) -> pa.RecordBatch:
        if self._layout is None:
            self._layout = layout_of(block[: block.index(b"\n")])
        try:
            return self._pieces(block, self._layout)
        except pa.ArrowInvalid:
            self._zoned = not self._zoned
            return self._pieces(block, self._layout)

    def _pieces(self, block: bytes, layout: Layout) -> pa.RecordBatch:
        made = [read_block(piece, layout, self._columns, zoned=self._zoned) for piece in _pieces(block)]
        return made[0] if len(made) == 1 else pa.Table.from_batches(made).combine_chunks().to_batches()[0]


def _pieces(block: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(block):
        end = block.index(b"\n", min(place + _PIECE, len(block)) - 1) + 1
        yield block[place:end]
        place = end


def layout_of(line: bytes) -> Layout:
    """Return the layout of a line, without its end.

    Raises:
        Unlike: for one that is no flat object, or has a key twice.
    """
    if not line.startswith(b"{"):
        raise Unlike
    place, end, values = 1, 0, []
    while pair := _PAIR.match(line, place):
        text = line[pair.end(1) + 1 : pair.end()]
        quoted = text.endswith(b'"')
        start = pair.end(1) + 1 + (text.index(b'"') + 1 if quoted else len(text) - len(text.lstrip(b" :")))
        word = text.endswith((b"true", b"false"))
        values.append(Value(pair[1].decode(), quoted, word, line[end:start], pair.start(1) - 1 - end))
        end = pair.end() - quoted
        comma = _COMMA.match(line, pair.end())
        if comma is None:
            break
        place = comma.end()
    if not values or line[end:].strip(b'" ') != b"}" or len({v.key for v in values}) < len(values):
        raise Unlike
    return Layout(tuple(values), line[end:] + b"\n")


def read_block(block: bytes, layout: Layout, columns: Sequence[Field], *, zoned: bool) -> pa.RecordBatch:
    """Return the rows of a block of lines of UTF-8.

    Args:
        block: whole lines, the last with its end.
        layout: that its lines seem to have.
        columns: what is read; NULL where no key says it.
        zoned: whether instants are texts with a zone.

    Raises:
        Unlike: if a parser might read other rows, or refuse some.
        ArrowInvalid: for a value that does not fit its type.
    """
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == _NEW_LINE)
    if b"\\" in block or np.count_nonzero(data < _BLANK) != len(ends):
        raise Unlike
    quotes = np.flatnonzero(data == _QUOTE)
    if not len(ends) or len(quotes) != len(ends) * layout.quotes:
        raise Unlike
    wanted = {c.name: c for c in columns}
    made: dict[str, pa.Array] = {}
    for value, start, end in _places(data, quotes.reshape(len(ends), layout.quotes), ends, layout):
        texts = _Texts(block, data, start, end)
        if (column := wanted.get(value.key)) is not None:
            made[value.key] = texts.values(column.type, quoted=value.quoted, zoned=zoned)
        elif not value.quoted:  # which nobody reads; that it is JSON must be seen
            texts.values(pa.bool_() if value.word else pa.float64(), quoted=False, zoned=zoned)
    return pa.record_batch({c.name: made[c.name] if c.name in made else pa.nulls(len(ends), c.type) for c in columns})


def _places(data: Bytes, quotes: Ints, ends: Ints, layout: Layout) -> Iterator[tuple[Value, Ints, Ints]]:
    """Yield values with where they begin and end in each line, when what is between them is as it must be."""
    last = np.concatenate(([0], ends[:-1] + 1))
    at = 0
    for i, value in enumerate(layout.values):
        start = quotes[:, at + 2] + 1 if value.quoted else quotes[:, at + 1] + value.behind_key
        at += 4 if value.quoted else 2
        if value.quoted:
            end = quotes[:, at - 1]
        elif i + 1 < len(layout.values):
            end = quotes[:, at] - layout.values[i + 1].opening
        else:
            end = ends + 1 - len(layout.end)
        _check(data, last, start, value.before)
        if np.any(end < start):
            raise Unlike
        yield value, start, end
        last = end
    _check(data, last, ends + 1, layout.end)


def _check(data: Bytes, start: Ints, end: Ints, text: bytes) -> None:
    """Raise ``Unlike`` unless this text is what stands between two places of each line."""
    if np.any(end - start != len(text)):
        raise Unlike
    for i, byte in enumerate(text):
        if byte != _QUOTE and np.any(data[start + i] != byte):
            raise Unlike


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of one value.

    Attributes:
        block, data: what they stand in.
        start, end: where.
    """

    block: bytes
    data: Bytes
    start: Ints
    end: Ints

    def values(self, of: pa.DataType, *, quoted: bool, zoned: bool) -> pa.Array:
        """Return them as values of a type."""
        if quoted:
            return self._quoted(of, zoned)
        texts = self._texts()
        nulls = self.data[self.start] == _NULL[0]
        if np.any(nulls):
            known = pa.array(~nulls)
            if pc.any(pc.not_equal(texts.filter(pc.invert(known)), _NULL.decode())).as_py():
                raise Unlike
            some = _Texts(self.block, self.data, self.start[~nulls], self.end[~nulls])
            return pc.replace_with_mask(pa.nulls(len(texts), of), known, some._bare(texts.filter(known), of))
        return self._bare(texts, of)

    def _bare(self, texts: pa.Array, of: pa.DataType) -> pa.Array:
        """Return values that stand without quotes."""
        if pa.types.is_boolean(of):
            if not pc.all(pc.is_in(texts, _TRUTH)).as_py():
                raise Unlike
            return pc.equal(texts, "true")
        if not pa.types.is_integer(of) and not pa.types.is_floating(of):
            raise Unlike
        self._check_numbers(whole=pa.types.is_integer(of))
        return texts.cast(of)

    def _quoted(self, of: pa.DataType, zoned: bool) -> pa.Array:
        if pa.types.is_string(of):
            return self._texts()
        if pa.types.is_timestamp(of):
            read = pa.timestamp("us") if of.tz and not zoned else of
            values = self._texts().cast(read)
            return values if read == of else values.view(of)
        if pa.types.is_date32(of):
            return self._texts().cast(of)
        raise Unlike

    def _check_numbers(self, *, whole: bool) -> None:
        """Raise ``Unlike`` for what Arrow takes for a number, and JSON does not: ``+1 .5 1. 01 0x1 inf``."""
        length = self.end - self.start
        if np.any(length < 1):
            raise Unlike
        negative = self.data[self.start] == _MINUS
        first = self.start + negative
        digits = length - negative
        lead = self.data[first]
        if np.any((digits < 1) | (lead < _ZERO) | (lead > _NINE) | ~_is_digit(self.data[self.end - 1])):
            raise Unlike
        zeros = first[(lead == _ZERO) & (digits > 1)]
        if len(zeros) and (whole or not np.all(np.isin(self.data[zeros + 1], list(b".eE")))):
            raise Unlike
        if not whole and any(_POINT + e in self.block for e in _EXPONENT):
            raise Unlike

    def _texts(self) -> pa.Array:
        """Return the texts: every other one of those that the block falls into."""
        rows = len(self.start)
        offsets = np.empty(2 * rows, np.int32)
        offsets[0::2], offsets[1::2] = self.start, self.end
        parts = pa.StringArray.from_buffers(2 * rows - 1, pa.py_buffer(offsets), pa.py_buffer(self.block))
        return parts.take(pa.array(np.arange(0, 2 * rows, 2, dtype=np.int32)))


def _is_digit(bytes_: Bytes) -> Any:
    return (bytes_ >= _ZERO) & (bytes_ <= _NINE)

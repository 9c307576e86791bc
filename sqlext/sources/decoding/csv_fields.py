"""Decode CSV lines of integers and times without a parser: the places of delimiters and line ends say where they are.

That takes half the time of a parser that looks at each byte. A block is only read so if it must mean the same to one:
as many fields in each line as there are columns, no quote, no control character, and values of the plainest form.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.byte_words import ByteWords, column
from sqlext.sources.decoding.line_blocks import piece_end
from sqlext_udfs.kernel.groups import Ints

#: How much is looked at in one go: little enough to stay near the processor, and enough to make up for numpy's calls.
_PIECE = 1 << 21
#: After so many blocks of other lines no more are tried.
_TRIES = 2
_BLANK, _NEW_LINE, _ZONE = b" \nZ"


class FieldReader:
    """Reads the blocks of one file.

    Args:
        columns: all that a line has, in order.
        needed: those that are read.
        delimiter, quote, null: as of ``CsvDecoder``.
    """

    def __init__(
        self, columns: Sequence[ArrowField], needed: Sequence[ArrowField], delimiter: str, quote: str, null: str
    ) -> None:
        self._columns, self._needed = columns, {column.name for column in needed}
        self._delimiter, self._quote = delimiter.encode(), quote.encode()
        # A text without digits is no value here. In a line of one column blanks may be one.
        plain = all(map(_is_plain, needed)) and not any(c.isdigit() for c in null)
        plain = plain and len(columns) > 1 and len(self._delimiter) == 1 and self._delimiter > b" "
        self._tries = _TRIES if plain else 0

    def read(self, block: bytes) -> pa.RecordBatch | None:
        """Return a block's rows; None if a parser must read it."""
        if not self._tries:
            return None
        made = None if self._quote and self._quote in block else self._read(block)
        self._tries = self._tries - 1 if made is None else _TRIES
        return made

    def _read(self, block: bytes) -> pa.RecordBatch | None:
        block = block if block.endswith(b"\n") else block + b"\n"
        made, place, whole = [], 0, memoryview(block)
        while place < len(block):
            end = piece_end(block, place, _PIECE)
            rows = self._piece(ByteWords(whole[place:end]))
            if rows is None:
                return None
            made.append(rows)
            place = end
        return pa.Table.from_batches(made).combine_chunks().to_batches()[0]

    def _piece(self, words: ByteWords) -> pa.RecordBatch | None:
        spans = self._spans(words)
        if spans is None:
            return None
        read = [(of, *spans[i]) for i, of in enumerate(self._columns) if of.name in self._needed]
        instants = [int(ends[0]) for of, _, ends in read if pa.types.is_timestamp(of.type) and of.type.tz]
        # To a parser a block has a zone in each text of an instant, or in none.
        zoned = any(words.data[end - 1] == _ZONE for end in instants)
        try:
            made = {of.name: _values(words, of.type, starts, ends, zoned=zoned) for of, starts, ends in read}
        except pa.ArrowInvalid:  # a number that is too large
            return None
        return None if any(values is None for values in made.values()) else pa.record_batch(made)

    def _spans(self, words: ByteWords) -> list[tuple[Ints, Ints]] | None:
        """Return where the fields of each column begin and end."""
        line_ends = np.flatnonzero(words.data < _BLANK)
        fields = len(line_ends) * (len(self._columns) - 1)
        if (words.data[line_ends] != _NEW_LINE).any():
            return None
        if np.count_nonzero(words.data == self._delimiter[0]) != fields:
            return None
        spans, starts = [], np.concatenate(([0], line_ends[:-1] + 1))
        for _ in self._columns[1:]:
            ends = words.until(starts, self._delimiter[0])
            if ends is None:
                return None
            spans.append((starts, ends))
            starts = ends + 1
        # All delimiters were found. None of a line was taken for one of the line before: its last field begins in it.
        return None if (line_ends < starts).any() else [*spans, (starts, line_ends)]


def _is_plain(of: ArrowField) -> bool:
    return bool(pa.types.is_integer(of.type) or (pa.types.is_timestamp(of.type) and of.type.unit == "us"))


def _values(words: ByteWords, of: pa.DataType, starts: Ints, ends: Ints, *, zoned: bool) -> pa.Array | None:
    if pa.types.is_integer(of):
        found = words.integers(starts, ends)
    else:
        found = words.times(starts, ends, zoned=zoned and of.tz is not None)
    return None if found is None else column(found, of)

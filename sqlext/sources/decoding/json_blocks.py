"""Decode JSON lines of few layouts without a parser: the same keys in the same order with the same blanks.

Their values stand between texts that are the same in each line of a layout, so the places of quotes and line ends say
where. That takes half the time of a parser that looks for keys. A block is only read so if it must mean the same to
one: each line is the texts of its layout, byte by byte; there is no escape, no control character, and values are of the
types that are wanted. Kinds of events in one file are layouts of their own, and so are lines whose text is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.json_by_quotes import fitting_by_quotes
from sqlext.sources.decoding.json_by_texts import TRIES, KnownLayout, by_texts
from sqlext.sources.decoding.json_fitting import Fitting, JsonLines, without
from sqlext.sources.decoding.json_layout import layout_of
from sqlext.sources.decoding.json_texts import Unlike
from sqlext.sources.decoding.line_blocks import piece_end
from sqlext_udfs.kernel.groups import Ints

#: How many lines are looked at in one go, up to so many bytes: few enough for their columns to stay near the processor,
#: and enough to make up for numpy's calls. So many bytes tell how long lines are.
_LINES, _PIECE, _FIRST = 80_000, 1 << 23, 1 << 16
#: After so many blocks of other layouts no more of a file are tried, and so many layouts a file may have.
_TRIES, _LAYOUTS = 2, 16
#: The end of an instant with a zone.
_ZONED = re.compile(rb'\d(?:Z|[+-]\d\d:\d\d)"')


class LayoutReader:
    """Reads the blocks of one file whose lines look alike.

    Args:
        columns: what is read.
    """

    def __init__(self, columns: Sequence[ArrowField]) -> None:
        self._columns = columns
        self._layouts: list[KnownLayout] = []
        # Whether instants have a zone, as Flink writes them. A wrong guess is another reading of a block.
        self._zoned: bool | None = None
        self._tries = _TRIES

    def read(self, block: bytes) -> pa.RecordBatch | None:
        """Return a block's rows; None if a parser must read it.

        Args:
            block: whole lines of UTF-8; the last may lack its end.
        """
        if not self._tries:
            return None
        try:
            if b"\\" in block:
                raise Unlike
            return self._read(block if block.endswith(b"\n") else block + b"\n")
        except (Unlike, pa.ArrowInvalid):
            self._tries -= 1
            self._layouts.clear()
            return None

    def _read(self, block: bytes) -> pa.RecordBatch:
        guess = self._zoned if self._zoned is not None else _ZONED.search(block, 0, _FIRST) is not None
        try:
            made, self._zoned = self._pieces(block, zoned=guess), guess
        # The first guess about zones, or the last block's, may be wrong for this one.
        except pa.ArrowInvalid:
            made, self._zoned = self._pieces(block, zoned=not guess), not guess
        return made

    def _pieces(self, block: bytes, *, zoned: bool) -> pa.RecordBatch:
        made = [read_block(piece, self._layouts, self._columns, zoned=zoned) for piece in self._cut(block)]
        return made[0] if len(made) == 1 else pa.Table.from_batches(made).combine_chunks().to_batches()[0]

    def _cut(self, block: bytes) -> Iterator[memoryview]:
        """Yield a block in pieces."""
        place, whole = 0, memoryview(block)
        size = min(_LINES * _FIRST // max(1, block.count(b"\n", 0, _FIRST)), _PIECE)
        while place < len(block):
            end = piece_end(block, place, size)
            yield whole[place:end]
            place = end


def read_block(
    block: memoryview, layouts: list[KnownLayout], columns: Sequence[ArrowField], *, zoned: bool
) -> pa.RecordBatch:
    """Return the rows of a block of lines of UTF-8.

    Args:
        block: whole lines without a backslash, the last with its end.
        layouts: that its lines seem to have; those of other lines are added.
        columns: what is read; NULL where no key says it.
        zoned: whether instants are texts with a zone.

    Raises:
        Unlike: if a parser might read other rows, or refuse some.
        ArrowInvalid: for a value that does not fit its type.
    """
    lines = JsonLines(block)
    if not layouts:
        layouts.append(_another(layouts, lines.text(0)))
    found = _found(lines, layouts)
    # Most lines first: those that are left are few.
    found.sort(key=lambda fitting: -len(fitting.rows))
    layouts.sort(key=lambda known: next((n for n, of in enumerate(found) if of.layout is known.layout), len(found)))
    parts = [(fitting.rows, fitting.columns(columns, zoned=zoned)) for fitting in found]
    return pa.record_batch(_in_order(parts), names=[c.name for c in columns])


def _found(lines: JsonLines, layouts: list[KnownLayout]) -> list[Fitting]:
    """Return the lines of each layout, by texts as long as that is not in vain; raises as ``read_block``."""
    known = tuple(layouts)
    with_texts = by_texts(lines, known) if all(of.tries for of in known) else None
    found = with_texts or _by_quotes(lines, layouts)
    # Where a layout was not known yet, nothing is said of the others.
    if with_texts is not None or len(layouts) == len(known):
        for of in known:
            of.tries = TRIES if with_texts is not None else max(of.tries - 1, 0)
    return found


def _by_quotes(lines: JsonLines, layouts: list[KnownLayout]) -> list[Fitting]:
    """Return the lines of each layout, by the places of their quotes; layouts of other lines are added."""
    left, found, tried = np.arange(len(lines.ends)), [], 0
    while len(left):
        if tried == len(layouts):
            layouts.append(_another(layouts, lines.text(int(left[0]))))
        fitting = fitting_by_quotes(lines, left, layouts[tried].layout)
        if len(fitting.rows):
            found.append(fitting)
            left = without(left, fitting.rows)
        tried += 1
    return found


def _another(layouts: Sequence[KnownLayout], line: bytes) -> KnownLayout:
    """Return the layout of a line that has none of those that are known."""
    found = layout_of(line)
    if any(known.layout == found for known in layouts) or len(layouts) == _LAYOUTS:
        raise Unlike
    return KnownLayout(found)


def _in_order(parts: Sequence[tuple[Ints, list[pa.Array]]]) -> list[pa.Array]:
    """Return columns in the order of lines, of those of each layout."""
    if not parts:
        raise Unlike
    if len(parts) == 1:
        return parts[0][1]
    rows = np.concatenate([rows for rows, _ in parts])
    order = np.empty(len(rows), np.int64)
    order[rows] = np.arange(len(rows))  # each line once, so they need not be sorted
    columns = zip(*(made for _, made in parts), strict=True)
    return [pa.concat_arrays(column).take(pa.array(order)) for column in columns]

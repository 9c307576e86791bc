"""Decode JSON lines of few layouts without a parser: the same keys in the same order with the same blanks.

Their values stand between texts that are the same in each line of a layout, so the places of quotes and line ends say
where. That takes half the time of a parser that looks for keys. A block is only read so if it must mean the same to
one: each line is the texts of its layout, byte by byte; there is no escape, no control character, and values are of the
types that are wanted. Kinds of events in one file are layouts of their own, and so are lines whose text is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.byte_words import ByteWords
from sqlext.sources.decoding.json_texts import JsonTexts, Unlike
from sqlext.sources.decoding.line_blocks import piece_end
from sqlext_udfs.kernel.groups import Ints

#: The keys that lead to a value: its object's, before its own.
Path = tuple[str, ...]

_KEY = re.compile(rb' *"([^"\\]*)" *: *')
_VALUE = re.compile(rb'(?:"[^"\\]*"|[^,"{}\[\]\s]+)(?= *[,}])')
_COMMA, _CLOSE = re.compile(rb" *,"), re.compile(rb" *}")
_BLANK, _QUOTE, _NEW_LINE = b' "\n'

#: How many lines are looked at in one go, up to so many bytes: few enough for their columns to stay near the processor,
#: and enough to make up for numpy's calls. So many bytes tell how long lines are.
_LINES, _PIECE, _FIRST = 40_000, 1 << 23, 1 << 16
#: So many lines are looked at to guess what the others are like.
_SOME = 32
#: After so many blocks of other layouts no more of a file are tried, and so many layouts a file may have.
_TRIES, _LAYOUTS = 2, 16
#: A parser reads lines of more values, and what is nested deeper: what a layout costs grows with the square of both.
_VALUES, _DEPTH = 1_000, 32


@dataclass(frozen=True, slots=True)
class Value:
    """Where a value stands in a line.

    Attributes:
        path: its keys.
        quoted: whether it stands in quotes.
        before: the text between the value before (or the line's begin) and this one.
        keys: how many keys are in that text.
    """

    path: Path
    quoted: bool
    before: bytes
    keys: int

    @property
    def opening(self) -> int:
        """How far in ``before`` the first quote is."""
        return self.before.index(b'"')

    @property
    def behind_key(self) -> int:
        """How far a value without quotes is from the quote that ends its key."""
        return len(self.before) - self.before.rindex(b'"')


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
        return 2 * sum(v.keys + v.quoted for v in self.values)

    @property
    def shortest(self) -> int:
        """How many bytes a line has without its values and its end."""
        return sum(len(value.before) for value in self.values) + len(self.end) - 1


@dataclass(slots=True)
class KnownLayout:
    """A layout, and what lines before were like.

    Attributes:
        long: the number of the first value whose end is not near its begin; None if nobody has looked.
        tries: how often lines are looked for by texts in vain, before that is left.
    """

    layout: Layout
    long: int | None = None
    tries: int = _TRIES


class LayoutReader:
    """Reads the blocks of one file whose lines look alike.

    Args:
        columns: what is read.
    """

    def __init__(self, columns: Sequence[ArrowField]) -> None:
        self._columns = columns
        self._layouts: list[KnownLayout] = []
        self._zoned = True  # instants end in `Z`, as Flink writes them; a wrong guess is another reading of a block
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
        try:
            return self._pieces(block)
        # The first guess about zones, or the last block's, may be wrong for this one.
        except pa.ArrowInvalid:
            self._zoned = not self._zoned
            return self._pieces(block)

    def _pieces(self, block: bytes) -> pa.RecordBatch:
        made = [read_block(piece, self._layouts, self._columns, zoned=self._zoned) for piece in self._cut(block)]
        return made[0] if len(made) == 1 else pa.Table.from_batches(made).combine_chunks().to_batches()[0]

    def _cut(self, block: bytes) -> Iterator[memoryview]:
        """Yield a block in pieces."""
        place, whole = 0, memoryview(block)
        size = min(_LINES * _FIRST // max(1, block.count(b"\n", 0, _FIRST)), _PIECE)
        while place < len(block):
            end = piece_end(block, place, size)
            yield whole[place:end]
            place = end


def layout_of(line: bytes) -> Layout:
    """Return the layout of a line, without its end.

    Raises:
        Unlike: for one that is no object of values and of such objects, has a key twice, or is none for a layout.
    """
    if not line.startswith(b"{"):
        raise Unlike
    values: list[Value] = []
    seen: set[Path] = set()
    path: Path = ()
    place, end, keys = 1, 0, 0
    while True:
        key = _KEY.match(line, place)
        if key is None or (own := (*path, key[1].decode())) in seen:
            raise Unlike
        if len(own) > _DEPTH or len(values) == _VALUES:
            raise Unlike
        seen.add(own)
        keys += 1
        if line.startswith(b"{", key.end()):
            path, place = own, key.end() + 1
            continue
        value = _VALUE.match(line, key.end())
        if value is None:
            raise Unlike
        quoted = value[0].startswith(b'"')
        values.append(Value(own, quoted, line[end : value.start() + quoted], keys))
        end, place, keys = value.end() - quoted, value.end(), 0
        while close := _CLOSE.match(line, place):
            place = close.end()
            if not path:
                if line[place:].strip(b" "):
                    raise Unlike
                return Layout(tuple(values), line[end:] + b"\n")
            path = path[:-1]
        comma = _COMMA.match(line, place)
        if comma is None:
            raise Unlike
        place = comma.end()


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
    lines = _Lines(block)
    if not layouts:
        layouts.append(_another(layouts, lines.text(0)))
    found = _found(lines, layouts)
    # Most lines first: those that are left are few.
    found.sort(key=lambda fitting: -len(fitting.rows))
    layouts.sort(key=lambda known: next((n for n, of in enumerate(found) if of.layout is known.layout), len(found)))
    parts = [(fitting.rows, fitting.columns(columns, zoned=zoned)) for fitting in found]
    return pa.record_batch(_in_order(parts), names=[c.name for c in columns])


def _found(lines: _Lines, layouts: list[KnownLayout]) -> list[_Fitting]:
    """Return the lines of each layout, by texts as long as that is not in vain; raises as ``read_block``."""
    known = tuple(layouts)
    by_texts = _by_texts(lines, known) if all(of.tries for of in known) else None
    found = by_texts or _by_quotes(lines, layouts)
    # Where a layout was not known yet, nothing is said of the others.
    if by_texts is not None or len(layouts) == len(known):
        for of in known:
            of.tries = _TRIES if by_texts is not None else max(of.tries - 1, 0)
    return found


def _by_quotes(lines: _Lines, layouts: list[KnownLayout]) -> list[_Fitting]:
    """Return the lines of each layout, by the places of their quotes; layouts of other lines are added."""
    left, found, tried = np.arange(len(lines.ends)), [], 0
    while len(left):
        if tried == len(layouts):
            layouts.append(_another(layouts, lines.text(int(left[0]))))
        fitting = _fitting(lines, left, layouts[tried].layout)
        if len(fitting.rows):
            found.append(fitting)
            left = _others(left, fitting.rows)
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


class _Lines:
    """The lines of a block that has no control characters.

    Attributes:
        block, words, data: the block.
        begins, ends: where each line begins, and where its line end is.
    """

    def __init__(self, block: memoryview) -> None:
        self.block, self.words = block, ByteWords(block)
        self.data = self.words.data
        self.ends = np.flatnonzero(self.data < _BLANK)
        if (self.data[self.ends] != _NEW_LINE).any():
            raise Unlike
        self.begins = np.concatenate(([0], self.ends[:-1] + 1))

    def text(self, line: int) -> bytes:
        """Return a line without its end."""
        return bytes(self.block[self.begins[line] : self.ends[line]])

    @cached_property
    def quotes(self) -> Ints:
        """Where quotes are. To find them takes longer than anything else here, so nobody asks who need not."""
        return np.flatnonzero(self.data == _QUOTE)

    @cached_property
    def first(self) -> Ints:
        """The number of each line's first quote."""
        return np.searchsorted(self.quotes, self.begins)

    @cached_property
    def count(self) -> Ints:
        """How many quotes each line has."""
        return np.diff(self.first, append=len(self.quotes))


def _fitting(lines: _Lines, rows: Ints, layout: Layout) -> _Fitting:
    """Return those of some lines that are of a layout, and where their values are."""
    if len(rows) == len(lines.ends) and len(lines.quotes) == len(rows) * layout.quotes:
        all_lines = _spans(lines, rows, lines.quotes.reshape(len(rows), layout.quotes), layout)
        if all_lines.has_lengths().all():  # then each line has its own quotes, and they need not be counted
            return all_lines.where_texts()
    rows = rows[lines.count[rows] == layout.quotes]
    fitting = _spans(lines, rows, lines.quotes[lines.first[rows, None] + np.arange(layout.quotes)], layout)
    return fitting.where(fitting.has_lengths()).where_texts()


def _by_texts(lines: _Lines, layouts: Sequence[KnownLayout]) -> list[_Fitting] | None:
    """Return the lines of each layout, by the texts that follow their values; None if one is of none, or unlike.

    Texts have as many quotes as there are. So none is in a value, and what is found is what ``_by_quotes`` finds.
    """
    found, quotes, left = [], 0, np.arange(len(lines.ends))
    for known in layouts:
        fitting = _with_texts(lines, left, known)
        if len(fitting.rows):
            found.append(fitting)
            quotes += len(fitting.rows) * known.layout.quotes
            left = _others(left, fitting.rows)
        if not len(left):
            return found if np.count_nonzero(lines.data == _QUOTE) == quotes else None
    return None


def _others(rows: Ints, taken: Ints) -> Ints:
    return rows[:0] if len(taken) == len(rows) else np.setdiff1d(rows, taken, assume_unique=True)


def _with_texts(lines: _Lines, rows: Ints, known: KnownLayout) -> _Fitting:
    """Return those of some lines that have the texts of a layout, all but one of whose values are short."""
    layout, begins = known.layout, lines.begins[rows]
    first, *others = layout.values
    mask = (lines.ends[rows] - begins >= layout.shortest) & lines.words.do_have(begins, first.before)
    finding = _Finding(lines, layout, rows, begins + len(first.before)).where(mask)
    # A few lines tell which value is long: from there on all are looked for from behind.
    if known.long is None:
        known.long = _long(finding.some(), others)
    return finding.all_but(known.long)


def _long(finding: _Finding, others: Sequence[Value]) -> int:
    """Return the number of the first value whose end is not near; else the last, whose end the line's is."""
    for number, following in enumerate(others):
        count = len(finding.rows)
        finding = finding.until(following)
        # Behind the first value others may follow in lines of other layouts.
        if len(finding.rows) < (count if number else 1):
            return number
    return len(others)


def _spans(lines: _Lines, rows: Ints, quotes: Ints, layout: Layout) -> _Fitting:
    """Return where values would be in lines with such quotes: a column for each."""
    spans, at, ends = [], 0, lines.ends[rows]
    for i, value in enumerate(layout.values):
        at += 2 * value.keys
        start = quotes[:, at] + 1 if value.quoted else quotes[:, at - 1] + value.behind_key
        at += 2 * value.quoted
        if value.quoted:
            end = quotes[:, at - 1]
        elif i + 1 < len(layout.values):
            end = quotes[:, at] - layout.values[i + 1].opening
        else:
            end = ends + 1 - len(layout.end)
        spans.append((start, end))
    return _Fitting(lines, layout, rows, tuple(spans))


@dataclass(frozen=True, slots=True)
class _Finding:
    """Lines of which some values are found.

    Attributes:
        lines, layout: as of ``_Fitting``.
        rows: the lines.
        starts: where the next value begins in each.
        spans: the values before it.
    """

    lines: _Lines
    layout: Layout
    rows: Ints
    starts: Ints
    spans: tuple[tuple[Ints, Ints], ...] = ()

    def where(self, mask: Any) -> _Finding:
        """Return some of the lines."""
        if mask.all():
            return self
        spans = tuple((starts[mask], ends[mask]) for starts, ends in self.spans)
        return _Finding(self.lines, self.layout, self.rows[mask], self.starts[mask], spans)

    def some(self) -> _Finding:
        """Return a few of the lines, before any value is found."""
        step = slice(None, None, max(1, len(self.rows) // _SOME))
        return _Finding(self.lines, self.layout, self.rows[step], self.starts[step])

    def until(self, following: Value) -> _Finding:
        """Return the lines in which a value ends before the text of the following one."""
        if not len(self.rows):
            return self
        ends, found = self.lines.words.ends(self.starts, following.before)
        spans = (*self.spans, (self.starts, ends))
        return _Finding(self.lines, self.layout, self.rows, ends + len(following.before), spans).where(found)

    def all_but(self, long: int) -> _Fitting:
        """Return the lines that have all values: those before a long one from the front, those behind from the back."""
        values, found = self.layout.values, self
        for following in values[1 : long + 1]:
            found = found.until(following)
        if not len(found.rows):
            return _Fitting(self.lines, self.layout, found.rows, ((found.rows, found.rows),) * len(values))
        ends = self.lines.ends[found.rows] + 1 - len(self.layout.end)
        mask, behind = self.lines.words.do_have(ends, self.layout.end[:-1]), list[tuple[Ints, Ints]]()
        for value in reversed(values[long + 1 :]):
            starts, has_text = self.lines.words.starts(ends, value.before)
            behind.append((starts, ends))
            ends = starts - len(value.before)
            mask &= has_text
        # Where a line is too short for its texts, some were found in the next one, or in the one before.
        mask &= ends >= found.starts
        spans = (*found.spans, (found.starts, ends), *reversed(behind))
        fitting = _Fitting(self.lines, self.layout, found.rows, spans)
        return fitting.where(mask).where_values()


@dataclass(frozen=True, slots=True)
class _Fitting:
    """Lines of a layout, and where each of its values begins and ends in each of them."""

    lines: _Lines
    layout: Layout
    rows: Ints
    spans: tuple[tuple[Ints, Ints], ...]

    def where(self, mask: Any) -> _Fitting:
        """Return some of the lines."""
        if mask.all():
            return self
        return _Fitting(self.lines, self.layout, self.rows[mask], tuple((s[mask], e[mask]) for s, e in self.spans))

    def _between(self) -> Iterator[tuple[bytes, Ints, Ints]]:
        """Yield the texts between values, and where each must begin and end in each line."""
        last = self.lines.begins[self.rows]
        for value, (start, end) in zip(self.layout.values, self.spans, strict=True):
            yield value.before, last, start
            last = end
        yield self.layout.end, last, self.lines.ends[self.rows] + 1

    def has_lengths(self) -> Any:
        """Return in which lines texts and values are as long as they can be."""
        mask = np.ones(len(self.rows), bool)
        for text, start, end in self._between():
            mask &= end - start == len(text)
        for value, (start, end) in zip(self.layout.values, self.spans, strict=True):
            mask &= end >= start if value.quoted else end > start
        return mask

    def where_values(self) -> _Fitting:
        """Return the lines in which values without quotes begin and end with something else than a blank."""
        data, mask = self.lines.data, np.ones(len(self.rows), bool)
        for value, (start, end) in zip(self.layout.values, self.spans, strict=True):
            if not value.quoted:  # a blank beside it is one of another layout
                mask &= (end > start) & (data[start] != _BLANK) & (data[end - 1] != _BLANK)
        return self.where(mask)

    def where_texts(self) -> _Fitting:
        """Return the lines that have the texts."""
        mask = np.ones(len(self.rows), bool)
        for text, start, _ in self._between():
            mask &= self.lines.words.have(start, text)
        return self.where(mask).where_values()

    def columns(self, columns: Sequence[ArrowField], *, zoned: bool) -> list[pa.Array]:
        """Return the values of columns."""
        at = {value.path: i for i, value in enumerate(self.layout.values)}
        made = [self._column((c.name,), c.type, at, zoned, c.made) for c in columns]
        self._check([i for i in at.values() if not self.layout.values[i].quoted])
        return made

    def _column(self, path: Path, of: pa.DataType, at: dict[Path, int], zoned: bool, made: pa.DataType) -> pa.Array:
        """Return a column, and take what it is read from out of ``at``: NULL where no key says it.

        Args:
            of: its type.
            made: the same, without the fields that nobody looks at; they are read, as they may not fit their types.
        """
        place = at.pop(path, None)
        if place is not None:
            texts = JsonTexts(self.lines.block, self.lines.words, *self.spans[place], self.layout.values[place].quoted)
            return texts.values(made, zoned=zoned)
        if not any(known[: len(path)] == path for known in at):
            return pa.nulls(len(self.rows), made)
        if not pa.types.is_struct(of):
            raise Unlike
        fields = []
        for field in of:
            wanted = made.get_field_index(field.name)
            if wanted >= 0:
                kept = made.field(wanted).type
                fields.append(self._column((*path, field.name), field.type, at, zoned, kept))
            elif not self._fits((*path, field.name), field.type, at):
                self._column((*path, field.name), field.type, at, zoned, field.type)
        return pa.StructArray.from_arrays(fields, fields=list(made))

    def _fits(self, path: Path, of: pa.DataType, at: dict[Path, int]) -> bool:
        """Take a text that nobody looks at out of ``at``, if it is one whose type takes any; return whether it is."""
        place = at.get(path)
        fits = place is not None and self.layout.values[place].quoted and pa.types.is_string(of)
        if fits:
            del at[path]
        return fits

    def _check(self, values: Sequence[int]) -> None:
        """Raise ``Unlike`` unless values that stand without quotes, and which nobody reads, are some of JSON."""
        left = [i for i in values if self.lines.words.integers(*self.spans[i]) is None]
        if left:  # all of them in one go, each line's in their order
            start, end = (np.stack([self.spans[i][side] for i in left], 1).ravel() for side in (0, 1))
            JsonTexts(self.lines.block, self.lines.words, start, end, quoted=False).check()

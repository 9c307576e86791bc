"""Keep where the values of JSON lines of a layout are, and make columns of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.byte_words import ByteWords
from sqlext.sources.decoding.json_layout import Layout, Path
from sqlext.sources.decoding.json_texts import JsonTexts, Unlike
from sqlext_udfs.kernel.groups import Ints

_BLANK, QUOTE, _NEW_LINE = b' "\n'


class JsonLines:
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
        return np.flatnonzero(self.data == QUOTE)

    @cached_property
    def first(self) -> Ints:
        """The number of each line's first quote."""
        return np.searchsorted(self.quotes, self.begins)

    @cached_property
    def count(self) -> Ints:
        """How many quotes each line has."""
        return np.diff(self.first, append=len(self.quotes))


@dataclass(frozen=True, slots=True)
class Fitting:
    """Lines of a layout, and where each of its values begins and ends in each of them."""

    lines: JsonLines
    layout: Layout
    rows: Ints
    spans: tuple[tuple[Ints, Ints], ...]

    def where(self, mask: Any) -> Fitting:
        """Return some of the lines."""
        if mask.all():
            return self
        return Fitting(self.lines, self.layout, self.rows[mask], tuple((s[mask], e[mask]) for s, e in self.spans))

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

    def where_values(self) -> Fitting:
        """Return the lines in which values without quotes begin and end with something else than a blank."""
        data, mask = self.lines.data, np.ones(len(self.rows), bool)
        for value, (start, end) in zip(self.layout.values, self.spans, strict=True):
            if not value.quoted:  # a blank beside it is one of another layout
                mask &= (end > start) & (data[start] != _BLANK) & (data[end - 1] != _BLANK)
        return self.where(mask)

    def where_texts(self) -> Fitting:
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


def without(rows: Ints, taken: Ints) -> Ints:
    """Return the lines that are not among some of them."""
    return rows[:0] if len(taken) == len(rows) else np.setdiff1d(rows, taken, assume_unique=True)

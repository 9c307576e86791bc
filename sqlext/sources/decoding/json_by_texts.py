"""Find the lines of JSON layouts by the texts around their values, eight bytes at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sqlext.sources.decoding.json_fitting import QUOTE, Fitting, JsonLines, without
from sqlext.sources.decoding.json_layout import Layout, Value
from sqlext_udfs.kernel.groups import Ints

#: So many lines are looked at to guess what the others are like.
_SOME = 32
#: How often lines of a layout are looked for by texts in vain, before that is left.
TRIES = 2


@dataclass(slots=True)
class KnownLayout:
    """A layout, and what lines before were like.

    Attributes:
        long: the number of the first value whose end is not near its begin; None if nobody has looked.
        tries: how often lines are looked for by texts in vain, before that is left.
    """

    layout: Layout
    long: int | None = None
    tries: int = TRIES


def by_texts(lines: JsonLines, layouts: Sequence[KnownLayout]) -> list[Fitting] | None:
    """Return the lines of each layout, by the texts that follow their values; None if one is of none, or unlike.

    Texts have as many quotes as there are. So none is in a value, and what is found is what quotes would find.
    """
    found, quotes, left = [], 0, np.arange(len(lines.ends))
    for known in layouts:
        fitting = _with_texts(lines, left, known)
        if len(fitting.rows):
            found.append(fitting)
            quotes += len(fitting.rows) * known.layout.quotes
            left = without(left, fitting.rows)
        if not len(left):
            return found if np.count_nonzero(lines.data == QUOTE) == quotes else None
    return None


def _with_texts(lines: JsonLines, rows: Ints, known: KnownLayout) -> Fitting:
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


@dataclass(frozen=True, slots=True)
class _Finding:
    """Lines of which some values are found.

    Attributes:
        lines, layout: as of ``Fitting``.
        rows: the lines.
        starts: where the next value begins in each.
        spans: the values before it.
    """

    lines: JsonLines
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

    def all_but(self, long: int) -> Fitting:
        """Return the lines that have all values: those before a long one from the front, those behind from the back."""
        values, found = self.layout.values, self
        for following in values[1 : long + 1]:
            found = found.until(following)
        if not len(found.rows):
            return Fitting(self.lines, self.layout, found.rows, ((found.rows, found.rows),) * len(values))
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
        fitting = Fitting(self.lines, self.layout, found.rows, spans)
        return fitting.where(mask).where_values()

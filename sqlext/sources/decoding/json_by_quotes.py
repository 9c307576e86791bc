"""Find the lines of JSON layouts by the places of their quotes: any, also those whose layout is not known yet."""

from __future__ import annotations

import numpy as np

from sqlext.sources.decoding.json_fitting import Fitting, JsonLines
from sqlext.sources.decoding.json_layout import Layout
from sqlext_udfs.kernel.groups import Ints


def fitting_by_quotes(lines: JsonLines, rows: Ints, layout: Layout) -> Fitting:
    """Return those of some lines that are of a layout, and where their values are."""
    if len(rows) == len(lines.ends) and len(lines.quotes) == len(rows) * layout.quotes:
        all_lines = _spans(lines, rows, lines.quotes.reshape(len(rows), layout.quotes), layout)
        if all_lines.has_lengths().all():  # then each line has its own quotes, and they need not be counted
            return all_lines.where_texts()
    rows = rows[lines.count[rows] == layout.quotes]
    fitting = _spans(lines, rows, lines.quotes[lines.first[rows, None] + np.arange(layout.quotes)], layout)
    return fitting.where(fitting.has_lengths()).where_texts()


def _spans(lines: JsonLines, rows: Ints, quotes: Ints, layout: Layout) -> Fitting:
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
    return Fitting(lines, layout, rows, tuple(spans))

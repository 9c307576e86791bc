"""Print rows as a table, CSV, JSON (an object a line) or Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from sqlext.jobs.tables import are_numbers, cell, one_text, result_table

#: The column in front of rows that come as changes.
OPERATION = "op"
_NARROWEST = 10
_MOST_ON_A_SCREEN = 1000

Row = Sequence[Any]


def print_rows(
    form: str, columns: Sequence[str], rows: Sequence[Row], console: Console, *, every: bool = False
) -> None:
    """Print a result; a single text of several lines as it is, unless it is to be data.

    A table on a terminal ends after 1,000 rows, unless it is to show ``every`` one.
    """
    text = one_text(rows)
    if form != "table":
        for line in _LINES[form](columns, rows, True):
            print_line(line, console)
    elif text is not None:
        print_line(text, console)
    else:
        console.print(
            result_table(columns, rows, most=_MOST_ON_A_SCREEN if console.is_terminal and not every else None)
        )


class ChangeText:
    """Changes as lines, ``+I``, ``-U``, ``+U`` or ``-D`` in front; a head comes before the first.

    Lines stay where they are, so a column is as wide as what it has shown so far, and numbers stand to its right.
    """

    def __init__(self, form: str, columns: Sequence[str]) -> None:
        self._columns = (OPERATION, *columns)
        self._write = _LINES.get(form)
        self._widths = [len(OPERATION), *(max(_NARROWEST, cell_len(c)) for c in columns)]
        self._right = [False] * len(self._widths)
        self._first = True

    def lines(self, changes: Iterable[tuple[str, Row]]) -> Iterator[str]:
        """Yield the lines of further changes."""
        rows = [(operation, *row) for operation, row in changes]
        if not rows:
            return
        first, self._first = self._first, False
        if self._write is not None:
            yield from self._write(self._columns, rows, first)
            return
        if first:
            self._right = [are_numbers(values) for values in zip(*rows, strict=True)]
            yield self._line(self._columns)
        for row in rows:
            # A NULL stands where the values before it stood.
            kinds = zip(row, self._right, strict=True)
            self._right = [right if value is None else are_numbers([value]) for value, right in kinds]
            yield self._line([_text(v) for v in row])

    def _line(self, cells: Sequence[str]) -> str:
        self._widths = [max(width, cell_len(text)) for width, text in zip(self._widths, cells, strict=True)]
        gaps = (" " * (width - cell_len(text)) for width, text in zip(self._widths, cells, strict=True))
        shown = (
            gap + text if to_right else text + gap for text, gap, to_right in zip(cells, gaps, self._right, strict=True)
        )
        return "  ".join(shown).rstrip()


def print_line(line: str, console: Console) -> None:
    """Print a line as it is: not wrapped, not coloured, not cut."""
    # Text, not str: rich would read [brackets] in the data as markup.
    console.print(Text(line), soft_wrap=True)


def _csv(columns: Sequence[str], rows: Iterable[Row], first: bool) -> Iterator[str]:
    for row in [columns] if first else []:
        yield _csv_line(row)
    for row in rows:
        # NULL is an empty field, as in Flink's csv.
        yield _csv_line(["" if v is None else _text(v) for v in row])


def _csv_line(values: Iterable[str]) -> str:
    line = io.StringIO()
    # Python's csv would end lines with \r\n.
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue().removesuffix("\n")


def _json(columns: Sequence[str], rows: Iterable[Row], first: bool) -> Iterator[str]:
    for row in rows:
        named = {column: jsonable(value) for column, value in zip(columns, row, strict=True)}
        yield json.dumps(named, ensure_ascii=False)


def _markdown(columns: Sequence[str], rows: Iterable[Row], first: bool) -> Iterator[str]:
    if first:
        yield _markdown_line(columns)
        yield _markdown_line(["---"] * len(columns))
    for row in rows:
        yield _markdown_line([_text(v) for v in row])


def _markdown_line(values: Iterable[str]) -> str:
    return "| " + " | ".join(v.replace("\\", "\\\\").replace("|", "\\|").replace("\n", "<br>") for v in values) + " |"


# JSON lines need no head, so ``first`` changes nothing there.
_LINES: dict[str, Callable[[Sequence[str], Iterable[Row], bool], Iterator[str]]] = {
    "csv": _csv,
    "json": _json,
    "markdown": _markdown,
}


def _text(value: Any) -> str:
    """Return a value as text, nested ones as JSON."""
    return json.dumps(jsonable(value), ensure_ascii=False) if isinstance(value, (tuple, list, dict)) else cell(value)


def jsonable(value: Any) -> Any:
    """Return a value as JSON has it: numbers, booleans, null, lists and objects; anything else as text."""
    if isinstance(value, Mapping):
        return {cell(k): jsonable(v) for k, v in value.items()}
    if hasattr(value, "asDict"):  # a ROW of Spark
        return {k: jsonable(v) for k, v in value.asDict().items()}
    if isinstance(value, (tuple, list)):
        return [jsonable(v) for v in value]
    # JSON has neither NaN nor infinity.
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    return value if value is None or isinstance(value, (bool, int, float, str)) else _unquoted(value)


def _unquoted(value: Any) -> Any:
    """Return a whole DECIMAL as a number, any other as text: nothing is lost."""
    whole = isinstance(value, Decimal) and value == value.to_integral_value()
    return int(value) if whole else cell(value)

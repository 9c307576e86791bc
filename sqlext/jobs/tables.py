"""Show rows as a table for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

MOST_ROWS = 100
# Where output is not a terminal (a pipe, a file, CI), no column is cut or wrapped.
_UNLIMITED_WIDTH = 1000


def result_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], most: int | None = MOST_ROWS) -> Group:
    """Return rows as a table, numbers to the right; beyond ``most`` it only says how many there are."""
    shown = rows[:most]
    hidden = len(rows) - len(shown)
    table = Table(box=box.SIMPLE_HEAD)
    for i, column in enumerate(columns):
        right = are_numbers(row[i] for row in shown)
        table.add_column(Text(column), justify="right" if right else "left", overflow="fold")
    for row in shown:
        # Text, not str: rich would read [brackets] in the data as markup.
        table.add_row(*(Text(cell(value)) for value in row))
    return Group(table, *([Text(f"  ... and {hidden:,} more rows")] if hidden > 0 else []))


def cell(value: Any) -> str:
    """Return a value as SQL users expect to read it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat(" ", "auto").removesuffix("+00:00")
    return str(value)


def are_numbers(values: Iterable[Any]) -> bool:
    """Whether a column stands to the right: of all its values but NULL, of which there is one."""
    kinds = {_is_number(value) for value in values if value is not None}
    return kinds == {True}


def one_text(rows: Sequence[Sequence[Any]]) -> str | None:
    """Return a text of several lines (EXPLAIN, SHOW CREATE TABLE) if that is all there is: it is shown as it is."""
    text = str(rows[0][0]) if len(rows) == 1 and len(rows[0]) == 1 else ""
    return text if "\n" in text else None


def as_text(columns: Sequence[str], rows: Sequence[Sequence[Any]], most: int = MOST_ROWS) -> str:
    """Return what ``counted_table`` shows, or the one text that is all there is, as plain text without empty lines."""
    text = one_text(rows)
    if text is not None:
        return text
    page = Console(width=_UNLIMITED_WIDTH, color_system=None, force_jupyter=False)
    with page.capture() as captured:
        page.print(counted_table(columns, rows, most))
    return "\n".join(line.rstrip() for line in captured.get().splitlines() if line.strip())


def counted_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], most: int = MOST_ROWS) -> Group:
    """Return rows as a table, and below it how many there are."""
    count = f"{len(rows):,} row{'' if len(rows) == 1 else 's'}"
    return Group(result_table(columns, rows, most), Text(count))


def console(*, stderr: bool = False) -> Console:
    """Return a console that cuts nothing off when nobody looks at a screen; in notebooks too it prints text."""
    found = Console(stderr=stderr, force_jupyter=False)
    return found if found.is_terminal else Console(stderr=stderr, width=_UNLIMITED_WIDTH, force_jupyter=False)


def _is_number(value: Any) -> bool:
    # In Python True is an int.
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)

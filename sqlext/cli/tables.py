"""Print results as tables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

MOST_ROWS = 100


def result_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], most: int | None = MOST_ROWS) -> Group:
    """Return rows as a table, numbers to the right; beyond ``most`` it only says how many there are."""
    shown = rows[:most]
    hidden = len(rows) - len(shown)
    table = Table(box=box.SIMPLE_HEAD)
    for i, column in enumerate(columns):
        numeric = any(_is_number(row[i]) for row in shown)
        table.add_column(Text(column), justify="right" if numeric else "left", overflow="fold")
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


def _is_number(value: Any) -> bool:
    # In Python True is an int.
    return isinstance(value, (int, float)) and not isinstance(value, bool)

"""Results as tables."""

from __future__ import annotations

import io
from datetime import datetime

from rich.console import Console

from sqlext.jobs.tables import MOST_ROWS, cell, result_table


def shown(columns: list[str], rows: list[tuple[object, ...]]) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(result_table(columns, rows))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_cells() -> None:
    assert cell(None) == "NULL"
    assert cell(True) == "true"
    assert cell(datetime(2013, 1, 1, 5, 15)) == "2013-01-01 05:15:00"
    assert cell(datetime(2013, 1, 1, 5, 15, 0, 500_000)) == "2013-01-01 05:15:00.500000"
    assert cell(1.5) == "1.5"


def test_data_is_not_markup() -> None:
    assert "[red]x[/red]" in shown(["[bold]a"], [("[red]x[/red]",)])


def test_numbers_stand_to_the_right() -> None:
    assert [line.rstrip() for line in shown(["n"], [(1,), (1000,)]).splitlines()[-3:-1]] == ["     1", "  1000"]


def test_many_rows_are_counted() -> None:
    text = shown(["n"], [(i,) for i in range(MOST_ROWS + 1234)])
    assert "1,234 more rows" in text
    assert f" {MOST_ROWS - 1} " in text
    assert f" {MOST_ROWS} " not in text

"""Rows as text."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from rich.console import Console

from sqlext.cli.formats import ChangeText, jsonable, print_rows

COLUMNS = ["a", "b|c"]
ROWS: list[tuple[Any, ...]] = [(1, 'say "x", [red]y[/red]'), (None, "two\nlines"), (Decimal("1.50"), [1, None])]


def printed(form: str, columns: list[str], rows: list[tuple[Any, ...]]) -> str:
    console = Console(file=io.StringIO(), width=40)
    print_rows(form, columns, rows, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_csv_can_be_read_again() -> None:
    found = list(csv.reader(io.StringIO(printed("csv", COLUMNS, ROWS))))
    assert found == [["a", "b|c"], ["1", 'say "x", [red]y[/red]'], ["", "two\nlines"], ["1.50", "[1, null]"]]


def test_json_has_an_object_a_line() -> None:
    found = [json.loads(line) for line in printed("json", COLUMNS, ROWS).splitlines()]
    assert [row["a"] for row in found] == [1, None, "1.50"]
    assert [row["b|c"] for row in found] == ['say "x", [red]y[/red]', "two\nlines", [1, None]]


def test_markdown() -> None:
    lines = printed("markdown", COLUMNS, ROWS).splitlines()
    assert lines[:2] == ["| a | b\\|c |", "| --- | --- |"]
    assert lines[3] == "| NULL | two<br>lines |"


def test_lines_are_not_cut() -> None:
    assert printed("csv", ["a"], [("x" * 500,)]).splitlines()[1] == "x" * 500


def test_a_table_shows_all_rows_where_there_is_no_terminal() -> None:
    text = printed("table", ["n"], [(i,) for i in range(2500)])
    assert "2499" in text
    assert "more rows" not in text


def test_one_text_of_several_lines_is_no_table() -> None:
    assert printed("table", ["result"], [("CREATE TABLE t (\n  a INT\n)",)]) == "CREATE TABLE t (\n  a INT\n)\n"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (b"\x01\xff", "01ff"),
        (Decimal("12"), 12),
        (date(2024, 1, 2), "2024-01-02"),
        (datetime(2024, 1, 2, 3, 4, 5), "2024-01-02 03:04:05"),
        ({1: (True, None)}, {"1": [True, None]}),
    ],
)
def test_values_as_json(value: object, expected: object) -> None:
    assert jsonable(value) == expected
    json.dumps(jsonable(value), allow_nan=False)


def test_changes() -> None:
    changes = [("+I", ("pen", 1)), ("-U", ("pen", 1)), ("+U", ("pen", 2))]
    csv_text = ChangeText("csv", ["item", "n"])
    assert list(csv_text.lines(changes)) == ["op,item,n", "+I,pen,1", "-U,pen,1", "+U,pen,2"]
    assert list(csv_text.lines(changes[2:])) == ["+U,pen,2"]


def test_changes_in_columns() -> None:
    text = ChangeText("table", ["item", "n"])
    assert list(text.lines([])) == []
    first = list(text.lines([("+I", ("pen", 1)), ("+I", ("\u58a8", None)), ("+I", ("a long name", 12_345_678_901))]))
    assert first == [
        "op  item                 n",
        "+I  pen                  1",
        "+I  \u58a8                NULL",
        "+I  a long name  12345678901",
    ]
    assert list(text.lines([("-D", ("pen", 1))])) == ["-D  pen                    1"]

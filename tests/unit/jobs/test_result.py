"""Results as text, and in pandas and Arrow, without Spark."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sqlext.jobs.result import Result

ROWS = [("pen", 2, Decimal("1.50")), (None, None, None), ("ink", 1000, None)]
RESULT = Result(["item", "n", "price"], ROWS)


def test_a_result_shows_its_rows() -> None:
    assert repr(RESULT).splitlines() == [
        "  item      n   price",
        " ─────────────────────",
        "  pen       2    1.50",
        "  NULL   NULL    NULL",
        "  ink    1000    NULL",
        "3 rows",
    ]
    many = repr(Result(["n"], [(i,) for i in range(12)])).splitlines()
    assert many[-2:] == ["  ... and 2 more rows", "12 rows"]
    assert repr(Result()) == "<Result: no rows>"
    assert repr(Result(["n"], [])).endswith("\n0 rows")


def test_rows_are_read_anew() -> None:
    rows = [(1,)]
    result = Result(["n"], lambda: rows)
    assert repr(result).endswith("1 row")
    rows.append((2,))
    assert repr(result).endswith("2 rows")


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    RESULT.show(1)
    Result(["plan"], [("one\ntwo [bold]",)]).show()
    Result().show()
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[2:] == ["pen    2    1.50", "... and 2 more rows", "3 rows", "one", "two [bold]", "<Result: no rows>"]


def test_pandas_and_arrow() -> None:
    assert RESULT.to_pandas()["item"].tolist() == ["pen", None, "ink"]
    table = RESULT.to_arrow()
    assert table.column_names == ["item", "n", "price"]
    assert table.to_pylist()[0] == {"item": "pen", "n": 2, "price": Decimal("1.50")}
    assert Result(["a", "a"], [(1, 2)]).to_arrow().num_columns == 2
    assert Result().to_pandas().empty
    assert Result().to_arrow().num_rows == 0

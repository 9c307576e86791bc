"""Functions OVER rows in the order of a value, without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sqlext
from sqlext.errors import SqlExtError

_TABLE = """
CREATE TABLE t (v INT, s STRING, b BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
"""
_MOST = 2**31 - 1
_LONG = 2**63 - 1
_ROWS: list[tuple[int | None, str | None, int]] = [
    (-2, "", 1),
    (1, None, _LONG - 1),
    (2, "z", 5),
    (_MOST, "x", -10),
    (None, "y", 0),
]


def rows(tmp_path: Path, item: str, mode: str = "flink") -> dict[int | None, Any]:
    """Return a result by the value of its row."""
    lines = [json.dumps(dict(zip("vsb", row, strict=True))) for row in _ROWS]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text("\n".join(lines) + "\n", "utf-8")
    settings = {"sqlext.engine": "local", "sqlext.expressions": mode}
    session = sqlext.connect(catalog=tmp_path / "catalog", settings=settings)
    query = f"{_TABLE} SELECT v, {item} OVER (ORDER BY v) FROM t;"
    *_, found = session.run(query, variables={"IN": str(tmp_path / "in")})
    return dict(found.rows)


@pytest.mark.parametrize("mode", ["flink", "spark"])
@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("COUNT(v, s)", {None: 0, -2: 1, 1: 1, 2: 2, _MOST: 3}),
        ("COUNT(v, s) FILTER (WHERE v < 2)", {None: 0, -2: 1, 1: 1, 2: 1, _MOST: 1}),
        ("LAG(b, 1, 7)", {None: 7, -2: 0, 1: 1, 2: _LONG - 1, _MOST: 5}),
        ("LAG(v, 2, v)", {None: None, -2: -2, 1: None, 2: -2, _MOST: 1}),
    ],
)
def test_functions_are_those_of_groups(tmp_path: Path, mode: str, item: str, expected: object) -> None:
    assert rows(tmp_path, item, mode) == expected


def test_a_sum_wraps_at_its_type_in_flink(tmp_path: Path) -> None:
    assert rows(tmp_path, "SUM(v)") == {None: None, -2: -2, 1: -1, 2: 1, _MOST: 1 + _MOST - 2**32}


def test_a_sum_wraps_at_bigint_in_flink(tmp_path: Path) -> None:
    assert rows(tmp_path, "SUM(b)")[2] == _LONG - 1 + 6 - 2**64


def test_a_sum_that_does_not_fit_is_an_error_in_spark(tmp_path: Path) -> None:
    with pytest.raises(SqlExtError, match="RUN-035"):
        rows(tmp_path, "SUM(b)", "spark")


def test_an_average_does_not_overflow_in_spark(tmp_path: Path) -> None:
    assert rows(tmp_path, "AVG(b)", "spark")[2] == pytest.approx((_LONG + 5) / 4)


def test_a_sum_of_int_is_bigint_in_spark(tmp_path: Path) -> None:
    assert rows(tmp_path, "SUM(v)", "spark")[_MOST] == 1 + _MOST

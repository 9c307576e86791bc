"""Parameters of lambdas have names that no column has: Spark takes one in a GROUP BY for the column."""

from __future__ import annotations

import pytest

import sqlext

_TABLE = """
CREATE TABLE o (item STRING, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json');
"""


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (
            "SELECT item, TRANSFORM(COLLECT_LIST(amount), Amount -> ROUND(amount * 2)) AS a FROM o GROUP BY item",
            "__amount -> ROUND(__amount * 2)",
        ),
        ("SELECT EXISTS(ARRAY(amount), x -> x > amount) AS a FROM o", "x -> x > amount"),
        ("SELECT TRANSFORM(ARRAY(1), (item, n) -> item + n) AS a FROM o", "(__item, n) -> __item + n"),
    ],
)
def test_a_name_of_a_column_is_replaced(query: str, text: str) -> None:
    assert text in sqlext.connect().rewrite(f"{_TABLE}{query};")

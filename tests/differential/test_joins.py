"""Joins of streams whose conditions the operator evaluates itself give the rows that Spark's batch joins give."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import sqlext

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from sqlext.session.api import Session

TABLES = """
SET 'sqlext.expressions' = 'flink';
CREATE TABLE a (k STRING, x INT, d DOUBLE, m DECIMAL(10, 2))
WITH ('connector' = 'filesystem', 'path' = '{folder}/a', 'format' = 'json');
CREATE TABLE b (k STRING, y INT, e DOUBLE, n DECIMAL(12, 3))
WITH ('connector' = 'filesystem', 'path' = '{folder}/b', 'format' = 'json');
"""
#: Conditions beside ``a.k = b.k``.
CONDITIONS = {
    "logic": "(a.x = 1 OR b.y > 3)",
    "arithmetic": "a.x + b.y > 4",
    "decimals": "a.m * b.n - 1 >= b.y",
    "doubles": "(a.d - b.e < 0.5) IS TRUE AND NOT (a.x = 2 AND b.y = 2)",
    "nulls": "((a.x + b.y) IS NULL OR a.x * b.y BETWEEN 2 AND 6 OR a.x + b.y IN (3, 9))",
    "functions": "(ABS(a.x - b.y) > 1 OR COALESCE(a.m, b.n) > 1 OR NULLIF(a.x, b.y) IS NULL)",
    "branches": "CASE WHEN b.y <> 0 THEN a.x / b.y WHEN a.m > 1 THEN a.m * b.n ELSE a.d - b.e END >= 1",
    "extremes": "(GREATEST(a.x, b.y, 1) = 2 OR LEAST(a.d, b.e) < 1) AND b.k LIKE CONCAT(SUBSTRING(a.k, 1, 1), '%')",
}
KINDS = ("LEFT", "RIGHT", "FULL")
#: Read by both sides, so each is a case of its own.
QUERIES = {
    **{
        f"{kind} {name}": f"SELECT a.k, a.x, a.m, b.k AS bk, b.y, b.n FROM a {kind} JOIN b ON a.k = b.k AND {condition}"
        for kind, (name, condition) in zip((*KINDS, *KINDS, *KINDS), CONDITIONS.items(), strict=False)
    },
    "FULL without a key": "SELECT a.k, a.x, b.y FROM a FULL JOIN b ON a.x + b.y > 6",
    "FULL USING": "SELECT k, x, y, a.k AS ak, b.k AS bk FROM a FULL JOIN b USING (k)",
    "EXISTS": "SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND (a.x > 2 OR b.y + a.x < 3))",
    "NOT EXISTS": "SELECT * FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND (a.x > 2 OR b.y + a.x < 3))",
    "IN": "SELECT * FROM a WHERE x IN (SELECT y FROM b WHERE b.k = a.k)",
    "a value": "SELECT k, x - (SELECT MAX(y) FROM b) AS d FROM a WHERE x >= (SELECT MIN(y) + 1 FROM b)",
    "a value of each key": "SELECT k, x, (SELECT COUNT(y) FROM b WHERE b.k = a.k AND y > 1) AS n FROM a",
    "under OR": "SELECT k, x FROM a WHERE x = 1 OR x IN (SELECT y FROM b WHERE b.k = a.k)"
    " OR NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k)",
    "NOT IN": "SELECT * FROM a WHERE x NOT IN (SELECT y FROM b WHERE b.k = a.k)",
}
#: Conditions of which one part keeps another from dividing by zero.
GUARDS = {
    "both sides": "a.x - b.y <> 0 AND 7 / (a.x - b.y) > 1",
    "OR": "(a.x = b.y OR 7 / (a.x - b.y) > 1)",
    "NOT": "NOT (a.x = b.y OR 7 / (a.x - b.y) <= 1)",
    "one side": "a.x <> 0 AND 7 / a.x > 1",
    "one side, then both": "a.x <> 0 AND 7 / a.x > b.y",
    "the other side": "b.y <> 0 AND a.x / b.y >= 1",
    "OR of one side": "(a.x = 0 OR 7 / a.x > b.y)",
    "nested": "(b.y = 0 OR a.x / b.y < 1 OR (a.x <> b.y AND 7 % (a.x - b.y) = 0))",
    "CASE": "CASE WHEN a.x = 0 THEN b.y WHEN a.x = b.y THEN 2 ELSE 7 / a.x + 7 / (a.x - b.y) END > 1",
    "IF": "IF(a.x = b.y, 1, 7 / (a.x - b.y)) > 0",
    "COALESCE": "COALESCE(b.y - a.x, 7 / NULLIF(a.x, 0), 9) >= 0",
    "NULLIF": "7 / NULLIF(a.x - b.y, 0) > 1",
    "DECIMAL": "a.m <> b.n AND a.m / (a.m - b.n) > 1",
    "38 digits": "a.m <> b.n AND CAST(a.m AS DECIMAL(38, 9)) * CAST(b.n AS DECIMAL(38, 9)) > 1",
    "BIGINT and DOUBLE": "(a.x + 9007199254740993) * b.e / (b.e + 1) > a.m",
}
GUARDED = {
    **{
        f"{kind} {name}": f"SELECT a.k, a.x, b.y FROM a {kind} JOIN b ON a.k = b.k AND {condition}"
        for kind, (name, condition) in zip(KINDS * len(GUARDS), (*GUARDS.items(), *GUARDS.items()), strict=False)
    },
    **{
        f"{no}EXISTS {name}": f"SELECT * FROM a WHERE {no}EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND {GUARDS[name]})"
        for no in ("", "NOT ")
        for name in ("both sides", "OR", "one side, then both", "CASE")
    },
    "IN guarded": "SELECT * FROM a WHERE x <> 0 AND 4 / x IN (SELECT y FROM b WHERE b.k = a.k)",
    "NOT IN guarded": "SELECT * FROM a WHERE x <> 0 AND 4 / x NOT IN (SELECT y FROM b WHERE b.k = a.k)",
    "IN of guarded": "SELECT * FROM a WHERE x IN (SELECT 4 / y FROM b WHERE b.k = a.k AND y <> 0)",
}


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("joins")
    chance = random.Random(11)
    for table, number, double, decimal in (("a", "x", "d", "m"), ("b", "y", "e", "n")):
        _write(folder / table, [_row(chance, number, double, decimal) for _ in range(25)])
    made = sqlext.connect(spark, catalog=str(folder / "catalog"))
    made.run(TABLES.format(folder=folder))
    return made


def _row(chance: random.Random, number: str, double: str, decimal: str) -> dict[str, Any]:
    return {
        "k": chance.choice(["p", "q", "r", "s", "t", None]),
        number: chance.choice([0, 1, 2, 3, 4, None]),
        double: chance.choice([0.5, 1.25, 2.0, None]),
        decimal: chance.choice([0.5, 1.25, -2.0, None]),
    }


def _write(folder: Path, rows: list[dict[str, Any]]) -> None:
    folder.mkdir()
    for part in range(2):
        (folder / f"{part}.json").write_text("".join(json.dumps(r) + "\n" for r in rows[part::2]))


def _rows(session: Session, query: str) -> Counter[tuple[Any, ...]]:
    return Counter(session.sql(query).rows)


@pytest.mark.sampled
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_stream_and_batch(session: Session, query: str) -> None:
    _compare(session, query)


@pytest.mark.sampled
@pytest.mark.parametrize("query", GUARDED.values(), ids=GUARDED)
@pytest.mark.parametrize("mode", ["flink", "spark"])
def test_guards(session: Session, query: str, mode: str) -> None:
    session.sql(f"SET 'sqlext.expressions' = '{mode}'")
    try:
        _compare(session, query)
    finally:
        session.sql("SET 'sqlext.expressions' = 'flink'")


def _compare(session: Session, query: str) -> None:
    stream = _rows(session, query)
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    try:
        assert stream == _rows(session, query)
    finally:
        session.sql("RESET 'execution.runtime-mode'")
    assert stream

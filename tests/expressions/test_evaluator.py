"""Expressions over columns give what Spark gives for their text, and fail where Spark does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from random_expressions import COLUMNS, COUNT, ROWS, TEXTS, TYPES, parsed, typed
from recorded_flink import Strs

from sqlext.errors import SqlExtError
from sqlext.rewrite.expressions.renderer import render
from sqlext_udfs.expressions.columns import Expression, Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Spark negates a DECIMAL with 34 digits (``scala.math.BigDecimal``), and then it may not fit; ours has all digits.
_NARROW, _NARROW_DIGITS = "NUMERIC_VALUE_OUT_OF_RANGE", Context(34, ROUND_HALF_UP)
#: With these Spark leaves out operands that do not matter, also such as fail: which ones, SQL does not say.
_SHORTCUTS = (
    "BooleanSimplification",
    "SimplifyBinaryComparison",
    "SimplifyConditionals",
    "ReplaceNullWithFalseInPredicate",
)
_RULES = ",".join(f"org.apache.spark.sql.catalyst.optimizer.{rule}" for rule in (*_SHORTCUTS, "NullPropagation"))


@pytest.fixture
def literal(session: SparkSession) -> Iterator[SparkSession]:
    """Return a session that computes expressions as they are written."""
    session.conf.set("spark.sql.optimizer.excludedRules", _RULES)
    yield session
    session.conf.unset("spark.sql.optimizer.excludedRules")


@dataclass(frozen=True)
class _Asked:
    """An expression: as Spark SQL, what it is of each row, and where it fails."""

    text: str
    values: list[Any]
    failing: list[int]

    @property
    def guarded(self) -> str:
        """Its text, asked only of rows for which it does not fail."""
        places = ", ".join(map(str, self.failing))
        return f"CASE WHEN id NOT IN ({places}) THEN {self.text} END" if self.failing else self.text


def _asked(text: str, scope: Strs, rows: Rows) -> _Asked | None:
    """Return an expression with our answers; None for one that does not mean anything."""
    try:
        expr, made = parsed(text, scope), typed(text, scope)
    except SqlExtError:
        return None
    rendered = render(expr, scope)
    failing = [p for p in range(COUNT) if _fails(made, rows.at(_places([p])))]
    there = [p for p in range(COUNT) if p not in failing]
    found = dict(zip(there, made.evaluate(rows.at(_places(there))).to_pylist(), strict=True)) if there else {}
    return _Asked(rendered, [found.get(p) for p in range(COUNT)], failing)


def _places(of: list[int]) -> Any:
    return np.array(of, np.int64)


def _fails(made: Expression, rows: Rows) -> bool:
    try:
        made.evaluate(rows)
    except SqlExtError as error:
        return error.code in ("RUN-040", "RUN-041")
    return False


def _answers(frame: DataFrame, texts: list[str]) -> list[Any]:
    """Return the values of each expression; the message where it fails."""
    try:
        table = frame.selectExpr("id", *(f"{text} AS c{i}" for i, text in enumerate(texts))).toArrow().sort_by("id")
    except Exception as error:  # noqa: BLE001 - Spark's, of many classes
        if len(texts) == 1:
            return [str(error)]
        half = len(texts) // 2
        return _answers(frame, texts[:half]) + _answers(frame, texts[half:])
    return [table.column(f"c{i}").to_pylist() for i in range(len(texts))]


def _same(ours: Any, theirs: Any, mode: str) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        if math.isnan(ours):
            return math.isnan(theirs)
        # In Flink's mode the SQL divides by -0.0 as by 0.0: the sign of Infinity is another one.
        if mode == "flink" and math.isinf(ours) and math.isinf(theirs):
            return True
    if isinstance(ours, Decimal) and isinstance(theirs, Decimal):
        return _NARROW_DIGITS.plus(ours) == _NARROW_DIGITS.plus(theirs)
    return (ours is None) == (theirs is None) and bool(ours == theirs)


@pytest.mark.parametrize("mode", ["spark", "flink"])
@settings(
    derandomize=True,
    max_examples=6,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
@given(values=ROWS, texts=TEXTS)
def test_values_and_failures_are_spark_s(
    literal: SparkSession, mode: str, values: dict[str, list[Any]], texts: list[str]
) -> None:
    columns = {name: pa.array(values[name], of) for name, (_, of, _) in COLUMNS.items()}
    rows = Rows.of(columns, COUNT)
    frame = literal.createDataFrame(pa.table({**columns, "id": pa.array(range(COUNT), pa.int64())}))
    scope = Strs(mode, TYPES)
    asked = [a for a in (_asked(t, scope, rows) for t in texts) if a is not None]
    assert len(asked) > len(texts) // 4
    for of, found in zip(asked, _answers(frame, [a.guarded for a in asked]), strict=True):
        if isinstance(found, str):
            # Flink's quotients and negatives of the least number wrap around; its DECIMALs become NULL.
            assert mode == "flink" or _NARROW in found, (of.guarded, found)
            continue
        pairs = [(one, other) for one, other in zip(of.values, found, strict=True) if not _same(one, other, mode)]
        assert not pairs, (of.text, pairs)
    for of in [a for a in asked if a.failing][:4]:
        place = of.failing[0]
        answer = _answers(frame.where(f"id = {place}"), [of.text])[0]
        assert isinstance(answer, str), (of.text, {n: v[place] for n, v in values.items()}, answer)

"""Every recorded answer of Flink 2.3 against what the rendered expression gives on Spark."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from recorded_flink import Strs, differences, recorded

from sqlext.dialect.expressions import parse_expression_text
from sqlext.rewrite.expressions import render

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CHUNK = 60


def plain(value: Any) -> Any:
    """Return a value as the recorder wrote it."""
    if isinstance(value, (bytes, bytearray)):
        return str(bytearray(value))
    if hasattr(value, "asDict"):
        return f"<Row({', '.join(repr(v) for v in value)})>"
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(plain(k)): plain(v) for k, v in value.items()}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return repr(value) if isinstance(value, float) else str(value)


def agree(ours: Any, theirs: Any) -> bool:
    """Whether two answers are the same, the last digit of a FLOAT or DOUBLE aside."""
    if ours == theirs:
        return True
    try:
        return math.isclose(float(ours), float(theirs), rel_tol=1e-6, abs_tol=1e-12)
    except (TypeError, ValueError):
        return False


def answers(frame: DataFrame, texts: list[str]) -> list[Any]:
    """Return the column of each expression; the message where it fails."""
    try:
        rows = frame.selectExpr(*(f"{text} AS `{i}`" for i, text in enumerate(texts))).collect()
    except Exception as error:  # noqa: BLE001
        if len(texts) == 1:
            return [str(error)[:300]]
        half = len(texts) // 2
        return answers(frame, texts[:half]) + answers(frame, texts[half:])
    return [[plain(row[i]) for row in rows] for i in range(len(texts))]


def _chunks(name: str) -> list[list[dict[str, Any]]]:
    skipped = {**differences("values"), **differences("types")}
    asked = [r for r in recorded(name) if "rows" in r and r["expression"] not in skipped]
    return [asked[i : i + CHUNK] for i in range(0, len(asked), CHUNK)]


@pytest.mark.parametrize("chunk", _chunks("scalars") + _chunks("aggregates"), ids=lambda c: c[0]["expression"])
def test_same_values_as_flink(strs: DataFrame, chunk: list[dict[str, Any]]) -> None:
    texts = [render(parse_expression_text(r["expression"], "flink"), Strs()) for r in chunk]
    wrong = []
    for record, text, ours in zip(chunk, texts, answers(strs, texts), strict=True):
        theirs = record["rows"] * (len(ours) if len(record["rows"]) == 1 and isinstance(ours, list) else 1)
        if not isinstance(ours, list) or len(ours) != len(theirs) or not all(map(agree, ours, theirs)):
            wrong.append(f"{record['expression']}\n  as {text}\n  ours   {ours}\n  Flink's {record['rows']}")
    assert not wrong, "\n".join(wrong)


def test_rendered_types_are_the_inferred_ones(strs: DataFrame) -> None:
    """What ``infer`` says about a rendered expression is what Spark then makes of it."""
    wrong = []
    for record in recorded("scalars") + recorded("aggregates"):
        expression = record["expression"]
        if "rows" not in record or expression in {**differences("values"), **differences("types")}:
            continue
        env = Strs()
        node = parse_expression_text(expression, "flink")
        type_ = env.type_of(node)
        made = strs.selectExpr(f"{render(node, env)} AS r").schema[0].dataType.simpleString()
        if type_ is not None and _folded(type_.spark()) != _folded(made):
            wrong.append(f"{expression}: inferred {type_.spark()}, made {made}")
    assert not wrong, "\n".join(wrong)


def _folded(text: str) -> str:
    return text.lower().replace(" ", "").replace("`", "")

"""Every recorded answer of Flink 2.3 against what the rendered expression gives on Spark."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from recorded_flink import ANSWERS, Strs, differences, recorded

from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.rewrite.expressions.renderer import render

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


def agree(ours: Any, theirs: Any, *, exactly: bool = False) -> bool:
    """Whether two answers are the same; unless ``exactly``, the last digit of a FLOAT or DOUBLE aside."""
    if ours == theirs or exactly:
        return bool(ours == theirs)
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


@dataclass(frozen=True)
class _Chunk:
    """Some answers of one file."""

    name: str
    answers: list[dict[str, Any]]

    def rendered(self) -> list[str]:
        """Return their expressions as Spark SQL."""
        scope = Strs(columns=ANSWERS[self.name].columns)
        return [render(parse_expression_text(a["expression"], "flink"), scope) for a in self.answers]


def _chunks(key: str, *, listed: bool = False) -> list[_Chunk]:
    """Return the answers with this key, in pieces: those that are listed as differences, or the others."""
    values, others = differences("values"), {**differences("types"), **differences("fails")}
    found = []
    for name in ANSWERS:
        asked = [r for r in recorded(name) if key in r and r["expression"] not in others]
        asked = [r for r in asked if (r["expression"] in values) == listed]
        found += [_Chunk(name, asked[i : i + CHUNK]) for i in range(0, len(asked), CHUNK)]
    return found


def _label(chunk: _Chunk) -> str:
    return f"{chunk.name} {chunk.answers[0]['expression']}"


def same_rows(record: dict[str, Any], ours: Any) -> bool:
    """Whether the values of an expression are those of an answer."""
    if not isinstance(ours, list):
        return False
    theirs = record["rows"] * (len(ours) if len(record["rows"]) == 1 else 1)
    if record["type"].startswith("TIMESTAMP(6)"):
        ours = [_millis(value) for value in ours]
    same = partial(agree, exactly="JSON" in record["expression"])
    return len(ours) == len(theirs) and all(map(same, ours, theirs))


def _millis(value: str | None) -> str | None:
    """Return a timestamp as the recorder got it: Python's Flink hands milliseconds over, whatever the type."""
    whole, point, fraction = (value or "").partition(".")
    cut = f"{fraction[:3]}000" if point and fraction[:3].strip("0") else ""
    return value if not point else f"{whole}.{cut}" if cut else whole


@pytest.mark.parametrize("chunk", _chunks("rows"), ids=_label)
def test_same_values_as_flink(frames: dict[str, DataFrame], chunk: _Chunk) -> None:
    texts, wrong = chunk.rendered(), []
    for record, text, ours in zip(chunk.answers, texts, answers(frames[chunk.name], texts), strict=True):
        if not same_rows(record, ours):
            wrong.append(f"{record['expression']}\n  as {text}\n  ours   {ours}\n  Flink's {record['rows']}")
    assert not wrong, "\n".join(wrong)


def test_rendered_types_are_the_inferred_ones(frames: dict[str, DataFrame]) -> None:
    """What ``infer`` says about a rendered expression is what Spark then makes of it."""
    wrong = []
    for chunk in _chunks("rows"):
        env = Strs(columns=ANSWERS[chunk.name].columns)
        for record, text in zip(chunk.answers, chunk.rendered(), strict=True):
            type_ = env.type_of(parse_expression_text(record["expression"], "flink"))
            made = frames[chunk.name].selectExpr(f"{text} AS r").schema[0].dataType.simpleString()
            if type_ is not None and _folded(type_.spark()) != _folded(made):
                wrong.append(f"{record['expression']}: inferred {type_.spark()}, made {made}")
    assert not wrong, "\n".join(wrong)


def _folded(text: str) -> str:
    return text.lower().replace(" ", "").replace("`", "")


def test_differences_still_differ(frames: dict[str, DataFrame]) -> None:
    """A difference that is gone must leave the list."""
    for chunk in _chunks("rows", listed=True):
        for record, ours in zip(chunk.answers, answers(frames[chunk.name], chunk.rendered()), strict=True):
            assert not same_rows(record, ours), record["expression"]


#: Functions and forms that only Flink has, as a script in spark mode writes them.
FLINKS_OWN = (
    "SPLIT_INDEX(s, ',', 0)",
    "TO_TIMESTAMP_LTZ(l, 3)",
    "TO_TIMESTAMP_LTZ(l, 0)",
    "CONVERT_TZ('2024-03-10 12:00:00', 'UTC', 'Asia/Tokyo')",
    "FLOOR(ts TO WEEK)",
    "CEIL(lz TO HOUR)",
    "IS_ALPHA(s)",
    "ARRAY_CONCAT(ai, ARRAY[1])",
    "ARRAY_SLICE(ai, 1, 2)",
    "MAP_UNION(mp, MAP['b', 1])",
    "JSON_VALUE(j, '$.c' RETURNING STRING DEFAULT 'x' ON ERROR)",
    "JSON_QUERY(j, 'lax $.a')",
    "JSON_EXISTS(j, '$.a')",
    "JSON_OBJECT(KEY 'a' VALUE n, KEY 'b' VALUE s ABSENT ON NULL)",
    "JSON_ARRAY(n, s NULL ON NULL)",
    "JSON_STRING(ts)",
    "j IS JSON OBJECT",
    "SHA256(s)",
    "FROM_BASE64(TO_BASE64(s))",
    "TRUNCATE(x, 1)",
    "RAND_INTEGER(10)",
    "PRINTF('%s', s)",
    "INSTR(s, 'l', 1, 2)",
    "EXTRACT(MILLENNIUM FROM ts)",
    "(ts, INTERVAL '1' DAY) OVERLAPS (ts, INTERVAL '1' DAY)",
    "s SIMILAR TO '%l+%'",
    "n BETWEEN SYMMETRIC 2 AND 1",
    "CAST(s AS VARCHAR)",
    "CAST(NULL AS ROW<a INT, b STRING>)",
    "ROW(n, s)",
    "PROCTIME()",
    "CURRENT_ROW_TIMESTAMP()",
    "LOCALTIME",
    "COLLECT(n)",
    "JSON_ARRAYAGG(n)",
    "JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE n)",
)


@pytest.mark.parametrize("expression", FLINKS_OWN)
def test_flinks_own_functions_run_in_spark_mode(strs: DataFrame, expression: str) -> None:
    text = render(parse_expression_text(expression, "spark"), Strs("spark"))
    (ours,) = answers(strs, [text])
    assert isinstance(ours, list), f"{text}: {ours}"


@pytest.mark.parametrize(
    ("expression", "rows"),
    [
        ("+".join(["l"] * 40), [1680, -280, 0, None, 85899345880, -85899345920]),
        ("CAST(LN(" * 10 + "1.0E0" + ") + 1 AS DOUBLE)" * 10, ["1.0"] * 6),
        ("x" + " / (id - id + 1)" * 30, ["3.14159", "-2.5", "0.5", None, "10000000000.0", "1.5"]),
        ("CAST(" * 15 + "l * 9" + " * 9 AS BIGINT)" * 15, None),
    ],
    ids=lambda value: str(value)[:8],
)
def test_long_operands_are_bound(strs: DataFrame, expression: str, rows: list[Any] | None) -> None:
    text = render(parse_expression_text(expression, "flink"), Strs())
    (ours,) = answers(strs, [text])
    assert isinstance(ours, list), ours
    assert rows is None or ours == rows

"""Calls that cost much, which a SELECT asks for several times."""

from __future__ import annotations

import pyarrow as pa

from sqlext.sources.equal_calls import once
from sqlext.sources.program import Facts, Program, Stage
from sqlext_udfs.expressions.columns import Apply, Case, Column, Expression, Literal

_TEXT = pa.string()
_URL = Column(_TEXT, name="url")


def _matches(of: Expression = _URL, pattern: str = "id=([0-9]*)") -> Apply:
    return Apply(pa.bool_(), function="matches", inputs=(of, Literal(_TEXT, value=pattern)))


def _extracted(of: Expression = _URL) -> Expression:
    inputs = (of, Literal(_TEXT, value="id=([0-9]*)"), Literal(pa.int64(), value=1))
    call = Apply(_TEXT, function="extracted", inputs=inputs)
    return Case(_TEXT, inputs=(_matches(of), call, Literal(_TEXT)))


_THERE = Apply(pa.bool_(), function="not", inputs=(Apply(pa.bool_(), function="is null", inputs=(_extracted(),)),))


def test_what_is_asked_for_twice_is_a_column() -> None:
    calls, rest = once((Stage((("id", _extracted()),), _THERE),))
    assert calls.keeps
    assert {value for _, value in calls.columns} == {_matches(), _extracted().inputs[1]}
    assert rest.where is not None
    assert rest.where.columns() == {"__call_0", "__call_1"}


def test_what_is_asked_for_once_stays() -> None:
    stages = (Stage((("id", _extracted()),)), Stage((("m", _matches(Column(_TEXT, name="id"))),)))
    assert once(stages) == stages
    others = (Stage((("a", _matches()), ("b", _matches(pattern="x")))),)
    assert once(others) == others


def test_what_can_fail_is_asked_where_it_is_wanted() -> None:
    text = Apply(_TEXT, function="cast", inputs=(_URL,), fails=True)
    stages = (Stage((("a", _matches(text)), ("b", _matches(text)))),)
    assert once(stages) == stages


def test_rows_are_the_same() -> None:
    rows = pa.record_batch({"url": pa.array(["?id=7", None, "?x", "id=", "?id=9&id=8"])})
    stages = (Stage((("url", _URL),)), Stage((("id", _extracted()), ("url", _URL)), _THERE))
    made = [list(Program(None, None, (found,)).run(rows, Facts())) for found in (stages, once(stages))]
    assert made[0] == made[1]
    assert made[1][0]["id"].to_pylist() == ["7", "", "9"]

"""Evaluate calls that cost much once a row, where a SELECT asks for them several times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sqlext.sources.program import Stage, Stages
from sqlext_udfs.expressions.columns import Apply, Column, Expression, Like

#: Regular expressions: a look at each character of a text. A column more costs less than the second one.
_DEAR = frozenset({"matches", "extracted"})


def once(stages: Stages) -> Stages:
    """Return SELECTs in which equal dear calls of one are a column of a SELECT before it."""
    return tuple(each for stage in stages for each in _once(stage))


def _once(stage: Stage) -> Stages:
    asked = [value for _, value in stage.columns] + ([stage.where] if stage.where is not None else [])
    counts = Counter(call for value in asked for call in _dear(value))
    columns = {call: Column(call.type, name=f"__call_{n}") for n, call in enumerate(c for c in counts if counts[c] > 1)}
    if not columns:
        return (stage,)
    made = tuple((column.name, call) for call, column in columns.items())
    given = tuple((name, _with(value, columns)) for name, value in stage.columns)
    where = _with(stage.where, columns) if stage.where is not None else None
    return Stage(made, keeps=True), replace(stage, columns=given, where=where)


def _dear(value: Expression) -> Iterator[Expression]:
    """Yield the calls in an expression that cost much. What can fail is left where it is asked for."""
    dear = isinstance(value, Like) or (isinstance(value, Apply) and value.function in _DEAR)
    if dear and not value.fails:
        yield value
        return
    for operand in value.inputs:
        yield from _dear(operand)


def _with(value: Expression, columns: Mapping[Expression, Column]) -> Expression:
    if value in columns:
        return columns[value]
    inputs = tuple(_with(operand, columns) for operand in value.inputs)
    return value if inputs == value.inputs else replace(value, inputs=inputs)

"""Aggregates of users: any split of the rows, states that JSON or the class itself encodes, and what they raise."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.errors import SqlExtError
from sqlext_udfs.aggregates.accumulator import Accumulator, AggregateCall
from sqlext_udfs.aggregates.known import accumulator
from sqlext_udfs.kernel.groups import Groups

GROUPS = 3


class Range:
    """Largest less smallest value; its state is a list, as JSON has it."""

    returns = "DOUBLE"

    def zero(self) -> Any:
        return None

    def add(self, state: Any, value: float) -> Any:
        return (value, value) if state is None else (min(state[0], value), max(state[1], value))

    def merge(self, one: Any, other: Any) -> Any:
        assert isinstance(one, list), "what was kept is what JSON reads"
        return [min(one[0], other[0]), max(one[1], other[1])]

    def finish(self, state: Any) -> Any:
        return None if state is None else state[1] - state[0]


class Own(Range):
    """With an encoding of its own, for a state that JSON has no word for."""

    def add(self, state: Any, value: float) -> Any:
        return {value} if state is None else state | {value}

    def merge(self, one: Any, other: Any) -> Any:
        return one | other

    def finish(self, state: Any) -> Any:
        return None if state is None else max(state) - min(state)

    def encode(self, state: Any) -> Any:
        return json.dumps(sorted(state))

    def decode(self, data: bytes) -> Any:
        return set(json.loads(data))


class Joined:
    """No merge: the texts as they came."""

    returns = "STRING"

    def zero(self) -> str:
        return ""

    def add(self, state: str, *values: Any) -> str:
        return f"{state}[{','.join(map(str, values))}]"

    def finish(self, state: str) -> str:
        return state


def made(hooks: type, returns: pa.DataType, *types: pa.DataType, places: bool = False, **more: Any) -> Accumulator:
    parameters = {"name": "mine", "bare": False, "class": hooks, "arrow_type": returns, **more}
    wanted = AggregateCall(
        "python", tuple(range(len(types))), parameters.pop("distinct", False), tuple(parameters.items())
    )
    return accumulator(wanted, types, places=places)


def result(each: Accumulator, rows: list[tuple[Any, ...]], cut: int, types: list[pa.DataType]) -> list[Any]:
    """Return the results of rows ``(group, *values)`` that come in two parts."""
    cut %= len(rows) + 1
    partials = []
    for part, first in ((rows[:cut], 0), (rows[cut:], cut)):
        groups = Groups(np.array([r[0] for r in part], np.int64), GROUPS)
        inputs = [pa.array([r[1 + i] for r in part], t) for i, t in enumerate(types)]
        partials.append(each.start(inputs, groups, first + np.arange(len(part))))
    both = [pa.concat_arrays(columns) for columns in zip(*partials, strict=True)]
    merged = each.merge(both, Groups(np.tile(np.arange(GROUPS), 2), GROUPS))
    (found,) = each.finish(merged)
    return list(found.to_pylist())


@pytest.mark.parametrize("hooks", [Range, Own])
@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, GROUPS - 1), st.none() | st.integers(-9, 9).map(float))), st.integers(0, 20))
def test_any_split_gives_the_same(hooks: type, rows: list[tuple[Any, ...]], cut: int) -> None:
    each = made(hooks, pa.float64(), pa.float64())
    values = [[v for g, v in rows if g == i and v is not None] for i in range(GROUPS)]
    assert result(each, rows, cut, [pa.float64()]) == [max(v) - min(v) if v else None for v in values]


@pytest.mark.parametrize("places", [False, True])
def test_without_merge_rows_come_in_the_order_of_arrival(places: bool) -> None:
    types = [pa.int64(), pa.string()]
    each = made(Joined, pa.string(), *types, places=places)
    rows = [(0, 1, "a"), (1, 2, None), (0, None, None), (0, 3, "b"), (1, 4, "c")]
    for cut in range(len(rows) + 1):
        assert result(each, rows, cut, types) == ["[1,a][3,b]", "[2,None][4,c]", ""]


def test_a_call_without_arguments_sees_rows() -> None:
    each = made(Joined, pa.string(), pa.int32(), bare=True)
    assert result(each, [(0, 1), (0, None), (2, 1), (2, 1)], 1, [pa.int32()]) == ["[]", "", "[][]"]


def test_distinct() -> None:
    each = made(Range, pa.float64(), pa.float64(), distinct=True)
    assert result(each, [(0, 1.0), (0, 1.0), (0, 4.0)], 1, [pa.float64()]) == [3.0, None, None]


class Raises(Range):
    """Fails in one hook, named by the type of the value."""

    def add(self, state: Any, value: float) -> Any:
        if not value:
            raise ValueError("none of nothing")
        return state

    def finish(self, state: Any) -> Any:
        return "text"


class Strange(Range):
    def add(self, state: Any, value: float) -> Any:
        return {1, 2}


@pytest.mark.parametrize(
    ("hooks", "value", "message"),
    [
        (Raises, 0.0, "aggregate `mine` failed in add: ValueError: none of nothing"),
        (Raises, 1.0, "aggregate `mine` gives what is no double: "),
        (Strange, 1.0, "the state of aggregate `mine` is none that JSON can say: "),
    ],
)
def test_what_it_raises_is_told_with_its_name(hooks: type, value: float, message: str) -> None:
    with pytest.raises(SqlExtError) as failed:
        result(made(hooks, pa.float64(), pa.float64()), [(0, value)], 0, [pa.float64()])
    assert failed.value.code == "RUN-038"
    assert failed.value.message.startswith(message), failed.value.message


def test_a_class_that_is_not_there() -> None:
    with pytest.raises(SqlExtError) as refused:
        accumulator(AggregateCall("python", (0,), False, (("name", "mine"),)), (pa.int32(),))
    assert refused.value.code == "FUNC-023"

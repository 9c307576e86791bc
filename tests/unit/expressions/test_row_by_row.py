"""Expressions give the same row by row as over whole columns, and fail for the same rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from random_expressions import COLUMNS, COUNT, ROWS, TEXTS, TYPES, policy, tree, typed
from recorded_flink import Strs

from sqlext.errors import SqlExtError
from sqlext_udfs.expressions import trees as e
from sqlext_udfs.expressions.columns import Rows
from sqlext_udfs.expressions.row_by_row import Evaluate, RowByRow

Values = list[list[Any]]


class _Plain(RowByRow[int, Values]):
    def cell(self, of: e.Cell) -> Evaluate[int, Values]:
        return lambda row, values: values[of.value][row]

    def running(self, of: e.Running) -> Evaluate[int, Values]:
        raise NotImplementedError


def _outcome(ask: Callable[[], Any]) -> str:
    """Return a value or an error as text; numbers of all types alike."""
    try:
        value = ask()
    except SqlExtError as error:
        return error.code
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    return "nan" if math.isnan(value) else repr(float(value))


@pytest.mark.parametrize("mode", ["spark", "flink"])
@settings(
    derandomize=True, deadline=None, max_examples=8, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
)
@given(values=ROWS, texts=TEXTS)
def test_row_by_row_as_over_columns(mode: str, values: dict[str, list[Any]], texts: list[str]) -> None:
    scope = Strs(mode, TYPES)
    columns = {name: pa.array(values[name], of) for name, (_, of, _) in COLUMNS.items()}
    plain = [(c.view(pa.int64()) if pa.types.is_timestamp(c.type) else c).to_pylist() for c in columns.values()]
    rows = Rows.of(columns, COUNT)
    for text in texts:
        try:
            function, made = _Plain(policy(scope)).function(tree(text, scope)), typed(text, scope)
        except SqlExtError:  # it does not mean anything
            continue
        for row in range(COUNT):
            one = rows.at(np.array([row]))
            ours = _outcome(lambda one=one, made=made: made.evaluate(one).to_pylist()[0])
            assert ours == _outcome(lambda row=row, function=function: function(row, plain)), (text, row)

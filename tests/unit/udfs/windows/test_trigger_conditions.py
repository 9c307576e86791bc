"""Conditions of EMIT WHEN: what they are of a pane's rows."""

from __future__ import annotations

import json
from math import nan
from typing import Any

import pytest

from sqlext.errors import SqlExtError
from sqlext_udfs.windows.triggers.conditions import PaneCondition

SUM, COUNT, ROWS = ["SUM", 0], ["COUNT", 0], ["COUNT"]


def holds(tree: Any, *values: float) -> bool:
    """Return whether a condition holds of rows, whose aggregates come from two sides."""
    condition = PaneCondition(json.dumps(tree))
    one, other = condition.start(), condition.start()
    for value in values[:2]:
        one = condition.add(one, (value,))
    for value in values[2:]:
        other = condition.add(other, (value,))
    return condition.holds(condition.merge(one, other))


@pytest.mark.parametrize(
    ("tree", "wanted"),
    [
        ([">", SUM, 8.0], True),
        (["AND", [">=", ROWS, 4.0], ["=", COUNT, 3.0]], True),
        (["OR", ["<", ["MIN", 0], 0.0], ["!=", ["MAX", 0], 5.0]], False),
        (["=", ["AVG", 0], 3.0], True),
        (["=", ["/", ROWS, 8.0], 0.5], True),
        (["=", ["/", ROWS, 3.0, "BIGINT"], 1.0], True),
        (["=", ["/", SUM, ["-", 2.0], "BIGINT"], ["-", 4.0]], True),
        ([">", ["/", SUM, 0.0, "DOUBLE"], 1e300], True),
        (["NOT", ["=", ["-", SUM, ["+", 9.0]], 0.0]], False),
    ],
)
def test_values(tree: Any, wanted: bool) -> None:
    assert holds(tree, 1.0, 3.0, nan, 5.0) is wanted


def test_null_is_unknown() -> None:
    assert not holds([">", SUM, 0.0], nan)
    assert not holds(["NOT", [">", ["AVG", 0], 0.0]], nan)
    assert holds(["OR", [">", ["MAX", 0], 0.0], [">", ROWS, 0.0]], nan)


@pytest.mark.parametrize("quotient", [["/", ROWS, COUNT], ["/", ROWS, COUNT, "BIGINT"]])
def test_division_by_zero_fails_where_nothing_keeps_from_it(quotient: Any) -> None:
    with pytest.raises(SqlExtError, match="EMIT WHEN") as raised:
        holds([">", quotient, 1.0], nan)
    assert raised.value.code == "RUN-040"
    assert not holds(["AND", [">", COUNT, 0.0], [">", quotient, 1.0]], nan)
    assert holds(["OR", ["=", COUNT, 0.0], [">", quotient, 1.0]], nan)

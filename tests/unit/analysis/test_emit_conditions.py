"""Conditions of EMIT WHEN as the operator has them."""

from __future__ import annotations

import json

import pytest

from sqlext.plan.base import walk
from sqlext_udfs.windows.triggers.tree import When, tree

from .conftest import Analysis


def _condition(analysis: Analysis, condition: str) -> object:
    plan = analysis.plan(f"SELECT user_name, COUNT(*) FROM clicks GROUP BY user_name EMIT WHEN ({condition})")
    policies = [f.policy for f in (getattr(n, "firing", None) for n in walk(plan)) if f is not None]
    (found,) = [t for p in policies for t in tree(p.trigger) if isinstance(t, When)]
    return json.loads(found.condition)


@pytest.mark.parametrize(
    ("condition", "flink", "spark"),
    [
        ("COUNT(*) / 2 > 1", [">", ["/", ["COUNT"], 2.0, "BIGINT"], 1.0], [">", ["/", ["COUNT"], 2.0], 1.0]),
        ("AVG(amount) > 1", [">", ["/", ["SUM", 0], ["COUNT", 0], "BIGINT"], 1.0], [">", ["AVG", 0], 1.0]),
        ("AVG(amount / 2E0) / 2 = 1", ["=", ["/", ["AVG", 0], 2.0, "DOUBLE"], 1.0], ["=", ["/", ["AVG", 0], 2.0], 1.0]),
        ("SUM(amount) / 2.5 = 1", ["=", ["/", ["SUM", 0], 2.5], 1.0], ["=", ["/", ["SUM", 0], 2.5], 1.0]),
    ],
)
def test_quotients_have_the_types_of_flink(condition: str, flink: object, spark: object) -> None:
    assert _condition(Analysis("flink"), condition) == flink
    assert _condition(Analysis("spark"), condition) == spark

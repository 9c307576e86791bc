"""Each fixture becomes what it became; every rewrite rule has one, and needs it."""

from __future__ import annotations

import os

import pytest

from sqlext.rewrite.rules import order

from .fixtures import FIXTURES, Fixture

pytestmark = pytest.mark.newest


@pytest.mark.parametrize("fixture", FIXTURES.values(), ids=FIXTURES)
def test_fixture(fixture: Fixture) -> None:
    if os.environ.get("REWRITE"):
        fixture.rewrite()
    else:
        assert fixture.actual() == fixture.expected


@pytest.mark.parametrize("rule", order.RULES, ids=lambda rule: rule.__name__)
def test_each_rule_has_a_fixture_that_needs_it(rule: order.Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = FIXTURES[rule.__name__]
    monkeypatch.setattr(order, "RULES", tuple(r for r in order.RULES if r is not rule))
    assert fixture.actual() != fixture.expected

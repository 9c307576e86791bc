"""Gives the tests of the core each trigger case of the folder."""

from __future__ import annotations

import pytest

from . import exceptions
from .clauses import Tree
from .trigger_files import trigger_cases


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give ``beam_case`` and ``flink_case`` each case of their form."""
    for fixture, mark, different in (("beam_case", "window_fn", {}), ("flink_case", "assigner", exceptions.FLINK)):
        if fixture in metafunc.fixturenames:
            cases = trigger_cases(metafunc.config)
            metafunc.parametrize(fixture, [_parameter(case, different) for case in cases if mark in case])


def _parameter(case: Tree, different: dict[str, str]) -> pytest.ParameterSet:
    reason = different.get(case["name"])
    return pytest.param(case, id=case["name"], marks=[pytest.mark.xfail(reason=reason, strict=True)] if reason else [])

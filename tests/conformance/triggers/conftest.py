"""The trigger cases of a folder: ``DIR/triggers/*.json`` of ``--cases DIR``, by default the project's copy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from . import exceptions
from .clauses import Tree

CASES = Path(__file__).parents[1] / "cases"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give ``beam_case`` and ``flink_case`` each case of their form."""
    given = Path(metafunc.config.getoption("--cases")).resolve()
    folder = CASES if given == CASES / "flink" else given
    cases = [
        case for path in sorted((folder / "triggers").glob("*.json")) for case in json.loads(path.read_text())["cases"]
    ]
    for fixture, mark, different in (("beam_case", "window_fn", {}), ("flink_case", "assigner", exceptions.FLINK)):
        if fixture in metafunc.fixturenames:
            metafunc.parametrize(fixture, [_parameter(case, different) for case in cases if mark in case])


def _parameter(case: Tree, different: dict[str, str]) -> pytest.ParameterSet:
    reason = different.get(case["name"])
    return pytest.param(case, id=case["name"], marks=[pytest.mark.xfail(reason=reason, strict=True)] if reason else [])

"""The trigger cases of a folder: ``DIR/triggers/*.json`` of ``--cases DIR``, by default the project's copy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .clauses import Tree

CASES = Path(__file__).parents[1] / "cases"


def trigger_cases(config: pytest.Config) -> list[Tree]:
    """Return the cases, file by file."""
    folder = CASES if are_own(config) else Path(config.getoption("--cases"))
    return [
        case for path in sorted((folder / "triggers").glob("*.json")) for case in json.loads(path.read_text())["cases"]
    ]


def are_own(config: pytest.Config) -> bool:
    """Whether they are the project's copy: a folder that somebody names runs whole."""
    return Path(config.getoption("--cases")).resolve() == CASES / "flink"

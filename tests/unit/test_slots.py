"""Classes of two bases work in Python 3.10: its ``slots=True`` repeats inherited slots, and two such bases conflict."""

from __future__ import annotations

import ast
from pathlib import Path

import sqlext.plan

FOLDER = Path(sqlext.plan.__file__).parent


def classes() -> list[ast.ClassDef]:
    """Return the classes of plans, as they are written."""
    trees = [ast.parse(file.read_text("utf-8")) for file in FOLDER.rglob("*.py")]
    return [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def has_own_slots(found: ast.ClassDef) -> bool:
    """Return whether a class has ``slots=True``."""
    return any("slots=True" in ast.unparse(decorator) for decorator in found.decorator_list)


def test_one_of_two_bases_has_slots() -> None:
    slotted = {found.name for found in classes() if has_own_slots(found)}
    beside = {found.name: [ast.unparse(base) for base in found.bases] for found in classes() if len(found.bases) > 1}
    assert "Distinct" in beside
    assert {name: bases for name, bases in beside.items() if len(slotted.intersection(bases)) > 1} == {}

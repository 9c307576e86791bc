"""The rooms of ``sqlext.rewrite`` import one way, in the order that its docstring names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sqlext.rewrite

_FOLDER = Path(sqlext.rewrite.__file__).parent
_NAMED = [line.split()[0] for line in (sqlext.rewrite.__doc__ or "").splitlines() if "  " in line]
_FILES = sorted(path for path in _FOLDER.rglob("*.py") if path.parent != _FOLDER)


def rooms_of_imports(path: Path) -> set[str]:
    """Return the rooms that a file imports from; imports within functions or for types alone count too."""
    tree = ast.parse(path.read_text("utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {module.split(".")[2] for module in modules if module.startswith("sqlext.rewrite.")}


def test_the_docstring_names_every_room() -> None:
    assert sorted(_NAMED) == sorted({path.parent.name for path in _FILES})


@pytest.mark.parametrize("path", _FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_room_imports_from_rooms_before_it(path: Path) -> None:
    own = _NAMED.index(path.parent.name)
    assert rooms_of_imports(path) <= set(_NAMED[: own + 1])

"""The rooms of analysis import one way: the docstring of the package lists them, lower ones first."""

from __future__ import annotations

import ast
from pathlib import Path

import sqlext.analysis

_ROOT = Path(sqlext.analysis.__file__).parent
_PACKAGE = "sqlext.analysis"


def _order() -> dict[str, int]:
    """Return the line of each room in the list; rooms of one line may import each other."""
    lines = (sqlext.analysis.__doc__ or "").split("list:", 1)[1].strip().splitlines()
    return {room.strip(): i for i, line in enumerate(lines) for room in line.split("  ")[0].split(",")}


def _imported(path: Path) -> set[str]:
    """Return the rooms that a module imports from, those for types alone too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == _PACKAGE:
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_PACKAGE + "."):
            names.add(node.module.split(".")[2])
    return names


def test_every_room_is_listed() -> None:
    assert set(_order()) == {p.parent.name for p in _ROOT.glob("*/__init__.py")}


def test_rooms_import_rooms_above_them_alone() -> None:
    order = _order()
    wrong = [
        f"{path.relative_to(_ROOT)} imports {room}"
        for path in sorted(_ROOT.glob("*/*.py"))
        for room in sorted(_imported(path))
        if order[room] > order[path.parent.name]
    ]
    assert wrong == []

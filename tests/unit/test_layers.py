"""The code's floor plan: which package may import which, and how large loops and folders may grow.

Every import counts, also those inside functions and those for types alone.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import sqlext.analysis
import sqlext.rewrite

_PROJECT = Path(sqlext.__file__).parent.parent
_ROOTS = (_PROJECT, _PROJECT / "udfs", _PROJECT / "catalog")

#: Layers, lowest first, each with its packages. A module imports from its own layer and from lower ones.
LAYERS: Mapping[str, tuple[str, ...]] = {
    "errors": (
        "sqlext.errors",
        "sqlext.source",
        "sqlext.secrets",
        "sqlext.remembered",
        "sqlext.extras",
        "sqlext.environment",
        "sqlext.locations",
        "sqlext.policy",
        "sqlext.capabilities",
        "sqlext.databricks",
    ),
    "stores": ("sqlext.stores",),
    "types": ("sqlext.types", "sqlext.quoting"),
    "settings": ("sqlext.settings", "sqlext.meanings"),
    "dialect": ("sqlext.dialect",),
    "catalog": ("sqlext_catalog",),
    "watermarks": ("sqlext.watermarks",),
    "operators": ("sqlext_udfs",),
    "hooks": ("sqlext.hooks", "sqlext.user_functions"),
    "plan": ("sqlext.plan",),
    "connectors": ("sqlext.connectors",),
    "analysis": ("sqlext.analysis",),
    "sources": ("sqlext.sources",),
    "rewrite": ("sqlext.rewrite",),
    "local": ("sqlext.local",),
    "spark": ("sqlext.spark", "sqlext_udfs.spark"),
    "sinks": ("sqlext.sinks",),
    "jobs": ("sqlext.jobs",),
    "session": ("sqlext.session",),
    "faces": (
        "sqlext",
        "sqlext.cli",
        "sqlext.notebook",
        "sqlext.lsp",
        "sqlext.mcp",
        "sqlext.dbt",
        "sqlext.testing",
        "sqlext.demo",
        "sqlext.metrics",
        "sqlext.ui",
    ),
}
#: In a connector's folder, ``reader`` is a source; ``sink``, ``local_sink`` and ``replacement`` are sinks.
_ROLES = {"reader": "sources", "sink": "sinks", "local_sink": "sinks", "replacement": "sinks"}
#: Imports that run up, each with its reason. There is none.
UPWARD: Mapping[tuple[str, str], str] = {}
#: Loops of more than ``_HANDFUL`` modules, by a module in them, each with its reason.
LOOPS: Mapping[str, str] = {"sqlext.dialect.queries.whole": "recursive descent: a query stands inside an expression"}
#: Public classes that bear one name in several layers, where they are one thing: in the text, in the plan, in an
#: operator. Names in groups share their meaning.
ONE_MEANING: Mapping[str, str] = {
    "AfterCount AfterDelay AfterDelta AfterIdle AfterWatermark EveryAligned EveryEventTime EveryPeriod EveryRow Never"
    " Purging Timeout Until WindowClose": "a trigger of EMIT, as written and as run",
    "AllOf AnyOf EachOf": "several parts in one: of conditions or of triggers",
    "Delay Align": "a step of a deadline's computation, as written and as run",
    "KeepDelta": "an evictor of EMIT, as written and as run",
    "Trigger": "when a pane comes out: one of EMIT, and the class that users write",
    "Arithmetic Compare Coalesce Extreme Like Literal": "an expression: as written, as one tree, over columns",
    "Case When": "CASE with its conditions, and WHEN with one, of values or of triggers",
    "Column": "a column: declared in a table, read by an expression",
    "Join": "a join, as written and as planned",
    "OverCall": "a call with its OVER, as written and as run",
    "Query": "a query, as written and as running",
    "History": "what a query did so far: its samples, its commits",
    "Versions": "of the right side of a temporal join: as it is planned, and by key and time",
}
#: Public classes of one name that mean two things: checkpoints or users' programs hold the name.
HELD: Mapping[str, str] = {
    "Policy": "of panes, and of numbers that have no value; checkpoints hold the first",
    "Repeat": "of a trigger, and of a part of a pattern; checkpoints hold both",
    "Session": "what users run SQL on, and the windows of SESSION, which checkpoints hold",
}
_HANDFUL = 4
_MOST_MODULES = 25

_DEPTH = list(LAYERS)
_LAYER_OF = {package: layer for layer, packages in LAYERS.items() for package in packages}


@cache
def _modules() -> Mapping[str, Path]:
    """Return every module of the project by its import name; the plug-in of dbt lies in dbt's namespace."""
    found = {}
    for root in _ROOTS:
        for package in root.glob("sqlext*"):
            for path in package.rglob("*.py"):
                parts = path.relative_to(root).with_suffix("").parts
                if "plugin" not in parts:
                    found[".".join(parts).removesuffix(".__init__")] = path
    return found


@cache
def _imports(module: str) -> frozenset[str]:
    """Return what a module imports, by full names."""
    names = set()
    for node in ast.walk(ast.parse(_modules()[module].read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = (f"{node.module}.{alias.name}" for alias in node.names)
            names |= {name if name in _modules() else node.module for name in whole}
    return frozenset(names)


def _layer(module: str) -> str:
    parts = module.split(".")
    if parts[:2] == ["sqlext", "connectors"] and len(parts) > 3 and parts[3] in _ROLES:
        return _ROLES[parts[3]]
    return next(_LAYER_OF[p] for n in range(len(parts), 0, -1) if (p := ".".join(parts[:n])) in _LAYER_OF)


def _own_imports() -> Iterator[tuple[str, str]]:
    for module in sorted(_modules()):
        for imported in sorted(_imports(module)):
            if imported in _modules():
                yield module, imported


def test_imports_run_down() -> None:
    up = {
        (module, imported)
        for module, imported in _own_imports()
        if _DEPTH.index(_layer(imported)) > _DEPTH.index(_layer(module))
    }
    assert up == set(UPWARD)


def test_spark_begins_at_its_layer() -> None:
    early = [
        module
        for module in sorted(_modules())
        if _DEPTH.index(_layer(module)) < _DEPTH.index("spark")
        and any(name.split(".")[0] in ("pyspark", "delta") for name in _imports(module))
    ]
    assert early == []


@pytest.mark.parametrize("package", [sqlext.analysis, sqlext.rewrite], ids=lambda p: p.__name__)
def test_rooms_import_one_way(package: object) -> None:
    """The docstring of the package lists its rooms, lower ones first; rooms of one line may import each other."""
    name = str(getattr(package, "__name__", ""))
    lines = [line for line in str(package.__doc__).split(":\n\n", 1)[1].splitlines() if line]
    order = {room.strip(): n for n, line in enumerate(lines) for room in line.split("  ")[0].split(",")}
    depth = len(name.split("."))

    def room(module: str) -> str | None:
        inside = module.startswith(f"{name}.")
        return module.split(".")[depth] if inside else None

    assert {r for m in _modules() if (r := room(m)) is not None} == set(order)
    assert [
        (module, imported)
        for module, imported in _own_imports()
        if (mine := room(module)) and (theirs := room(imported)) and order[theirs] > order[mine]
    ] == []


def test_loops_are_small() -> None:
    large = [loop for loop in _loops() if len(loop) > _HANDFUL]
    assert [loop for loop in large if not loop & set(LOOPS)] == []
    assert len(large) == len(LOOPS)


def _loops() -> list[frozenset[str]]:
    """Return the strongly connected components of more than one module (Tarjan 1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[frozenset[str]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        path.append(module)
        for imported in _imports(module) & _modules().keys():
            if imported not in number:
                visit(imported)
            if imported in path:
                lowest[module] = min(lowest[module], lowest[imported])
        if lowest[module] == number[module]:
            place = path.index(module)
            found.append(frozenset(path[place:]))
            del path[place:]

    for module in _modules():
        if module not in number:
            visit(module)
    return [loop for loop in found if len(loop) > 1]


def test_folders_are_small() -> None:
    sizes = Counter(path.parent for path in _modules().values() if path.name != "__init__.py")
    assert {str(folder.relative_to(_PROJECT)): n for folder, n in sizes.items() if n > _MOST_MODULES} == {}


def test_file_names_do_not_repeat_their_folder() -> None:
    repeated = [
        str(path.relative_to(_PROJECT))
        for path in _modules().values()
        if path.stem == (folder := path.parent.name) or path.stem.startswith((f"{folder}_", f"{folder.rstrip('s')}_"))
    ]
    assert repeated == []


def test_a_name_has_one_meaning() -> None:
    """A class is public where it stands at the top of its module without an underscore."""
    counts = Counter(
        node.name
        for path in _modules().values()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    listed = [name for names in (*ONE_MEANING, *HELD) for name in names.split()]
    assert {name for name, n in counts.items() if n > 1} == set(listed)
    assert len(listed) == len(set(listed))


def test_folders_of_tests_hide_no_package() -> None:
    """pytest imports ``tests/NAME`` as the package ``NAME``; an installed one of that name could not be imported."""
    folders = {path.parent.name for path in (_PROJECT / "tests").glob("*/__init__.py")}
    assert folders
    foreign = {name for name, owners in packages_distributions().items() if set(owners) - {"sqlext-spark", "sqlext"}}
    assert folders & foreign == set()

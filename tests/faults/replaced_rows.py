"""The rows of a plain table and of its sums, by each of two versions of the query that writes them."""

from __future__ import annotations

from tests.workspace import Workspace

Rows = list[tuple[str, str]]
BEFORE: dict[str, Rows] = {"plain": [("a", "1"), ("b", "2"), ("b", "3")], "sums": [("a", "1"), ("b", "5")]}
AFTER: dict[str, Rows] = {"plain": [("b", "2"), ("b", "3")], "sums": [("b", "5")]}
#: The same with a row more, ``("a", 7)``.
ENDED: dict[str, Rows] = {"plain": [("a", "7"), ("b", "2"), ("b", "3")], "sums": [("a", "7"), ("b", "5")]}
OLD_ENDED: dict[str, Rows] = {"plain": sorted([("a", "7"), *BEFORE["plain"]]), "sums": [("a", "8"), ("b", "5")]}


def tables(workspace: Workspace) -> dict[str, Rows]:
    """Return the rows that both have now."""
    return {name: workspace.delta(name) for name in BEFORE}

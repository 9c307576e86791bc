"""What the rendering rules see of the renderer."""

from __future__ import annotations

from typing import Protocol

from sqlext.dialect.ast import expressions as e
from sqlext.types import LogicalType


class Texts(Protocol):
    """Renders the parts of a node."""

    mode: str
    zone: str

    def text(self, node: e.Node) -> str:
        """Return a node as Spark SQL."""

    def verbatim(self, node: e.Node) -> str:
        """Return a node's own text with only its changed children spliced in."""

    def type_of(self, node: e.Node) -> LogicalType | None:
        """Return the type of an expression, None if it is unknown."""

    def atom(self, node: e.Node) -> str:
        """Return a node as text that can stand beside any operator."""

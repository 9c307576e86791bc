"""The node of DISTINCT over rows that do not change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sqlext.plan.nodes import UnaryNode
from sqlext.plan.stateful import Stateful


@dataclass(frozen=True, slots=True)
class Distinct(UnaryNode, Stateful):
    """Each different row of its input once, when it first comes.

    Attributes:
        ttl: ms of processing time after which a row that did not come again is forgotten.
    """

    ttl: int | None = None

    function: ClassVar[str] = "distinct"

    @property
    def step(self) -> str:
        """The name that fingerprints in checkpoints have for it."""
        return "Operator"

    @property
    def what(self) -> str:
        """The clause."""
        return "DISTINCT of whole rows"

    @property
    def why(self) -> tuple[str, ...]:
        """Spark's own keeps rows for ever, or needs a watermark among their columns."""
        return (f"stateful function {self.function}",)

    @property
    def detail(self) -> str:
        """The function, and how long it keeps a row."""
        return "; state: ".join([*self.why, *self._lives()])

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield the function: all columns are its key."""
        yield "operator", f"{self.function}()", (self.function, ())

"""Collect the values of single rows that conditions and measures use: SQL computes them before the operator."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlext.plan.matching import InputValue
from sqlext.plan.scope import Scope, Shape, shape


@dataclass
class MatchValues:
    """The values of single rows, each once, by their numbers.

    Attributes:
        scope: the names of one row.
        found: the values.
    """

    scope: Scope
    found: list[InputValue] = field(default_factory=list)
    _shapes: list[tuple[Shape | None, bool]] = field(default_factory=list)

    def mark(self) -> int:
        """Return how many values there are, for ``forget``."""
        return len(self.found)

    def forget(self, mark: int) -> None:
        """Drop the values that came after ``mark``."""
        del self.found[mark:], self._shapes[mark:]

    def number(self, value: InputValue) -> int:
        """Return the number of a value; what means the same is computed once."""
        own = (shape(value.expr, self.scope) if value.expr is not None else None, value.absent)
        if own not in self._shapes:
            self._shapes.append(own)
            self.found.append(value)
        return self._shapes.index(own)

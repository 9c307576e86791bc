"""The nodes of SLIDE: windows of one length, of which one ends at each time of a key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sqlext.dialect.ast.expressions import Expr
from sqlext.plan.base import LATE
from sqlext.plan.columns import PlanColumn
from sqlext.plan.firing import LateRows, late_parts
from sqlext.plan.nodes import UnaryNode, WindowSpec
from sqlext.plan.normal_form import column_form, expression_form, value_form
from sqlext.plan.over import Framed
from sqlext.plan.scope import Scope
from sqlext.plan.stateful import Operator
from sqlext.source import Span


@dataclass(frozen=True, slots=True)
class SlideRows(UnaryNode):
    """SLIDE in FROM, until its SELECT is bound: the input's columns, and those of a window that no row has yet.

    No plan that runs has it: a GROUP BY makes ``Slide`` of it, and anything else is refused.

    Attributes:
        spec: the windows.
        time: the rowtime.
        bounds: start, end and time of the window.
        written: where the function stands.
    """

    spec: WindowSpec
    time: PlanColumn
    bounds: tuple[PlanColumn, ...]
    written: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Slide(Operator):
    """The aggregates of the windows of SLIDE: one row for each key and each time that rows of the key have.

    Its columns are the keys, the time, then the results. A window has the rows of its key that are not later than the
    time, and less than the size before it.

    Attributes:
        scope: the names that the expressions use.
        functions: the aggregates, each over RANGE of the size.
        by: the keys: what is grouped by beside the window.
        time: the rowtime.
        size: ms.
        written: where SLIDE stands.
        late: where rows that come too late are kept.
    """

    scope: Scope
    functions: tuple[Framed, ...]
    by: tuple[Expr, ...]
    time: PlanColumn
    size: int
    written: Span
    late: LateRows | None = None

    function: ClassVar[str] = "over"

    @property
    def event_time(self) -> bool:
        """Always: a window comes out when the watermark has passed its time."""
        return True

    @property
    def hidden(self) -> tuple[str, ...]:
        """Late rows, where they are kept."""
        return (LATE,) if self.late is not None else ()

    @property
    def what(self) -> str:
        """SLIDE, and of which rows."""
        keys = ", ".join(e.span.one_line for e in self.by)
        return f"SLIDE{f' by {keys}' if keys else ''} in the order of {self.time.name}"

    @property
    def bound(self) -> str:
        """The size: rows before the watermark are kept for the windows that end behind it."""
        return f"rows until the watermark passes them, and those of the last {self.size} ms"

    @property
    def clause(self) -> Span | None:
        """The function in FROM."""
        return self.written

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield what its state depends on: the rows that wait, and those that windows reach back to."""
        below, calls = self.sources[0].columns, [f.call for f in self.functions]
        yield "SLIDE keys", ", ".join(e.span.one_line for e in self.by), value_form(self.by, self.scope)
        yield "SLIDE order", self.time.name, column_form(self.time, below)
        yield "SLIDE size", f"{self.size} ms", self.size
        forms = [expression_form(c, self.scope) for c in calls]
        yield "SLIDE aggregates", ", ".join(c.span.one_line for c in calls), forms
        if self.late is not None:
            yield from late_parts(self.late, below)

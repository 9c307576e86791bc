"""The node of CURRENT_WATERMARK: rows with the watermark that they met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sqlext.plan.columns import PlanColumn
from sqlext.plan.normal_form import column_form
from sqlext.plan.stateful import Operator
from sqlext.source import Span

#: The physical column of the watermark, an instant; NULL before the first one.
WATERMARK = "__watermark"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkColumn(Operator):
    """Each row of its input as it comes, with the watermark at the begin of its micro-batch.

    Its columns are those of its input, then one for each rowtime that is asked for: a query has one watermark.

    Attributes:
        time: one of these rowtimes.
        span: the first call.
    """

    time: PlanColumn
    span: Span

    function: ClassVar[str] = "watermark"

    @property
    def event_time(self) -> bool:
        """Always: without a watermark there is nothing to give."""
        return True

    @property
    def waits(self) -> bool:
        """No: the watermark of each micro-batch counts."""
        return False

    @property
    def settles(self) -> bool:
        """No, for the same reason."""
        return False

    @property
    def what(self) -> str:
        """The function."""
        return "CURRENT_WATERMARK"

    @property
    def bound(self) -> str:
        """It keeps no rows."""
        return "none"

    @property
    def clause(self) -> Span:
        """The call that asks for it."""
        return self.span

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield the rowtime."""
        # Checkpoints know the operator by it.
        yield "CURRENT_WATERMARK", self.time.name, column_form(self.time, self.sources[0].columns)

"""The node of MATCH_RECOGNIZE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sqlext.dialect.ast.expressions import Call, Expr
from sqlext.dialect.ast.queries import OrderItem
from sqlext.plan.columns import PlanColumn
from sqlext.plan.normal_form import column_form, expression_form, value_form
from sqlext.plan.scope import Scope
from sqlext.plan.stateful import Operator
from sqlext.source import Span
from sqlext_udfs.matching.pattern import most_rows
from sqlext_udfs.matching.specification import MatchSpecification, specification_to_json


@dataclass(frozen=True, slots=True)
class InputValue:
    """What conditions and measures look at in a row: SQL computes it before the operator.

    Attributes:
        expr: over the row; None: its rowtime as an instant.
        absent: of a row that is not there, all of whose columns are NULL.
    """

    expr: Expr | None
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Totalled:
    """An aggregate of MEASURES over the rows of a group of variables; its arguments are over one row."""

    call: Call
    group: int
    final: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Match(Operator):
    """A row for each match, or for each row of one.

    Its columns are the partition's, what measures look at, and the results of their aggregates.

    Attributes:
        scope: the names of one row.
        span: what stands in the parentheses.
        partition: the columns of PARTITION BY.
        time: the time attribute that orders the rows.
        order: what orders rows of one time.
        values: by their numbers in ``search``.
        totals: the aggregates of measures.
        search: what is looked for, without the places of columns.
    """

    scope: Scope
    span: Span
    time: PlanColumn
    search: MatchSpecification
    partition: tuple[PlanColumn, ...] = ()
    order: tuple[OrderItem, ...] = ()
    values: tuple[InputValue, ...] = ()
    totals: tuple[Totalled, ...] = ()

    function: ClassVar[str] = "match"

    @property
    def event_time(self) -> bool:
        """Whether rows are looked at when the watermark has passed them."""
        return self.time.is_rowtime

    @property
    def uses_clock(self) -> bool:
        """Whether processing time ends matches."""
        return not self.event_time and self.search.within is not None

    @property
    def ends(self) -> bool:
        """Whether the end of the rows ends matches in processing time."""
        # By event time the last watermark ends matches. In processing time only this says that no row follows.
        return not self.event_time and (self.search.standard or self.search.within is not None)

    @property
    def what(self) -> str:
        """MATCH_RECOGNIZE, of which rows and in which order."""
        keys = ", ".join(c.name for c in self.partition)
        order = self.time.name if self.event_time else "arrival"
        return f"MATCH_RECOGNIZE{f' by {keys}' if keys else ''} in the order of {order}"

    @property
    def bound(self) -> str:
        """Rows stay as long as they may be part of a match."""
        within, rows = self.search.within, most_rows(self.search.pattern)
        if within is not None:
            return f"rows of {within} ms"
        return f"{rows} row{'s' if rows != 1 else ''} of each key" if rows is not None else ""

    @property
    def clause(self) -> Span | None:
        """The whole of it."""
        return self.span

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield what its state depends on."""
        below = self.sources[0].columns
        keys = ", ".join(c.name for c in self.partition)
        yield "MATCH_RECOGNIZE keys", keys, [column_form(c, below) for c in self.partition]
        order = [(expression_form(o.expr, self.scope), o.descending, o.nulls) for o in self.order]
        shown = ", ".join([self.time.name, *(o.span.one_line for o in self.order)])
        yield "MATCH_RECOGNIZE order", shown, (column_form(self.time, below), order)
        values = [(value_form(v.expr, self.scope), v.absent) for v in self.values]
        totals = [(value_form(t.call, self.scope), t.group, t.final) for t in self.totals]
        # This JSON holds class names, and checkpoints hold it: the classes must keep their names.
        form = (specification_to_json(self.search), values, totals)
        yield "MATCH_RECOGNIZE", self.span.one_line, form

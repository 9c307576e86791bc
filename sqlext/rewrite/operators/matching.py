"""Render MATCH_RECOGNIZE: rows go in, matches come out, measures are computed above."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlext.dialect.ast.expressions import ColumnRef
from sqlext.dialect.ast.queries import OrderItem
from sqlext.plan.matching import InputValue, Match, Totalled
from sqlext.quoting import identifier, named
from sqlext.rewrite.expressions.accumulators import AccumulatorCall, Accumulators, Parameters, result_names
from sqlext.rewrite.expressions.columns import instant, value
from sqlext.rewrite.expressions.context import ScopeContext
from sqlext.rewrite.expressions.grouped import accumulated
from sqlext.rewrite.expressions.renderer import ExpressionRenderer, render
from sqlext.rewrite.operators.step import SpecifiedStep
from sqlext.rewrite.relations.operator_input import InputColumns, OperatorInput
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.rewrite.script.model import SqlView, TagView
from sqlext_udfs.matching.specification import Order, Total, specification_to_json


def match_sql(node: Match, renderer: Rendering) -> str:
    """Return the query of what is asked of matches; measures are computed above it."""
    sql = _MatchSql(node, renderer)
    operated = sql.operated()
    finished = [named(text, c.physical) for text, c in zip(sql.totals, sql.total_columns, strict=True)]
    given = [identifier(c.physical) for c in node.columns if c not in sql.total_columns]
    query = f"SELECT {', '.join([*given, *finished]) or '1 AS __one'} FROM {operated}"
    time = next((c.physical for c in node.columns if c.is_rowtime), None)
    if time is None:
        return query
    view = renderer.add_step(lambda name: SqlView(name, query))
    return f"SELECT * FROM {renderer.add_step(lambda name: TagView(name, view, time))}"


class _MatchSql:
    def __init__(self, node: Match, renderer: Rendering) -> None:
        self.node = node
        self.renderer = renderer
        self.expressions = ExpressionRenderer(ScopeContext(node.scope, renderer.sub_query))
        self.rows = InputColumns()
        self.total_columns = node.columns[len(node.columns) - len(node.totals) :] if node.totals else ()
        self.accumulated = _Accumulated()
        self.totals = [self._total(t) for t in node.totals]

    def operated(self) -> str:
        """Add the steps that run the operator; return the view of its output."""
        node, rows = self.node, self.rows
        rows.texts += [value(c, self.renderer.zone, self._alias) for c in node.partition]
        values = [rows.place(self._value(v)) for v in node.values]
        totals = self._kept(values)
        specification = replace(
            node.search,
            values=tuple(values),
            time=self._time(),
            order=tuple(self._order(o) for o in node.order),
            totals=totals,
        )
        (below,) = node.sources
        given = [c.physical for c in node.columns if c not in self.total_columns]
        fields = (("keys", specification.keys), ("match", specification_to_json(specification)))
        step = SpecifiedStep(node, fields, (*given, *self.accumulated.result_names()))
        return step.over(self.renderer, OperatorInput(below, rows.texts))

    @property
    def _alias(self) -> str:
        return self.node.scope.relations[0].alias

    def _value(self, of: InputValue) -> str:
        if of.expr is None:
            return instant(self.node.time, self._alias)
        if of.absent:
            return render(of.expr, _AbsentRow(self.node.scope, self.renderer.sub_query))
        return self.expressions.text(of.expr)

    def _time(self) -> int | None:
        """Return the place of the rows' times in milliseconds; in processing time only WITHIN asks for it."""
        if self.node.event_time:
            return self.rows.place(f"unix_millis({instant(self.node.time, self._alias)})")
        if self.node.search.within is not None:
            return self.rows.place("unix_millis(current_timestamp())")
        return None

    def _order(self, item: OrderItem) -> Order:
        nulls_first = None if item.nulls is None else item.nulls == "FIRST"
        return Order(self.rows.place(self.expressions.text(item.expr)), item.descending, nulls_first)

    def _total(self, total: Totalled) -> str:
        """Return an aggregate as a text over what accumulators give."""
        return accumulated(
            total.call, self.expressions, replace(self.accumulated, group=total.group, final=total.final)
        )

    def _kept(self, values: list[int]) -> tuple[Total, ...]:
        """Return what accumulators are told; their inputs become more values."""
        first = len(values)
        values += [self.rows.place(text) for text in self.accumulated.inputs]
        return tuple(
            Total(group, a.function, tuple(first + i for i in a.inputs), a.distinct, a.parameters, final)
            for group, final, a in self.accumulated.kept
        )


@dataclass
class _Accumulated(Accumulators):
    """Collects the accumulators of all groups of variables; with another ``group`` into the same lists."""

    kept: list[tuple[int, bool, AccumulatorCall]] = field(default_factory=list)
    group: int = 0
    final: bool = True

    def add(self, function: str, *inputs: str, distinct: bool = False, parameters: Parameters = ()) -> tuple[str, ...]:
        """Return the names of the columns in which an accumulator's results will be."""
        places = tuple(self._place(text) for text in inputs)
        wanted = (self.group, self.final, AccumulatorCall(function, places, distinct, parameters))
        if wanted not in self.kept:
            self.kept.append(wanted)
        return result_names(self.kept.index(wanted), wanted[-1])

    def result_names(self) -> list[str]:
        """Return the names of all result columns in the operator's order."""
        return [name for i, (_, _, a) in enumerate(self.kept) for name in result_names(i, a)]


@dataclass(frozen=True)
class _AbsentRow(ScopeContext):
    """A row that is not there: its columns are NULL."""

    def column(self, ref: ColumnRef) -> str | None:
        """Return NULL of the column's type."""
        type_ = self.scope.column_type(ref)
        return f"CAST(NULL AS {type_.spark()})" if type_ is not None else "(NULL)"

"""Bind MATCH_RECOGNIZE.

A ``Match`` node gives what the measures ask of matches; a ``Project`` above it computes the measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.matching.definitions import BoundDefinition
from sqlext.analysis.matching.measures import MATCH, Measures
from sqlext.analysis.matching.names import ROW, Names
from sqlext.analysis.matching.patterns import core_pattern, variables_of
from sqlext.analysis.matching.values import MatchValues
from sqlext.analysis.relations.binding import Binding, FromClause
from sqlext.analysis.relations.outputs import OutputBuilder
from sqlext.analysis.types.inference import infer
from sqlext.analysis.types.literals import interval_millis
from sqlext.dialect.ast import matching
from sqlext.dialect.ast.expressions import ColumnRef, Expr
from sqlext.dialect.ast.matching import Measure
from sqlext.dialect.ast.queries import MatchRecognize
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.columns import Part, PlanColumn
from sqlext.plan.matching import Match
from sqlext.plan.nodes import WindowKind
from sqlext.plan.scope import Found, Scope, ScopeRelation
from sqlext_udfs.expressions.trees import Expression
from sqlext_udfs.matching.specification import LAST, NEXT, PAST_LAST, MatchSpecification, Skip

SETTING = "sqlext.match-recognize"


def bind_match(clause: MatchRecognize, binding: Binding) -> nodes.PlanNode:
    """Return the plan of a MATCH_RECOGNIZE.

    Raises:
        SqlExtError: MATCH-002 to MATCH-018 for what is wrong with its clauses, and what their parts raise.
    """
    return _MatchBinder(clause, binding).bind()


class _MatchBinder:
    def __init__(self, clause: MatchRecognize, binding: Binding) -> None:
        self.clause = clause
        self.env = binding.env
        self.standard = binding.env.settings.get(SETTING) == "standard"
        inner = binding.from_clause()
        self.below = inner.bind(clause.input)
        self.relation = self._relation(inner)
        scope = Scope((self.relation,), self.env.mode, self.env.zone, binding.bind_inside)
        self.names = Names(variables_of(clause.pattern), clause.subsets, scope, self.standard)
        self.time = self._time()
        self.values = MatchValues(scope)
        self.measures = Measures(self.names, self.values, self.time)

    def bind(self) -> nodes.PlanNode:
        partition = self._partition()
        search = self._search(len(partition))
        _check_names([c.name for c in partition], self.clause.measures)
        all_rows = search.all_rows
        measures = [
            (m.name, self.measures.over_match(m.expr, final=not all_rows or m.semantics == "FINAL"))
            for m in self.clause.measures
        ]
        rest = self._other_columns(partition) if all_rows else []
        keys = tuple(_key(i, c) for i, c in enumerate(partition))
        # After the measures and the other columns, each of which may have asked for a further column.
        columns = (*keys, *self.measures.columns)
        node = Match(
            columns,
            (self.below,),
            scope=self.names.scope,
            span=self.clause.span,
            time=self.time,
            # The search was made first, as its `all_rows` decides which rows the measures look at.
            search=self._with_measures(search),
            partition=partition,
            order=tuple(replace(i, expr=self.names.over_row(i.expr)) for i in self.clause.order_by[1:]),
            values=tuple(self.values.found),
            totals=tuple(total for total, _ in self.measures.totals),
        )
        return self._projected(node, list(zip(partition, keys, strict=True)), measures, rest)

    def _projected(
        self,
        node: Match,
        keys: Sequence[tuple[PlanColumn, PlanColumn]],
        measures: Sequence[tuple[str, Expr]],
        rest: Sequence[tuple[str, PlanColumn]],
    ) -> nodes.PlanNode:
        relation = ScopeRelation(MATCH, (MATCH,), node.columns)
        scope = Scope((relation,), self.env.mode, self.env.zone, self.names.scope.bind)
        builder = OutputBuilder(scope)
        for source, key in keys:
            builder.add(source.name, None, Found(relation, key, ()))
        for name, expr in measures:
            infer(expr, scope)
            builder.add(name, expr, scope.bare(expr))
        for name, column in rest:
            builder.add(name, None, Found(relation, column, ()))
        below = nodes.Aliased(node.columns, node, MATCH)
        return nodes.Project(tuple(builder.columns), below, scope, tuple(builder.outputs))

    # What is read

    def _relation(self, inner: FromClause) -> ScopeRelation:
        if len(inner.relations) != 1:
            raise SqlExtError(
                "MATCH-017",
                "MATCH_RECOGNIZE reads one table",
                span=self.clause.input.span,
                hint="put the join into a sub-query",
            )
        self._check_input()
        relation = inner.relations[0]
        return ScopeRelation(relation.alias, (ROW,), relation.columns)

    def _check_input(self) -> None:
        span = self.clause.input.span
        if self.below.updating or self.below.changelog:
            raise SqlExtError(
                "MATCH-017",
                "MATCH_RECOGNIZE reads rows that stay as they are; these are updated",
                span=span,
                hint="group by a window, or keep the first row of each key",
            )
        inner = self.below.input if isinstance(self.below, nodes.Aliased) else self.below
        if isinstance(inner, nodes.AssignWindows) and inner.spec.kind is WindowKind.SESSION:
            raise SqlExtError(
                "MATCH-017",
                "rows of SESSION need a sub-query here",
                span=span,
                hint="FROM (SELECT * FROM TABLE(SESSION(...)))",
            )

    def _time(self) -> PlanColumn:
        """Return the time attribute of ORDER BY.

        Raises:
            SqlExtError: MATCH-007 if there is none. Flink: "You must specify either rowtime or proctime for order by as
                the first one."
        """
        items = self.clause.order_by
        span = items[0].span if items else self.clause.pattern.span
        found = self.names.scope.bare(self.names.over_row(items[0].expr)) if items else None
        if found is None or found.column.time is None:
            raise SqlExtError(
                "MATCH-007",
                "MATCH_RECOGNIZE orders by a time attribute first",
                span=span,
                hint="write ORDER BY and a column with a WATERMARK, or one of PROCTIME(); other columns may follow",
            )
        if items[0].descending:
            raise SqlExtError("MATCH-007", "MATCH_RECOGNIZE goes forward in time", span=span, hint="remove DESC")
        # Over static rows there is one batch, whose clock gives all rows the same processing time.
        if not self.below.streaming and not found.column.is_rowtime:
            raise SqlExtError(
                "MATCH-017",
                "rows that are all there have no order of arrival: MATCH_RECOGNIZE needs a rowtime here",
                span=span,
                hint="SET 'execution.runtime-mode' = 'streaming' reads bounded tables as streams too",
            )
        return found.column

    def _partition(self) -> tuple[PlanColumn, ...]:
        found = []
        for expr in self.clause.partition_by:
            column = self.names.scope.bare(self.names.over_row(expr))
            # Processing time is held by no row, so rows cannot be divided by it.
            if column is None or column.column.part is Part.PROCTIME:
                raise SqlExtError(
                    "MATCH-018", "PARTITION BY takes columns", span=expr.span, hint="compute it in a sub-query"
                )
            found.append(column.column)
        return tuple(found)

    def _other_columns(self, partition: tuple[PlanColumn, ...]) -> list[tuple[str, PlanColumn]]:
        """Return the columns of the row that is given out, behind the measures."""
        span = self.clause.pattern.span
        return [
            (c.name, self.measures.cell(ColumnRef(span, (c.name,)), final=False))
            for c in self.relation.columns
            if c not in partition and c.part is not Part.PROCTIME
        ]

    # What is looked for

    def _search(self, keys: int) -> MatchSpecification:
        clause, names = self.clause, self.names
        for item in clause.order_by[1:]:
            infer(names.over_row(item.expr), names.scope)
        all_rows = self._all_rows()
        return MatchSpecification(
            keys=keys,
            variables=names.variables,
            pattern=core_pattern(clause.pattern, names.variables, standard=self.standard),
            conditions=self._conditions(),
            values=(),
            subsets=self._subsets(),
            event_time=self.time.is_rowtime,
            skip=self._skip(clause.after),
            within=self._within(),
            standard=self.standard,
            # Integers overflow in Flink as in Java; ANSI mode of Spark fails.
            wraps=self.env.mode == "flink",
            all_rows=all_rows,
            empty=clause.rows is None or clause.rows.option != "OMIT",
        )

    def _with_measures(self, search: MatchSpecification) -> MatchSpecification:
        return replace(search, measures=tuple(m for m, _ in self.measures.measures))

    def _conditions(self) -> tuple[Expression | None, ...]:
        found: dict[int, Expression] = {}
        for definition in self.clause.definitions:
            number = self._defined(definition)
            if number in found:
                raise SqlExtError("MATCH-004", f"`{definition.name}` is defined twice", span=definition.span)
            found[number] = BoundDefinition(self.names, number, self.values).condition(definition.condition)
        return tuple(found.get(v) for v in range(self.names.everything))

    def _defined(self, definition: matching.VariableDefinition) -> int:
        number = self.names.require(definition.name, definition.span)
        if number >= self.names.everything:
            raise SqlExtError("MATCH-004", f"`{definition.name}` is a SUBSET", span=definition.span)
        return number

    def _subsets(self) -> tuple[tuple[int, ...], ...]:
        found = []
        for subset in self.clause.subsets:
            if subset.name in self.names.variables:
                raise SqlExtError("MATCH-004", f"`{subset.name}` is a variable already", span=subset.span)
            found.append(tuple(self.names.require(m, subset.span) for m in subset.members))
        return tuple(found)

    def _skip(self, after: matching.AfterMatch | None) -> Skip:
        if after is None:
            # SQL:2016 says PAST LAST ROW, and so does Flink's documentation; Flink does this (subset_accepted).
            return Skip() if self.standard else Skip(NEXT)
        if after.to == PAST_LAST:
            return Skip()
        if after.variable is None or after.variable_span is None:
            return Skip(NEXT)
        return Skip("FIRST" if after.to == "FIRST" else LAST, self.names.require(after.variable, after.variable_span))

    def _within(self) -> int | None:
        within = self.clause.within
        if within is None:
            return None
        millis = interval_millis(within)
        if millis is None or millis <= 0:
            raise SqlExtError(
                "MATCH-015", "WITHIN takes a positive interval", span=within.span, hint="WITHIN INTERVAL '10' SECOND"
            )
        return millis

    def _all_rows(self) -> bool:
        rows = self.clause.rows
        # Flink's docs, Pattern Recognition, Known Limitations: no ALL ROWS PER MATCH.
        if rows is None or not rows.all:
            return False
        if not self.standard:
            raise SqlExtError(
                "MATCH-006",
                "Flink gives one row for each match",
                span=rows.span,
                hint="write ONE ROW PER MATCH, or SET 'sqlext.match-recognize' = 'standard'",
            )
        if rows.option == "UNMATCHED":
            raise SqlExtError("MATCH-006", "WITH UNMATCHED ROWS is not supported", span=rows.span)
        return True


def _check_names(keys: Sequence[str], measures: Sequence[Measure]) -> None:
    """Refuse measures of one name: above they could not be told apart."""
    names = list(keys)
    for measure in measures:
        if measure.name in names:
            message = f"two columns of MATCH_RECOGNIZE are named `{measure.name}`"
            raise SqlExtError("NAME-006", message, span=measure.span, hint="name each measure otherwise")
        names.append(measure.name)


def _key(number: int, column: PlanColumn) -> PlanColumn:
    """Return the column in which the operator gives a column of the partition: its value."""
    name = f"__k{number}"
    plain = column.plain("PARTITION BY makes it an ordinary value", None)
    return PlanColumn(name, plain.type, name, loss=plain.loss)

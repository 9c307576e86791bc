"""Split MEASURES: the operator gives values of a match, Spark computes the measures above.

A measure is an ordinary expression over columns that the operator gives: values of the rows that it navigates to,
aggregates, the time of the match. So types, rendering and time attributes are those of any SELECT.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlext.analysis.matching.names import Names
from sqlext.analysis.matching.values import MatchValues
from sqlext.analysis.names.substitution import substitute
from sqlext.analysis.types.calls import is_aggregate
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Node
from sqlext.errors import SqlExtError
from sqlext.plan.columns import Loss, Part, PlanColumn, Time
from sqlext.plan.matching import InputValue, Totalled
from sqlext.plan.scope import own_parts, shape
from sqlext.source import Span
from sqlext.types import BIGINT, STRING, LogicalType
from sqlext_udfs.expressions.trees import Cell, Classifier, MatchNumber, Measure

#: The qualifier of what the operator gives of a match.
MATCH = "__match"
_TIME = "__match_time"


@dataclass
class Measures:
    """Collects what measures ask of a match.

    Attributes:
        names: what names mean.
        values: collects the values of single rows.
        time: the time attribute that orders the rows.
        measures, totals: what is asked of the operator, and the column of each.
    """

    names: Names
    values: MatchValues
    time: PlanColumn
    measures: list[tuple[Measure, PlanColumn]] = field(default_factory=list)
    totals: list[tuple[Totalled, PlanColumn]] = field(default_factory=list)

    @property
    def columns(self) -> tuple[PlanColumn, ...]:
        """The columns that the operator gives behind the partition's."""
        return tuple(column for _, column in (*self.measures, *self.totals))

    @property
    def timed(self) -> bool:
        """Whether the time of matches is asked for, as a time attribute."""
        return any(column.time is not None for column in self.columns)

    def over_match(self, expr: Expr, *, final: bool) -> Expr:
        """Return a measure as an expression over what the operator gives, qualified by ``MATCH``.

        Args:
            expr: the measure.
            final: whether it looks at the whole match, not only at what is up to the row that is given out.

        Raises:
            SqlExtError: MATCH-008 and MATCH-012 to MATCH-014 for what a match cannot be asked.
        """

        def rule(node: Node) -> Node | None:
            if not isinstance(node, (Call, ColumnRef)):
                return None
            if isinstance(node, Call) and node.function == "MATCH_PROCTIME":
                return Call(node.span, "PROCTIME")
            column = self._asked(node, final=final)
            return ColumnRef(node.span, (MATCH, column.name)) if column is not None else None

        return substitute(expr, rule)

    def cell(self, ref: ColumnRef, *, final: bool) -> PlanColumn:
        """Return the column in which a column of the last row comes."""
        column = self._asked(ref, final=final)
        assert column is not None
        return column

    def _asked(self, node: Call | ColumnRef, *, final: bool) -> PlanColumn | None:
        if isinstance(node, Call) and node.function == "MATCH_ROWTIME":
            return self._rowtime(node)
        if isinstance(node, Call) and node.function == "MATCH_NUMBER":
            return self._measure(MatchNumber(), BIGINT.not_null())
        if isinstance(node, Call) and node.function == "CLASSIFIER":
            group = self.names.only_group(node, "CLASSIFIER") if node.args else self.names.everything
            return self._measure(Classifier(group, final), STRING)
        navigated = self.names.navigation(node)
        if navigated is not None:
            type_ = infer(navigated.of, self.names.scope)
            number = self.values.number(InputValue(navigated.of))
            return self._measure(navigated.cell(number, final=final), type_, self._loss(navigated.of, node.span))
        if isinstance(node, Call) and is_aggregate(node, self.names.scope.mode):
            return self._total(node, final=final)
        return None

    def _rowtime(self, call: Call) -> PlanColumn:
        """Return the time of a match: that of its last row.

        Raises:
            SqlExtError: MATCH-016 in processing time, and for an argument that is not the time attribute.
        """
        argument = call.args[0] if call.args else None
        found = self.names.scope.bare(self.names.over_row(argument)) if isinstance(argument, Expr) else None
        other = argument is not None and (found is None or found.column != self.time)
        if not self.time.is_rowtime or other:
            raise SqlExtError(
                "MATCH-016",
                "MATCH_ROWTIME is the time of a match by the rowtime of ORDER BY",
                span=call.span,
                hint="write MATCH_PROCTIME() in processing time" if not self.time.is_rowtime else "MATCH_ROWTIME()",
            )
        # One column for all calls: a row must not carry two rowtimes that are the same.
        known = next((c for _, c in self.measures if c.time is not None), None)
        if known is not None:
            return known
        number = self.values.number(InputValue(None))
        type_ = self.time.type.as_nullable() if self.time.type is not None else None
        # A TIMESTAMP rowtime is held as an instant below, and the time of the match is that column.
        wall = type_ is not None and type_.root == "TIMESTAMP"
        column = PlanColumn(_TIME, type_, _TIME, Part.INSTANT if wall else Part.VALUE, Time.ROWTIME)
        self.measures.append((Cell(number, self.names.everything), column))
        return column

    def _measure(self, measure: Measure, type_: LogicalType | None, loss: Loss | None = None) -> PlanColumn:
        for known, column in self.measures:
            if known == measure and column.time is None:
                return column
        name = f"__m{len(self.measures)}"
        # A variable may have no row in a match; MATCH_NUMBER alone always has a value.
        nullable = type_ if isinstance(measure, MatchNumber) or type_ is None else type_.as_nullable()
        column = PlanColumn(name, nullable, name, loss=loss)
        self.measures.append((measure, column))
        return column

    def _loss(self, of: Expr, span: Span) -> Loss | None:
        """Return why a measure is no time attribute, where it is made of one."""
        columns = [self.names.scope.find(p).column for p in own_parts(of) if isinstance(p, ColumnRef)]
        if not any(c.time is not None for c in columns):
            return None
        return Loss("a measure is an ordinary value: MATCH_ROWTIME() is the time attribute of a match", span)

    def _total(self, call: Call, *, final: bool) -> PlanColumn:
        # Flink's docs, Pattern Recognition, Known Limitations: no distinct aggregations.
        if call.distinct and not self.names.standard:
            raise SqlExtError(
                "MATCH-014",
                "Flink has no DISTINCT in the aggregates of MATCH_RECOGNIZE",
                span=call.span,
                hint="SET 'sqlext.match-recognize' = 'standard' allows it",
            )
        if not self.names.is_single_inside(call):
            raise SqlExtError("MATCH-013", f"{call.name} takes columns of one row", span=call.span)
        group = self.names.only_group(call, call.name)
        over_row = self.names.over_row(call)
        assert isinstance(over_row, Call)
        own = shape(over_row, self.names.scope)
        for known, column in self.totals:
            if (known.group, known.final) == (group, final) and shape(known.call, self.names.scope) == own:
                return column
        name = f"__t{len(self.totals)}"
        column = PlanColumn(name, infer(over_row, self.names.scope), name)
        self.totals.append((Totalled(over_row, group, final), column))
        return column

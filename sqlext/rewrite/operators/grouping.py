"""Render a grouping that our window operator keeps, as three steps.

in:   keys, times and the inputs of accumulators, under c0, c1, ...; WHERE and FILTER applied
op:   ``sqlext_udfs.spark.windows``
out:  the window as a struct marked as event time; aggregates finished by Spark from the accumulators
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sqlext.analysis.types.inference import infer
from sqlext.connectors.formats.conversions import instant_to_wall
from sqlext.dialect.ast.expressions import Call, Expr, Node
from sqlext.dialect.emit.nodes import CaseTrigger
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.columns import Part, PlanColumn
from sqlext.plan.firing import LateRows
from sqlext.plan.grouping import Aggregate
from sqlext.plan.joins import may_lack_times
from sqlext.plan.scope import Shape, own_parts, shape
from sqlext.plan.windows.lengths import OVERLAPPING, WindowKind
from sqlext.quoting import identifier, string
from sqlext.rewrite.arrow.choose_source import chosen_beside, chosen_input, grouped_below, left_to_spark
from sqlext.rewrite.expressions.accumulators import Accumulators
from sqlext.rewrite.expressions.columns import instant
from sqlext.rewrite.expressions.context import ScopeContext
from sqlext.rewrite.expressions.grouped import GroupedContext
from sqlext.rewrite.expressions.grouping_sets import SET, Sets, sets_of
from sqlext.rewrite.expressions.renderer import render
from sqlext.rewrite.expressions.windows import is_last_window
from sqlext.rewrite.operators.filling import FilledOutputs, filling, next_columns
from sqlext.rewrite.operators.windows import PANE_COLUMNS, WindowStep
from sqlext.rewrite.relations.operator_input import InputColumns, OperatorInput
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.rewrite.relations.scans import ahead
from sqlext.rewrite.script.model import SqlView, TagView
from sqlext.rewrite.script.side_rows import LATE_COLUMNS, late_column, or_late, row_struct, unless_late
from sqlext_udfs.kernel.clock import REFUSED
from sqlext_udfs.kernel.row_kinds import DELETE, SHOWN, UPDATE_BEFORE
from sqlext_udfs.windows.policy import KeepTime

if TYPE_CHECKING:
    from sqlext.rewrite.arrow.pushdown import Pushed

_KINDS = f"element_at(array({', '.join(string(k) for k in SHOWN)}, NULL), __row_kind + 1)"
#: Accumulators whose results are those of Spark's own aggregates.
_SAME_AS_SPARKS = frozenset({"count", "sum", "min", "max"})
#: Tells the operator that a row is none of the table whose keys are filled.
_OF_ROWS = "false"
#: The numbers of ``sqlext_udfs.windows.triggers.hooks.Action``.
_ACTIONS = {"CONTINUE": 0, "FIRE": 1, "PURGE": 2, "FIRE AND PURGE": 3}


def combined_sql(node: Aggregate, renderer: Rendering) -> str | None:
    """Return windows that Spark could keep, where that ``pays``, as a query of our operator's panes; else None.

    Arrow then combines the rows where it reads them, and the aggregates must be Spark's exactly.
    """
    if node.firing is None:
        return None
    try:
        grouping = GroupingSql(replace(node, firing=node.firing.combined()), renderer)
    except SqlExtError:  # an aggregate that only Spark has
        return None
    return grouping.sql() if grouping.can_combine() else None


@dataclass(frozen=True)
class _Shown:
    """A column of the operator's rows as the query above names it.

    Attributes:
        text: its value.
        made_of: the operator's columns in that text.
    """

    name: str
    text: str
    made_of: tuple[str, ...]

    @classmethod
    def same(cls, name: str) -> _Shown:
        """Return a column that comes out as it is."""
        return cls(name, name, (name,))

    def __str__(self) -> str:
        return self.text if self.text == self.name else f"{self.text} AS {self.name}"


class GroupingSql:
    """Renders one stateful ``Aggregate``; every text is made once.

    The outputs and HAVING come first: they say which accumulators the operator keeps, and which of its columns are
    asked for.
    """

    def __init__(self, node: Aggregate, renderer: Rendering) -> None:
        assert node.kept is not None
        self.node = node
        self.firing = node.kept
        self.renderer = renderer
        self.late = self.firing.late
        self.assign = node.assignment()
        self.sets: Sets | None = sets_of(node.by.items, node.scope)
        self.keys = self._keys()
        self.accumulators = Accumulators()
        names = {s: f"__k{i}" for i, s in enumerate(self.keys)}
        self.asked: set[str] = set()
        context = GroupedContext(node.scope, renderer.sub_query, names, self.sets, self.accumulators, self.asked)
        fill = self.firing.fill
        self.filled = FilledOutputs(fill, context) if fill is not None else None
        self.context = replace(context, fills=fill is not None)
        self.selected = self._outputs()
        self.having = render(node.having, self.context) if node.having is not None else ""
        self.rows = InputColumns()
        self.step = self._step(self.rows)

    def sql(self) -> str:
        """Return the query of the finished rows."""
        node = self.node
        selected = list(self.selected)
        conditions = [f"({self.having})"] if self.having else []
        retracting = self.firing.policy.mode == "RETRACTING"
        if node.updating:
            gone = [self._kind(f"<> {DELETE}")] if retracting else []
            selected.append(f"{' AND '.join([*gone, *conditions]) or 'true'} AS {nodes.EXISTS}")
            # A sink by key replaces the row: -U says nothing to it, and -D says that the row is no more.
            conditions = [self._kind(f"<> {UPDATE_BEFORE}")] if retracting else []
        elif retracting and not self._shows_kinds():
            # No row says its kind here, so one that takes back would look like a result.
            conditions.insert(0, self._kind(f"NOT IN ({UPDATE_BEFORE}, {DELETE})"))
        if node.retracts:
            selected.append(self._asked(nodes.KIND))
        if self.late is not None:
            selected.append(nodes.LATE)
            conditions = or_late(conditions)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {', '.join(selected) or '1 AS __one'} FROM {self._operated()}{where}"

    def _asked(self, column: str) -> str:
        """Return a column of the operator's, which is asked for from now on."""
        self.asked.add(column)
        return column

    def _kind(self, condition: str) -> str:
        return f"{self._asked('__row_kind')} {condition}"

    def _shows_kinds(self) -> bool:
        """Whether each row says its kind: then those that take back are wanted too."""
        parts = (p for o in self.node.outputs if o.expr is not None for p in own_parts(o.expr))
        return self.node.retracts or any(isinstance(p, Call) and p.function == "ROW_KIND" for p in parts)

    def _outputs(self) -> list[str]:
        selected = []
        for output in self.node.outputs:
            if output.handed_on is not None:
                text = identifier(output.handed_on.physical)
            else:
                assert output.expr is not None
                text = self.filled.text(output) if self.filled is not None else render(output.expr, self.context)
                text = unless_late(text, output.expr) if self.late is not None else text
            selected.append(text if text == identifier(output.physical) else f"{text} AS {identifier(output.physical)}")
        if nodes.KEY_SET in self.node.keys:
            selected.append(f"{self._asked(SET)} AS {nodes.KEY_SET}")
        for key, bound in zip(nodes.KEY_WINDOW, ("__start", "__end"), strict=True):
            if key in self.node.keys:
                selected.append(f"{self._asked(bound)} AS {key}")
        if nodes.KEY_ALL in self.node.keys:
            selected.append(f"0 AS {nodes.KEY_ALL}")
        return selected

    def _keys(self) -> dict[Shape, str]:
        """Return the text of each grouping expression, by its shape."""
        context = ScopeContext(self.node.scope, self.renderer.sub_query)
        texts: dict[Shape, str] = {}
        for expr in self.node.by.expressions:
            own = shape(expr, self.node.scope)
            text = render(expr, context)
            texts.setdefault(own, self.sets.key(own, text) if self.sets else text)
        return texts

    def can_combine(self) -> bool:
        """Whether Arrow can do the operator's first part, for aggregates that give what Spark's give, bit by bit.

        Of rows that another grouping gives that is done where they come out (``compiler.handed_on``).
        """
        plain = all(a.function in _SAME_AS_SPARKS and not a.distinct for a in self.accumulators.accumulators)
        given = self.renderer.local or grouped_below(self.node) is not None
        return plain and (given or self._pushed is not None)

    # The three steps

    def _operated(self) -> str:
        """Return the view of the operator's rows with the window as a struct and times as times.

        What nobody asks for does not come out of the operator.
        """
        shown_as = self._shown_as()
        step = replace(self.step, asked=frozenset(name for column in shown_as for name in column.made_of))
        if self._pushed is not None:
            operated = step.add_pushed(self.renderer, self._pushed)
        else:
            query = self.rows.query(f"{self._below()}{self._where()}")
            operated = step.add(self.renderer, query + self._table_keys())
        columns = ", ".join(map(str, shown_as))
        shown = self.renderer.add_step(lambda name: SqlView(name, f"SELECT {columns} FROM {operated}"))
        window = self.node.by.window
        if window is None:
            return shown
        return self.renderer.add_step(lambda name: TagView(name, shown, window, window=not self._is_custom()))

    @cached_property
    def _pushed(self) -> list[Pushed] | None:
        """The operator's inputs as programs of the Arrow path, None where Spark makes them."""
        node = self.node
        # Programs cannot copy rows (sets), keep them whole (late rows), or read what SQL adds (windows, kinds).
        if self.sets is not None or self.firing.given or self.late is not None or node.input.changelog:
            if self.firing.given:
                left_to_spark(node.input, "SQL gives its rows their windows, which Arrow does not", self.renderer)
            return None
        below = node.without_windows() if self.assign is not None else node.input
        where = self.renderer.expr(node.where, node.scope) if node.where is not None else None
        rows = chosen_input(OperatorInput(below, self.rows.texts, where), len(self.step.keys), self.renderer)
        if rows is None or node.filled is None:
            return [rows] if rows is not None else None
        of_table = OperatorInput(node.filled, self._texts_of_table())
        return chosen_beside(rows, of_table, len(self.step.keys), self.renderer)

    def _table_keys(self) -> str:
        """Return the rows of the table whose keys are filled, behind the others."""
        if self.node.filled is None:
            return ""
        return f" UNION ALL {OperatorInput(self.node.filled, self._texts_of_table()).query(self.renderer)}"

    def _texts_of_table(self) -> list[str]:
        """Return the columns of the operator over the table whose keys are filled: its keys alone."""
        of_table = {_OF_ROWS: "true"} | {text: "CAST(0 AS BIGINT)" for _, text in self._times()}
        columns = dict(zip(self.keys.values(), (self._key_of_table(*k) for k in self._filled_keys()), strict=True))
        return [columns.get(t) or of_table.get(t, "NULL") for t in self.rows.texts]

    def _filled_keys(self) -> list[tuple[str, Expr]]:
        assert self.firing.fill is not None
        expressions = {shape(e, self.node.scope): e for e in reversed(self.node.by.expressions)}
        pairs = zip(self.node.by.expressions, self.firing.fill.keys, strict=True)
        keys = {shape(e, self.node.scope): k for e, k in pairs}
        return [(keys[s], expressions[s]) for s in self.keys]

    def _key_of_table(self, physical: str, key: Expr) -> str:
        type_ = infer(key, self.node.scope)
        text = identifier(physical)
        return f"CAST({text} AS {type_.spark()})" if type_ is not None else text

    def _where(self) -> str:
        """Return what is asked of the rows; those that an outer join gave without a time are in no window."""
        where = self.node.where
        conditions = [self.renderer.expr(where, self.node.scope)] if where is not None else []
        if self.node.by.window is not None and may_lack_times(self.node.input):
            conditions = [*(f"({c})" for c in conditions), *(f"{text} IS NOT NULL" for _, text in self._times()[:1])]
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def _shown_as(self) -> list[_Shown]:
        """Return the columns of the operator's rows that are asked for; beside late rows all of them."""
        nexts = next_columns(self.firing.fill, self.accumulators)
        asked = {*self.asked, *self.accumulators.result_names(), *nexts}
        names = [
            *self.step.keys,
            "__start",
            "__end",
            *self.accumulators.result_names(),
            *PANE_COLUMNS[:5],
            "__row_kind",
            *nexts,
        ]
        shown = [_Shown.same(name) for name in names if name in asked or self.late is not None]
        if self.node.by.window is not None:
            bounds = ["'start', timestamp_millis(__start)", "'end', timestamp_millis(__end)"]
            bounds += [f"'{wall}', __{wall}" for wall in self._walls()]
            made_of = ("__start", "__end", *(f"__{wall}" for wall in self._walls()))
            shown.append(_Shown(identifier(self.node.by.window), f"named_struct({', '.join(bounds)})", made_of))
        if "__pane_timestamp" in asked:
            time = instant_to_wall("timestamp_millis(__pane_ms)", self.renderer.zone)
            shown.append(_Shown("__pane_timestamp", time, ("__pane_ms",)))
        if "__kind" in asked:
            shown.append(_Shown("__kind", _KINDS, ("__row_kind",)))
        if self.late is not None:
            shown.append(_Shown(nodes.LATE, late_column(), LATE_COLUMNS))
        return shown or [_Shown.same("__start")]  # a query has a column

    def _step(self, rows: InputColumns) -> WindowStep:
        """Return what the operator is told; fills its input."""
        keys = {f"__k{i}": text for i, text in enumerate(self.keys.values())}
        # Keys come first, and their order is a fact of the state.
        keys |= {SET: SET} if self.sets else {}
        keys |= {f"__{wall}": f"{self._window()}.{wall}" for wall in self._walls()}
        rows.texts += keys.values()
        places: list[tuple[str, object]] = [(what, rows.place(text)) for what, text in self._times()]
        places.append(("values", tuple(rows.place(self._number(v)) for v in self.firing.values)))
        if self.late is not None:
            places.append(("row", rows.place(self._late_row(self.late))))
        if self.node.input.changelog:
            places.append(("kind", rows.place(nodes.KIND)))
        if self.firing.ttl is not None:
            places.append(("ttl", self.firing.ttl))
        table = rows.place(_OF_ROWS) if self.node.filled is not None else None
        inputs = self.accumulators.inputs
        aggregates = tuple(
            (a.function, tuple(rows.place(inputs[i]) for i in a.inputs), a.distinct, a.parameters, name)
            for a, name in zip(self.accumulators.accumulators, self.accumulators.names(), strict=True)
        )
        return WindowStep(
            self.node,
            self.firing.policy,
            tuple(keys),
            tuple(places),
            aggregates,
            tuple(self.accumulators.result_names()),
            latest=self.node.updating and self.renderer.latest,
            fill=filling(self.firing.fill, self.assign, walls=bool(self._walls()), table=table),
            nexts=next_columns(self.firing.fill, self.accumulators),
        )

    def _number(self, value: Node) -> str:
        """Return what a trigger or an evictor looks at as a DOUBLE; of CASE the number of its action."""
        if not isinstance(value, CaseTrigger):
            assert isinstance(value, Expr)
            text = self.renderer.expr(value, self.node.scope)
            type_ = infer(value, self.node.scope)
            if type_ is not None and type_.is_timestamp:  # as durations are: in milliseconds
                text = f"unix_millis(CAST({text} AS TIMESTAMP))"
            return f"CAST({text} AS DOUBLE)"
        branches = " ".join(
            f"WHEN {self.renderer.expr(b.condition, self.node.scope)} THEN {_ACTIONS[b.action]}" for b in value.branches
        )
        return f"CAST(CASE {branches} ELSE {_ACTIONS[value.otherwise]} END AS DOUBLE)"

    def _times(self) -> list[tuple[str, str]]:
        """Return the columns of time that the operator needs, in milliseconds since 1970 UTC."""
        if self.firing.given:
            window = self._window()
            return [("start", f"unix_millis({window}.start)"), ("end", f"unix_millis({window}.end)")]
        times = []
        time = self.assign.time if self.assign is not None else self._age()
        if time is not None and time.part is not Part.PROCTIME:
            times.append(("time", self._unless_ahead(instant(time))))
        if self.assign is not None and self.assign.spec.gap is not None:
            times.append(("gap", identifier(self.assign.spec.gap)))
        return times

    def _late_row(self, late: LateRows) -> str:
        """Return what is kept of a row that comes too late; NULL where it is in a window that ends later, too."""
        row = row_struct(late, self.renderer.zone, self._is_ahead())
        if self.assign is None or not self.firing.given or self.assign.spec.kind not in OVERLAPPING:
            return row
        return f"CASE WHEN {is_last_window(self.assign)} THEN {row} END"

    def _is_ahead(self) -> str:
        """Return whether a row is from the future."""
        future, time = nodes.future_limit(self.node.input), self.assign.time if self.assign is not None else None
        if future is None or time is None or self.firing.given:
            return "false"
        return ahead(instant(time), future)

    def _unless_ahead(self, rowtime: str) -> str:
        future = nodes.future_limit(self.node.input)
        millis = f"unix_millis({rowtime})"
        return millis if future is None else f"CASE WHEN {ahead(rowtime, future)} THEN {REFUSED} ELSE {millis} END"

    def _age(self) -> PlanColumn | None:
        """Return the rowtime that ``KEEP LAST d`` and ``EVERY d OF EVENT TIME`` go by where there is no window."""
        if not isinstance(self.firing.policy.evictor, KeepTime) and not self.firing.event_time:
            return None
        columns = (c for r in self.node.scope.relations for c in r.columns)
        return next((c for c in columns if c.is_rowtime), None)

    def _below(self) -> str:
        """Return the rows: without their windows, where the operator gives them these itself."""
        node: nodes.PlanNode = self.node.input
        if not self.firing.given and self.assign is not None:
            node = self.node.without_windows()
        text = self.renderer.relation(node)
        return text + (self.sets.lateral_view if self.sets else "")

    def _window(self) -> str:
        assert self.node.by.window is not None
        return identifier(self.node.by.window)

    def _walls(self) -> tuple[str, ...]:
        of_grid = self.assign is not None and self.assign.spec.kind is not WindowKind.SLIDE
        return ("wall_start", "wall_end") if self._is_custom() and of_grid and self.firing.given else ()

    def _is_custom(self) -> bool:
        return self.assign is not None and self.assign.custom

"""Render a plan as Spark SQL: one query block per node.

Blocks are nested where SQL allows it; elsewhere a block becomes a view.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatchmethod
from typing import Any

from sqlext.connectors.formats.conversions import wall_to_instant
from sqlext.dialect.ast.expressions import ColumnRef, Expr
from sqlext.dialect.ast.queries import GroupingSets, OrderItem
from sqlext.plan import nodes
from sqlext.plan.bad_rows import BAD
from sqlext.plan.base import walk
from sqlext.plan.changelog_functions import FromChangelog, ToChangelog
from sqlext.plan.columns import Part, PlanColumn
from sqlext.plan.current_rows import CurrentRows
from sqlext.plan.distinct import Distinct
from sqlext.plan.grouping import Aggregate
from sqlext.plan.joins import StreamJoin
from sqlext.plan.matching import Match
from sqlext.plan.over import Over, RunningOver, WindowedOver
from sqlext.plan.ranking import Rank
from sqlext.plan.scope import Scope
from sqlext.plan.stateful import Stateful
from sqlext.plan.timing import InputEnd
from sqlext.plan.unnest import Unnested
from sqlext.plan.watermark_column import WatermarkColumn
from sqlext.plan.windows.session_rows import SessionRows
from sqlext.plan.windows.slides import Slide
from sqlext.quoting import identifier, named
from sqlext.rewrite.arrow.choose_source import pays
from sqlext.rewrite.expressions.columns import (
    as_type_of,
    default_outputs,
    held,
    instant,
    kind_of,
    restored_instant,
    value,
)
from sqlext.rewrite.expressions.context import ScopeContext
from sqlext.rewrite.expressions.protocols import RenderContext
from sqlext.rewrite.expressions.renderer import render
from sqlext.rewrite.expressions.windows import (
    custom_windows_sql,
    millis,
    sliding_windows_sql,
    times_interval,
    window_expression,
)
from sqlext.rewrite.operators.current_rows import current_rows_sql
from sqlext.rewrite.operators.distinct import distinct_sql
from sqlext.rewrite.operators.grouping import GroupingSql, combined_sql
from sqlext.rewrite.operators.joins import stream_join_sql
from sqlext.rewrite.operators.matching import match_sql
from sqlext.rewrite.operators.over import over_sql, slide_sql, windowed_over_sql
from sqlext.rewrite.operators.ranking import rank_sql
from sqlext.rewrite.operators.running import running_sql
from sqlext.rewrite.operators.session_rows import session_rows
from sqlext.rewrite.operators.watermark_column import watermark_column_sql
from sqlext.rewrite.relations.changelog_functions import from_changelog_sql, to_changelog_sql
from sqlext.rewrite.relations.letters import guarded_input, safe
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.rewrite.relations.scans import declared_input, scan_sql
from sqlext.rewrite.relations.unnest import unnested_query, unnested_relation
from sqlext.rewrite.rules.order import apply_rules
from sqlext.rewrite.script.begun import Readers, has_splits
from sqlext.rewrite.script.model import (
    KeptInput,
    RowsView,
    SourceView,
    SqlView,
    Step,
    TagView,
    UserTableFunction,
)
from sqlext.rewrite.script.side_rows import or_late, unless_late
from sqlext_catalog.model import Table

#: Returns each kind of node as a query over the view of its operator: its physical columns, hidden ones included.
_OPERATORS: dict[type[Stateful], Callable[[Any, Rendering], str]] = {
    CurrentRows: current_rows_sql,
    Distinct: distinct_sql,
    Match: match_sql,
    Over: over_sql,
    Slide: slide_sql,
    WindowedOver: windowed_over_sql,
    Rank: rank_sql,
    RunningOver: running_sql,
    StreamJoin: stream_join_sql,
    WatermarkColumn: watermark_column_sql,
}


class PlanRenderer:
    """Renders the nodes of one statement; collects the source views and steps that the text needs."""

    def __init__(
        self,
        zone: str,
        *,
        end: InputEnd,
        latest: bool = True,
        readers: Readers,
        at_once: bool = False,
        local: bool = False,
        packs: bool = True,
    ) -> None:
        self.zone = zone
        self.local = local  # whether the query is for this process, without Spark
        self.packs = packs  # whether rows may be combined where they are read
        self.readers = readers
        self.end = end
        self.at_once = at_once  # whether all rows are one batch that needs no state
        self.latest = latest  # whether of the panes of a micro-batch only the last is looked at
        self.sources: list[SourceView] = []
        self.steps: list[Step] = []
        self.table_functions: dict[str, UserTableFunction] = {}
        self.used_heartbeat = False
        self.read_by_spark: dict[str, str] = {}  # table -> why Spark reads it
        self.kept: list[KeptInput] = []
        self.left: list[tuple[str, str]] = []  # view of a scan -> the query whose dead letters leave here

    def tells_time(self, table: Table) -> bool:
        """Whether heartbeats and ticks come with the packed rows of a table, and not from sources of their own."""
        return not self.at_once and not self.local and self.readers.tells_time(table)

    def relation(self, node: nodes.PlanNode) -> str:
        """Return a node as it stands in FROM."""
        if isinstance(node, nodes.Aliased):
            return f"{self._source(node.input)} AS {identifier(node.alias)}"
        if isinstance(node, nodes.Join):
            return self._join(node)
        if isinstance(node, Unnested):
            return unnested_relation(node, self)
        return self._source(node)

    def _source(self, node: nodes.PlanNode) -> str:
        if isinstance(node, (nodes.Aliased, nodes.Join, Unnested)):
            columns = ", ".join(identifier(c) for c in node.physical_columns())
            return f"(SELECT {columns} FROM {self.relation(node)})"
        if isinstance(node, nodes.SparkTable):
            return node.text
        text = self.sql(node)
        plain = text.removeprefix("SELECT * FROM ")
        return plain if plain != text and " " not in plain else f"({text})"

    @singledispatchmethod
    def sql(self, node: nodes.PlanNode) -> str:
        """Return a node as a query."""
        raise TypeError(f"no text for {type(node).__name__}")

    @sql.register
    def _(self, node: nodes.Scan) -> str:
        if self.local:
            return self._read_here(node)
        # Only where a time keeper watches: else Spark's own watermark of the whole input is enough.
        split = node.watermarked and self.end is InputEnd.NONE and has_splits(node)
        self.sources.append(SourceView(node.view, node.table, node.is_stream, node.own_reader, split))
        return scan_sql(node, self)

    @sql.register
    def _(self, node: nodes.OneRow) -> str:
        return "SELECT 1 AS __one"

    @sql.register
    def _(self, node: nodes.SparkTable) -> str:
        return f"SELECT * FROM {node.text}"

    @sql.register
    def _(self, node: nodes.SystemRows) -> str:
        # Given types: of no rows, or of NULLs alone, Spark could not infer any.
        columns = tuple((c.physical, c.type.spark() if c.type else "STRING") for c in node.columns)
        self.steps.append(RowsView(node.view, columns, node.rows))
        return f"SELECT * FROM {node.view}"

    @sql.register
    def _(self, node: nodes.ValuesRows) -> str:
        rows = ", ".join("(" + ", ".join(self.expr(e, node.scope) for e in r) + ")" for r in node.rows)
        names = ", ".join(identifier(c.physical) for c in node.columns)
        return f"SELECT * FROM VALUES {rows} AS __values({names})"

    @sql.register
    def _(self, node: nodes.Aliased) -> str:
        return self.sql(node.input)

    @sql.register
    def _(self, node: nodes.AssignWindows) -> str:
        source = self.relation(node.input)
        if node.spec.kind is nodes.WindowKind.SLIDE:
            return sliding_windows_sql(node, source)
        if node.custom:
            return custom_windows_sql(node, source, self.zone)
        inner = [identifier(c) for c in node.input.physical_columns()]
        inner.append(f"{window_expression(node)} AS {identifier(node.physical)}")
        return f"SELECT {', '.join(inner)} FROM {source}"

    @sql.register
    def _(self, node: nodes.ComputeTime) -> str:
        inner = [identifier(c) for c in node.input.physical_columns()]
        inner.append(f"{instant(node.time)} AS {identifier(node.physical)}")
        return f"SELECT {', '.join(inner)} FROM {self.relation(node.input)}"

    @sql.register
    def _(self, node: nodes.RestoreTime) -> str:
        inner = [identifier(c) for c in node.input.physical_columns()]
        inner.append(f"{restored_instant(node.time, self.zone)} AS {identifier(node.physical)}")
        return f"SELECT {', '.join(inner)} FROM {self.relation(node.input)}"

    @sql.register
    def _(self, node: nodes.ComputeMillis) -> str:
        inner = [identifier(c) for c in node.input.physical_columns()]
        times = times_interval(node.length, node.scope) if node.interval else None
        if times is not None:  # as numbers, which more than Spark can compute
            length = f"{millis(self.expr(times[0], node.scope), interval=False)} * {times[1]}L"
        else:
            length = millis(self.expr(node.length, node.scope), interval=node.interval)
        inner.append(f"{length} AS {identifier(node.columns[-1].physical)}")
        return f"SELECT {', '.join(inner)} FROM {self.relation(node.input)}"

    @sql.register
    def _(self, node: nodes.TagTime) -> str:
        # A mark is metadata, which SQL cannot set: the input becomes a view, and its tag a DataFrame call.
        view = self._view(node.input)
        return f"SELECT * FROM {self.add_step(lambda name: TagView(name, view, node.physical))}"

    @sql.register
    def _(self, node: SessionRows) -> str:
        return session_rows(node, self)

    @sql.register
    def _(self, node: Stateful) -> str:
        return _OPERATORS[type(node)](node, self)

    @sql.register
    def _(self, node: ToChangelog) -> str:
        return to_changelog_sql(node, self)

    @sql.register
    def _(self, node: FromChangelog) -> str:
        return from_changelog_sql(node, self)

    @sql.register
    def _(self, node: nodes.Project) -> str:
        if node.letters is not None:
            return self._guarded(node)
        late = node.carries_late
        selected = self._outputs(node.outputs, node.scope, late=late)
        conditions = [self.expr(node.where, node.scope)] if node.where is not None else []
        alias = _alias(node.input)
        hidden = {name: held(_hidden(name), alias) for name in node.hidden}
        if node.updating:
            # A WHERE would only leave the row out, and the sink would keep the old one: it must learn that it is gone.
            exists = " AND ".join([hidden[nodes.EXISTS], *(f"({c})" for c in conditions)])
            hidden[nodes.EXISTS] = f"{exists} AS {nodes.EXISTS}"
            conditions = []
        selected += hidden.values()
        conditions = or_late(conditions) if late else conditions
        text = f"SELECT {', '.join(selected) or '1 AS __one'}"
        if not isinstance(node.input, nodes.OneRow):
            text += f" FROM {self.relation(node.input)}"
        return text + (f" WHERE {conditions[0]}" if conditions else "")

    @sql.register
    def _(self, node: Aggregate) -> str:
        if node.kept is not None:
            return GroupingSql(node, self).sql()
        combined = combined_sql(node, self) if pays(node, self) else None
        if combined is not None:
            return combined
        selected = self._outputs(node.outputs, node.scope)
        having = self.expr(node.having, node.scope) if node.having is not None else None
        keys = [identifier(node.by.window)] if node.by.window else []
        if node.by.constant:
            # Spark refuses sessions of a stream without another key (AggUtils); one value for all rows does.
            keys.append(f"isnull({identifier(node.by.constant)})")
        keys += [self._group_item(i, node.scope) for i in node.by.items]
        if node.updating:
            if nodes.KEY_SET in node.keys:
                selected.append(f"grouping_id() AS {nodes.KEY_SET}")
            if nodes.KEY_ALL in node.keys:
                selected.append(f"0 AS {nodes.KEY_ALL}")
            exists = having or "true"
            if not keys:
                # Without keys SQL gives a row of no rows too; the result of a stream has none before its first row.
                exists = f"count(1) > 0 AND ({exists})"
            selected.append(f"{exists} AS {nodes.EXISTS}")
            having = None
        text = f"SELECT {', '.join(selected) or '1 AS __one'} FROM {self.relation(node.input)}"
        if node.where is not None:
            text += f" WHERE {self.expr(node.where, node.scope)}"
        if keys:
            text += f" GROUP BY {', '.join(keys)}"
        return text + (f" HAVING {having}" if having else "")

    @sql.register
    def _(self, node: nodes.Join) -> str:
        columns = ", ".join(
            [f"{held(c, r.alias)}" for r in node.scope.relations for c in r.columns if c.physical] + list(node.hidden)
        )
        return f"SELECT {columns} FROM {self.relation(node)}"

    @sql.register
    def _(self, node: Unnested) -> str:
        return unnested_query(node, self)

    @sql.register
    def _(self, node: nodes.SetQuery) -> str:
        return f" {node.op} ".join(f"({self._branch(b, node)})" for b in node.branches)

    @sql.register
    def _(self, node: nodes.Ordered) -> str:
        columns = ", ".join(identifier(c) for c in node.input.physical_columns())
        text = f"SELECT {columns} FROM {self._source(node.input)} AS {identifier(node.scope.relations[0].alias)}"
        if node.order_by:
            text += " ORDER BY " + ", ".join(self._order_item(i, node.scope) for i in node.order_by)
        if node.limit is not None:
            text += f" LIMIT {self.expr(node.limit, node.scope)}"
        return text + (f" OFFSET {self.expr(node.offset, node.scope)}" if node.offset is not None else "")

    def _guarded(self, node: nodes.Project) -> str:
        """Return a SELECT that gives NULL where it fails; ``BAD`` says which rows those are."""
        context = safe(node, self)
        selected = self._outputs(node.outputs, node.scope, context=context)
        alias = _alias(node.input)
        selected += [held(_hidden(name), alias) for name in node.hidden]
        bad = held(_hidden(BAD), alias)
        selected += [bad] if node.leaves else []
        text = f"SELECT {', '.join(selected)} FROM {guarded_input(node, self)}"
        if node.where is not None:
            text += f" WHERE CASE WHEN {bad} IS NULL THEN {render(node.where, context)} ELSE true END"
        if not node.leaves:
            return text
        self.left.append((next(n.view for n in walk(node) if isinstance(n, nodes.Scan)), text))
        columns = ", ".join(identifier(c) for c in node.physical_columns())
        return f"SELECT {columns or '1 AS __one'} FROM ({text}) WHERE {BAD} IS NULL"

    def _read_here(self, node: nodes.Scan) -> str:
        from sqlext.rewrite.arrow.pushdown import read_view  # it needs Arrow, which few statements do

        if node.watermarked and self.end is InputEnd.NONE:
            # Nothing but its rows, and the time keeper, moves its watermark here: there are no heartbeats to read.
            declared = declared_input(node, node.delay or 0, self, by_rows=True)
            self.kept.append(KeptInput(declared, "", node.view))
        return f"SELECT * FROM {self.add_step(lambda name: read_view(name, node, self))}"

    def expr(self, expr: Expr, scope: Scope) -> str:
        """Return an expression as text."""
        return render(expr, ScopeContext(scope, self.sub_query))

    def sub_query(self, plan: nodes.PlanNode) -> str:
        """Return a sub-query of an expression: a static relation, its columns in the user's types."""
        selected = ", ".join(named(t, n) for t, n in default_outputs(plan, self.zone))
        # A sub-query has a plan of its own, which the rules have not seen.
        return f"SELECT {selected} FROM {self.relation(apply_rules(plan))}"

    def values(self, columns: tuple[PlanColumn, ...], alias: str = "") -> list[str]:
        """Return the values of columns in the user's types."""
        return [value(c, self.zone, alias) for c in columns]

    def _outputs(
        self,
        outputs: tuple[nodes.Output, ...],
        scope: Scope,
        *,
        late: bool = False,
        context: RenderContext | None = None,
    ) -> list[str]:
        selected = []
        for output in outputs:
            if output.handed_on is not None:
                text = held(output.handed_on, output.relation or "")
                same = output.handed_on.physical == output.physical
                selected.append(text if same else named(text, output.physical))
            elif output.expr is not None:
                text = self.expr(output.expr, scope) if context is None else render(output.expr, context)
                selected.append(_item(unless_late(text, output.expr) if late else text, output))
        return selected

    def _group_item(self, item: Expr | GroupingSets, scope: Scope) -> str:
        if not isinstance(item, GroupingSets):
            return self.expr(item, scope)
        sets = []
        for group in item.sets:
            members = ", ".join(self._group_item(m, scope) for m in group)
            # ROLLUP (a, b) has single expressions, GROUPING SETS always sets: ((a), (b)).
            single = len(group) == 1 and (item.kind != "GROUPING SETS" or isinstance(group[0], GroupingSets))
            sets.append(members if single else f"({members})")
        return f"{item.kind} ({', '.join(sets)})"

    def _order_item(self, item: OrderItem, scope: Scope) -> str:
        text = self.expr(item.expr, scope) + (" DESC" if item.descending else "")
        return text + (f" NULLS {item.nulls}" if item.nulls else "")

    def _branch(self, node: nodes.PlanNode, union: nodes.SetQuery) -> str:
        selected = []
        for own, common in zip(node.columns, union.columns, strict=True):
            # It is no column of any relation: whoever uses it reads the clock.
            if common.part is Part.PROCTIME:
                continue
            text = self._as_rowtime(own, common) if common.is_rowtime else value(own, self.zone)
            selected.append(named(text, common.physical))
        if union.changelog:
            selected.append(kind_of(node))
        return f"SELECT {', '.join(selected)} FROM {self.relation(node)}"

    def _as_rowtime(self, column: PlanColumn, common: PlanColumn) -> str:
        """Return a branch's column of a rowtime: an instant, whatever it is in the branch."""
        if column.is_rowtime:
            return as_type_of(column, common, self.zone)
        text = value(column, self.zone)
        ntz = column.type is not None and column.type.root == "TIMESTAMP"
        return wall_to_instant(text, self.zone) if ntz else text

    def _join(self, node: nodes.Join) -> str:
        text = f"{self._operand(node.left)} {node.kind} JOIN {self._operand(node.right)}"
        conditions = [f"{identifier(a)}.{identifier(x)} = {identifier(b)}.{identifier(y)}" for a, x, b, y in node.equal]
        if node.condition is not None:
            conditions.append(self.expr(node.condition, node.scope))
        sought = [" = ".join(f"({self.expr(e, node.scope)})" for e in pair) for pair in node.sought]
        # NOT IN: a comparison that is unknown keeps the row out, as one that is true does.
        conditions += [f"coalesce({s}, true)" if node.unknown_counts else s for s in sought]
        return text + (f" ON {' AND '.join(conditions)}" if conditions else "")

    def _operand(self, node: nodes.PlanNode) -> str:
        return f"({self.relation(node)})" if isinstance(node, (nodes.Join, Unnested)) else self.relation(node)

    def _view(self, node: nodes.PlanNode) -> str:
        text = self.sql(node)
        return self.add_step(lambda name: SqlView(name, text))

    def add_step(self, step: Callable[[str], Step]) -> str:
        """Add the step that is made with a name of its own; return that name."""
        name = f"sqlext_step_{len(self.steps) + 1}"
        self.steps.append(step(name))
        return name


def _alias(node: nodes.PlanNode) -> str:
    return node.alias if isinstance(node, nodes.Aliased) else ""


def _item(text: str, output: nodes.Output) -> str:
    """Return a select item. Only a column can do without AS: Spark calls ``localtimestamp`` ``localtimestamp()``."""
    name = identifier(output.physical)
    if not isinstance(output.expr, ColumnRef):
        return f"{text} AS {name}"
    return text if text.endswith(f".{name}") else named(text, output.physical)


def _hidden(name: str) -> PlanColumn:
    return PlanColumn(name, None, name)

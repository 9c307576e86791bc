"""Bind the relations of FROM: tables, views, sub-queries, table functions, joins, MATCH_RECOGNIZE."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.joins.joined_table import bind_join, require_condition
from sqlext.analysis.matching.match_recognize import bind_match
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.names.time_attributes import no_time_attribute
from sqlext.analysis.relations.binding import Binding
from sqlext.analysis.relations.changelogs import windowed_changes
from sqlext.analysis.scans.tables import as_of, current_rows, scan_table
from sqlext.analysis.selects.changelog_functions import CHANGELOG_FUNCTIONS, bind_changelog_function
from sqlext.analysis.unnest.forms import Bound
from sqlext.analysis.unnest.lateral import bind_lateral
from sqlext.analysis.windows.row_lengths import with_gap, with_offset
from sqlext.analysis.windows.table_functions import (
    WINDOW_FUNCTIONS,
    WindowCall,
    assign_windows,
    check_multiple,
    over_time,
    wall_clock_of,
)
from sqlext.dialect.ast.expressions import Literal
from sqlext.dialect.ast.queries import (
    Alias,
    Join,
    MatchRecognize,
    ParenRelation,
    Relation,
    Select,
    SubqueryRef,
    TableFunction,
    TableRef,
    Unnest,
    Values,
)
from sqlext.dialect.queries.whole import parse_query_text
from sqlext.errors import SqlExtError, did_you_mean, meant_or_listed
from sqlext.plan import nodes
from sqlext.plan.columns import PlanColumn
from sqlext.plan.scope import Scope, ScopeRelation
from sqlext.plan.windows.slides import SlideRows
from sqlext.source import Span
from sqlext.types import LogicalType
from sqlext_catalog.model import INFORMATION_SCHEMA, View


class RelationBinder:
    """Binds the relations of one FROM clause; ``binding`` binds the queries inside them.

    ``select`` is the SELECT that it is of: joins of streams look at its WHERE, its hints and the names that it uses.
    """

    def __init__(self, binding: Binding, select: Select | None = None) -> None:
        self.binding = binding
        self.where = select.where if select is not None else None
        self.hints = select.hints if select is not None else ()
        self.select = select
        self.env: Environment = binding.env
        self.relations: list[ScopeRelation] = []
        self.kept: frozenset[str] = frozenset()

    def bind(self, relation: Relation) -> nodes.PlanNode:
        """Return the plan of a relation; its names are added to ``relations``.

        Raises:
            SqlExtError: NAME-002 for an unknown table, and what the parts raise.
        """
        if isinstance(relation, Bound):
            self.relations += relation.relations
            return relation.node
        if isinstance(relation, Join):
            return self._join(relation)
        # FROM UNNEST(...) alone is a join with one row to its left.
        if _is_lateral(relation, self.env):
            return self._join(Join(relation.span, Bound(relation.span, nodes.OneRow(())), relation, "CROSS"))
        if isinstance(relation, ParenRelation) and relation.alias is None:
            return self.bind(relation.relation)
        node, alias, qualifier = self._single(relation)
        return self.aliased(node, alias, qualifier, relation.span)

    def scope(self) -> Scope:
        """Return the scope of what was bound so far."""
        return Scope(tuple(self.relations), self.env.mode, self.env.zone, self.binding.bind_inside)

    def _single(self, relation: Relation) -> tuple[nodes.PlanNode, Alias | None, tuple[str, ...]]:
        if isinstance(relation, TableRef):
            return self._table(relation)
        if isinstance(relation, SubqueryRef):
            return self.binding.bind(relation.query), _alias_of(relation, self.env.mode), ()
        if isinstance(relation, TableFunction):
            return self._table_function(relation), relation.alias, ()
        if isinstance(relation, MatchRecognize):
            return self._match(relation), relation.alias, ()
        raise SqlExtError("PARSE-004", "this cannot stand in FROM", span=relation.span)

    def _table(self, ref: TableRef) -> tuple[nodes.PlanNode, Alias | None, tuple[str, ...]]:
        if ref.system_time is not None:
            ref = as_of(ref, self.env)
        cte = self.binding.bind_cte(ref.parts[0]) if len(ref.parts) == 1 else None
        if cte is not None:
            return cte, ref.alias, ref.parts
        found = self.env.catalog.lookup(ref.parts)
        if isinstance(found, View):
            return self._view(found, ref), ref.alias, (found.name.catalog, found.name.database, found.name.name)
        if found is not None:
            scan = scan_table(found, self.env, ref)
            node = current_rows(scan, self.env) if scan.upserts else scan
            return node, ref.alias, (found.name.catalog, found.name.database, found.name.name)
        system = self._system_view(ref)
        if system is not None:
            return system, ref.alias, ref.parts
        columns = require_spark_table(ref, self.env)
        plan = nodes.SparkTable(tuple(PlanColumn(n, t, n) for n, t in columns), ref.name_span.text)
        return plan, ref.alias, ref.parts

    def _system_view(self, ref: TableRef) -> nodes.PlanNode | None:
        if len(ref.parts) < 2 or ref.parts[-2].lower() != INFORMATION_SCHEMA:
            return None
        version = None
        if ref.version is not None:
            if not isinstance(ref.version, Literal) or not ref.version.value.isdigit():
                raise SqlExtError("CAT-036", "a version of the catalog is a whole number", span=ref.version.span)
            version = int(ref.version.value)
        found = self.env.system_view(ref.parts[-1], version)
        if found is None:
            return None
        columns = tuple(PlanColumn(n, t, n) for n, t in found.columns)
        return nodes.SystemRows(columns, self.env.source_view(ref.parts[-1]), tuple(map(tuple, found.rows)))

    def _view(self, view: View, ref: TableRef) -> nodes.PlanNode:
        if view.name.plain in self.env.expanding:
            raise SqlExtError("DDL-020", f"view `{view.name.plain}` reads itself", span=ref.name_span)
        inner = self.env.inside(view)
        query = parse_query_text(view.query, view.expressions, f"view {view.name.name}")
        try:
            node = self.binding.bind_view(query, inner)
        except SqlExtError as error:
            raise _read_at(error, view, ref.name_span) from None
        return rename_columns(node, view.columns) if view.columns else node

    def _table_function(self, relation: TableFunction) -> nodes.PlanNode:
        if relation.function in CHANGELOG_FUNCTIONS:
            return bind_changelog_function(relation, self.binding)
        if relation.function not in WINDOW_FUNCTIONS:
            known = [*WINDOW_FUNCTIONS, *CHANGELOG_FUNCTIONS, *self.env.functions.names("table")]
            raise SqlExtError(
                "FUNC-004",
                f"there is no table function `{relation.name}`",
                span=relation.span,
                hint=did_you_mean(relation.name, known),
            )
        call = WindowCall.of(relation)
        argument = call.table()
        inner = RelationBinder(self.binding)
        node = inner.bind(argument.relation)
        found = inner.scope().find(call.descriptor())
        if found.column.time is None:
            raise no_time_attribute(found.column, call.descriptor().span, call.function)
        spec = call.spec(wall_clock_of(found.column, self.env.zone))
        spec = over_time(spec, found.column, call.descriptor().span, call.function)
        # Spark's window() takes any slide up to the size, so in its mode a HOP need not be a multiple.
        if self.env.mode == "flink":
            check_multiple(call, spec)
        keys = tuple(inner.scope().bare(k) for k in argument.partition_by)
        for key, expr in zip(keys, argument.partition_by, strict=True):
            if key is None:
                raise SqlExtError("WINDOW-006", "PARTITION BY takes columns", span=expr.span)
        session_keys = tuple(k.column.physical for k in keys if k is not None)
        node = windowed_changes(node, spec, relation.span)
        if spec.gap is not None:
            node = with_gap(node, call.arguments["GAP"], inner.scope())
        if spec.row_offset is not None:
            node = with_offset(node, call.arguments["OFFSET"], inner.scope(), call.function)
        assigned = assign_windows(node, found.column, replace(spec, session_keys=session_keys))
        if spec.kind is nodes.WindowKind.SLIDE:
            bounds = assigned.columns[len(node.columns) :]
            return SlideRows(assigned.columns, node, spec, found.column, bounds, relation.span)
        return replace(assigned, written=relation.span)

    def _match(self, relation: MatchRecognize) -> nodes.PlanNode:
        return bind_match(relation, self.binding)

    def _join(self, join: Join) -> nodes.PlanNode:
        require_condition(join, self.env.mode)
        return bind_lateral(self, join) if _is_lateral(join.right, self.env) else bind_join(self, join)

    def aliased(
        self, node: nodes.PlanNode, alias: Alias | None, qualifier: tuple[str, ...], span: Span
    ) -> nodes.Aliased:
        """Return a relation under a name of its own, and add it to ``relations``.

        Raises:
            SqlExtError: NAME-006 for a name that another has, NAME-007 for too many column names.
        """
        if alias is not None and alias.columns:
            node = rename_columns(node, alias.columns, span)
        name = alias.name if alias else (qualifier[-1] if qualifier else "")
        rendered = name or f"__q{len(self.relations)}"
        if name and alias is not None and any(r.qualifier == (name,) for r in self.relations):
            raise SqlExtError(
                "NAME-006", f"two relations are called `{name}` here", span=span, hint="give one an alias"
            )
        if any(r.alias == rendered for r in self.relations):
            if name and any(r.qualifier[-1:] == (name,) for r in self.relations):
                raise SqlExtError(
                    "NAME-006", f"two relations are called `{name}` here", span=span, hint="give one an alias"
                )
            rendered = f"__q{len(self.relations)}"
        shown = (alias.name,) if alias else qualifier
        self.relations.append(ScopeRelation(rendered, shown, node.columns))
        return nodes.Aliased(node.columns, node, rendered)


def _alias_of(relation: SubqueryRef, mode: str) -> Alias | None:
    """Return a sub-query's alias; that of VALUES with one column names the column too in Flink, as that of UNNEST."""
    alias, body = relation.alias, relation.query.body
    if mode != "flink" or alias is None or alias.columns or not isinstance(body, Values) or len(body.rows[0]) > 1:
        return alias
    return replace(alias, columns=(alias.name,))


def _is_lateral(relation: Relation, env: Environment) -> bool:
    """Whether a relation is made anew for each row to its left: UNNEST, LATERAL, a table function of the user."""
    if isinstance(relation, TableFunction):
        return env.functions.find("table", relation.name) is not None
    return isinstance(relation, Unnest) or (isinstance(relation, SubqueryRef) and relation.lateral)


def _read_at(error: SqlExtError, view: View, used: Span) -> SqlExtError:
    """Return an error in a view's text, which says where the view is read: the text is in another statement."""
    if error.span is None or error.span.source is used.source:
        return error
    place = used.position
    where = f"view `{view.name.name}` is read at {place.file}:{place.line}:{place.column}"
    return SqlExtError(
        error.code, error.message, span=error.span, hint=f"{error.hint}; {where}" if error.hint else where
    )


def require_spark_table(ref: TableRef, env: Environment) -> tuple[tuple[str, LogicalType | None], ...]:
    """Return the columns of a table that only Spark knows.

    Raises:
        SqlExtError: NAME-002 if Spark does not know it either.
    """
    columns = env.spark_table(ref.parts)
    if columns is None:
        hint = meant_or_listed(ref.parts[-1], env.catalog.candidates(), "TABLES")
        raise SqlExtError("NAME-002", f"there is no table `{'.'.join(ref.parts)}`", span=ref.name_span, hint=hint)
    return columns


def rename_columns(node: nodes.PlanNode, names: tuple[str, ...], span: Span | None = None) -> nodes.PlanNode:
    """Return a relation under other column names (``v (a, b)``); what holds them stays.

    Raises:
        SqlExtError: NAME-007 if the number of names is not the number of columns.
    """
    if len(names) != len(node.columns):
        message = f"{len(names)} column names for {len(node.columns)} columns"
        hint = f"name each of them: {', '.join(c.name for c in node.columns)}"
        raise SqlExtError("NAME-007", message, span=span, hint=hint)
    return replace(node, columns=tuple(c.renamed(n) for c, n in zip(node.columns, names, strict=True)))

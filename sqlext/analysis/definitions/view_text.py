"""Print a view's query as SHOW CREATE VIEW does: full names, expanded stars, Calcite's form.

Flink stores that form. We store the user's text and print the form where we can, the user's text otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlext.analysis.definitions.flink_text import ExpressionPrinter, Unprintable
from sqlext.analysis.definitions.views import as_batch
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.names.stars import with_fields
from sqlext.analysis.selects.items import own_name
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.dialect.ast import queries as q
from sqlext.dialect.ast.expressions import ColumnRef, Node, Star
from sqlext.dialect.queries.whole import parse_query_text
from sqlext.errors import SqlExtError
from sqlext.plan.columns import unique_names
from sqlext.plan.scope import Scope, ScopeRelation
from sqlext.types import quote
from sqlext_catalog.model import Table, View

_Ctes = dict[str, tuple[q.Query, tuple[str, ...]]]
_Column = Callable[[ColumnRef], str]


def view_text(view: View, env: Environment) -> str:
    """Return the query of a view in Flink's form; the user's text where it is Spark's or that is not possible."""
    if view.expressions != "flink":
        return view.query
    try:
        query = parse_query_text(view.query, view.expressions, f"view {view.name.name}")
        # As batch: the names are the same there, and nothing is refused that only a stream cannot do.
        return _QueryText(as_batch(env.inside(view))).query(query)
    except (SqlExtError, Unprintable):  # what it reads has changed or gone, or is not Flink's
        return view.query


class _QueryText:
    """Prints queries in one environment; ``outer`` resolves the columns of an enclosing query."""

    def __init__(self, env: Environment, ctes: _Ctes | None = None, outer: _Column | None = None) -> None:
        self.env = env
        self.ctes = ctes or {}
        self.outer = outer
        self.anonymous = 0

    def query(self, query: q.Query) -> str:
        """Return the text of a query."""
        if query.ctes:
            ctes = self.ctes | {c.name: (c.query, c.columns) for c in query.ctes}
            inner = _QueryText(self.env, ctes, self.outer)
            return f"WITH {', '.join(map(inner._cte, query.ctes))} {inner._ordered(query)}"
        return self._ordered(query)

    def _cte(self, cte: q.Cte) -> str:
        columns = f" ({', '.join(map(quote, cte.columns))})" if cte.columns else ""
        return f"{quote(cte.name)}{columns} AS ({self.query(cte.query)})"

    def _ordered(self, query: q.Query) -> str:
        lines = [self._body(query.body)]
        printer = self._printer(query.body.from_) if isinstance(query.body, q.Select) else ExpressionPrinter()
        if query.order_by:
            lines.append(f"ORDER BY {', '.join(map(printer.order, query.order_by))}")
        if query.offset is not None:
            lines.append(f"OFFSET {printer.text(query.offset)} ROWS")
        if query.limit is not None:
            lines.append(f"FETCH NEXT {printer.text(query.limit)} ROWS ONLY")
        return "\n".join(lines)

    def _body(self, body: q.QueryBody) -> str:
        if isinstance(body, q.Select):
            return self._select(body)
        if isinstance(body, q.SetOperation):
            op = body.op + (" ALL" if body.all else "")
            return f"{self._body(body.left)}\n{op}\n{self._body(body.right)}"
        if isinstance(body, q.Values):
            rows = (f"ROW({ExpressionPrinter().list(row)})" for row in body.rows)
            return "VALUES " + ",\n".join(rows)
        if isinstance(body, q.TableBody):
            return self._whole(body.table)
        return self.query(body)

    def _whole(self, relation: q.Relation) -> str:
        """Print ``TABLE t`` as the SELECT of all its columns."""
        scope = self._scope(relation)
        return f"SELECT {', '.join(text for text, _ in _all(scope, ()))}\nFROM {self._relation(relation)}"

    def _select(self, select: q.Select) -> str:
        # No form of Flink's is recorded for these, so the user's text is shown.
        if select.hints or select.windows or select.qualify is not None or select.emit is not None:
            raise Unprintable
        scope = self._scope(select.from_)
        printer = self._printer(select.from_)
        items = _items(with_fields(select, scope), scope, printer)
        lines = [f"SELECT {'DISTINCT ' if select.distinct else ''}{', '.join(items)}"]
        if select.from_ is not None:
            lines.append(f"FROM {self._relation(select.from_)}")
        if select.where is not None:
            lines.append(f"WHERE {printer.text(select.where)}")
        if select.group_by is not None:
            lines.append(f"GROUP BY {', '.join(_grouping(i, printer) for i in select.group_by.items)}")
        if select.having is not None:
            lines.append(f"HAVING {printer.text(select.having)}")
        return "\n".join(lines)

    def _scope(self, relation: q.Relation | None) -> Scope:
        binder = QueryBinder(self.env, self.ctes).from_clause()
        if relation is not None:
            binder.bind(relation)
        return binder.scope()

    def _printer(self, relation: q.Relation | None) -> ExpressionPrinter:
        scope = self._scope(relation)

        def column(ref: ColumnRef) -> str:
            if not scope.has(ref) and self.outer is not None:
                return self.outer(ref)
            found = scope.find(ref)
            return ".".join(map(quote, (_name(found.relation, scope), found.column.name, *found.path)))

        return ExpressionPrinter(column, _QueryText(self.env, self.ctes, column).query)

    def _relation(self, relation: q.Relation) -> str:
        if isinstance(relation, q.TableRef):
            return self._table(relation)
        if isinstance(relation, q.SubqueryRef):
            return self._sub_query(relation)
        if isinstance(relation, q.Join):
            return self._join(relation)
        if isinstance(relation, q.TableFunction):
            return self._table_function(relation)
        raise Unprintable

    def _table(self, ref: q.TableRef) -> str:
        if ref.hints or ref.system_time is not None or ref.version is not None or ref.stream:
            raise Unprintable
        alias = ref.alias or q.Alias(ref.parts[-1])
        if len(ref.parts) == 1 and ref.parts[0] in self.ctes:
            return quote(ref.parts[0]) + _alias(alias)
        found = self.env.catalog.lookup(ref.parts)
        if not isinstance(found, Table | View):
            raise Unprintable
        return str(found.name) + _alias(alias)

    def _sub_query(self, ref: q.SubqueryRef) -> str:
        if ref.lateral:
            raise Unprintable
        return f"({self.query(ref.query)}){_alias(ref.alias or self._anonymous())}"

    def _join(self, join: q.Join) -> str:
        left, right = self._relation(join.left), self._relation(join.right)
        if join.comma:
            return f"{left},\n{right}"
        text = f"{left}\n{'NATURAL ' if join.natural else ''}{join.kind} {'ASOF ' if join.as_of else ''}JOIN {right}"
        if join.as_of is not None:
            text += f" MATCH_CONDITION ({self._printer(join).text(join.as_of.condition)})"
            if join.as_of.tolerance is not None:
                text += f" TOLERANCE {ExpressionPrinter().text(join.as_of.tolerance)}"
        if join.condition is not None:
            text += f" ON {self._printer(join).text(join.condition)}"
        return text + (f" USING ({', '.join(map(quote, join.using))})" if join.using else "")

    def _table_function(self, function: q.TableFunction) -> str:
        if function.lateral:
            raise Unprintable
        arguments = ", ".join(self._argument(a) for a in function.args)
        return f"TABLE({function.function}({arguments})){_alias(function.alias or self._anonymous())}"

    def _argument(self, node: Node) -> str:
        if isinstance(node, q.Descriptor):
            return f"DESCRIPTOR({ExpressionPrinter().list(node.columns)})"
        if isinstance(node, q.TableArgument):
            keys = f" PARTITION BY {ExpressionPrinter().list(node.partition_by)}" if node.partition_by else ""
            if isinstance(node.relation, q.SubqueryRef):
                return f"({self.query(node.relation.query)}){keys}"
            return f"({self._whole(node.relation)}){keys}"
        name, value = getattr(node, "name", None), getattr(node, "value", None)
        if isinstance(name, str) and isinstance(value, Node):  # a named argument, whose value may be any of these
            return f"{quote(name)} => {self._argument(value)}"
        return ExpressionPrinter().text(node)

    def _anonymous(self) -> q.Alias:
        self.anonymous += 1
        return q.Alias(f"EXPR${self.anonymous - 1}")


def _alias(alias: q.Alias) -> str:
    columns = f" ({', '.join(map(quote, alias.columns))})" if alias.columns else ""
    return f" AS {quote(alias.name)}{columns}"


def _name(relation: ScopeRelation, scope: Scope) -> str:
    """Return how a relation's columns are qualified: by its alias, by its place if it has none."""
    if relation.qualifier:
        return relation.qualifier[-1]
    return f"EXPR${[r for r in scope.relations if not r.qualifier].index(relation)}"


def _items(select: q.Select, scope: Scope, printer: ExpressionPrinter) -> list[str]:
    """Return the select list, its stars expanded; a star's column has an alias where its name is taken."""
    found: list[tuple[str, str, bool]] = []
    for i, item in enumerate(select.items):
        if isinstance(item.expr, Star):
            found += [(text, name, True) for text, name in _all(scope, item.expr.qualifier)]
        else:
            alias = f" AS {quote(item.alias)}" if item.alias else ""
            found.append((printer.text(item.expr) + alias, own_name(item, i), False))
    names = unique_names(own for _, own, _ in found)
    return [
        f"{text} AS {quote(name)}" if starred and name != own else text
        for (text, own, starred), name in zip(found, names, strict=True)
    ]


def _all(scope: Scope, qualifier: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the columns of a star: each as it is printed, and its name."""
    fold = scope.mode == "spark"
    relations = [r for r in scope.relations if not qualifier or r.answers_to(qualifier, fold)]
    columns = [(r, c.name) for r in relations for c in r.columns if c.name not in r.merged]
    return [(f"{quote(_name(r, scope))}.{quote(name)}", name) for r, name in columns]


def _grouping(item: Any, printer: ExpressionPrinter) -> str:
    if not isinstance(item, q.GroupingSets):
        return printer.text(item)
    return f"{item.kind}({', '.join(_set(s, printer) for s in item.sets)})"


def _set(items: tuple[Any, ...], printer: ExpressionPrinter) -> str:
    texts = [_grouping(i, printer) for i in items]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

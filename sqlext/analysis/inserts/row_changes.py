"""Check what UPDATE, DELETE and MERGE say about the columns of a table of ours; Spark runs them.

Spark would find a slip when the statement's turn comes, and what stands before it would have run by then.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.analysis.types.coercion import can_explicitly_cast
from sqlext.analysis.types.inference import infer
from sqlext.analysis.types.operands import need_condition
from sqlext.connectors.base import written_columns
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Literal
from sqlext.dialect.ast.queries import Query, Relation, Select, SubqueryRef, TableRef
from sqlext.dialect.ast.row_changes import AllColumns, Assigned, Inserted, RowChange, WhenClause
from sqlext.errors import SqlExtError, counted
from sqlext.plan.columns import PlanColumn
from sqlext.plan.scope import Scope, ScopeRelation, own_parts
from sqlext.types import LogicalType
from sqlext_catalog.model import Table

#: The statement goes to Spark, whatever the session's own expressions mean.
_MODE = "spark"
#: Texts that Spark reads as values.
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?[fd]?|[+-]?(inf|infinity)|nan")
_BOOLEANS = frozenset("t true y yes 1 f false n no 0".split())
_DAYS = frozenset("epoch now today tomorrow yesterday".split())


def check_row_change(change: RowChange, table: Table, env: Environment, made: Collection[str] = ()) -> None:
    """Check the names and types of a change of a table's rows.

    Args:
        made: functions that Spark has besides its own, in lower case; nothing is known of what they take and give.

    Raises:
        SqlExtError: NAME-003, NAME-004 and NAME-005 for names, NAME-006 for a column that gets two values, TYPE-... for
            types that do not go together, FUNC-... for calls, SINK-001 for another number of values than columns,
            SINK-002 for a value that the column cannot hold.
    """
    columns = tuple(PlanColumn(c.name, c.type, c.name) for c in written_columns(table))
    target = ScopeRelation("target", (change.alias or change.target[-1],), columns)
    source = None if change.source is None else _source(change.source, env)
    _Change(change, table, target, source, env, made).check()


@dataclass(frozen=True)
class _Side:
    """A relation; ``whole`` says whether all its columns are known."""

    relation: ScopeRelation
    whole: bool


@dataclass(frozen=True)
class _Names(Scope):
    """The names of one clause.

    ``closed`` are the relations whose columns are all known. Where others are around, a name may be theirs.
    """

    closed: tuple[ScopeRelation, ...] = ()

    def column_type(self, ref: ColumnRef) -> LogicalType | None:
        return None if self.may_be_others(ref) else super().column_type(ref)

    def may_be_others(self, ref: ColumnRef) -> bool:
        """Whether a name could be a column that is not known here."""
        if len(self.closed) == len(self.relations) or self.has(ref):
            return False
        return not any(r.answers_to(ref.parts[:n], True) for r in self.closed for n in range(1, len(ref.parts)))


@dataclass(frozen=True)
class _Change:
    change: RowChange
    table: Table
    target: ScopeRelation
    source: _Side | None
    env: Environment
    made: Collection[str]

    def check(self) -> None:
        self._condition(self.change.condition, self._names(target=True, source=True))
        for clause in self.change.clauses:
            names = self._names(target=clause.sees_target, source=clause.sees_source)
            self._condition(clause.condition, names)
            self._does(clause, names)

    def _names(self, *, target: bool, source: bool) -> _Names:
        sides = [_Side(self.target, True)] if target else []
        sides += [self.source] if source and self.source is not None else []
        relations = tuple(s.relation for s in sides)
        return _Names(relations, _MODE, self.env.zone, closed=tuple(s.relation for s in sides if s.whole))

    def _does(self, clause: WhenClause, names: _Names) -> None:
        for one in clause.does:
            if isinstance(one, Inserted):
                self._insert(one, names)
            elif isinstance(one, AllColumns):
                self._all(one)
        assigned = [one for one in clause.does if isinstance(one, Assigned)]
        self._once(one.column for one in assigned)
        for one in assigned:
            self._store(one.column, one.value, names)

    def _insert(self, one: Inserted, names: _Names) -> None:
        if len(one.columns) != len(one.values):
            message = f"{counted(len(one.columns), 'column')}, but {counted(len(one.values), 'value')}"
            raise SqlExtError("SINK-001", message, span=one.span, hint="give each column that is named one value")
        self._once(one.columns)
        for column, value in zip(one.columns, one.values, strict=True):
            self._store(column, value, names)

    def _all(self, star: AllColumns) -> None:
        if self.change.evolves or self.source is None or not self.source.whole:
            return
        given = {c.name.lower() for c in self.source.relation.columns}
        missing = [c.name for c in self.target.columns if c.name.lower() not in given]
        if missing:
            message = f"the source has no column `{missing[0]}`, which * gives to `{self.table.name.name}`"
            hint = "name the columns that get a value, or write MERGE WITH SCHEMA EVOLUTION"
            raise SqlExtError("SINK-001", message, span=star.span, hint=hint)

    def _once(self, columns: Iterable[ColumnRef]) -> None:
        seen: set[tuple[str, ...]] = set()
        for column in columns:
            name = tuple(p.lower() for p in column.parts)
            if name in seen:
                message = f"column `{'.'.join(column.parts)}` gets two values"
                raise SqlExtError("NAME-006", message, span=column.span, hint="give each column one value")
            seen.add(name)

    def _store(self, column: ColumnRef, value: Expr, names: _Names) -> None:
        to = self._target_type(column)
        if value.span.text.upper() == "DEFAULT":
            return
        from_ = self._type(value, names)
        if from_ is None or to is None or from_.root == "NULL" or (_casts(from_, to) and _reads(value, to)):
            return
        name, given = ".".join(column.parts), value.span.one_line
        message = f"`{given}` is {from_}, column `{name}` of `{self.table.name.name}` is {to}"
        hint = f"no CAST leads there: give it a value of type {to.flink()}"
        if _casts(from_, to):
            message = f"the text {given} reads as no {to}, the type of `{name}`"
            hint = f"give it a value of type {to.flink()}"
        raise SqlExtError("SINK-002", message, span=value.span, hint=hint)

    def _target_type(self, column: ColumnRef) -> LogicalType | None:
        scope = Scope((self.target,), _MODE, self.env.zone)
        if self.change.evolves and not scope.has(column):
            return None
        self._find(column, scope)
        return scope.column_type(column)

    def _condition(self, expr: Expr | None, names: _Names) -> None:
        if expr is None:
            return
        type_ = self._type(expr, names)
        # MERGE's conditions are cast, those of WHERE are not.
        if self.source is None or type_ is None or not type_.is_text:
            need_condition(expr, type_)

    def _type(self, expr: Expr, names: _Names) -> LogicalType | None:
        return infer(expr, names) if self._checked(expr, names) else None

    def _checked(self, expr: Expr, names: _Names) -> bool:
        """Check the names of an expression; whether all its functions are known."""
        known = True
        # The names of a sub-query are looked up in its own tables first, and those are Spark's.
        for node in own_parts(expr):
            if isinstance(node, ColumnRef) and not names.may_be_others(node):
                self._find(node, names)
            known = known and not (isinstance(node, Call) and node.name.lower() in self.made)
        return known

    def _find(self, ref: ColumnRef, scope: Scope) -> None:
        try:
            scope.find(ref)
        except SqlExtError as error:
            if error.code != "NAME-003" or not self._is_made_by_reading(ref):
                raise
            message = f"`{ref.parts[-1]}` is no column of the rows that are kept: it is made when they are read"
            raise SqlExtError("NAME-003", message, span=ref.span, hint="write its expression here") from None

    def _is_made_by_reading(self, ref: ColumnRef) -> bool:
        """Whether a name is that of a computed column of the target."""
        name, qualifier = ref.parts[-1].lower(), ref.parts[:-1]
        kept = {c.name for c in self.target.columns}
        made = {c.name.lower() for c in self.table.columns if c.name not in kept}
        return name in made and (not qualifier or self.target.answers_to(qualifier, True))


def _casts(from_: LogicalType, to: LogicalType) -> bool:
    """Whether a value is cast on its way into a column: Delta takes all that Spark has a CAST for."""
    kinds = {from_.root, to.root}
    # An instant is the seconds since 1970, to Spark alone.
    instant = "TIMESTAMP_LTZ" in kinds and (from_.is_numeric or to.is_numeric)
    return instant or can_explicitly_cast(from_, to)


def _reads(value: Expr, to: LogicalType) -> bool:
    """Whether a text that is written here can become a value of a type."""
    if not isinstance(value, Literal) or value.kind != "STRING":
        return True
    text = value.value.strip().lower()
    if to.is_integer:
        return _INTEGER.fullmatch(text) is not None
    if to.is_numeric:
        return _NUMBER.fullmatch(text) is not None
    if to.root == "BOOLEAN":
        return text in _BOOLEANS
    return to.root not in ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ") or any(c.isdigit() for c in text) or text in _DAYS


def _source(relation: Relation, env: Environment) -> _Side:
    if isinstance(relation, TableRef):
        qualifier = (relation.alias.name,) if relation.alias else relation.parts
        columns = _table_columns(relation, env)
    else:
        assert isinstance(relation, SubqueryRef)
        qualifier = (relation.alias.name,) if relation.alias else ()
        columns = _query_columns(relation.query, env)
    renamed = relation.alias.columns if relation.alias else ()
    if renamed and len(renamed) == len(columns or ()):
        columns = tuple(c.renamed(name) for c, name in zip(columns or (), renamed, strict=True))
    return _Side(ScopeRelation("source", qualifier, columns or ()), bool(columns))


def _table_columns(ref: TableRef, env: Environment) -> tuple[PlanColumn, ...] | None:
    found = env.catalog.lookup(ref.parts) if len(ref.parts) <= 3 else None
    if isinstance(found, Table):
        return tuple(PlanColumn(c.name, c.type, c.name) for c in written_columns(found))
    return tuple(PlanColumn(n, t, n) for n, t in env.spark_table(ref.parts) or ()) or None


def _query_columns(query: Query, env: Environment) -> tuple[PlanColumn, ...] | None:
    """Return the columns of a source; None where only Spark can tell them."""
    try:
        return QueryBinder(env).bind_whole(query).columns
    except SqlExtError:
        pass  # Spark runs it: what this dialect cannot bind may be right there
    body = query.body
    if not isinstance(body, Select):
        return None
    names = [i.alias or (i.expr.parts[-1] if isinstance(i.expr, ColumnRef) else None) for i in body.items]
    return None if None in names else tuple(PlanColumn(n, None, n) for n in names if n is not None)

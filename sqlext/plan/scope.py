"""Resolve names inside one SELECT, and compare expressions by what their names mean there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Node, Paren
from sqlext.dialect.ast.queries import Query
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.base import PlanNode
from sqlext.plan.columns import WINDOW_COLUMNS, PlanColumn
from sqlext.source import Span
from sqlext.types import LogicalType

#: A name in a hint.
_NAME = re.compile("`(.+?)`")

#: What is equal for expressions that mean the same, whatever their text is.
Shape = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ScopeRelation:
    """A relation of FROM: its alias in the rendered SQL, the names that qualify it, its columns.

    ``merged`` are columns of a USING pair that only a qualifier reaches.
    """

    alias: str
    qualifier: tuple[str, ...]
    columns: tuple[PlanColumn, ...]
    merged: frozenset[str] = frozenset()

    def answers_to(self, parts: tuple[str, ...], fold: bool) -> bool:
        """Whether ``parts`` (``t``, ``db.t``, ``catalog.db.t``) names this relation."""
        tail = self.qualifier[-len(parts) :] if parts else ()
        return len(parts) > 0 and _same(tail, parts, fold)

    def shares(self, column: PlanColumn, relations: tuple[ScopeRelation, ...]) -> bool:
        """Whether another relation holds a column under the same name: then only an alias tells them apart."""
        others = (r for r in relations if r.alias != self.alias)
        return any(c.physical == column.physical for r in others for c in r.columns)


class Found(NamedTuple):
    """A column reference resolved: the column and the field path below it."""

    relation: ScopeRelation
    column: PlanColumn
    path: tuple[str, ...]


#: Is told what each reference means while queries are bound.
Listener = Callable[[ColumnRef, Found], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let an editor hear what references mean: also of a query that is refused in the end."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def _qualified(found: Sequence[Found]) -> str:
    """Return how a user tells columns of one name apart; relations that no name qualifies need one first."""
    shown = dict.fromkeys(f"{f.relation.qualifier[-1]}.{f.column.name}" for f in found if f.relation.qualifier)
    if len(shown) < len(found):
        return "give each of them another name with AS, and each table an alias"
    return f"qualify it: {' or '.join(shown)}"


def _same(a: tuple[str, ...], b: tuple[str, ...], fold: bool) -> bool:
    if fold:
        return [x.lower() for x in a] == [x.lower() for x in b]
    return a == b


@dataclass(frozen=True)
class Scope:
    """The names that an expression can use; also the typing environment of its expressions.

    ``bind`` binds the sub-queries of expressions, where and as the statement around them is.

    Names are case-sensitive as in Flink; in spark mode a name that matches in another case alone is taken.
    """

    relations: tuple[ScopeRelation, ...]
    mode: str
    zone: str
    bind: Callable[[Query], PlanNode] | None = None

    def find(self, ref: ColumnRef) -> Found:
        """Return what a reference means.

        Raises:
            SqlExtError: NAME-003 for an unknown column, NAME-004 for an ambiguous one, NAME-005 for an
                unknown field.
        """
        for fold in (False, True) if self.mode == "spark" else (False,):
            found = self._candidates(ref.parts, fold)
            if len(found) > 1:
                raise SqlExtError(
                    "NAME-004",
                    f"column `{'.'.join(ref.parts)}` is ambiguous",
                    span=ref.span,
                    hint=_qualified(found[:3]),
                )
            if found:
                self._check_path(ref, found[0])
                if (listener := _LISTENER.get()) is not None:
                    listener(ref, found[0])
                return found[0]
        raise self._unknown(ref)

    def has(self, ref: ColumnRef) -> bool:
        """Whether a reference means anything here, ambiguity included."""
        fold = self.mode == "spark"
        return bool(self._candidates(ref.parts, False) or (fold and self._candidates(ref.parts, True)))

    def _candidates(self, parts: tuple[str, ...], fold: bool) -> list[Found]:
        # The longest qualifier first: ``t.a`` is column a of relation t before it is field a of column t.
        for split in range(min(3, len(parts) - 1), -1, -1):
            qualifier, name, path = parts[:split], parts[split], parts[split + 1 :]
            found = [
                Found(r, c, path)
                for r in self.relations
                if split == 0 or r.answers_to(qualifier, fold)
                for c in r.columns
                if _same((c.name,), (name,), fold) and (split or c.name not in r.merged)
            ]
            if found:
                return found
        return []

    def _check_path(self, ref: ColumnRef, found: Found) -> None:
        current = found.column.type
        for step in found.path:
            if current is None or current.root not in ("ROW", "MAP"):
                if current is None:
                    return
                raise SqlExtError(
                    "NAME-005", f"`{found.column.name}` of type {current} has no field `{step}`", span=ref.span
                )
            if current.root == "MAP":
                current = current.children[1]
                continue
            names = [f.name for f in current.fields]
            field = next((f for f in current.fields if _same((f.name,), (step,), self.mode == "spark")), None)
            if field is None:
                raise SqlExtError(
                    "NAME-005",
                    f"`{found.column.name}` has no field `{step}`",
                    span=ref.span,
                    hint=did_you_mean(step, names) or f"its fields are {', '.join(names)}",
                )
            current = field.type

    def _unknown(self, ref: ColumnRef) -> SqlExtError:
        if len(ref.parts) > 1 and ref.parts[0].startswith("__"):  # a qualifier that nobody wrote
            ref = replace(ref, parts=ref.parts[1:])
        hint = self._meant(ref) or self._listed(ref)
        return SqlExtError("NAME-003", f"there is no column `{'.'.join(ref.parts)}`", span=ref.span, hint=hint)

    def _meant(self, ref: ColumnRef) -> str | None:
        """Return a hint that names a column that may be meant, with its relation where one was written."""
        name, around = ref.parts[-1], ref.parts[:-1]
        names = [c.name for r in self.relations for c in r.columns]
        if not around:
            return did_you_mean(name, names)
        named = [r for r in self.relations if r.answers_to(around, self.mode == "spark")]
        if named:
            meant = did_you_mean(name, [c.name for c in named[0].columns])
            return None if meant is None else _NAME.sub(rf"`{'.'.join(around)}.\1`", meant)
        # A table with an alias has no other name.
        others = [r.qualifier[-1] for r in self.relations if r.qualifier and name in (c.name for c in r.columns)]
        if others:
            return f"did you mean {' or '.join(f'`{other}.{name}`' for other in others)}?"
        return did_you_mean(around[0], [*names, *(r.qualifier[-1] for r in self.relations if r.qualifier)])

    def _listed(self, ref: ColumnRef) -> str | None:
        """Return a hint of all that is here."""
        names = [c.name for r in self.relations for c in r.columns]
        if ref.parts[-1].lower() in WINDOW_COLUMNS:
            return "a window has it: FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
        if not names:
            return None
        listed = f"the columns here are {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"
        return listed if len(ref.parts) > 1 else f"{listed}; a text stands in quotes, '{ref.parts[0]}'"

    def column_type(self, ref: ColumnRef) -> LogicalType | None:
        """Return the type of a column or of a field below it (see ``sqlext.analysis.types.inference.TypeEnv``)."""
        found = self.find(ref)
        current = found.column.type
        for step in found.path:
            if current is None:
                return None
            if current.root == "MAP":
                current = current.children[1]
                continue
            fold = self.mode == "spark"
            matched = [f.type for f in current.fields if _same((f.name,), (step,), fold)]
            if not matched:
                return None
            current = matched[0]
        # A field of a row that may be NULL may be NULL too, whatever its own type says.
        if found.path and current is not None and found.column.type and found.column.type.nullable:
            return current.as_nullable()
        return current

    def query_type(self, query: Query) -> LogicalType | None:
        """Return the type of a scalar sub-query's column, None if unknown."""
        columns = self.bind(query).columns if self.bind else ()
        return columns[0].type if len(columns) == 1 else None

    def bare(self, expr: Expr) -> Found | None:
        """Return the column that an expression merely names (parentheses aside), else None."""
        while isinstance(expr, Paren):
            expr = expr.operand
        if not isinstance(expr, ColumnRef):
            return None
        found = self.find(expr)
        return found if not found.path else None


def own_parts(node: Node) -> Iterator[Node]:
    """Yield a node and all below it, depth first, without the insides of sub-queries."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending += [child for child in current.children() if not isinstance(child, Query)]


def shape(node: Node, scope: Scope) -> Shape:
    """Return a value that is equal for expressions that mean the same in ``scope``."""
    if isinstance(node, Paren):
        return shape(node.operand, scope)
    if isinstance(node, Query):
        # By its text: its names belong to a scope that is not at hand here.
        return ("query", node.span.text)
    if isinstance(node, ColumnRef):
        return column_shape(scope.find(node))
    values = [type(node).__name__]
    for f in fields(node):
        value = getattr(node, f.name)
        if f.name == "name" and isinstance(node, Call):
            value = node.function
        values.append(_value(value, scope))
    return tuple(values)


def column_shape(found: Found) -> Shape:
    """Return the ``shape`` of a reference that means a column."""
    return ("column", found.relation.alias, found.column.physical, found.column.part, found.path)


def _value(value: Any, scope: Scope) -> Any:
    if isinstance(value, Node):
        return shape(value, scope)
    if isinstance(value, tuple):
        return tuple(_value(v, scope) for v in value)
    return None if isinstance(value, Span) else value

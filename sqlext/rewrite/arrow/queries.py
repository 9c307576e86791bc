"""Compile a query of Spark SQL to one over tables in memory, where Arrow computes exactly the same.

Known are SELECTs of one relation with WHERE and LIMIT, and UNION ALL. The expressions are those of ``translation``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from sqlext.rewrite.arrow.pushdown import named
from sqlext.rewrite.arrow.translation import Unsuited, parsed, translated_tree
from sqlext.sources.program import Stage
from sqlext.sources.queries import Branch, TableQuery
from sqlext_udfs.expressions.columns import Column, Expression, Literal

Columns = tuple[tuple[str, pa.DataType], ...]
ColumnsOf = Callable[[str], Columns]
"""The name of a view -> its columns."""

#: What else a SELECT may have, by sqlglot's names; everything but these is refused.
_KNOWN = frozenset({"expressions", "from_", "where", "limit", "kind", "hint"})


def compiled_query(text: str, columns_of: ColumnsOf, zone: str) -> TableQuery:
    """Return a query.

    Args:
        text: as Spark would get it.
        columns_of: gives the columns of views.
        zone: the session's.

    Raises:
        Unsuited: for anything that is not known to be the same.
    """
    return _Compiler(columns_of, zone).query(parsed(text))


@dataclass(frozen=True)
class _Compiler:
    columns_of: ColumnsOf
    zone: str

    def query(self, tree: exp.Expr) -> TableQuery:
        if isinstance(tree, (exp.Subquery, exp.Paren)):
            return self.query(tree.this)
        if isinstance(tree, exp.Union):
            return self._union(tree)
        if isinstance(tree, exp.Select):
            return self._select(tree)
        raise Unsuited(f"`{tree.sql('spark')}`")

    def _union(self, tree: exp.Union) -> TableQuery:
        if tree.args.get("distinct") or any(tree.args.get(a) for a in ("order", "limit", "with_")):
            raise Unsuited("UNION of different rows")
        sides = [self.query(tree.this), self.query(tree.expression)]
        if len({len(s.columns) for s in sides}) != 1:
            raise Unsuited("UNION of relations with different columns")
        columns = tuple(_common(*pair) for pair in zip(sides[0].columns, sides[1].columns, strict=True))
        return TableQuery(tuple(b for side in sides for b in _branches(side, columns)), columns)

    def _select(self, tree: exp.Select) -> TableQuery:
        more = [name for name, value in tree.args.items() if value and name not in _KNOWN]
        if more:
            raise Unsuited(f"{more[0].rstrip('_').upper()} in `{tree.sql('spark')}`")
        of, below = self._from(tree)
        items: dict[str, Expression] = {}
        for item in tree.expressions:
            items |= self._item(item, below)
        where = tree.args.get("where")
        condition = None if where is None else translated_tree(where.this, below.resolve, self.zone)
        columns = tuple((name, made.type) for name, made in items.items())
        return TableQuery((Branch(of, Stage(tuple(items.items()), condition)),), columns, _limit(tree))

    def _from(self, tree: exp.Select) -> tuple[str | TableQuery, _Below]:
        source = tree.args.get("from_")
        relation: exp.Expr = source.this if source is not None else tree
        if isinstance(relation, exp.Subquery):
            query = self.query(relation.this)
            return query, _Below(dict(query.columns), relation.alias)
        if _is_view(relation):
            name = relation.name
            return name, _Below(dict(self.columns_of(name)), relation.alias or name)
        raise Unsuited(f"FROM of `{tree.sql('spark')}`")

    def _item(self, item: exp.Expr, below: _Below) -> Mapping[str, Expression]:
        if isinstance(item, exp.Star):
            return {name: Column(of, name=name) for name, of in below.columns.items()}
        name, value = (item.alias, item.this) if isinstance(item, exp.Alias) else (item.name, item)
        if isinstance(value, exp.Null):
            return {name: Literal(pa.null())}
        if not name:
            raise Unsuited(f"`{item.sql('spark')}` without a name")
        return {name: translated_tree(value, below.resolve, self.zone)}


@dataclass(frozen=True)
class _Below:
    """The relation that a SELECT reads."""

    columns: Mapping[str, pa.DataType]
    alias: str

    def resolve(self, parts: Sequence[str]) -> Expression:
        """Return what a name stands for: as to Spark, the relation's name comes before a column's."""
        first, *more = parts
        qualified = bool(more) and more[0] in self.columns and (first == self.alias or first not in self.columns)
        return named(parts[1:] if qualified else parts, self._type)

    def _type(self, name: str) -> pa.DataType:
        if name not in self.columns:
            raise Unsuited(f"`{name}`")
        return self.columns[name]


def _is_view(relation: exp.Expr) -> bool:
    plain = isinstance(relation, exp.Table) and isinstance(relation.this, exp.Identifier)
    return plain and not any(value for name, value in relation.args.items() if name not in ("this", "alias"))


def _common(one: tuple[str, pa.DataType], other: tuple[str, pa.DataType]) -> tuple[str, pa.DataType]:
    """Return a column of two relations, under the first one's name."""
    name, of = one
    if of != other[1] and not pa.types.is_null(of) and not pa.types.is_null(other[1]):
        # Spark would find a common type (WidenSetOperationTypes), which is not guessed here.
        raise Unsuited(f"UNION of {of} and {other[1]}")
    return name, other[1] if pa.types.is_null(of) else of


def _branches(side: TableQuery, columns: Columns) -> Sequence[Branch]:
    """Return the SELECTs of one side of a union, with the names of the first."""
    if side.limit is None and [n for n, _ in side.columns] == [n for n, _ in columns]:
        return side.branches
    renamed = tuple((new, Column(of, name=old)) for (new, _), (old, of) in zip(columns, side.columns, strict=True))
    return [Branch(side, Stage(renamed))]


def _limit(tree: exp.Select) -> int | None:
    limit = tree.args.get("limit")
    if limit is None:
        return None
    count = limit.expression
    if not (isinstance(count, exp.Literal) and count.this.isdigit()):
        raise Unsuited(f"LIMIT `{count.sql('spark')}`")
    return int(count.this)


def with_types(query: TableQuery, types: Sequence[pa.DataType]) -> TableQuery:
    """Return a query whose columns have these types where nobody has given them one."""
    columns = tuple(
        (name, wanted if pa.types.is_null(of) else of) for (name, of), wanted in zip(query.columns, types, strict=True)
    )
    return replace(query, columns=columns)

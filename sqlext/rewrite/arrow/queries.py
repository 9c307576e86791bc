"""Compile a query of Spark SQL to one over tables in memory, where Arrow computes exactly the same.

Known are SELECTs of one relation with WHERE and LIMIT, and UNION ALL. The expressions are those of ``translation``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
from sqlglot import exp

from sqlext.rewrite.arrow.pushdown import named
from sqlext.rewrite.arrow.times import sliding
from sqlext.rewrite.arrow.translation import Unsuited, parsed, translated_tree
from sqlext.sources.program import Stage
from sqlext.sources.queries import Branch, TableQuery
from sqlext_udfs.expressions.columns import Apply, Column, Compare, Expression, FieldOf, Literal, all_of

Columns = tuple[tuple[str, pa.DataType], ...]
ColumnsOf = Callable[[str], Columns]
"""The name of a view -> its columns."""

#: What else a SELECT may have, by sqlglot's names; everything but these is refused.
_KNOWN = frozenset({"expressions", "from_", "where", "limit", "laterals", "kind", "hint"})


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
        made = [self._stage(tree, copy) for wider in _exploded(tree, below) for copy in _windows(tree, wider)]
        columns = tuple((name, value.type) for name, value in made[0].columns)
        return TableQuery(tuple(Branch(of, stage) for stage in made), columns, _limit(tree))

    def _stage(self, tree: exp.Select, below: _Below) -> Stage:
        items: dict[str, Expression] = {}
        for item in tree.expressions:
            items |= self._item(item, below)
        return Stage(tuple(items.items()), self._condition(tree, below))

    def _condition(self, tree: exp.Select, below: _Below) -> Expression | None:
        where = tree.args.get("where")
        tests = [] if where is None else [translated_tree(where.this, below.resolve, self.zone)]
        # Spark leaves out rows whose window it is asked for and that have no time, or lie behind its end.
        for call in _window_calls(tree):
            time = translated_tree(call.expressions[0], below.resolve, self.zone)
            end = FieldOf(time.type, inputs=(self._value(call, below),), name="end")
            tests.append(Compare(pa.bool_(), inputs=(time, end), op="<"))
        return all_of(tests) if len(tests) > 1 else next(iter(tests), None)

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
        return {name: self._value(value, below)}

    def _value(self, value: exp.Expr, below: _Below) -> Expression:
        if type(value) is exp.Explode and isinstance(value.this, exp.Array) and len(value.this.expressions) == 1:
            (value,) = value.this.expressions
        made = translated_tree(value, below.resolve, self.zone)
        found = sliding(value)
        if found is None or not below.windows_back:
            return made
        by = Literal(pa.int64(), value=below.windows_back * found[1])
        return Apply(made.type, function="earlier", inputs=(made, by))


@dataclass(frozen=True)
class _Below:
    """The relation that a SELECT reads.

    Attributes:
        constants: columns that LATERAL VIEW adds to one copy of its rows.
        windows_back: how many windows before the last one are meant, of a time that several hold.
    """

    columns: Mapping[str, pa.DataType]
    alias: str
    constants: Mapping[str, Expression] = field(default_factory=dict)
    windows_back: int = 0

    def resolve(self, parts: Sequence[str]) -> Expression:
        """Return what a name stands for: as to Spark, the relation's name comes before a column's."""
        first, *more = parts
        if not more and first in self.constants:
            return self.constants[first]
        qualified = bool(more) and more[0] in self.columns and (first == self.alias or first not in self.columns)
        return named(parts[1:] if qualified else parts, self._type)

    def _type(self, name: str) -> pa.DataType:
        if name not in self.columns:
            raise Unsuited(f"`{name}`")
        return self.columns[name]


def _exploded(tree: exp.Select, below: _Below) -> list[_Below]:
    """Return the relation once for each number of ``LATERAL VIEW explode(array(0, 1, ...))``."""
    laterals = tree.args.get("laterals") or []
    if not laterals:
        return [below]
    (lateral, *more), numbers = laterals, getattr(laterals[0].this.this, "expressions", [])
    columns = lateral.args["alias"].columns
    known = type(lateral.this) is exp.Explode and len(columns) == 1 and not lateral.args.get("outer")
    plain = [n for n in numbers if isinstance(n, exp.Literal) and not n.is_string and n.this.isdigit()]
    names = {name.lower() for name in below.columns}
    known = known and columns[0].name.lower() not in names and tree.find(exp.Star) is None
    # Our own text alone is known: small numbers under a name that no column has.
    if more or not known or not plain or len(plain) != len(numbers) or any(int(n.this) >= 1 << 31 for n in plain):
        raise Unsuited(f"LATERAL VIEW in `{tree.sql('spark')}`")
    return [
        replace(below, constants={columns[0].name: Literal(pa.int32(), value=int(number.this))}) for number in plain
    ]


def _windows(tree: exp.Select, below: _Below) -> list[_Below]:
    """Return the relation once for each window that may hold a time."""
    found = [sizes for sizes in map(sliding, _window_calls(tree)) if sizes is not None]
    if len(found) > 1:
        raise Unsuited(f"several windows in `{tree.sql('spark')}`")
    most = max((-(-size // slide) for size, slide, _ in found), default=1)
    return [replace(below, windows_back=back) for back in range(most)]


def _window_calls(tree: exp.Select) -> list[exp.Expr]:
    return [item.this for item in tree.expressions if isinstance(item, exp.Alias) and sliding(item.this) is not None]


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

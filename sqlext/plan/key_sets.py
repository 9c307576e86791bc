"""Expand GROUPING SETS, ROLLUP and CUBE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, product

from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.ast.queries import GroupingSets

#: Keys by which rows are grouped together.
KeySet = tuple[Expr, ...]


def key_sets(items: Sequence[Expr | GroupingSets]) -> Iterator[KeySet]:
    """Yield each set of keys by which rows are grouped: of several items of GROUP BY, every combination.

    The order is a fact of the state: keys hold the number of their set.
    """
    for parts in product(*(list(_sets(item)) for item in items)):
        yield tuple(chain.from_iterable(parts))


def _sets(item: Expr | GroupingSets) -> Iterator[KeySet]:
    if not isinstance(item, GroupingSets):
        yield (item,)
        return
    groups = [list(_group(group)) for group in item.sets]
    if item.kind == "GROUPING SETS":
        yield from chain.from_iterable(groups)
        return
    plain = [group[0] for group in groups]
    sizes = range(len(plain), -1, -1)
    chosen = (plain[:n] for n in sizes) if item.kind == "ROLLUP" else chain(*(combinations(plain, n) for n in sizes))
    for some in chosen:
        yield tuple(chain.from_iterable(some))


def _group(group: Sequence[Expr | GroupingSets]) -> Iterator[KeySet]:
    """Yield the sets of one entry: itself, or those of the nested one that it is."""
    yield from (tuple(chain.from_iterable(parts)) for parts in product(*(list(_sets(member)) for member in group)))

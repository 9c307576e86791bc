"""Tell by which keys of GROUPING SETS, ROLLUP or CUBE a row of the result may have been grouped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, product

from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.ast.queries import GroupingSets

_Set = tuple[Expr, ...]


def key_sets(items: Sequence[Expr | GroupingSets]) -> Iterator[_Set]:
    """Yield each set of keys by which rows are grouped."""
    for parts in product(*(list(_sets(item)) for item in items)):
        yield tuple(chain.from_iterable(parts))


def common_keys(
    items: Sequence[Expr | GroupingSets], form: Callable[[Expr], str], may_be: Callable[[_Set], bool]
) -> tuple[_Set, bool] | None:
    """Return the keys that all sets have which a row may be of, and whether that is one set; None where there is none.

    Rows of any of these sets are among the rows that agree in the common keys.

    Args:
        items: of GROUP BY.
        form: a text that is the same for keys that mean the same.
        may_be: whether the row may be of a set.
    """
    found = [keys for keys in key_sets(items) if may_be(keys)]
    if not found:
        return None
    first, *others = found
    named = [{form(key) for key in keys} for keys in others]
    common = tuple(key for key in first if all(form(key) in texts for texts in named))
    return common, len({frozenset(form(key) for key in keys) for keys in found}) == 1


def _sets(item: Expr | GroupingSets) -> Iterator[_Set]:
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


def _group(group: Sequence[Expr | GroupingSets]) -> Iterator[_Set]:
    """Yield the sets of one entry: itself, or those of the nested one that it is."""
    yield from (tuple(chain.from_iterable(parts)) for parts in product(*(list(_sets(member)) for member in group)))

"""Tell which columns the rows of two versions share, and by which key these can be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlext.quoting import identifier

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

#: Types whose values are the same numbers.
_WHOLE = ("tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True, slots=True)
class ColumnComparison:
    """The columns of old and new rows.

    Attributes:
        shared: that are compared.
        added: that the new rows alone have.
        gone: that the old rows alone have.
        retyped: name, old and new type, as Spark writes them, of columns with another type.
        key: that names a row of both; empty where they are compared as heaps.
        lost: the key of the new rows, where it names no row of the old ones.
    """

    shared: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    retyped: tuple[tuple[str, str, str], ...] = ()
    key: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def differ(self) -> bool:
        """Whether the table gets other columns."""
        return bool(self.added or self.gone or self.retyped)

    def lines(self) -> Iterator[str]:
        """Yield it for people, where there is something to say."""
        yield from (f"column {name} is new" for name in self.added)
        yield from (f"column {name} is gone" for name in self.gone)
        for name, old, new in self.retyped:
            compared = "" if name in self.shared else ", and is not compared"
            yield f"column {name} was {old.upper()}, is {new.upper()}{compared}"
        if self.lost:
            yield f"the key {', '.join(self.lost)} names no row of before: the rows are compared as heaps"


def compared_columns(old: DataFrame, new: DataFrame, key: Sequence[str]) -> ColumnComparison:
    """Return which columns are compared.

    Args:
        key: of the new rows; none where none names a row.
    """
    before, now = _types(old.schema), _types(new.schema)
    names = {name.casefold(): name for name in new.columns}
    retyped = {n: (before[n], now[n]) for n in now if n in before and before[n] != now[n]}
    shared = [n for n in now if n in before and (n not in retyped or _is_whole(*retyped[n]))]
    found = ColumnComparison(
        shared=tuple(names[n] for n in shared),
        added=tuple(names[n] for n in now if n not in before),
        gone=tuple(name for name in old.columns if name.casefold() not in now),
        retyped=tuple((names[n], *types) for n, types in retyped.items()),
    )
    keys = tuple(names[k.casefold()] for k in key)
    if keys and all(k in found.shared for k in keys) and _names_rows(old, keys):
        return replace(found, key=keys)
    return replace(found, lost=keys)


def selected(rows: DataFrame, found: ColumnComparison) -> DataFrame:
    """Return the columns of rows that are compared, in the types in which they are."""
    from pyspark.sql import functions as f

    retyped = {name for name, *_ in found.retyped}
    return rows.select(
        *(
            (f.col(identifier(n)).cast("bigint") if n in retyped else f.col(identifier(n))).alias(n)
            for n in found.shared
        )
    )


def _types(schema: StructType) -> dict[str, str]:
    return {field.name.casefold(): field.dataType.simpleString() for field in schema.fields}


def _is_whole(old: str, new: str) -> bool:
    return old in _WHOLE and new in _WHOLE


def _names_rows(rows: DataFrame, key: Sequence[str]) -> bool:
    """Whether no two rows have the same key."""
    counted = rows.groupBy(*(identifier(k) for k in key)).count()
    return not counted.where("count > 1").limit(1).collect()

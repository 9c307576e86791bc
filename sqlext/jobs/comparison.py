"""Compare the rows of two tables: by key, or as two heaps of rows where there is no key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sqlext.quoting import identifier

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.types import DataType

#: ``missing`` is in the old rows alone, ``extra`` in the new ones alone, ``changed`` in both under one key.
DifferenceKind = Literal["changed", "missing", "extra"]
_OLD, _NEW, _COUNT = "__old", "__new", "__count"


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row that differs.

    Attributes:
        row: its key, and of a row without one all its values; as texts.
        values: of the columns that differ: the old text and the new one.
        count: how often, where there is no key.
    """

    kind: DifferenceKind
    row: Mapping[str, str]
    values: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    count: int = 1

    def __str__(self) -> str:
        """Return it in one line."""
        row = ", ".join(f"{name}={text}" for name, text in self.row.items())
        values = ", ".join(f"{name} {old} -> {new}" for name, (old, new) in self.values.items())
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{self.kind}  {row}{f': {values}' if values else ''}{times}"


@dataclass(frozen=True, slots=True)
class RowComparison:
    """What differs between the rows of two tables.

    Attributes:
        old, new: how many rows there are.
        changed, missing, extra: how many of them differ.
        expected: how many of the changed ones differ in expected columns alone.
        columns: in how many changed rows each column differs, where it does in one.
        shown: the first ones.
    """

    old: int
    new: int
    changed: int = 0
    missing: int = 0
    extra: int = 0
    expected: int = 0
    columns: Mapping[str, int] = field(default_factory=dict)
    shown: tuple[RowDifference, ...] = ()

    @property
    def differing(self) -> int:
        """How many rows differ."""
        return self.changed + self.missing + self.extra

    @property
    def unexpected(self) -> int:
        """How many rows differ, without those that differ in expected columns alone."""
        return self.differing - self.expected

    def lines(self) -> Iterator[str]:
        """Yield it for people."""
        differ = [f"{n} {kind}" for kind, n in self._counts() if n]
        yield f"{self.old} rows before, {self.new} now: {', '.join(differ) or 'the same'}"
        yield from (f"column {name} differs in {n} rows" for name, n in self.columns.items())
        yield from map(str, self.shown)

    def _counts(self) -> Iterator[tuple[DifferenceKind, int]]:
        yield "changed", self.changed
        yield "missing", self.missing
        yield "extra", self.extra


@dataclass(frozen=True, slots=True)
class DifferenceLimit:
    """How many rows may differ.

    Attributes:
        rows: so many, None where ``percent`` says it.
        percent: of the old rows.
    """

    rows: int | None = 0
    percent: float = 0.0

    @classmethod
    def parse(cls, text: str) -> DifferenceLimit:
        """Return what ``12`` or ``0.5%`` says; raises ValueError for anything else."""
        number = text.strip().removesuffix("%")
        share = number != text.strip()
        if number.isascii() and number.replace(".", "", 1 if share else 0).isdigit():
            if not share:
                return cls(int(number))
            if float(number) <= 100:
                return cls(None, float(number))
        raise ValueError(f"{text!r} is neither a number of rows nor a share; write for instance 12 or 0.5%")

    def allows(self, comparison: RowComparison) -> bool:
        """Whether so many rows may differ."""
        if self.rows is not None:
            return comparison.unexpected <= self.rows
        if self.percent == 100:  # more rows can differ than there were
            return True
        return comparison.unexpected * 100 <= self.percent * comparison.old

    def __str__(self) -> str:
        """Return it as it was given."""
        return f"{self.percent:g}%" if self.rows is None else str(self.rows)


def compare(
    old: DataFrame, new: DataFrame, keys: Sequence[str], *, expected: Sequence[str] = (), show: int = 10
) -> RowComparison:
    """Compare rows with each other; both have the same columns.

    Args:
        keys: columns that name a row; none where no column does.
        expected: columns that may differ.
        show: how many rows are shown.
    """
    if keys:
        return _by_key(old, new, list(keys), {name.casefold() for name in expected}, show)
    return _as_heaps(old, new, show)


def _by_key(old: DataFrame, new: DataFrame, keys: list[str], expected: set[str], show: int) -> RowComparison:
    from pyspark.sql import functions as f

    others = [name for name in old.columns if name not in keys]
    sides = (_side(old, keys, _OLD), _side(new, keys, _NEW))
    # Null-safe: the group of NULL is one row as well.
    same = f.lit(True)
    for n in range(len(keys)):
        same = same & sides[0][f"{_OLD}{n}"].eqNullSafe(sides[1][f"{_NEW}{n}"])
    joined = sides[0].join(sides[1], same, "full_outer")
    gone, come = f.col(_NEW).isNull(), f.col(_OLD).isNull()
    both = ~gone & ~come
    unlike = {name: both & ~_value(old, _OLD, name).eqNullSafe(_value(new, _NEW, name)) for name in others}
    changed, beyond = f.lit(False), f.lit(False)
    for name, differs in unlike.items():
        changed = changed | differs
        beyond = beyond if name.casefold() in expected else beyond | differs
    counts = [~come, ~gone, changed, gone, come, changed & ~beyond, *unlike.values()]
    counted = joined.agg(*(f.count_if(c).alias(str(n)) for n, c in enumerate(counts))).collect()[0]
    columns = {name: int(n) for name, n in zip(others, counted[6:], strict=True) if n}
    shown = joined.where(gone | come | changed).orderBy(
        *(f.coalesce(f"{_OLD}{n}", f"{_NEW}{n}") for n in range(len(keys)))
    )
    texts = shown.select(
        *(_text(f.col(side)[name]).alias(f"{side}.{name}") for side in (_OLD, _NEW) for name in old.columns),
        gone.alias("gone"),
        come.alias("come"),
        *(differs.alias(f"differs.{name}") for name, differs in unlike.items()),
    )
    found = tuple(_difference(row, keys, others) for row in texts.limit(show).collect()) if show else ()
    before, now, differ, missing, extra, fewer = (int(n) for n in counted[:6])
    return RowComparison(before, now, differ, missing, extra, fewer, columns, found)


def _side(rows: DataFrame, keys: Sequence[str], name: str) -> DataFrame:
    from pyspark.sql import functions as f

    # A struct is NULL where the other side alone has the row, whatever is NULL in it.
    whole = f.struct(*(f.col(identifier(c)) for c in rows.columns)).alias(name)
    return rows.select(*(_comparable(rows, key).alias(f"{name}{n}") for n, key in enumerate(keys)), whole)


def _value(rows: DataFrame, side: str, name: str) -> Any:
    from pyspark.sql import functions as f

    value = f.col(side)[name]
    return value.cast("string") if _as_text(rows.schema[name].dataType) else value


def _comparable(rows: DataFrame, name: str) -> Any:
    from pyspark.sql import functions as f

    value = f.col(identifier(name))
    return value.cast("string") if _as_text(rows.schema[name].dataType) else value


def _as_text(of: DataType) -> bool:
    """Whether Spark compares no values of a type."""
    shown = of.simpleString()
    return "map<" in shown or "variant" in shown


def _text(value: Any) -> Any:
    from pyspark.sql import functions as f

    return f.coalesce(value.cast("string"), f.lit("NULL"))


def _difference(row: Row, keys: Sequence[str], others: Sequence[str]) -> RowDifference:
    kind: DifferenceKind = "missing" if row["gone"] else "extra" if row["come"] else "changed"
    side = _NEW if kind == "extra" else _OLD
    if kind != "changed":
        return RowDifference(kind, {name: row[f"{side}.{name}"] for name in (*keys, *others)})
    unlike = [name for name in others if row[f"differs.{name}"]]
    values = {name: (row[f"{_OLD}.{name}"], row[f"{_NEW}.{name}"]) for name in unlike}
    return RowDifference(kind, {name: row[f"{side}.{name}"] for name in keys}, values)


def _as_heaps(old: DataFrame, new: DataFrame, show: int) -> RowComparison:
    from pyspark.sql import functions as f

    names = old.columns
    sides = [
        rows.select(*(_comparable(rows, name).alias(name) for name in names), f.lit(sign).alias(_COUNT))
        for rows, sign in ((old, 1), (new, -1))
    ]
    columns = [f.col(identifier(name)) for name in names]
    counted = (
        sides[0]
        .unionByName(sides[1])
        .groupBy(*columns)
        .agg(
            f.sum(_COUNT).alias(_COUNT),
            f.count_if(f.col(_COUNT) > 0).alias(_OLD),
            f.count_if(f.col(_COUNT) < 0).alias(_NEW),
        )
    )
    left = f.col(_COUNT)
    sums = (f.sum(_OLD), f.sum(_NEW), f.sum(f.greatest(left, f.lit(0))), f.sum(f.greatest(-left, f.lit(0))))
    total = counted.agg(*sums).collect()[0]
    before, now, missing, extra = (int(n or 0) for n in total)
    texts = (
        counted.where(left != 0)
        .orderBy(*columns)
        .select(*(_text(c).alias(n) for c, n in zip(columns, names, strict=True)), left)
    )
    shown = tuple(
        RowDifference("missing" if row[_COUNT] > 0 else "extra", {n: row[n] for n in names}, count=abs(row[_COUNT]))
        for row in (texts.limit(show).collect() if show else ())
    )
    return RowComparison(before, now, 0, missing, extra, shown=shown)

"""Parse argument lists in a small notation: ``"text, integer, integer?"``, ``"any, any..."``, ``"a | b, c"``."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.types import LogicalType

_NUMERIC = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"})
_INTERVAL = frozenset({"INTERVAL_DAY_TIME", "INTERVAL_YEAR_MONTH"})

#: Family name -> the type roots in it; ``any`` and ``unit`` take everything.
FAMILIES: dict[str, frozenset[str]] = {
    "text": frozenset({"CHAR", "VARCHAR"}),
    "numeric": _NUMERIC,
    "integer": frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT"}),
    "exact": frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL"}),
    "decimal": frozenset({"DECIMAL"}),
    "boolean": frozenset({"BOOLEAN"}),
    "binary": frozenset({"BINARY", "VARBINARY"}),
    "date": frozenset({"DATE"}),
    "time": frozenset({"TIME"}),
    "wall": frozenset({"TIMESTAMP"}),
    "instant": frozenset({"TIMESTAMP_LTZ"}),
    "timestamp": frozenset({"TIMESTAMP", "TIMESTAMP_LTZ"}),
    "temporal": frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"}),
    "datetime": frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_LTZ"}),
    "interval": _INTERVAL,
    "array": frozenset({"ARRAY"}),
    "map": frozenset({"MAP"}),
    "multiset": frozenset({"MULTISET"}),
    "row": frozenset({"ROW"}),
    "variant": frozenset({"VARIANT"}),
    "json": frozenset("CHAR VARCHAR BOOLEAN BINARY VARBINARY TIMESTAMP TIMESTAMP_LTZ ARRAY MAP ROW".split()) | _NUMERIC,
    "collection": frozenset({"ARRAY", "MAP", "MULTISET"}),
    "ordered": _NUMERIC
    | _INTERVAL
    | frozenset("CHAR VARCHAR BINARY VARBINARY BOOLEAN DATE TIME TIMESTAMP TIMESTAMP_LTZ".split()),
}


@dataclass(frozen=True, slots=True)
class Signature:
    """One argument list: a family (or several, ``a/b``) per argument."""

    families: tuple[str, ...]
    optional: int = 0
    repeats: bool = False

    def __str__(self) -> str:
        """Return it as one writes it: ``text, integer, [integer]``."""
        last = len(self.families) - (1 if self.repeats else 0)
        shown = [f"[{f}]" if last - self.optional <= i < last else f for i, f in enumerate(self.families)]
        return ", ".join([*shown[:last], *(f"{f}..." for f in shown[last:])])

    @property
    def least(self) -> int:
        """The smallest number of arguments."""
        return len(self.families) - self.optional - (1 if self.repeats else 0)

    @property
    def most(self) -> int | None:
        """The largest number of arguments, None if there is no limit."""
        return None if self.repeats else len(self.families)

    def takes_count(self, count: int) -> bool:
        """Whether it takes that many arguments."""
        return count >= self.least and (self.most is None or count <= self.most)

    def takes(self, types: tuple[LogicalType | None, ...]) -> bool:
        """Whether it takes arguments of these types; an unknown type fits everywhere."""
        if not self.takes_count(len(types)):
            return False
        last = len(self.families) - 1
        return all(_fits(t, self.families[min(i, last)]) for i, t in enumerate(types))


def _fits(type_: LogicalType | None, families: str) -> bool:
    # Flink casts an untyped NULL to whatever the function takes.
    if type_ is None or type_.root == "NULL":
        return True
    return any(family in ("any", "unit") or type_.root in FAMILIES[family] for family in families.split("/"))


def parse_signatures(text: str) -> tuple[Signature, ...]:
    """Return the signatures of a notation like ``"text, integer? | text, text..."``.

    ``?`` marks an optional argument, ``...`` the last one as repeated zero or more times.
    """
    return tuple(_parse_one(part) for part in text.split("|"))


def _parse_one(text: str) -> Signature:
    words = [w.strip() for w in text.split(",") if w.strip()]
    return Signature(
        families=tuple(w.removesuffix("...").removesuffix("?") for w in words),
        optional=sum(w.endswith("?") for w in words),
        repeats=bool(words) and words[-1].endswith("..."),
    )

"""Find common types, and decide which values can be compared and cast implicitly (Flink's rules)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce

from sqlext.analysis.types import decimals
from sqlext.types import DOUBLE, INTEGERS, UNBOUNDED, Field, LogicalType

_GROUPS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"), "number"),
    **dict.fromkeys(("CHAR", "VARCHAR"), "text"),
    **dict.fromkeys(("BINARY", "VARBINARY"), "binary"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ"), "timestamp"),
}


def group(type_: LogicalType) -> str:
    """Return the family in which types have a common type."""
    return _GROUPS.get(type_.root, type_.root)


def least_restrictive(types: Sequence[LogicalType | None], mode: str = "flink") -> LogicalType | None:
    """Return the type that holds all of these, None if one is unknown or they do not go together.

    Calcite's ``leastRestrictive`` as Flink's type system sets it up (strings of different length become
    VARCHAR); measured through DESCRIBE on Flink 2.3. In spark mode a BIGINT beside a DECIMAL has Spark's digits.
    """
    known = [t for t in types if t is not None]
    if len(known) < len(types) or not known:
        return None
    valued = [t for t in known if t.root != "NULL"]
    if not valued:
        return known[0]
    if not mixable(valued):
        return None
    result = reduce(partial(_merge, mode), valued)
    return replace(result, nullable=any(t.nullable for t in known))


def mixable(types: Sequence[LogicalType | None]) -> bool:
    """Whether these types can be branches of one CASE; unknown types go with everything."""
    valued = [t for t in types if t is not None and t.root != "NULL"]
    if len({group(t) for t in valued}) > 1:
        return False
    return all(_parts_go_together(valued[0], t) for t in valued[1:])


def _parts_go_together(left: LogicalType, right: LogicalType) -> bool:
    if left.root == "ROW":
        pairs = zip(left.fields, right.fields, strict=False)
        return len(left.fields) == len(right.fields) and all(mixable((a.type, b.type)) for a, b in pairs)
    return all(mixable(pair) for pair in zip(left.children, right.children, strict=False))


def comparable(left: LogicalType | None, right: LogicalType | None) -> bool:
    """Whether Flink's planner compares the two; a string is compared with a number nowhere, with a time by casting it.

    Flink: ``ScalarOperatorGens.checkImplicitConversionValidity``; ``d = ts`` and ``n = b`` measured on 2.3.
    """
    if left is None or right is None or "NULL" in (left.root, right.root):
        return True
    groups = {group(left), group(right)}
    if len(groups) == 1:
        return "MULTISET" not in groups
    return "text" in groups and bool(groups & {"DATE", "TIME", "timestamp", "BOOLEAN"})


def _merge(mode: str, left: LogicalType, right: LogicalType) -> LogicalType:
    if left == right or right.root == "NULL":
        return left.as_nullable() if right.nullable else left
    if left.root == "NULL":
        return right.as_nullable()
    nullable = left.nullable or right.nullable
    return replace(_merge_kinds(mode, left, right), nullable=nullable)


def _merge_kinds(mode: str, left: LogicalType, right: LogicalType) -> LogicalType:
    kind = group(left)
    if kind == "number":
        return merge_numbers(left, right, mode)
    if kind in ("text", "binary"):
        return _merge_lengths(left, right)
    if left.root == right.root and left.children:
        return replace(left, children=tuple(map(partial(_merge, mode), left.children, right.children)))
    if left.root == right.root == "ROW" and len(left.fields) == len(right.fields):
        pairs = zip(left.fields, right.fields, strict=True)
        return replace(left, fields=tuple(Field(a.name, _merge(mode, a.type, b.type)) for a, b in pairs))
    if left.is_timestamp or right.is_timestamp:
        return _merge_times(left, right)
    return max(left, right, key=lambda t: t.precision or 0) if kind == "TIME" else left


def merge_numbers(left: LogicalType, right: LogicalType, mode: str) -> LogicalType:
    """Return the common type of two numbers: of two approximate ones the left (Calcite keeps the first)."""
    if left.is_approximate and right.is_approximate:
        return left
    if left.is_approximate or right.is_approximate:
        approximate, exact = (left, right) if left.is_approximate else (right, left)
        return DOUBLE if exact.root == "DECIMAL" else approximate
    if left.is_integer and right.is_integer:
        return max(left, right, key=lambda t: INTEGERS.index(t.root))
    return decimals.common(decimals.as_decimal(left, mode), decimals.as_decimal(right, mode))


def _merge_lengths(left: LogicalType, right: LogicalType) -> LogicalType:
    length = max(UNBOUNDED if t.precision is None else t.precision for t in (left, right))
    varying = "VARCHAR" if left.is_text else "VARBINARY"
    same = left.root == right.root and left.precision == right.precision
    return LogicalType(left.root if same else varying, length)


def _merge_times(left: LogicalType, right: LogicalType) -> LogicalType:
    root = "TIMESTAMP_LTZ" if "TIMESTAMP_LTZ" in (left.root, right.root) else "TIMESTAMP"
    return LogicalType(root, max(left.precision or 0, right.precision or 0))


#: Flink's LogicalTypeCasts.supportsImplicitCast: target root -> the roots it takes besides itself.
_IMPLICIT: dict[str, tuple[str, ...]] = {
    "VARCHAR": ("CHAR",),
    "VARBINARY": ("BINARY",),
    "SMALLINT": ("TINYINT",),
    "INT": ("TINYINT", "SMALLINT"),
    "BIGINT": ("TINYINT", "SMALLINT", "INT"),
    "DECIMAL": (*INTEGERS, "FLOAT", "DOUBLE"),
    "FLOAT": (*INTEGERS, "DECIMAL"),
    "DOUBLE": (*INTEGERS, "DECIMAL", "FLOAT"),
    "DATE": ("TIMESTAMP",),
    "TIME": ("TIMESTAMP",),
    "TIMESTAMP": ("TIMESTAMP_LTZ",),
    "TIMESTAMP_LTZ": ("TIMESTAMP",),
}


def can_implicitly_cast(from_: LogicalType | None, to: LogicalType) -> bool:
    """Whether INSERT takes a value of one type for a column of another (Flink's sink rules).

    Flink: ``LogicalTypeCasts.supportsImplicitCast``; NOT NULL is the sink's own matter.
    """
    if from_ is None or from_.root == "NULL":
        return True
    if from_.root == to.root:
        return _parts_can_be_cast(from_, to)
    return from_.root in _IMPLICIT.get(to.root, ())


def _parts_can_be_cast(from_: LogicalType, to: LogicalType) -> bool:
    if from_.root == "ROW":
        return len(from_.fields) == len(to.fields) and all(
            can_implicitly_cast(a.type, b.type) for a, b in zip(from_.fields, to.fields, strict=True)
        )
    return all(can_implicitly_cast(a, b) for a, b in zip(from_.children, to.children, strict=True))


#: What Flink cannot CAST at all (measured on 2.3): source family -> target families it takes.
_EXPLICIT: dict[str, frozenset[str]] = {
    "number": frozenset({"number", "text", "BOOLEAN", "INTERVAL_DAY_TIME", "INTERVAL_YEAR_MONTH"}),
    # Numbers become intervals, and intervals no numbers: TIMESTAMPDIFF counts.
    "INTERVAL_DAY_TIME": frozenset({"INTERVAL_DAY_TIME", "text"}),
    "INTERVAL_YEAR_MONTH": frozenset({"INTERVAL_YEAR_MONTH", "text"}),
    "BOOLEAN": frozenset({"BOOLEAN", "number", "text"}),
    "DATE": frozenset({"DATE", "timestamp", "text"}),
    "TIME": frozenset({"TIME", "timestamp", "text"}),
    "timestamp": frozenset({"timestamp", "DATE", "TIME", "text"}),
    "ARRAY": frozenset({"ARRAY", "text"}),
    "MAP": frozenset({"MAP", "text"}),
    "MULTISET": frozenset({"MULTISET", "text"}),
    "ROW": frozenset({"ROW", "text"}),
    "VARIANT": frozenset({"VARIANT"}),
}


def can_explicitly_cast(from_: LogicalType | None, to: LogicalType) -> bool:
    """Whether Flink has a CAST between two types."""
    if from_ is None or from_.root == "NULL" or to.root in ("RAW", "NULL"):
        return True
    if from_.is_text:
        return to.root not in ("ARRAY", "MAP", "MULTISET", "ROW", "VARIANT")
    taken = _EXPLICIT.get(group(from_))
    return taken is None or group(to) in taken

"""Find what a table's options say of each column: expressions, lengths, shares of NULL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlext.connectors.base import physical_fields
from sqlext.connectors.faker.expressions import Expression, parse
from sqlext.connectors.faker.lengths import MOST
from sqlext.connectors.faker.makers import hint_for, maker_of
from sqlext.connectors.options import OptionError, listed
from sqlext.errors import did_you_mean
from sqlext.types import LogicalType
from sqlext_catalog.model import Table

EXPRESSION, NULL_RATE, LENGTH = "expression", "null-rate", "length"
#: Types of one value.
_LEAVES = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "CHAR", "VARCHAR", "DATE",
           "TIMESTAMP", "TIMESTAMP_LTZ")  # fmt: skip
_COLLECTIONS = ("ARRAY", "MULTISET", "MAP")


@dataclass(frozen=True)
class FakeField:
    """How values of a type are made.

    Attributes:
        name: of the column, or of the part of a ROW.
        path: what stands between ``fields.`` and the last part of its options.
        expression: of one value; None for others.
        inner: the element; key and value; the parts of a ROW.
        length: how many elements there are.
        null_rate: the share of values that are NULL.
    """

    name: str
    path: str
    type: LogicalType
    expression: Expression | None = None
    inner: tuple[FakeField, ...] = ()
    length: int = 1
    null_rate: float = 0.0

    @property
    def values(self) -> int:
        """How many values it is made of."""
        return self.length * (sum(part.values for part in self.inner) or 1)

    def options(self) -> Iterator[str]:
        """Yield the keys of the options that it takes, without the share of NULL."""
        if self.expression is not None:
            yield f"{self.path}.{EXPRESSION}"
        if self.type.root in _COLLECTIONS:
            yield f"{self.path}.{LENGTH}"
        for part in self.inner:
            yield from part.options()


def fake_fields(table: Table) -> tuple[FakeField, ...]:
    """Return how the table's columns are made.

    Raises:
        OptionError: OPT-003 an option of nothing, OPT-004 a column without an expression, OPT-005 an expression that
            is not understood, OPT-008 a type that cannot be made.
    """
    found = tuple(_column(table, f.name, f.type) for f in physical_fields(table))
    taken = [key for field in found for key in (*field.options(), f"{field.path}.{NULL_RATE}")]
    for key, _ in table.options:
        if key.startswith("fields.") and key not in taken:
            hint = did_you_mean(key, taken) or f"it takes {listed(taken)}"
            message = f"connector 'faker' has no option '{key}' for the columns of `{table.name.name}`"
            raise OptionError("OPT-003", message, option=key, hint=hint)
    return found


def _column(table: Table, name: str, declared: LogicalType) -> FakeField:
    path = f"fields.{name}"
    key = f"{path}.{NULL_RATE}"
    share = float(table.option(key) or 0)
    if not 0 <= share <= 1:
        raise OptionError("OPT-005", f"option '{key}' must be from 0 to 1, not '{share:g}'", option=key)
    return _field(table, name, path, declared, share)


def _field(table: Table, name: str, path: str, declared: LogicalType, share: float = 0.0) -> FakeField:
    if declared.root in _LEAVES:
        return FakeField(name, path, declared, _expression(table, name, path), null_rate=share)
    if declared.root == "ROW":
        inner = tuple(_field(table, f.name, f"{path}.{f.name}", f.type) for f in declared.fields)
        return FakeField(name, path, declared, inner=inner, null_rate=share)
    if declared.root not in _COLLECTIONS:
        message = f"connector 'faker' makes no values of type {declared} (`{name}`)"
        raise OptionError("OPT-008", message, hint="make a STRING, and CAST it in a computed column")
    # Elements have the expressions of their collection; keys and values of a map their own.
    paths = (f"{path}.key", f"{path}.value") if declared.root == "MAP" else (path,)
    inner = tuple(_field(table, name, p, t) for p, t in zip(paths, declared.children, strict=True))
    length = int(table.option(f"{path}.{LENGTH}") or 1)
    made = FakeField(name, path, declared, inner=inner, length=length, null_rate=share)
    if made.values > MOST:
        message = f"`{name}` would have {made.values:,} values in a row, and at most {MOST:,} are made"
        raise OptionError("OPT-005", message, option=f"{path}.{LENGTH}")
    return made


def _expression(table: Table, name: str, path: str) -> Expression:
    key = f"{path}.{EXPRESSION}"
    text = table.option(key)
    if text is None:
        hint = f"for instance '{key}' = '#{{Name.fullName}}'"
        raise OptionError("OPT-004", f"connector 'faker' needs option '{key}' for column `{name}`", hint=hint)
    expression: Expression = ()
    try:
        expression = parse(text)
        maker_of(expression)
    except ValueError as error:
        raise OptionError("OPT-005", f"option '{key}': {error}", option=key, hint=hint_for(expression)) from error
    return expression

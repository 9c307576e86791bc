"""Make rows of faker tables as Arrow: the same ones for the same numbers."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import TypeAlias

import pyarrow as pa

from sqlext.connectors.faker.draws import Draw, Value
from sqlext.connectors.faker.fields import FakeField
from sqlext.connectors.faker.makers import maker_of, shown
from sqlext.errors import SqlExtError
from sqlext.sources.arrow_types import arrow_type
from sqlext.types import LogicalType
from sqlext_udfs.expressions.functions import INSTANT

_Made: TypeAlias = "Callable[[Draw], object]"


@dataclass(frozen=True)
class FakeRows:
    """Makes rows.

    Attributes:
        fields: of the columns.
    """

    fields: tuple[FakeField, ...]

    @property
    def schema(self) -> pa.Schema:
        """The columns of a row; times are instants."""
        return pa.schema([(f.name, _raw_type(f.type)) for f in self.fields])

    def batch(self, first: int, times: Sequence[dt.datetime]) -> pa.RecordBatch:
        """Return rows that follow each other.

        Args:
            first: the number of the first one.
            times: a time for each.

        Raises:
            SqlExtError: RUN-072 for a value that is not of its column's type.
        """
        return pa.record_batch([_column(field, first, times) for field in self.fields], schema=self.schema)


def _column(field: FakeField, first: int, times: Sequence[dt.datetime]) -> pa.Array:
    # Of the rows' place and the column alone: what is made again is the same.
    random = Random(f"{field.path}/{first}")  # noqa: S311 - values are made up, not secret
    made, share = _maker(field), field.null_rate
    try:
        values = [None if share and random.random() < share else made(Draw(random, now)) for now in times]
        return pa.array(values, _raw_type(field.type))
    except (ValueError, ArithmeticError, TypeError, OverflowError) as error:  # Arrow's are ValueErrors
        message = f"connector 'faker' made a value for column `{field.name}` that is no {field.type}: {error}"
        raise SqlExtError("RUN-072", message, hint=f"see its option '{field.path}.expression'") from error


def _maker(field: FakeField) -> _Made:
    if field.expression is not None:
        make, convert = maker_of(field.expression), _CONVERT.get(field.type.root)
        declared = field.type
        return make if convert is None else lambda draw: convert(make(draw), declared)
    inner = [_maker(part) for part in field.inner]
    if field.type.root == "ROW":
        names = [part.name for part in field.inner]
        return lambda draw: {name: made(draw) for name, made in zip(names, inner, strict=True)}
    count = range(field.length)
    if field.type.root == "ARRAY":
        return lambda draw: [inner[0](draw) for _ in count]
    if field.type.root == "MULTISET":
        return lambda draw: list(Counter(inner[0](draw) for _ in count).items())
    return lambda draw: list({inner[0](draw): inner[1](draw) for _ in count}.items())


def _text(value: Value, declared: LogicalType) -> str:
    return value.isoformat(" ", "milliseconds")[:23] if isinstance(value, dt.datetime) else shown(value)


def _boolean(value: Value, declared: LogicalType) -> bool:
    return value if isinstance(value, bool) else shown(value).strip().lower() == "true"


def _integer(value: Value, declared: LogicalType) -> int:
    return int(_number(value))


def _float(value: Value, declared: LogicalType) -> float:
    return float(_number(value))


def _decimal(value: Value, declared: LogicalType) -> Decimal:
    return Decimal(str(_number(value))).quantize(Decimal(1).scaleb(-(declared.scale or 0)))


def _number(value: Value) -> str | int | float | Decimal:
    if isinstance(value, dt.datetime):
        raise ValueError(f"{value} is a time")
    return value


def _time(value: Value, declared: LogicalType) -> dt.datetime:
    found = value if isinstance(value, dt.datetime) else dt.datetime.fromisoformat(shown(value))
    return found if found.tzinfo is not None else found.replace(tzinfo=dt.timezone.utc)


_CONVERT: dict[str, Callable[[Value, LogicalType], object]] = {
    **dict.fromkeys(("CHAR", "VARCHAR"), _text),
    "BOOLEAN": _boolean,
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), _integer),
    **dict.fromkeys(("FLOAT", "DOUBLE"), _float),
    "DECIMAL": _decimal,
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP_LTZ"), _time),
}


def _raw_type(declared: LogicalType) -> pa.DataType:
    if declared.root == "ROW":
        return pa.struct([(f.name, _raw_type(f.type)) for f in declared.fields])
    if declared.root == "ARRAY":
        return pa.list_(_raw_type(declared.children[0]))
    if declared.root == "MULTISET":
        return pa.map_(_raw_type(declared.children[0]), pa.int32())
    if declared.root == "MAP":
        return pa.map_(*map(_raw_type, declared.children))
    if declared.root in ("DATE", "TIMESTAMP"):
        return INSTANT
    found = arrow_type(declared)
    assert found is not None, "fake_fields has refused it"
    return found

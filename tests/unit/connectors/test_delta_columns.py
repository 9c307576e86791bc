"""What ALTER TABLE does to the columns of a Delta table, by what it declares and what is there."""

from __future__ import annotations

import pytest

from sqlext.connectors.delta.columns import ColumnChanges, column_changes, is_wider
from sqlext.connectors.spec import Alteration, WriteColumn, WriteSpec
from sqlext.errors import SqlExtError
from sqlext.types import BIGINT, INT, STRING, TIMESTAMP3, LogicalType

_MICROS = LogicalType("TIMESTAMP", 6)

_THERE = {"a": "int", "b": "string", "c": "timestamp_ntz"}


def _spec(**columns: LogicalType) -> WriteSpec:
    return WriteSpec("delta", tuple(WriteColumn(n, t, None) for n, t in columns.items()), "t", path="/t")


_BEFORE = _spec(a=INT, b=STRING, c=TIMESTAMP3)


@pytest.mark.parametrize(
    ("after", "renamed", "changes", "there"),
    [
        (_spec(a=INT, c=TIMESTAMP3), (), ColumnChanges(dropped=("b",)), {"a": "int", "c": "timestamp_ntz"}),
        (
            _spec(a=BIGINT, b=STRING, c=_MICROS),
            (),
            ColumnChanges(retyped=(("a", "BIGINT"),)),
            {**_THERE, "a": "BIGINT"},
        ),
        (
            _spec(a=INT, d=STRING, c=TIMESTAMP3),
            (("b", "d"),),
            ColumnChanges(renamed=(("b", "d"),)),
            {"a": "int", "d": "string", "c": "timestamp_ntz"},
        ),
        (
            _spec(a=INT, b=STRING, c=TIMESTAMP3, d=INT),
            (),
            ColumnChanges(added=(("d", "INT"),)),
            {**_THERE, "d": "INT"},
        ),
    ],
)
def test_what_is_there_follows_what_is_declared(
    after: WriteSpec, renamed: tuple[tuple[str, str], ...], changes: ColumnChanges, there: dict[str, str]
) -> None:
    alteration = Alteration(_BEFORE, after, renamed)
    assert column_changes(alteration, _THERE) == changes
    assert changes.applied(_THERE) == there
    # The same statement again: nothing is left to do.
    assert column_changes(alteration, there) == ColumnChanges()


def test_features_are_switched_on_where_they_are_needed_and_off() -> None:
    every = ColumnChanges(dropped=("b",), retyped=(("a", "BIGINT"),))
    assert every.features({}) == {"delta.columnMapping.mode": "name", "delta.enableTypeWidening": "true"}
    assert every.features({"delta.columnMapping.mode": "id", "delta.enableTypeWidening": "true"}) == {}
    assert ColumnChanges(added=(("d", "INT"),)).features({}) == {}


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (
            _spec(a=STRING, b=STRING, c=TIMESTAMP3),
            "the Delta table at `/t` has `a` as INT, and cannot have it as STRING",
        ),
        (_spec(d=INT), "the Delta table at `/t` would have no column left"),
    ],
)
def test_what_delta_cannot_do(after: WriteSpec, message: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        column_changes(Alteration(_BEFORE, after), _THERE)
    assert (refused.value.code, refused.value.message) == ("DDL-033", message)


@pytest.mark.parametrize(
    ("old", "new", "wider"),
    [
        ("tinyint", "bigint", True),
        ("bigint", "int", False),
        ("int", "int", False),
        ("int", "double", True),
        ("bigint", "double", False),
        ("float", "double", True),
        ("double", "float", False),
        ("tinyint", "decimal(9,0)", False),
        ("int", "decimal(12,2)", True),
        ("bigint", "decimal(20,0)", True),
        ("bigint", "decimal(20,1)", False),
        ("decimal(5,2)", "decimal(10,2)", True),
        ("decimal(5,2)", "decimal(5,3)", False),
        ("decimal(5,2)", "decimal(5,1)", False),
        ("string", "int", False),
        ("date", "timestamp_ntz", False),
    ],
)
def test_which_types_are_wider(old: str, new: str, wider: bool) -> None:
    assert is_wider(old, new) is wider


def test_no_other_column_takes_the_place_of_a_renamed_one() -> None:
    before, after = _spec(a=INT, c=TIMESTAMP3), _spec(b=INT, c=TIMESTAMP3)
    with pytest.raises(SqlExtError) as refused:
        column_changes(Alteration(before, after, (("a", "b"),)), _THERE)
    assert (refused.value.code, refused.value.message) == ("DDL-033", "the Delta table at `/t` has both `a` and `b`")

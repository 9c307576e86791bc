"""Connector datagen: which options a value has, by its type, and the SQL that makes it. No Spark."""

from __future__ import annotations

import pytest
from connectors.tables import table

from sqlext.connectors.options import OptionError
from sqlext.connectors.registry import connector_of
from sqlext.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    INTERVAL_DAY_TIME,
    INTERVAL_YEAR_MONTH,
    STRING,
    TIMESTAMP3,
    VARIANT,
    Field,
    LogicalType,
    array,
    char,
    decimal,
    map_of,
    multiset,
    row,
)

PAIR = row(Field("x", STRING), Field("y", array(INT)))


def made(declared: LogicalType, **options: str) -> str:
    """Return the SQL of a column ``c``; ``__`` in an option stands for ``.``, ``_`` for ``-``."""
    named = {f"fields.c.{k.replace('__', '.').replace('_', '-')}": v for k, v in options.items()}
    definition = table({"c": declared}, {"connector": "datagen", **named})
    connector = connector_of(definition)
    connector.validate(definition, "source")
    (column,) = connector.read_spec(definition).columns
    return column.expression


@pytest.mark.parametrize(
    ("declared", "options"),
    [
        (array(STRING), {"length": "2", "element__length": "5", "element__null_rate": "0.1", "null_rate": "1"}),
        (array(array(INT)), {"element__element__max": "5", "element__length": "4"}),
        (map_of(STRING, INT), {"key__length": "5", "value__min": "1", "length": "4"}),
        (multiset(INT), {"element__min": "1", "element__max": "3"}),
        (PAIR, {"x__length": "3", "y__element__min": "0", "y__length": "1", "null_rate": "0.5"}),
        (array(PAIR), {"element__x__length": "3"}),
        (decimal(10, 2), {"min": "1.5", "max": "9"}),
        (STRING, {"var_len": "true", "length": "9"}),
        (BYTES, {"var_len": "true"}),
        (TIMESTAMP3, {"max_past": "5 s"}),
        (DATE, {"null_rate": "0.5"}),
        (BOOLEAN, {"kind": "random"}),
        (INTERVAL_YEAR_MONTH, {"max": "12"}),
        (INTERVAL_DAY_TIME, {"min": "0", "max": "1000"}),
        (char(3), {"length": "3"}),
    ],
)
def test_options_that_are_taken(declared: LogicalType, options: dict[str, str]) -> None:
    assert made(declared, **options) != made(declared, **{**options, "null_rate": "0.2"})


@pytest.mark.parametrize(
    ("declared", "options", "code", "option"),
    [
        (BOOLEAN, {"min": "1"}, "OPT-003", "fields.c.min"),
        (INT, {"length": "1"}, "OPT-003", "fields.c.length"),
        (array(INT), {"element__length": "1"}, "OPT-003", "fields.c.element.length"),
        (array(INT), {"element__kind": "sequence"}, "OPT-003", "fields.c.element.kind"),
        (array(INT), {"elements__max": "1"}, "OPT-003", "fields.c.elements.max"),
        (PAIR, {"z__length": "1"}, "OPT-003", "fields.c.z.length"),
        (map_of(STRING, INT), {"key__null_rate": "0.5"}, "OPT-005", "fields.c.key.null-rate"),
        (STRING, {"null_rate": "1.5"}, "OPT-005", "fields.c.null-rate"),
        (decimal(4, 2), {"max": "1000"}, "OPT-005", "fields.c.max"),
        (DOUBLE, {"min": "2", "max": "1"}, "OPT-005", "fields.c.max"),
        (array(INT), {"element__min": "2", "element__max": "1"}, "OPT-005", "fields.c.element.max"),
        (STRING, {"kind": "sequence", "start": "a", "end": "5"}, "OPT-005", "fields.c.start"),
        (INT, {"kind": "sequence", "start": "1", "end": "5", "null_rate": "0.2"}, "OPT-003", "fields.c.null-rate"),
        (INT, {"start": "1"}, "OPT-003", "fields.c.start"),
        (DATE, {"kind": "sequence", "start": "1", "end": "5"}, "OPT-005", "fields.c.kind"),
        (VARIANT, {}, "OPT-008", None),
        (array(VARIANT), {}, "OPT-008", None),
    ],
)
def test_options_that_are_refused(
    declared: LogicalType, options: dict[str, str], code: str, option: str | None
) -> None:
    with pytest.raises(OptionError) as raised:
        made(declared, **options)
    assert (raised.value.code, raised.value.option) == (code, option)


def test_a_sequence_is_counted() -> None:
    assert made(char(3), kind="sequence", start="3", end="5") == "CAST(value + 3L AS STRING)"


def test_a_near_name_is_told() -> None:
    with pytest.raises(OptionError) as raised:
        made(array(INT), elements__max="1")
    assert "`c.element`" in (raised.value.hint or "")


def test_elements_are_made_of_their_places() -> None:
    assert made(array(BOOLEAN), length="2") == (
        "transform(sequence(1, 2), i0 -> (pmod(xxhash64(value, 'c.element', i0), 2L) = 0))"
    )
    assert "xxhash64(value, 'c.element.element', i0, i1)" in made(array(array(BOOLEAN)))


def test_equal_keys_of_a_map_are_one() -> None:
    assert made(map_of(BOOLEAN, BOOLEAN)) == (
        "map_from_entries(transform(array_distinct(transform(sequence(1, 3), "
        "i0 -> (pmod(xxhash64(value, 'c.key', i0), 2L) = 0))), "
        "(k, i0) -> struct(k, (pmod(xxhash64(value, 'c.value', i0), 2L) = 0))))"
    )


@pytest.mark.parametrize(
    ("declared", "options", "option"),
    [
        (STRING, {"length": "2000000000"}, "fields.c.length"),
        (BYTES, {"length": "16777217"}, "fields.c.length"),
        (char(2_000_000_000), {}, None),
        (array(INT), {"length": "2000000000"}, "fields.c.length"),
        (array(array(array(INT))), {"length": "1000", "element__length": "1000", "element__element__length": "1000"},
         "fields.c.length"),
        (row(Field("x", STRING)), {"x__length": "99999999"}, "fields.c.x.length"),
        (map_of(STRING, STRING), {"length": "100000", "key__length": "1000"}, "fields.c.length"),
    ],
)  # fmt: skip
def test_values_that_nobody_can_hold(declared: LogicalType, options: dict[str, str], option: str | None) -> None:
    """A statement of one line took the memory of whoever checked it."""
    with pytest.raises(OptionError, match="at most 16,777,216 are made") as raised:
        made(declared, **options)
    assert (raised.value.code, raised.value.option) == ("OPT-005", option)


def test_the_text_of_a_query_does_not_grow_with_a_value() -> None:
    assert len(made(STRING, length="16777216")) < 300
    assert "'/c/31'" in made(STRING, length="2048")
    # The same chunks, as Spark counts them.
    assert "concat(value, '/c/', CAST(chunk AS STRING))" in made(STRING, length="2049")

"""Connector faker: which expressions there are, what their values are, and that rows come again. No Spark."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest
from connectors.tables import table

from sqlext.connectors.base import loaded
from sqlext.connectors.faker.draws import Draw
from sqlext.connectors.faker.expressions import ProviderCall, parse
from sqlext.connectors.faker.makers import maker_of
from sqlext.connectors.faker.names import MEMBERS, PROVIDERS
from sqlext.connectors.faker.reader.tables import FakeReader
from sqlext.connectors.options import OptionError
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.stores.location import Location
from sqlext.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP3,
    Field,
    LogicalType,
    array,
    decimal,
    map_of,
    multiset,
    row,
)

NOW = dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)
BEGIN = int(NOW.timestamp() * 1000)


def values(expression: str, count: int = 200) -> list[Any]:
    make, random = maker_of(parse(expression)), Random(1)
    return [make(Draw(random, NOW)) for _ in range(count)]


def reader(columns: dict[str, LogicalType], clock: list[int] | None = None, **options: str) -> FakeReader:
    """Return the reader of a table; ``__`` in an option stands for ``.``, ``_`` for ``-``."""
    named = {k.replace("__", ".").replace("_", "-"): v for k, v in options.items()}
    definition = table(columns, {"connector": "faker", **named})
    connector_of(definition).validate(definition, "source")
    found = connector_of(definition).table_reader().source(definition, None, 2).reader
    assert isinstance(found, FakeReader)
    times = clock or [BEGIN]
    return FakeReader(found.rows, found.rate, found.count, found.state, lambda: times[0])


def rows(made: FakeReader, start: dict[str, int] | None = None) -> list[dict[str, Any]]:
    begin = start if start is not None else dict(made.initial())
    slices = made.slices(begin, made.latest(begin, None))
    return [made_row for piece in slices for batch in made.read(piece) for made_row in batch.to_pylist()]


def test_an_expression_is_text_and_calls() -> None:
    found = parse("/#{GreekPhilosopher.name}.html #{numerify 'user_##'}")
    assert found == ("/", ProviderCall("GreekPhilosopher.name"), ".html ", ProviderCall("numerify", ("user_##",)))
    assert parse("-") == ("-",)


@pytest.mark.parametrize("name", ["number.numberBetween", "Number.number_between", "NUMBER.numberbetween"])
def test_a_name_has_several_spellings(name: str) -> None:
    assert set(values(f"#{{{name} '1','4'}}")) == {1, 2, 3}


@pytest.mark.parametrize(
    ("expression", "pattern"),
    [
        ("#{regexify '(GET|POST){1}'} #{regexify '/[a-z]{3}\\.html'}", r"(GET|POST) /[a-z]{3}\.html"),
        ("#{Options.option 'chrome', 'safari')}", "chrome|safari"),
        ("#{bothify '??-##'}", "[a-z]{2}-[0-9]{2}"),
        ("#{letterify '??','true'}", "[A-Z]{2}"),
        ("ACC#{numerify '####'}", "ACC[0-9]{4}"),
        ("#{Internet.uuid}", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
        ("#{Internet.publicIpV4Address}", r"\d\d(\.\d{1,3}){3}"),
        ("#{Commerce.price}", r"\d{1,3}\.\d\d"),
        ("#{Commerce.productName}", r"\w+ \w+ \w+"),
        ("#{bool.bool}!", "(true|false)!"),
        ("#{harry_potter.spells}", r"\S+"),
        ("#{Address.city}", r"\S.*"),
        ("#{number.digits '5'}", "[0-9]{5}"),
    ],
)
def test_texts(expression: str, pattern: str) -> None:
    for value in values(expression):
        assert re.fullmatch(pattern, str(value)), value


def test_numbers_and_times() -> None:
    doubles = values("#{Number.randomDouble '2','1','150'}")
    assert all(isinstance(v, Decimal) and 1 <= v <= 150 and v == round(v, 2) for v in doubles)
    past = values("#{date.past '15','5','SECONDS'}")
    assert all(dt.timedelta(seconds=5) <= NOW - v <= dt.timedelta(seconds=15) for v in past)
    assert all(v.microsecond % 1000 == 0 for v in past)
    future = values("#{date.future '100' 'DAYS'}")
    assert all(dt.timedelta(0) <= v - NOW <= dt.timedelta(days=100) for v in future)
    ages = values("#{date.birthday '18','20'}")
    assert all(18 <= (NOW - v).days / 365 <= 20 for v in ages)


@pytest.mark.parametrize("method", sorted({*PROVIDERS.values(), *MEMBERS.values()}))
def test_the_library_has_every_provider(method: str) -> None:
    import faker

    assert str(getattr(faker.Faker("en_US"), method)())


@pytest.mark.parametrize(
    ("expression", "word", "hint"),
    [
        ("#{Nme.fullName}", "no provider #{Nme.fullName}", "`name.fullName`"),
        ("#{number.numberBetwen '1','2'}", "no provider", "`number.numberBetween`"),
        ("#{number.numberBetween '1'}", "it takes 2 arguments, not 1", ""),
        ("#{number.numberBetween 'a','b'}", "invalid literal", ""),
        ("#{date.past '1','WEEKS'}", "units are", ""),
        ("#{date.past '1','5','DAYS'}", "is less than", ""),
        ("#{regexify '(a'}", "no regular expression", ""),
        ("#{Options.option}", "values to choose from", ""),
        ("#{Name.fullName", "is no call of the form", ""),
        ("#{regexify 'a{1000000000}'}", "more than 1,000,000 characters", ""),
        ("#{regexify '((a|bc){1000}){1000}'}", "more than 1,000,000 characters", ""),
        ("#{regexify '(((a*)*)*)+'}", "more than 1,000,000 characters", ""),
        ("#{Lorem.characters '1000000000'}", "at most 1,000,000", ""),
        ("#{Lorem.words '1000001'}", "at most 1,000,000", ""),
        ("#{number.digits '1000000000'}", "at most 1,000,000", ""),
    ],
)
def test_expressions_that_are_refused(expression: str, word: str, hint: str) -> None:
    with pytest.raises(OptionError, match="OPT-005") as raised:
        reader({"k": STRING}, fields__k__expression=expression)
    assert raised.value.option == "fields.k.expression"
    assert word in raised.value.message
    assert hint in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("columns", "options", "code", "option"),
    [
        ({"k": STRING}, {}, "OPT-004", None),
        ({"k": BYTES}, {"fields__k__expression": "x"}, "OPT-008", None),
        ({"k": STRING}, {"fields__k__expression": "x", "fields__j__expression": "x"}, "OPT-003", "fields.j.expression"),
        ({"k": STRING}, {"fields__k__expression": "x", "fields__k__length": "2"}, "OPT-003", "fields.k.length"),
        ({"k": STRING}, {"fields__k__expression": "x", "fields__k__null_rate": "2"}, "OPT-005", "fields.k.null-rate"),
        ({"k": STRING}, {"fields__k__expression": "x", "sqlext__source": "spark"}, "OPT-005", "sqlext.source"),
        ({"k": map_of(STRING, INT)}, {"fields__k__key__expression": "x"}, "OPT-004", None),
        (
            {"k": array(STRING)},
            {"fields__k__expression": "x", "fields__k__length": "1000001"},
            "OPT-005",
            "fields.k.length",
        ),
    ],
)
def test_options_that_are_refused(
    columns: dict[str, LogicalType], options: dict[str, str], code: str, option: str | None
) -> None:
    with pytest.raises(OptionError) as raised:
        reader(columns, **options)
    assert (raised.value.code, raised.value.option) == (code, option)


def test_values_get_the_types_of_their_columns() -> None:
    columns = {"t": STRING, "i": INT, "d": decimal(10, 1), "f": DOUBLE, "b": BOOLEAN, "at": TIMESTAMP3, "on": DATE}
    made = reader(
        columns,
        number_of_rows="3",
        fields__t__expression="#{date.past '1','1','SECONDS'}",
        fields__i__expression="220",
        fields__d__expression="#{number.randomDouble '3','2','2'}",
        fields__f__expression="#{number.numberBetween '7','8'}",
        fields__b__expression="TRUE",
        fields__at__expression="#{date.future '1','1','DAYS'}",
        fields__on__expression="2024-02-03",
    )
    at, on = NOW + dt.timedelta(days=1), dt.datetime(2024, 2, 3, tzinfo=dt.timezone.utc)
    expected = {"t": "2023-12-31 23:59:59.000", "i": 220, "d": Decimal("2.0"), "f": 7.0, "b": True, "at": at, "on": on}
    assert rows(made) == [expected] * 3


def test_parts_of_values() -> None:
    columns = {"a": array(STRING), "m": map_of(STRING, INT), "s": multiset(STRING),
               "r": row(Field("x", STRING), Field("y", INT))}  # fmt: skip
    made = reader(
        columns,
        number_of_rows="1",
        fields__a__expression="v",
        fields__a__length="3",
        fields__m__key__expression="k",
        fields__m__value__expression="1",
        fields__s__expression="e",
        fields__s__length="4",
        fields__r__x__expression="x",
        fields__r__y__expression="2",
    )
    assert rows(made) == [{"a": ["v"] * 3, "m": [("k", 1)], "s": [("e", 4)], "r": {"x": "x", "y": 2}}]


def test_a_share_of_null() -> None:
    made = reader({"k": STRING}, number_of_rows="1000", fields__k__expression="x", fields__k__null_rate="0.25")
    assert 150 < sum(found["k"] is None for found in rows(made)) < 350


def test_a_value_of_another_type_fails_with_its_column() -> None:
    made = reader({"k": INT}, number_of_rows="1", fields__k__expression="#{Name.fullName}")
    with pytest.raises(SqlExtError, match="column `k` that is no INT") as raised:
        rows(made)
    assert raised.value.code == "RUN-072"


def test_a_bounded_table_is_made_once() -> None:
    made = reader({"k": STRING}, number_of_rows="25000", fields__k__expression="#{Internet.uuid}")
    end = dict(made.latest({}, None))
    slices = made.slices({}, end)
    assert len(slices) == 3
    assert len({found["k"] for found in rows(made)}) == 25_000
    assert made.latest(end, None) == end
    assert made.slices(end, end) == []


def test_rows_come_again() -> None:
    made = reader({"k": STRING}, number_of_rows="2500", fields__k__expression="#{Name.fullName} #{Internet.uuid}")
    assert rows(made) == rows(made)


def test_an_endless_table_has_the_rows_of_the_time_between(tmp_path: Path) -> None:
    clock = [BEGIN]
    made = reader({"at": TIMESTAMP3}, clock, rows_per_second="10", fields__at__expression="#{date.past '0','SECONDS'}")
    kept = FakeReader(made.rows, made.rate, None, Location.of(tmp_path), made.clock)
    begin = dict(kept.initial())
    clock[0] += 1000
    assert kept.initial() == begin  # a query that is started again begins where it began
    found = rows(kept, begin)
    assert [each["at"] for each in found] == [NOW + dt.timedelta(milliseconds=100 * n) for n in range(10)]
    clock[0] += 3_600_000  # it was away for an hour
    assert len(rows(kept, begin)) == 100


def test_the_reader_is_found_by_its_place() -> None:
    assert loaded("sqlext.connectors.faker.reader.tables:READER").why_not(table({"k": STRING}, {})) == ""

"""Any object survives its row, the Parquet file, and (tables) Flink's properties."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.secrets import is_secret
from sqlext.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTERVAL_DAY_TIME,
    INTERVAL_YEAR_MONTH,
    NULL,
    STRING,
    TIME,
    VARIANT,
    Field,
    LogicalType,
    array,
    char,
    decimal,
    map_of,
    multiset,
    row,
    timestamp,
    timestamp_ltz,
)
from sqlext_catalog.model import (
    Catalog,
    CatalogObject,
    Column,
    Database,
    ObjectName,
    PrimaryKey,
    QueryRecord,
    Table,
    View,
    Watermark,
)
from sqlext_catalog.properties import from_properties, to_properties
from sqlext_catalog.rows import dump_type, from_row, load_type, to_row
from sqlext_catalog.snapshot import Put, Snapshot
from sqlext_catalog.store import CatalogStore
from sqlext_catalog.type_text import parse_type

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
names = text.filter(str.strip)
comments = st.none() | text
millis = st.none() | st.integers(-(2**63), 2**63 - 1)

plain_types = st.sampled_from(
    [BOOLEAN, BIGINT, DOUBLE, STRING, BYTES, DATE, TIME, NULL, VARIANT, INTERVAL_DAY_TIME, INTERVAL_YEAR_MONTH]
) | st.one_of(
    st.builds(decimal, st.integers(1, 38), st.integers(0, 38)),
    st.builds(char, st.integers(1, 100)),
    st.builds(timestamp, st.integers(0, 9)),
    st.builds(timestamp_ltz, st.integers(0, 9)),
)


def types(field_comments: st.SearchStrategy[str | None]) -> st.SearchStrategy[LogicalType]:
    def nested(inner: st.SearchStrategy[LogicalType]) -> st.SearchStrategy[LogicalType]:
        fields = st.lists(st.builds(Field, names, inner, field_comments), max_size=3)
        return st.one_of(
            st.builds(array, inner),
            st.builds(multiset, inner),
            st.builds(map_of, inner, inner),
            fields.map(lambda f: row(*f)),
            inner.map(LogicalType.not_null),
        )

    return st.recursive(plain_types, nested, max_leaves=6)


exact_types = types(comments)
printed_types = types(st.none())


def columns(kinds: st.SearchStrategy[LogicalType]) -> st.SearchStrategy[tuple[Column, ...]]:
    found = st.one_of(
        st.builds(Column, names, kinds, comment=comments),
        st.builds(Column, names, st.none() | kinds, st.just("computed"), expression=text, comment=comments),
        st.builds(
            Column,
            names,
            kinds,
            st.just("metadata"),
            metadata_key=st.none() | names,
            virtual=st.booleans(),
            comment=comments,
        ),
    )
    return st.lists(found, max_size=5).map(tuple)


options = st.dictionaries(
    names.filter(lambda k: not is_secret(k)), text.filter(lambda v: "://" not in v), max_size=4
).map(lambda d: tuple(d.items()))
object_names = st.builds(ObjectName, names, names, names)
name_lists = st.lists(names, max_size=3).map(tuple)


def tables(kinds: st.SearchStrategy[LogicalType]) -> st.SearchStrategy[Table]:
    return st.builds(
        Table,
        object_names,
        columns(kinds),
        st.none() | st.builds(Watermark, names, text),
        st.none() | st.builds(PrimaryKey, names, st.lists(names, min_size=1, max_size=3).map(tuple)),
        name_lists,
        options,
        comments,
        expressions=st.sampled_from(["spark", "flink"]),
    )


views = st.builds(View, object_names, name_lists, text, comments, expressions=text, catalog=text, database=text)
queries = st.builds(QueryRecord, names, text, name_lists, st.none() | text, text, text, text, millis, millis, options)
databases = st.builds(Database, st.builds(ObjectName, names, names, st.just("")), comments, options)
catalogs = st.builds(Catalog, names, names, comments, options)
objects: st.SearchStrategy[CatalogObject] = st.one_of(tables(exact_types), views, databases, catalogs, queries)


@given(objects)
def test_object_survives_its_row(item: CatalogObject) -> None:
    assert from_row(to_row(item)) == item


@settings(max_examples=15, deadline=None)
@given(st.lists(objects, min_size=1, max_size=8))
def test_objects_survive_the_delta_table(items: list[CatalogObject]) -> None:
    with TemporaryDirectory() as folder:
        expected = Snapshot.empty().with_changes(Put(item) for item in items)
        CatalogStore(folder).commit(lambda _: [Put(item) for item in items], "put")
        assert CatalogStore(Path(folder)).snapshot().objects() == expected.objects()


@given(exact_types)
def test_type_survives_json(kind: LogicalType) -> None:
    assert load_type(dump_type(kind)) == kind


@given(printed_types)
def test_type_survives_flinks_text(kind: LogicalType) -> None:
    assert parse_type(str(kind)) == kind


@given(tables(printed_types))
def test_table_survives_flinks_properties(table: Table) -> None:
    back = from_properties(table.name, to_properties(table))
    assert to_properties(back) == to_properties(table)
    assert (back.watermark, back.primary_key, back.partitioned_by) == (
        table.watermark,
        table.primary_key,
        table.partitioned_by,
    )
    assert [c.name for c in back.columns] == [c.name for c in table.columns]
    assert [c.type for c in back.columns] == [c.type for c in table.columns]

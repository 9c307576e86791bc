"""The information schema and Flink's properties, on one table that has everything."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from sqlext.errors import SqlExtError
from sqlext.types import INT, STRING, TIMESTAMP3, TIMESTAMP_LTZ3
from sqlext_catalog.ddl.queries import with_dead_letters, with_inputs
from sqlext_catalog.information_schema import NAMES, system_view, system_view_columns
from sqlext_catalog.model import Column, ObjectName, PrimaryKey, QueryRecord, Table, View, Watermark
from sqlext_catalog.properties import from_properties, to_properties
from sqlext_catalog.snapshot import Put, Snapshot
from sqlext_catalog.type_text import parse_type

NAME = ObjectName("default_catalog", "default_database", "orders")
TABLE = Table(
    NAME,
    (
        Column("id", INT.not_null(), comment="key"),
        Column("ts", TIMESTAMP3),
        Column("pt", TIMESTAMP_LTZ3.not_null(), "computed", "PROCTIME()"),
        Column("file", STRING, "metadata", metadata_key="file.path", virtual=True),
        Column("k,`", STRING),
    ),
    Watermark("ts", "ts - INTERVAL '5' SECOND"),
    PrimaryKey("PK_id", ("id", "k,`")),
    ("k,`",),
    (("connector", "kafka"), ("properties.sasl.jaas.config", "env:JAAS")),
    "all of it",
    expressions="flink",
)
VIEW = View(NAME._replace(name="v"), ("a",), "SELECT 1")
QUERY = QueryRecord("q", "INSERT", ("orders",), "snk", "/ck", "f", "RUNNING", 1000, 2000)
SNAPSHOT = Snapshot.empty().with_changes([Put(TABLE), Put(VIEW), Put(QUERY)])


def rows(view: str) -> list[tuple[object, ...]]:
    found = system_view(view, SNAPSHOT)
    assert found is not None
    return found.rows


@pytest.mark.parametrize("view", NAMES)
def test_rows_fit_the_columns(view: str) -> None:
    columns = system_view_columns(view)
    assert columns is not None
    assert rows(view)
    assert {len(row) for row in rows(view)} == {len(columns)}
    assert len({column for column, _ in columns}) == len(columns)


def test_views_are_found_in_any_case_and_unknown_ones_are_not() -> None:
    assert system_view("TABLES", SNAPSHOT) == system_view("tables", SNAPSHOT)
    assert system_view("nope", SNAPSHOT) is None
    assert system_view_columns("nope") is None


def test_what_the_information_schema_says() -> None:
    assert rows("schemata") == [("default_catalog", "default_database", None)]
    assert rows("tables") == [
        (*NAME, "BASE TABLE", False, "kafka", "all of it"),
        (*VIEW.name, "VIEW", False, None, None),
    ]
    assert rows("time_attributes") == [
        (*NAME, "ts", "ROWTIME", "TIMESTAMP(3)", "ts - INTERVAL '5' SECOND"),
        (*NAME, "pt", "PROCTIME", "TIMESTAMP_LTZ(3)", None),
    ]
    assert rows("watermarks") == [(*NAME, "ts", "ts - INTERVAL '5' SECOND", "TIMESTAMP(3)")]
    assert rows("options")[1] == (*NAME, "properties.sasl.jaas.config", "env:JAAS")
    assert rows("views") == [(*VIEW.name, "SELECT 1", False, "spark", None)]
    columns = rows("columns")
    assert columns[0] == (*NAME, "id", 1, "INT", "NO", "PHYSICAL", None, None, False, True, False, "key")
    assert columns[3][3:10] == ("file", 4, "STRING", "YES", "METADATA", None, "file.path")
    assert columns[5][3:7] == ("a", 1, None, None)
    instants = [datetime(1970, 1, 1, 0, 0, s, tzinfo=timezone.utc) for s in (1, 2)]
    assert rows("queries") == [("q", "RUNNING", "INSERT", ["orders"], "snk", "/ck", "f", *instants, [], 0)]


def test_inputs_of_a_query() -> None:
    known = {"input": "a", "split": "0", "largest": 1000, "watermark": 2**63 - 1, "idle_since": None}
    record = QueryRecord("q", "", (), None, "", "", "running", details=(("job", "j"), ("inputs", "[]")))
    told = with_inputs(record, [{**known, "held": False, "holds": True, "rows": 7}])
    assert [key for key, _ in told.details] == ["job", "inputs"]
    found = system_view("queries", Snapshot([told]))
    assert found is not None
    (row,) = found.rows[0][9]
    assert row[:2] == ("a", "0")
    assert row[2] == datetime(1970, 1, 1, 0, 0, 1, tzinfo=timezone.utc)
    assert row[3].year == 9999
    assert row[4:] == (None, False, True, 7)


def test_dead_letters_of_a_query() -> None:
    record = QueryRecord("q", "", (), None, "", "", "running", details=(("job", "j"),))
    assert with_dead_letters(record, 0) == record
    told = with_dead_letters(with_dead_letters(record, 2), 7)
    assert [key for key, _ in told.details] == ["job", "dead letters"]
    found = system_view("queries", Snapshot([told]))
    assert found is not None
    assert dict(zip([name for name, _ in found.columns], found.rows[0], strict=True))["dead_letters"] == 7


def test_a_watermark_at_the_end_of_time_can_be_shown() -> None:
    at_end = QueryRecord("q", "", (), None, "", "", "FINISHED", 2**63 - 1)
    found = system_view("queries", Snapshot([at_end]))
    assert found is not None
    assert found.rows[0][7] == datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=timezone.utc)


def test_properties_have_flinks_names() -> None:
    assert to_properties(TABLE) == {
        "schema.0.name": "id",
        "schema.0.data-type": "INT NOT NULL",
        "schema.0.comment": "key",
        "schema.1.name": "ts",
        "schema.1.data-type": "TIMESTAMP(3)",
        "schema.2.name": "pt",
        "schema.2.data-type": "TIMESTAMP_LTZ(3) NOT NULL",
        "schema.2.expr": "PROCTIME()",
        "schema.3.name": "file",
        "schema.3.data-type": "STRING",
        "schema.3.metadata": "file.path",
        "schema.3.virtual": "true",
        "schema.4.name": "k,`",
        "schema.4.data-type": "STRING",
        "schema.watermark.0.rowtime": "ts",
        "schema.watermark.0.strategy.expr": "ts - INTERVAL '5' SECOND",
        "schema.watermark.0.strategy.data-type": "TIMESTAMP(3)",
        "schema.primary-key.name": "PK_id",
        "schema.primary-key.columns": "id,`k,```",
        "partition.keys.0.name": "k,`",
        "comment": "all of it",
        "sqlext.expressions": "flink",
        "connector": "kafka",
        "properties.sasl.jaas.config": "env:JAAS",
    }
    assert from_properties(NAME, to_properties(TABLE)) == TABLE


def test_an_option_cannot_pose_as_a_property() -> None:
    with pytest.raises(SqlExtError) as caught:
        to_properties(Table(NAME, (), options=(("schema.0.name", "x"),)))
    assert caught.value.code == "OPT-092"


@pytest.mark.parametrize("text", ["", "INT INT", "ARRAY<", "ARRAY<INT", "DECIMAL(", "DECIMAL(x)", "ROW<`a`", "T", "%"])
def test_text_that_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        parse_type(text)
    assert caught.value.code == "TYPE-090"


def test_a_type_in_flinks_long_form() -> None:
    assert parse_type("TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL") == TIMESTAMP_LTZ3.not_null()

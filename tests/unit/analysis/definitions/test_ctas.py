"""CREATE TABLE AS: the columns; each asked of Flink 2.3.0."""

from __future__ import annotations

import pytest

from sqlext.analysis.definitions import fill_of
from sqlext.dialect.ast.statements import CreateTable
from sqlext.dialect.script import parse_script
from sqlext.source import SourceText

from .conftest import Definitions

SOURCE = """CREATE TABLE s (id INT, k STRING NOT NULL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json')"""
WITH = "WITH ('connector' = 'blackhole') AS"


@pytest.fixture
def source(flink: Definitions) -> Definitions:
    flink.run(SOURCE)
    return flink


def shape(definitions: Definitions) -> list[str]:
    return [f"{c.name} {c.type}" for c in definitions.table("c").columns]


def test_columns_of_the_query(source: Definitions) -> None:
    source.run(f"CREATE TABLE c {WITH} SELECT id, k, ts, 'x' AS u, PROCTIME() AS p FROM s")
    expected = ["id INT", "k STRING NOT NULL", "ts TIMESTAMP(3)", "u CHAR(1) NOT NULL", "p TIMESTAMP_LTZ(3) NOT NULL"]
    assert shape(source) == expected
    assert source.table("c").watermark is None


def test_definitions_come_first_and_types_are_taken_over(source: Definitions) -> None:
    columns = "x STRING, id BIGINT COMMENT 'i', cost AS id * 2, WATERMARK FOR ts AS ts"
    source.run(f"CREATE TABLE c ({columns}) {WITH} SELECT id, k, ts FROM s")
    assert shape(source) == ["x STRING", "cost BIGINT", "id BIGINT", "k STRING NOT NULL", "ts TIMESTAMP(3)"]
    assert source.table("c").columns[2].comment == "i"


@pytest.mark.parametrize(
    ("items", "names"), [("*", ["id", "k", "ts", "id0", "k0", "ts0"]), ("s.id, t.id, t.k AS id", ["id", "id0", "id1"])]
)
def test_names_that_are_taken_get_numbers(source: Definitions, items: str, names: list[str]) -> None:
    source.run(f"CREATE TABLE c {WITH} SELECT {items} FROM s JOIN s AS t ON s.id = t.id")
    assert [line.split()[0] for line in shape(source)] == names


def test_names_reorder(source: Definitions) -> None:
    source.run(f"CREATE TABLE c (ts, id, k) {WITH} SELECT id, k, ts FROM s")
    assert shape(source) == ["ts TIMESTAMP(3)", "id INT", "k STRING NOT NULL"]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (f"CREATE TABLE c {WITH} SELECT id, k FROM s", ()),
        (f"CREATE TABLE c (k, id) {WITH} SELECT id, k FROM s", ("id", "k")),
        (f"CREATE TABLE c (x INT) {WITH} SELECT id, k FROM s", ("id", "k")),
    ],
)
def test_the_table_is_filled_by_name_where_it_has_columns_of_its_own(
    source: Definitions, text: str, columns: tuple[str, ...]
) -> None:
    statement = next(parse_script(SourceText.of(text), "flink"))
    assert isinstance(statement, CreateTable)
    assert statement.query is not None
    assert fill_of(statement, statement.query, source.environment()).columns == columns


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"CREATE TABLE c (ts, id) {WITH} SELECT id, k, ts FROM s", "DDL-014"),
        (f"CREATE TABLE c (id, zz) {WITH} SELECT id, k FROM s", "DDL-014"),
        (f"CREATE TABLE c (id, id) {WITH} SELECT id, k FROM s", "DDL-001"),
        (f"CREATE TABLE c (id STRING) {WITH} SELECT id FROM s", "DDL-014"),
        (f"CREATE TABLE c (id BIGINT NOT NULL) {WITH} SELECT id FROM s", "DDL-014"),
        (f"CREATE TABLE c (x STRING NOT NULL) {WITH} SELECT id FROM s", "DDL-014"),
        (f"CREATE TABLE c (id AS 1) {WITH} SELECT id FROM s", "DDL-014"),
        (f"CREATE TABLE c (PRIMARY KEY (id) NOT ENFORCED) {WITH} SELECT id FROM s", "DDL-004"),
        (f"CREATE TEMPORARY TABLE c {WITH} SELECT id FROM s", "DDL-015"),
        (f"CREATE TABLE c {WITH} SELECT NULL AS z FROM s", "TYPE-020"),
        (f"CREATE TABLE c {WITH} SELECT zz FROM s", "NAME-003"),
    ],
)
def test_refused(source: Definitions, text: str, code: str) -> None:
    source.refuse(text, code)

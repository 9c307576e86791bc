"""SHOW and DESCRIBE beyond the recorded cases (tests/conformance, areas statements)."""

from __future__ import annotations

from datetime import datetime

import pytest

from sqlext_catalog import ddl
from sqlext_catalog.model import Catalog, Database, ObjectName, QueryRecord

from .conftest import Definitions


@pytest.fixture
def shop(flink: Definitions) -> Definitions:
    flink.catalog.apply(ddl.create_database(Database(ObjectName("default_catalog", "d", ""))), "CREATE DATABASE")
    flink.catalog.apply(ddl.create_catalog(Catalog("other")), "CREATE CATALOG")
    flink.run(
        "CREATE TABLE Orders (a INT) WITH ('connector' = 'x', 'password' = 'env:PW', 'url' = 'x://h');"
        "CREATE TABLE order_items (a INT) WITH ('connector' = 'x');"
        "CREATE TEMPORARY TABLE tmp (a INT) WITH ('connector' = 'x', 'password' = 'hunter2');"
        "CREATE TABLE d.inside (a INT) WITH ('connector' = 'x');"
        "CREATE VIEW w AS SELECT 1 AS a"
    )
    return flink


def names(rows: list[tuple[object, ...]]) -> list[object]:
    return [row[0] for row in rows]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("SHOW TABLES", ["Orders", "order_items", "tmp", "w"]),
        ("SHOW TABLES LIKE 'order%'", ["order_items"]),
        ("SHOW TABLES ILIKE 'order%'", ["Orders", "order_items"]),
        ("SHOW TABLES NOT ILIKE 'ORDER%'", ["tmp", "w"]),
        ("SHOW TABLES LIKE '_'", ["w"]),
        (r"SHOW TABLES LIKE 'order\_%'", ["order_items"]),
        ("SHOW TABLES LIKE 'order.items'", []),
        ("SHOW TABLES FROM d", ["inside"]),
        ("SHOW TABLES IN default_catalog.d", ["inside"]),
        ("SHOW VIEWS", ["w"]),
        ("SHOW VIEWS FROM d", []),
        ("SHOW DATABASES", ["d", "default_database"]),
        ("SHOW DATABASES FROM other", ["default_database"]),
        ("SHOW CATALOGS", ["default_catalog", "other"]),
        ("SHOW CURRENT CATALOG", ["default_catalog"]),
        ("SHOW CURRENT DATABASE", ["default_database"]),
        ("SHOW JARS", []),
        ("SHOW MODULES", ["core"]),
        ("SHOW PROCEDURES", []),
        ("SHOW FUNCTIONS LIKE 'TO_TIMESTAMP_LTZ'", ["TO_TIMESTAMP_LTZ"]),
        ("SHOW COLUMNS FROM Orders", ["a"]),
    ],
)
def test_lists(shop: Definitions, statement: str, found: list[object]) -> None:
    assert names(shop.run(statement)) == found


@pytest.mark.parametrize(
    ("statement", "code", "at"),
    [
        ("SHOW TABLES FROM nope", "CAT-002", "nope"),
        ("SHOW DATABASES FROM nope", "CAT-002", "nope"),
        ("SHOW COLUMNS FROM nope", "NAME-002", "nope"),
        ("DESCRIBE nope", "NAME-002", "nope"),
        ("SHOW CREATE TABLE nope", "NAME-002", "nope"),
        ("SHOW CREATE TABLE w", "CAT-004", "w"),
        ("SHOW CREATE VIEW Orders", "CAT-004", "Orders"),
    ],
)
def test_refused(shop: Definitions, statement: str, code: str, at: str) -> None:
    shop.refuse(statement, code, at)


def test_secrets_are_hidden_and_temporary_is_said(shop: Definitions) -> None:
    (text,) = shop.run("SHOW CREATE TABLE tmp")[0]
    assert "hunter2" not in str(text)
    assert str(text).startswith("CREATE TEMPORARY TABLE `default_catalog`.`default_database`.`tmp` (\n  `a` INT\n)")
    assert "'password' = 'env:PW'" in str(shop.run("SHOW CREATE TABLE Orders")[0][0])


def test_what_is_shown_can_be_run_again(shop: Definitions) -> None:
    shop.run(
        "CREATE TABLE t (a INT NOT NULL COMMENT 'it''s', b AS a BETWEEN 1 AND 2, m ARRAY<STRING NOT NULL> METADATA "
        "FROM 'q' VIRTUAL, `odd ``n` ROW<x TIMESTAMP_LTZ(3) 'c'>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL "
        "'5' SECOND, PRIMARY KEY (a) NOT ENFORCED) COMMENT 'c' PARTITIONED BY (a) WITH ('connector' = 'x')"
    )
    (text,) = shop.run("SHOW CREATE TABLE t")[0]
    shop.run(str(text).replace("`t`", "`again`", 1))
    (again,) = shop.run("SHOW CREATE TABLE again")[0]
    assert str(again).replace("`again`", "`t`", 1) == text


def test_queries(shop: Definitions) -> None:
    record = QueryRecord("q", "INSERT ...", ("a", "b"), "c", "/cp", "f", "running", 1000, 5)
    shop.catalog.apply(ddl.record_query(record), "INSERT")
    started, watermark = datetime(1970, 1, 1, 0, 0, 0, 5000), datetime(1970, 1, 1, 0, 0, 1)
    assert shop.run("SHOW QUERIES") == [("q", "running", "a, b", "c", watermark, started, 0)]
    assert shop.run("SHOW JOBS") == [("q", "q", "RUNNING", started)]

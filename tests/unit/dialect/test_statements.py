"""Statements: ours become nodes, Spark's stay text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sqlext.dialect.ast.statements import Explain, SparkStatement, Statement
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.source import SourceText

ONE = "Query(Select([SelectItem(1)]))"


def parse(text: str, mode: str = "flink") -> Statement:
    (statement,) = parse_script(SourceText.of(text), mode)
    return statement


STATEMENTS = {
    # CREATE TABLE
    "CREATE TABLE t (a INT)": "CreateTable([t], columns=[ColumnDef(a, type=INT)])",
    "CREATE OR REPLACE TEMPORARY TABLE IF NOT EXISTS c.d.t (a INT NOT NULL COMMENT 'x') COMMENT 'y'": (
        "CreateTable([c, d, t], columns=[ColumnDef(a, type=INT NOT NULL, comment=x)], comment=y, temporary=True, "
        "if_not_exists=True, or_replace=True)"
    ),
    "CREATE TABLE t (a INT, b AS a + 1 COMMENT 'x', c BIGINT METADATA FROM 'offset' VIRTUAL, d STRING METADATA)": (
        "CreateTable([t], columns=[ColumnDef(a, type=INT), ColumnDef(b, expression=Binary(+, a, 1), comment=x), "
        "ColumnDef(c, type=BIGINT, metadata=True, metadata_key=offset, virtual=True), "
        "ColumnDef(d, type=STRING, metadata=True, metadata_key=d)])"
    ),
    "CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)": (
        "CreateTable([t], columns=[ColumnDef(ts, type=TIMESTAMP(3))], "
        "watermarks=[WatermarkDef([ts], Binary(-, ts, Interval(5, SECOND)))])"
    ),
    "CREATE TABLE t (WATERMARK FOR a.b AS b)": "CreateTable([t], watermarks=[WatermarkDef([a, b], b)])",
    "CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED)": (
        "CreateTable([t], columns=[ColumnDef(a, type=INT, inline_primary_key=True)])"
    ),
    "CREATE TABLE t (a INT, CONSTRAINT k PRIMARY KEY (a, b) NOT ENFORCED)": (
        "CreateTable([t], columns=[ColumnDef(a, type=INT)], primary_keys=[PrimaryKeyDef([a, b], name=k)])"
    ),
    "CREATE TABLE t (a INT) DISTRIBUTED BY HASH (a) INTO 4 BUCKETS PARTITIONED BY (a, b) WITH ('k' = 'v')": (
        "CreateTable([t], columns=[ColumnDef(a, type=INT)], partitioned_by=[a, b], "
        "distribution=<DISTRIBUTED BY HASH (a) INTO 4 BUCKETS>, options=[Option(k, v)])"
    ),
    "CREATE TABLE t WITH ('a' = 'b') LIKE s (EXCLUDING ALL OVERWRITING WATERMARKS)": (
        "CreateTable([t], options=[Option(a, b)], "
        "like=LikeClause([s], options=[LikeOption(EXCLUDING, ALL), LikeOption(OVERWRITING, WATERMARKS)]))"
    ),
    "CREATE TABLE t (a, b) WITH () AS SELECT 1": f"CreateTable([t], column_names=[a, b], query={ONE})",
    "CREATE TABLE t AS SELECT 1": f"CreateTable([t], query={ONE})",
    "REPLACE TABLE t AS SELECT 1": f"CreateTable([t], query={ONE}, or_replace=True)",
    # views
    "CREATE VIEW v AS SELECT 1": f"CreateView([v], {ONE})",
    "CREATE OR REPLACE TEMPORARY VIEW IF NOT EXISTS d.v (a COMMENT 'x', b) COMMENT 'y' AS SELECT 1": (
        f"CreateView([d, v], {ONE}, columns=[a, b], comment=y, temporary=True, if_not_exists=True, or_replace=True)"
    ),
    "CREATE MATERIALIZED VIEW v AS SELECT 1 EMIT ON WINDOW CLOSE": (
        "CreateView([v], Query(Select([SelectItem(1)], emit=EmitClause(WindowClose()))), materialized=True)"
    ),
    "ALTER VIEW v RENAME TO d.w": "AlterView([v], new_name=[d, w])",
    "ALTER VIEW v AS SELECT 1": f"AlterView([v], query={ONE})",
    # ALTER TABLE
    "ALTER TABLE t ADD a INT FIRST": "AlterTable([t], ADD, columns=[ColumnDef(a, type=INT)], positions=[FIRST])",
    "ALTER TABLE IF EXISTS t ADD (a INT AFTER b, c AS a, WATERMARK FOR c AS c, PRIMARY KEY (a) NOT ENFORCED)": (
        "AlterTable([t], ADD, if_exists=True, columns=[ColumnDef(a, type=INT), ColumnDef(c, expression=a)], "
        "positions=[b, None], watermarks=[WatermarkDef([c], c)], primary_keys=[PrimaryKeyDef([a])])"
    ),
    "ALTER TABLE t MODIFY WATERMARK FOR c AS c": "AlterTable([t], MODIFY, watermarks=[WatermarkDef([c], c)])",
    "ALTER TABLE t DROP a": "AlterTable([t], DROP, names=[a])",
    "ALTER TABLE t DROP (a, b)": "AlterTable([t], DROP, names=[a, b])",
    "ALTER TABLE t DROP PRIMARY KEY": "AlterTable([t], DROP PRIMARY KEY)",
    "ALTER TABLE t DROP CONSTRAINT k": "AlterTable([t], DROP CONSTRAINT, names=[k])",
    "ALTER TABLE t DROP WATERMARK": "AlterTable([t], DROP WATERMARK)",
    "ALTER TABLE t RENAME TO u": "AlterTable([t], RENAME, new_name=[u])",
    "ALTER TABLE t RENAME a TO b": "AlterTable([t], RENAME COLUMN, names=[a, b])",
    "alter table t rename column to b": "AlterTable([t], RENAME COLUMN, names=[column, b])",
    "ALTER TABLE t SET ('a' = 'b')": "AlterTable([t], SET, options=[Option(a, b)])",
    "ALTER TABLE t RESET ('a', 'b')": "AlterTable([t], RESET, names=[a, b])",
    # databases, catalogs, USE, DROP
    "CREATE DATABASE IF NOT EXISTS c.d COMMENT 'x' WITH ('a' = 'b')": (
        "CreateDatabase([c, d], if_not_exists=True, comment=x, options=[Option(a, b)])"
    ),
    "CREATE SCHEMA d": "CreateDatabase([d])",
    "CREATE CATALOG c WITH ('type' = 'x')": "CreateCatalog([c], options=[Option(type, x)])",
    "USE c.d": "Use(DATABASE, [c, d])",
    "USE CATALOG c": "Use(CATALOG, [c])",
    "USE catalog": "Use(DATABASE, [catalog])",
    "DROP TABLE IF EXISTS d.t": "Drop(TABLE, [d, t], if_exists=True)",
    "DROP TEMPORARY VIEW v": "Drop(VIEW, [v], temporary=True)",
    "DROP SCHEMA d CASCADE": "Drop(DATABASE, [d], cascade=True)",
    "DROP DATABASE d RESTRICT": "Drop(DATABASE, [d])",
    "DROP CATALOG c": "Drop(CATALOG, [c])",
    "ALTER DATABASE c.d SET ('k' = 'v')": "AlterDatabase([c, d], options=[Option(k, v)])",
    "ALTER CATALOG c SET ('k' = 'v')": "AlterCatalog(c, options=[Option(k, v)])",
    "ALTER CATALOG c RESET ('k', 'l')": "AlterCatalog(c, keys=[k, l])",
    "ALTER CATALOG `c d` COMMENT 'it'": "AlterCatalog(c d, comment=it)",
    "DROP QUERY IF EXISTS `my query`": "Drop(QUERY, [my query], if_exists=True)",
    # SHOW, DESCRIBE, EXPLAIN
    "SHOW TABLES": "Show(TABLES)",
    "SHOW TABLES FROM d NOT LIKE 'a%'": "Show(TABLES, name=[d], like=a%, negated=True)",
    "SHOW VIEWS ILIKE 'a'": "Show(VIEWS, like=a, like_op=ILIKE)",
    "SHOW MATERIALIZED TABLES IN d LIKE 'a'": "Show(MATERIALIZED TABLES, name=[d], like=a)",
    "SHOW COLUMNS IN t": "Show(COLUMNS, name=[t])",
    "SHOW FULL MODULES": "Show(FULL MODULES)",
    "SHOW MODELS": "Show(MODELS)",
    "SHOW CREATE TABLE t": "Show(CREATE TABLE, name=[t])",
    "SHOW CREATE MATERIALIZED TABLE d.t": "Show(CREATE MATERIALIZED TABLE, name=[d, t])",
    "SHOW CREATE VIEW d.t": "Show(CREATE VIEW, name=[d, t])",
    "SHOW CREATE CATALOG c": "Show(CREATE CATALOG, name=[c])",
    "SHOW CURRENT CATALOG": "Show(CURRENT CATALOG)",
    "SHOW SCHEMAS": "Show(DATABASES)",
    "SHOW QUERIES": "Show(QUERIES)",
    "SHOW WATERMARKS": "Show(WATERMARKS)",
    "SHOW WATERMARKS FOR QUERY a.b LIKE 'a%'": "Show(WATERMARKS, name=[a, b], like=a%)",
    "SHOW WATERMARKS FOR QUERY 'sql.select'": "Show(WATERMARKS, name=[sql.select])",
    "EXPLAIN WHY a.b": "ExplainWhy([a, b])",
    "EXPLAIN WHY 'my query'": "ExplainWhy([my query])",
    "DESC t": "Describe([t])",
    "DESCRIBE EXTENDED d.t": "Describe([d, t], extended=True)",
    "DESCRIBE TABLE t": "Describe([t])",
    "DESCRIBE extended": "Describe([extended])",
    "DESCRIBE CATALOG c": "DescribeCatalog(c)",
    "DESC CATALOG EXTENDED `c d`": "DescribeCatalog(c d, extended=True)",
    "DESCRIBE CATALOG extended": "DescribeCatalog(extended)",
    "DESCRIBE catalog": "Describe([catalog])",
    "EXPLAIN SELECT 1": f"Explain(SelectStatement({ONE}))",
    "EXPLAIN PLAN FOR SELECT 1": f"Explain(SelectStatement({ONE}))",
    "EXPLAIN CHANGELOG_MODE, ESTIMATED_COST INSERT INTO t SELECT 1": (
        f"Explain(Insert([t], {ONE}), details=[CHANGELOG_MODE, ESTIMATED_COST])"
    ),
    "EXPLAIN JSON SELECT 1": f"Explain(SelectStatement({ONE}), details=[JSON])",
    "EXPLAIN STATEMENT SET BEGIN INSERT INTO t SELECT 1; END": (f"Explain(StatementSet([Insert([t], {ONE})]))"),
    # settings
    "SET": "SetOption()",
    "SET 'a'": "SetOption(key=a)",
    "SET 'a' = 'b;c'": "SetOption(key=a, value=b;c)",
    "SET sqlext.bounded = 'catch-up'": "SetOption(key=sqlext.bounded, value=catch-up)",
    "SET table.exec.state.ttl=1 d": "SetOption(key=table.exec.state.ttl, value=1 d)",
    "SET table.local-time-zone = UTC": "SetOption(key=table.local-time-zone, value=UTC)",
    "SET pipeline.name": "SetOption(key=pipeline.name)",
    "RESET": "ResetOption()",
    "RESET 'a'": "ResetOption(key=a)",
    "RESET table.local-time-zone": "ResetOption(key=table.local-time-zone)",
    # INSERT and queries
    "INSERT INTO t SELECT 1": f"Insert([t], {ONE})",
    "EXECUTE INSERT INTO t SELECT 1": f"Insert([t], {ONE})",
    "INSERT OVERWRITE TABLE d.t /*+ OPTIONS('a'='b') */ PARTITION (p = 'x', q = 1) (a, b) SELECT 1": (
        f"Insert([d, t], {ONE}, overwrite=True, hints=[Hint(OPTIONS, options=[[a, b]])], "
        "partition=[[p, 'x'], [q, 1]], columns=[a, b])"
    ),
    "INSERT INTO t (SELECT 1)": f"Insert([t], {ONE})",
    "INSERT INTO t VALUES (1)": "Insert([t], Query(Values([[1]])))",
    "INSERT INTO t WITH a AS (SELECT 1) SELECT 1": (
        f"Insert([t], Query(Select([SelectItem(1)]), ctes=[Cte(a, {ONE})]))"
    ),
    "INSERT INTO t SELECT 1 ON CONFLICT DO DEDUPLICATE": f"Insert([t], {ONE}, on_conflict=DEDUPLICATE)",
    "INSERT INTO t SELECT 1 EMIT FINAL ON CONFLICT DO NOTHING": (
        "Insert([t], Query(Select([SelectItem(1)], emit=EmitClause(WindowClose()))), on_conflict=NOTHING)"
    ),
    "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; INSERT INTO u SELECT 1; END": (
        f"StatementSet([Insert([t], {ONE}), Insert([u], {ONE})])"
    ),
    "BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END": f"StatementSet([Insert([t], {ONE})])",
    "SELECT 1": f"SelectStatement({ONE})",
    "((SELECT 1))": f"SelectStatement({ONE})",
    "VALUES (1)": "SelectStatement(Query(Values([[1]])))",
    "TABLE t": "SelectStatement(Query(TableBody(TableRef([t]))))",
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_statement(text: str, shape: Callable[[Any], str]) -> None:
    statement = parse(text)
    assert shape(statement) == STATEMENTS[text]
    assert statement.span.text == text


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t (a INT) USING delta",
        "CREATE TABLE t USING parquet AS SELECT 1 AS b",
        "CREATE TABLE t (a INT) STORED AS PARQUET",
        "CREATE EXTERNAL TABLE t (a INT) USING csv LOCATION '/x'",
        "CREATE TEMP VIEW v USING csv OPTIONS (path 'x')",
        "CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1",
        "DROP TABLE t PURGE",
        "CREATE DATABASE d LOCATION '/x'",
        "ALTER TABLE t ADD COLUMNS (a INT)",
        "ALTER TABLE t DROP COLUMN a",
        "ALTER TABLE t RENAME COLUMN a TO b",
        "ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')",
        "ALTER TABLE t ADD PARTITION (p = 1)",
        "ALTER VIEW v SET TBLPROPERTIES ('a' = 'b')",
        "ALTER DATABASE d SET DBPROPERTIES ('a' = 'b')",
        "SET spark.sql.shuffle.partitions=8",
        "SET -v",
        "SET TIME ZONE 'UTC'",
        "RESET spark.sql.x",
        "SHOW PARTITIONS t",
        "SHOW TBLPROPERTIES t",
        "DESCRIBE HISTORY t",
        "DESCRIBE FUNCTION f",
        "DESCRIBE t a",
        "INSERT OVERWRITE DIRECTORY '/x' USING csv SELECT 1",
        "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET *",
        "UPDATE t SET a = 1",
        "DELETE FROM t",
        "CACHE TABLE t",
        "ADD JAR /x/y.jar",
        "FROM t SELECT a",
        "OPTIMIZE t ZORDER BY (a)",
    ],
)
def test_spark_statements_stay_text(text: str) -> None:
    statement = parse(f"  {text} /* end */ ;", "spark")
    assert type(statement) is SparkStatement
    assert statement.span.text == text


def test_explain_of_a_spark_statement(shape: Callable[[Any], str]) -> None:
    statement = parse("EXPLAIN EXTENDED CACHE TABLE t")
    assert isinstance(statement, Explain)
    assert type(statement.statement) is SparkStatement


@pytest.mark.parametrize("word", ["timestamp", "value", "User", "end", "date"])
def test_reserved_words_of_flink(word: str) -> None:
    text = f"CREATE TABLE t (a INT, {word} INT)"
    parse(text, "spark")
    parse(f"CREATE TABLE t (a INT, `{word}` INT)", "flink")
    with pytest.raises(SqlExtError) as caught:
        parse(text, "flink")
    assert (caught.value.code, caught.value.column) == ("PARSE-005", 24)
    assert caught.value.hint == f"write it in backticks: `{word}`; or is something missing before it?"


@pytest.mark.parametrize(
    ("text", "column", "code", "message"),
    [
        ("CREATE TABLE t (a INT PRIMARY KEY)", 23, "PARSE-009", "a PRIMARY KEY cannot be ENFORCED"),
        ("CREATE TABLE t (a INT, PRIMARY KEY (a) ENFORCED)", 24, "PARSE-009", "a PRIMARY KEY cannot be ENFORCED"),
        ("CREATE TABLE t (a INT, UNIQUE (a))", 24, "PARSE-004", "UNIQUE is not part of this dialect"),
        ("CREATE TABLE t (a INT, b)", 26, "PARSE-002", "expected a type for every column, or names alone"),
        ("CREATE TABLE t (a, b)", 22, "PARSE-002", "expected AS with a query"),
        ("CREATE TABLE t (a INT,)", 23, "PARSE-002", "expected a column's name, found `)`"),
        ("CREATE TABLE t ()", 17, "PARSE-002", "expected a column's name, found `)`"),
        ("CREATE TABLE t (a INT) WHIT ('a' = 'b')", 24, "PARSE-002", "expected the end of CREATE TABLE"),
        ("CREATE TABLE t (a INT) WITH (a = 'b')", 30, "PARSE-002", "expected an option's key, found `a`"),
        ("CREATE TABLE t (a INT) WITH ('a' = 1)", 36, "PARSE-002", "expected an option's value, found `1`"),
        ("CREATE TABLE t (a STRNG)", 19, "PARSE-007", "`STRNG` is not a type"),
        ("CREATE TABLE t LIKE s (OVERWRITING ALL)", 36, "PARSE-002", "expected GENERATED or OPTIONS"),
        ("CREATE VIEW v AS SELEC 1", 18, "PARSE-002", "expected a query (SELECT, VALUES, WITH or TABLE)"),
        ("INSERT INTO snk SELEC v FROM ev", 17, "PARSE-002", "expected a query (SELECT, VALUES, WITH or TABLE)"),
        ("INSERT snk SELECT 1", 8, "PARSE-002", "expected INTO or OVERWRITE, found `snk`"),
        ("INSERT INTO t BY NAME SELECT 1", 15, "PARSE-004", "BY NAME is not part of this dialect"),
        ("SELCT 1", 1, "PARSE-002", "expected a statement, found `SELCT`"),
        ("SET 'a' = b", 11, "PARSE-002", "expected a value, found `b`"),
        ("EXPLAIN", 8, "PARSE-002", "expected the statement to explain"),
        ("EXPLAIN EXPLAIN SELECT 1", 9, "PARSE-002", "expected the statement to explain"),
        ("SHOW COLUMNS", 13, "PARSE-002", "expected FROM and a table's name"),
        ("SHOW TABLES t", 13, "PARSE-002", "expected LIKE, ILIKE or the end of the statement"),
        ("BEGIN SELECT 1; END", 1, "PARSE-004", "a BEGIN ... END block is not part of this dialect"),
        ("EXECUTE STATEMENT SET BEGIN END", 1, "PARSE-002", "a statement set needs at least one INSERT"),
        ("EXECUTE STATEMENT SET BEGIN SELECT 1; END", 29, "PARSE-002", "expected INSERT or END, found `SELECT`"),
        ("BEGIN STATEMENT SET; INSERT INTO t SELECT 1;", 45, "PARSE-002", "expected INSERT or END"),
        ("DROP TABLE t u", 14, "PARSE-002", "expected the end of the statement, found `u`"),
        ("123", 1, "PARSE-002", "expected a statement, found `123`"),
    ],
)
def test_refusals(text: str, column: int, code: str, message: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        list(parse_script(SourceText.of(text), "flink"))
    assert (caught.value.code, caught.value.column) == (code, column)
    assert caught.value.message.startswith(message)


def test_places_of_options_and_types() -> None:
    statement: Any = parse("CREATE TABLE x.`y z` (a  ROW < b INT > , c AS a.b) WITH ('k' = 'v')")
    assert statement.name_span.text == "x.`y z`"
    assert [column.span.text for column in statement.columns] == ["a  ROW < b INT >", "c AS a.b"]
    assert statement.columns[0].type_span.text == "ROW < b INT >"
    assert [(o.key_span.text, o.value_span.text) for o in statement.options] == [("'k'", "'v'")]

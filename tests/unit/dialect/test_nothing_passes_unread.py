"""Broken statements are refused before anything runs; Spark's right ones still go to Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlext
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.dialect.variables import substitute
from sqlext.errors import SqlExtError
from sqlext.session.offline.compilation import compile_source, new_state

#: Each with the code of its refusal and the column of the word at fault.
BROKEN = [
    ("foo bar", "PARSE-002", 1),
    ("foo", "PARSE-002", 1),
    ("LEFT JOIN x", "PARSE-002", 1),
    ("JOIN x ON a = b", "PARSE-002", 1),
    ("WHERE a = 1", "PARSE-002", 1),
    ("GROUP BY a", "PARSE-002", 1),
    ("ORDER BY a", "PARSE-002", 1),
    ("HAVING a > 1", "PARSE-002", 1),
    ("LIMIT 3", "PARSE-002", 1),
    ("UNION ALL SELECT 1", "PARSE-002", 1),
    ("ON a = b", "PARSE-002", 1),
    ("AND a = 1", "PARSE-002", 1),
    ("AS t", "PARSE-002", 1),
    ("1 + 1", "PARSE-002", 1),
    ("'text'", "PARSE-002", 1),
    ("`t`", "PARSE-002", 1),
    (", a", "PARSE-002", 1),
    (") SELECT 1", "PARSE-002", 1),
    ("= 3", "PARSE-002", 1),
    ("t.a", "PARSE-002", 1),
    ("SELCT 1", "PARSE-002", 1),
    ("SELECTT 1", "PARSE-002", 1),
    ("CRAETE TABLE t (a INT)", "PARSE-002", 1),
    ("CREAT VIEW v AS SELECT 1", "PARSE-002", 1),
    ("INSRT INTO t SELECT 1", "PARSE-002", 1),
    ("ISNERT INTO t SELECT 1", "PARSE-002", 1),
    ("UPSERT INTO t SELECT 1", "PARSE-002", 1),
    ("DRP TABLE t", "PARSE-002", 1),
    ("DROPP TABLE t", "PARSE-002", 1),
    ("ALTR TABLE t RENAME TO u", "PARSE-002", 1),
    ("SHWO TABLES", "PARSE-002", 1),
    ("DESCRIB t", "PARSE-002", 1),
    ("EXPLIAN SELECT 1", "PARSE-002", 1),
    ("DELET FROM t", "PARSE-002", 1),
    ("UPDAT t SET a = 1", "PARSE-002", 1),
    ("MERG INTO t USING s ON a = b", "PARSE-002", 1),
    ("TRUNCAT TABLE t", "PARSE-002", 1),
    ("VACCUM t", "PARSE-002", 1),
    ("OPTIMISE t", "PARSE-002", 1),
    ("CACH TABLE t", "PARSE-002", 1),
    ("ANALYSE TABLE t COMPUTE STATISTICS", "PARSE-002", 1),
    ("STAT SET BEGIN", "PARSE-002", 1),
    ("COMMIT", "PARSE-002", 1),
    ("ROLLBACK", "PARSE-002", 1),
    ("START TRANSACTION", "PARSE-002", 1),
    ("LOCK TABLE t", "PARSE-002", 1),
    ("GO", "PARSE-002", 1),
    ("EXIT", "PARSE-002", 1),
    ("QUIT", "PARSE-002", 1),
    ("HELP", "PARSE-002", 1),
    ("PRAGMA x", "PARSE-002", 1),
    ("RENAME TABLE t TO u", "PARSE-002", 1),
    ("CREATE TABEL t (a INT)", "PARSE-002", 8),
    ("CREATE OR REPLACE TABEL t (a INT)", "PARSE-002", 19),
    ("CREATE TEMPORARY VEIW v AS SELECT 1", "PARSE-002", 18),
    ("CREATE VEIW v AS SELECT 1", "PARSE-002", 8),
    ("CREATE DATABSE d", "PARSE-002", 8),
    ("CREATE CATALGO c", "PARSE-002", 8),
    ("CREATE FUNCTON f AS 'x'", "PARSE-002", 8),
    ("CREATE t (a INT)", "PARSE-002", 8),
    ("CREATE USER u", "PARSE-002", 8),
    ("CREATE SEQUENCE s", "PARSE-002", 8),
    ("CREATE TRIGGER g", "PARSE-002", 8),
    ("CREATE CONNECTION c", "PARSE-002", 8),
    ("CREATE", "PARSE-002", 7),
    ("CREATE OR REPLACE", "PARSE-002", 18),
    ("DROP TABEL t", "PARSE-002", 6),
    ("DROP t", "PARSE-002", 6),
    ("DROP", "PARSE-002", 5),
    ("DROP USER u", "PARSE-002", 6),
    ("DROP CONNECTION c", "PARSE-002", 6),
    ("ALTER TABEL t RENAME TO u", "PARSE-002", 7),
    ("ALTER t RENAME TO u", "PARSE-002", 7),
    ("ALTER FUNCTION f A 'x'", "PARSE-002", 18),
    ("ALTER CATALOG c SETS ('a' = 'b')", "PARSE-002", 17),
    ("ALTER", "PARSE-002", 6),
    ("SHOW TABELS", "PARSE-002", 6),
    ("SHOW DATABSES", "PARSE-002", 6),
    ("SHOW CONNECTIONS", "PARSE-002", 6),
    ("SHOW", "PARSE-002", 5),
    ("EXPLAIN foo bar", "PARSE-002", 9),
    ("EXPLAIN CREATE TABEL t", "PARSE-002", 16),
    ("EXECUTE PLAN 'x'", "PARSE-002", 9),
    ("EXECUTE t", "PARSE-002", 9),
    ("ADD COLUMN a INT", "PARSE-002", 5),
    ("ADD JRA '/x.jar'", "PARSE-002", 5),
    ("ANALYZE t COMPUTE STATISTICS", "PARSE-002", 9),
    ("CACHE t", "PARSE-002", 7),
    ("UNCACHE t", "PARSE-002", 9),
    ("CLEAR TABLE t", "PARSE-002", 7),
    ("COMMENT t IS 'x'", "PARSE-002", 9),
    ("DELETE t WHERE a = 1", "PARSE-002", 8),
    ("LOAD t", "PARSE-002", 6),
    ("MERGE t USING s ON a = b", "PARSE-002", 7),
    ("MSCK t", "PARSE-002", 6),
    ("TRUNCATE t", "PARSE-002", 10),
    ("REPLACE VIEW v AS SELECT 1", "PARSE-002", 9),
    ("CONVERT t", "PARSE-002", 9),
    ("CALL p()", "PARSE-004", 1),
    ("CALL sys.compact('t')", "PARSE-004", 1),
    ("LOAD MODULE x", "PARSE-004", 1),
    ("UNLOAD MODULE x", "PARSE-004", 1),
    ("USE MODULES x, y", "PARSE-004", 1),
    ("CREATE MODEL m INPUT (a INT) OUTPUT (b INT)", "PARSE-004", 1),
    ("ALTER MODEL m RENAME TO n", "PARSE-004", 1),
    ("DROP MODEL m", "PARSE-004", 1),
    ("CREATE MATERIALIZED TABLE m REFRESH_MODE = FULL AS SELECT 1", "PARSE-004", 44),
    ("REMOVE JAR '/x.jar'", "PARSE-004", 1),
    ("COMPILE PLAN '/p' FOR INSERT INTO t SELECT 1", "PARSE-004", 1),
    ("CREATE CATALOG c WITH ('type' = 'hive')", "CAT-039", 33),
    ("CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = 'x')", "CAT-039", 33),
    ("CREATE CATALOG c WITH ('warehouse' = '/w', 'type' = 'hudi')", "CAT-039", 53),
    ("SELECT a FROM t GROUP BY DISTINCT ROLLUP (a)", "PARSE-004", 26),
    ("SELECT a FROM t GROUP BY DISTINCT a, GROUPING SETS ((a), (a))", "PARSE-004", 26),
]

SPARKS = [
    "CREATE TABLE s (a INT) USING delta",
    "CREATE TABLE s USING parquet AS SELECT 1 AS a",
    "CREATE EXTERNAL TABLE s (a INT) STORED AS PARQUET LOCATION '/x'",
    "CREATE OR REPLACE TABLE s (a INT) USING delta CLUSTER BY (a)",
    "REPLACE TABLE s (a INT) USING delta",
    "CREATE DATABASE d LOCATION '/x'",
    "CREATE SCHEMA d WITH DBPROPERTIES ('a' = 'b')",
    "CREATE NAMESPACE n",
    "CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1",
    "CREATE FUNCTION f AS 'com.acme.F' USING JAR '/x.jar'",
    "CREATE FUNCTION f (x INT) RETURNS INT RETURN x + 1",
    "CREATE TEMPORARY FUNCTION f AS 'com.acme.F'",
    "ALTER DATABASE d SET DBPROPERTIES ('a' = 'b')",
    "ALTER SCHEMA d SET LOCATION '/x'",
    "ALTER NAMESPACE n SET PROPERTIES ('a' = 'b')",
    "DROP NAMESPACE n",
    "DROP TABLE s PURGE",
    "DROP TEMPORARY VARIABLE x",
    "DROP FUNCTION IF EXISTS f",
    "DECLARE VARIABLE x INT DEFAULT 1",
    "DECLARE OR REPLACE x = 5",
    "SET VAR x = 3",
    "SET VARIABLE x = 3",
    "SET spark.sql.shuffle.partitions = 4",
    "SET -v",
    "SET TIME ZONE 'UTC'",
    "SET spark.sql.ansi.enabled",
    "RESET spark.sql.shuffle.partitions",
    "SHOW PARTITIONS s",
    "SHOW TBLPROPERTIES s",
    "SHOW TABLE EXTENDED LIKE 's*'",
    "SHOW NAMESPACES",
    "SHOW CURRENT NAMESPACE",
    "SHOW USER FUNCTIONS",
    "SHOW SYSTEM FUNCTIONS",
    "SHOW ALL FUNCTIONS",
    "DESCRIBE FUNCTION EXTENDED upper",
    "DESCRIBE DATABASE d",
    "DESCRIBE QUERY SELECT 1",
    "DESC HISTORY s",
    "DESCRIBE HISTORY delta.`/x` LIMIT 3",
    "DESCRIBE DETAIL s",
    "DESCRIBE s a",
    "CACHE TABLE s",
    "CACHE LAZY TABLE c OPTIONS ('storageLevel' = 'DISK_ONLY') AS SELECT 1",
    "UNCACHE TABLE IF EXISTS s",
    "CLEAR CACHE",
    "REFRESH TABLE s",
    "REFRESH '/x'",
    "REFRESH FUNCTION f",
    "ANALYZE TABLE s COMPUTE STATISTICS FOR ALL COLUMNS",
    "ANALYZE TABLES IN d COMPUTE STATISTICS",
    "COMMENT ON TABLE s IS 'x'",
    "COMMENT ON DATABASE d IS NULL",
    "TRUNCATE TABLE s PARTITION (a = 1)",
    "MSCK REPAIR TABLE s ADD PARTITIONS",
    "REPAIR TABLE s",
    "LOAD DATA INPATH '/x' INTO TABLE s",
    "ADD JAR '/x.jar'",
    "ADD FILES /a /b",
    "LIST JARS",
    "DELETE FROM s WHERE a = 1",
    "UPDATE s SET a = 1 WHERE b = 2",
    "MERGE INTO s USING u ON s.a = u.a WHEN MATCHED THEN DELETE",
    "MERGE WITH SCHEMA EVOLUTION INTO s USING u ON s.a = u.a WHEN NOT MATCHED THEN INSERT *",
    "OPTIMIZE s",
    "OPTIMIZE s WHERE d > '2024-01-01' ZORDER BY (a, b)",
    "VACUUM s RETAIN 168 HOURS",
    "VACUUM '/x' DRY RUN",
    "RESTORE TABLE s TO VERSION AS OF 1",
    "RESTORE s TO TIMESTAMP AS OF '2024-01-01'",
    "CONVERT TO DELTA parquet.`/x`",
    "GENERATE symlink_format_manifest FOR TABLE s",
    "REORG TABLE s APPLY (PURGE)",
    "FROM s SELECT a",
    "MAP a USING 'cat' AS b FROM s",
    "EXECUTE IMMEDIATE 'SELECT 1'",
    "/* first */ OPTIMIZE s -- last",
    "cache table s",
]

#: Spark's queries, whose grammar is read here or left to Spark.
QUERIES = [
    "SELECT /*+ BROADCAST(s) */ * FROM s",
    "WITH c AS (SELECT 1 AS a) SELECT * FROM c",
    "VALUES (1, 'a'), (2, 'b')",
    "TABLE s",
    "SELECT a, b FROM s LATERAL VIEW explode(c) x AS b",
    "SELECT * FROM s PIVOT (sum(a) FOR b IN ('x', 'y'))",
    "SELECT * FROM s TABLESAMPLE (10 PERCENT)",
    "SELECT a FROM s CLUSTER BY a",
    "SELECT a FROM s SORT BY a",
    "(SELECT 1) UNION ALL (SELECT 2)",
    "SELECT a, count(*) FROM s GROUP BY DISTINCT a",
]


@pytest.mark.parametrize("mode", ["spark", "flink"])
@pytest.mark.parametrize(("text", "code", "column"), BROKEN)
def test_broken(text: str, code: str, column: int, mode: str) -> None:
    script = f"SET 'sqlext.expressions' = '{mode}';\n{text};"
    with pytest.raises(SqlExtError) as caught:
        list(compile_source(substitute(script, None), new_state(None)))
    error = caught.value
    assert (error.code, error.line, error.column) == (code, 2, column)
    assert error.hint


@pytest.mark.parametrize("text", SPARKS)
def test_sparks(text: str) -> None:
    there = "CREATE TABLE s (a INT, b INT) USING delta; CREATE TABLE u (a INT) USING delta;"
    *_, (statement, compiled) = compile_source(substitute(f"{there}{text};", None), new_state(None))
    function = isinstance(statement, ast.CreateFunction) or (
        isinstance(statement, ast.Drop) and statement.kind == "FUNCTION"
    )
    assert isinstance(statement, ast.SparkStatement) or function
    assert compiled == []


@pytest.mark.parametrize("text", QUERIES)
def test_queries(text: str) -> None:
    (statement,) = parse_script(substitute(f"{text};", None), "spark", unparsed=True)
    assert isinstance(statement, (ast.SelectStatement, ast.UnparsedQuery))


@pytest.mark.parametrize("text", ["foo bar", "CREATE TABEL u (a INT)", "CALL p()"])
def test_a_script_with_a_mistake_behind_an_insert_writes_nothing(text: str, tmp_path: Path) -> None:
    sink, session = tmp_path / "out", sqlext.connect()
    script = f"""CREATE TABLE o (a INT) WITH ('connector' = 'delta', 'path' = '{sink}');
INSERT INTO o VALUES (1);
{text};"""
    # No Spark starts: the refusal comes before.
    with pytest.raises(SqlExtError) as caught:
        session.run(script)
    assert caught.value.line == 3
    assert not sink.exists()


def test_the_tables_are_long() -> None:
    assert len({text for text, _, _ in BROKEN}) >= 100
    assert len({*SPARKS, *QUERIES}) >= 60


def test_a_misspelt_word_is_told() -> None:
    with pytest.raises(SqlExtError) as caught:
        list(parse_script(substitute("CREATE TABEL t (a INT)", None), "spark"))
    assert caught.value.hint == "did you mean TABLE?"

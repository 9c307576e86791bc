"""Broken statements are refused at check, without Spark, each at its place; a script of Spark's right ones passes."""

from __future__ import annotations

import pytest

from sqlext.dialect.script import parse_script
from sqlext.dialect.variables import substitute
from sqlext.errors import SqlExtError
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.checking import errors_of
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun

TABLES = """CREATE TABLE orders (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE stored (a INT, b STRING) WITH ('connector' = 'delta', 'path' = '/data/stored');
"""
#: A table that takes no rows away, on the same line: positions are those of the third.
GROWS = "CREATE TABLE grows (a INT) WITH ('connector' = 'delta', 'path' = '/data/g', 'delta.appendOnly' = 'true');"
TABLES = f"{GROWS} {TABLES}"

#: Each with the code of its refusal and the column of the word at fault.
BROKEN = [
    ("SELECT 1 +", "PARSE-002", 11),
    ("SELECT ARRAY[1, 2]", "PARSE-004", 8),
    ("SELECT MAP['a', 1]", "PARSE-004", 8),
    ("SELECT ROW(1, 2)", "PARSE-004", 8),
    ("SELECT * FROM UNNEST(array(1)) AS t (a)", "PARSE-004", 15),
    ("SELECT a FROM VALUES (1) AS v (a) WHERE", "PARSE-002", 40),
    ("SELECT (1", "PARSE-002", 10),
    ("SELECT * FROM ordrs", "NAME-002", 15),
    ("SELECT * FROM nowhere", "NAME-002", 15),
    ("SELECT * FROM default_database.ordrs", "NAME-002", 15),
    ("SELECT uppr('a')", "FUNC-001", 8),
    ("SELECT no_function_at_all(1)", "FUNC-001", 8),
    ("SELECT row_numbr() OVER (ORDER BY a) FROM VALUES (1) AS v (a)", "FUNC-001", 8),
    ("SELECT rnk() OVER (ORDER BY a) FROM VALUES (1) AS v (a)", "FUNC-001", 8),
    ("SELECT * FROM rangee(3)", "FUNC-004", 15),
    ("SELECT * FROM TABLE(TUMBEL(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))", "FUNC-004", 15),
    ("SELECT * FROM TABLE(TUMBEL(TABLE ordrs, DESCRIPTOR(ts), INTERVAL '1' MINUTE))", "NAME-002", 34),
    ("SELECT * FROM ML_PREDICT(TABLE orders, MODEL m, DESCRIPTOR(a))", "PARSE-004", 40),
    ("SELECT * FROM ML_PREDICT(TABLE nowhere, MODEL m, DESCRIPTOR(a))", "PARSE-004", 41),
    ("OPTIMIZE", "PARSE-002", 9),
    ("OPTIMIZE s garbage", "PARSE-002", 12),
    ("OPTIMIZE orders", "CAT-040", 10),
    ("OPTIMIZE s ZORDER a", "PARSE-002", 19),
    ("OPTIMIZE s ZORDER BY", "PARSE-002", 21),
    ("OPTIMIZE s ZORDER BY (a", "PARSE-002", 24),
    ("OPTIMIZE s WHERE", "PARSE-002", 17),
    ("VACUUM s RETAIN HOURS", "PARSE-002", 17),
    ("VACUUM s RETAIN 168", "PARSE-002", 20),
    ("VACUUM s DRY", "PARSE-002", 13),
    ("VACUUM s NOW", "PARSE-002", 10),
    ("VACUUM", "PARSE-002", 7),
    ("RESTORE s", "PARSE-002", 10),
    ("RESTORE s TO VERSION 1", "PARSE-002", 22),
    ("RESTORE TABLE s TO VERSION AS OF", "PARSE-002", 33),
    ("DESCRIBE HISTORY s LIMIT", "PARSE-002", 25),
    ("DESCRIBE HISTORY s 3", "PARSE-002", 20),
    ("DESCRIBE DETAIL s x", "PARSE-002", 19),
    ("DESCRIBE s a b", "PARSE-002", 14),
    ("CONVERT TO DELTAA parquet.`/x`", "PARSE-002", 12),
    ("CONVERT TO DELTA", "PARSE-002", 17),
    ("GENERATE symlink_format_manifest FOR s", "PARSE-002", 38),
    ("REORG TABLE s", "PARSE-002", 14),
    ("REORG TABLE s APPLY PURGE", "PARSE-002", 21),
    ("DELETE FROM orders WHERE a = 1", "CAT-040", 13),
    ("DELETE FROM s WHERE", "PARSE-002", 20),
    ("DELETE FROM s WHERE a =", "PARSE-002", 24),
    ("DELETE FROM s WHER a = 1", "PARSE-002", 20),
    ("DELETE FROM s a = 1", "PARSE-002", 17),
    ("UPDATE s", "PARSE-002", 9),
    ("UPDATE s a = 1", "PARSE-002", 12),
    ("UPDATE s SET", "PARSE-002", 13),
    ("UPDATE s SET a", "PARSE-002", 15),
    ("UPDATE s SET a =", "PARSE-002", 17),
    ("UPDATE s SET a = 1,", "PARSE-002", 20),
    ("UPDATE orders SET a = 1", "CAT-040", 8),
    ("UPDATE grows SET a = 1", "CAT-044", 8),
    ("DELETE FROM grows", "CAT-044", 13),
    ("TRUNCATE TABLE grows", "CAT-044", 16),
    ("MERGE INTO grows USING stored ON grows.a = stored.a WHEN MATCHED THEN DELETE", "CAT-044", 12),
    ("UPDATE s SET a = 1 WHRE b = 2", "PARSE-002", 20),
    ("MERGE INTO s USING u", "PARSE-002", 21),
    ("MERGE INTO s USING u ON", "PARSE-002", 24),
    ("MERGE INTO s USING u ON s.a = u.a", "PARSE-002", 34),
    ("MERGE INTO s USING u ON s.a = u.a WHEN MATCHED DELETE", "PARSE-002", 48),
    ("MERGE INTO s USING u ON s.a = u.a WHEN MATCHED THEN", "PARSE-002", 52),
    ("MERGE INTO s USING u ON s.a = u.a WHEN MATCHED THEN REMOVE", "PARSE-002", 53),
    ("MERGE INTO s USING u ON s.a = u.a WHEN MATCHED THEN UPDATE b = 1", "PARSE-002", 60),
    ("MERGE INTO s USING u ON s.a = u.a WHEN MATCHD THEN DELETE", "PARSE-002", 40),
    ("MERGE INTO s USING (SELECT 1 ON s.a = u.a WHEN MATCHED THEN DELETE", "PARSE-002", 30),
    ("MERGE INTO orders USING u ON orders.a = u.a WHEN MATCHED THEN DELETE", "CAT-040", 12),
    ("MERGE INTO s USING orders ON s.a = orders.a WHEN MATCHED THEN DELETE", "CAT-040", 20),
    ("MERGE INTO s ON s.a = u.a WHEN MATCHED THEN DELETE", "PARSE-002", 14),
    ("TRUNCATE TABLE", "PARSE-002", 15),
    ("TRUNCATE TABLE s PARTITION a = 1", "PARSE-002", 28),
    ("TRUNCATE TABLE s CASCADE", "PARSE-002", 18),
    ("TRUNCATE TABLE orders", "CAT-040", 16),
    ("ANALYZE TABLE s", "PARSE-002", 16),
    ("ANALYZE TABLE s COMPUTE", "PARSE-002", 24),
    ("ANALYZE TABLE s COMPUTE STATISTICS FOR a", "PARSE-002", 40),
    ("ANALYZE TABLE orders COMPUTE STATISTICS", "CAT-040", 15),
    ("ANALYZE TABLE stored COMPUTE STATISTICS", "CAT-040", 15),
    ("SHOW PARTITIONS", "PARSE-002", 16),
    ("SHOW PARTITIONS s WHERE a = 1", "PARSE-002", 19),
    ("SHOW PARTITIONS orders", "CAT-040", 17),
    ("SHOW TBLPROPERTIES s 'x'", "PARSE-002", 22),
    ("SHOW TABLE EXTENDED LIKE", "PARSE-002", 25),
    ("SHOW TABLE EXTENDED s", "PARSE-002", 21),
    ("SHOW CURRENT TABLE", "PARSE-002", 14),
    ("SHOW NAMESPACES FROM", "PARSE-002", 21),
    ("CACHE TABLE", "PARSE-002", 12),
    ("CACHE TABLE c AS", "PARSE-002", 17),
    ("CACHE TABLE c OPTIONS 'x'", "PARSE-002", 23),
    ("CACHE TABLE orders", "CAT-040", 13),
    ("UNCACHE TABLE s x", "PARSE-002", 17),
    ("CLEAR CACHE now", "PARSE-002", 13),
    ("REFRESH s", "PARSE-002", 9),
    ("REFRESH TABLE", "PARSE-002", 14),
    ("REFRESH TABLE orders", "CAT-040", 15),
    ("COMMENT ON TABLE s 'x'", "PARSE-002", 20),
    ("COMMENT ON TABLE s IS x", "PARSE-002", 23),
    ("COMMENT ON TABLE orders IS 'x'", "CAT-040", 18),
    ("COMMENT ON THING s IS 'x'", "PARSE-002", 12),
    ("MSCK REPAIR s", "PARSE-002", 13),
    ("MSCK REPAIR TABLE s ADD", "PARSE-002", 24),
    ("LOAD DATA '/x' INTO TABLE s", "PARSE-002", 11),
    ("LOAD DATA INPATH '/x' INTO s", "PARSE-002", 28),
    ("ADD JAR", "PARSE-002", 8),
    ("LIST", "PARSE-002", 5),
    ("DECLARE", "PARSE-002", 8),
    ("DECLARE VARIABLE x INT DEFAULT", "PARSE-002", 31),
    ("DECLARE x INTT", "PARSE-002", 11),
    ("SET VAR x", "PARSE-002", 10),
    ("SET VAR x =", "PARSE-002", 12),
    ("SET TIME ZONE", "PARSE-002", 14),
    ("SET a b c", "PARSE-002", 7),
    ("RESET a b", "PARSE-002", 9),
    ("EXECUTE IMMEDIATE", "PARSE-002", 18),
    ("EXECUTE IMMEDIATE 'SELECT 1' INT x", "PARSE-002", 30),
    ("CREATE TABLE s (a INT) USING", "PARSE-002", 29),
    ("CREATE TABLE s (a INT USING delta", "PARSE-002", 23),
    ("CREATE TABLE s (a INT) USING delta LOCATON '/x'", "PARSE-002", 36),
    ("CREATE TABLE s (a INT) USING delta LOCATION x", "PARSE-002", 45),
    ("CREATE TABLE s (a INT) USING delta PARTITIONED a", "PARSE-002", 48),
    ("CREATE TABLE s (a INT) USING delta AS", "PARSE-002", 38),
    ("CREATE TABLE s USING delta AS SELECT FROM x", "PARSE-002", 38),
    ("CREATE TABLE s USING delta AS SELECT * FROM orders", "CAT-040", 45),
    ("CREATE TABLE s (a INT) USING delta garbage", "PARSE-002", 36),
    ("CREATE TABLE s SHALLOW CLONE", "PARSE-002", 29),
    ("CREATE TABLE s CLONE u VERSION 1", "PARSE-002", 32),
    ("CREATE GLOBAL TEMPORARY VIEW v SELECT 1", "PARSE-002", 32),
    ("CREATE GLOBAL TEMPORARY VIEW v AS", "PARSE-002", 34),
    ("CREATE GLOBAL TEMPORARY VIEW v AS SELECT * FROM orders", "CAT-040", 49),
    ("CREATE TEMPORARY VIEW v USING", "PARSE-002", 30),
    ("CREATE DATABASE d LOCATION", "PARSE-002", 27),
    ("CREATE DATABASE d LOCATION '/x' garbage", "PARSE-002", 33),
    ("CREATE FUNCTION f (x INT) RETURNS", "PARSE-002", 34),
    ("CREATE FUNCTION f (x INT) INT", "PARSE-002", 27),
    ("CREATE FUNCTION f AS", "PARSE-002", 19),
    ("CREATE FUNCTION f AS 'a.B' LANGUAGE COBOL", "PARSE-002", 37),
    ("CREATE FUNCTION f AS 'a.B' LANGUAGE JAVA", "FUNC-040", 22),
    ("CREATE FUNCTION f AS 'a.B' USING '/x.jar'", "PARSE-002", 34),
    ("CREATE FUNCTION f AS 'a.B' USING JAR", "PARSE-002", 37),
    ("ALTER TABLE s ADD COLUMN", "PARSE-002", 25),
    ("ALTER TABLE s ADD COLUMNS a INT, b INT,", "PARSE-002", 40),
    ("ALTER TABLE s DROP COLUMN", "PARSE-002", 26),
    ("ALTER TABLE s SET TBLPROPERTIES 'a'", "PARSE-002", 33),
    ("ALTER TABLE s UNSET PROPERTIES ('a')", "PARSE-002", 21),
    ("ALTER TABLE s REPLACE COLUMN (a INT)", "PARSE-002", 23),
    ("ALTER TABLE orders ADD COLUMNS (c INT)", "CAT-040", 13),
    ("ALTER TABLE s RECOVER", "PARSE-002", 22),
    ("ALTER VIEW s SET ('a' = 'b')", "PARSE-002", 18),
    ("ALTER DATABASE d SET 'a'", "PARSE-002", 22),
    ("ALTER DATABASE d LOCATION '/x'", "PARSE-002", 18),
    ("DROP TABLE s PURGE NOW", "PARSE-002", 20),
    ("DROP NAMESPACE", "PARSE-002", 15),
    ("DROP TEMPORARY VARIABLE", "PARSE-002", 24),
    ("GRANT SELECT s TO u", "PARSE-002", 14),
    ("GRANT", "PARSE-002", 6),
    ("REVOKE SELECT ON s TO u", "PARSE-002", 23),
    ("CREATE TABLE q (a INT) WITH ('connector' = 'kafka', 'topci' = 'x')", "OPT-003", 53),
    ("CREATE TABLE q (a INT) WITH ('connector' = 'print', 'print-identifer' = 'x')", "OPT-003", 53),
    ("CREATE TABLE q (a INT) WITH ('connector' = 'datagen', 'fields.a.knid' = 'random')", "OPT-003", 55),
    ("CREATE TABLE q (b INT) WITH ('nope' = 'x') LIKE stored", "DDL-011", 17),
    ("CREATE TABLE q (a INT) WITH ('connector' = 'datagen', 'fields.b.min' = '1')", "OPT-003", 55),
    ("CREATE TABLE q (a STRING) WITH ('connector' = 'faker', 'fields.a.expression' = '#{Nme.x}')", "OPT-005", 56),
    ("CREATE TEMPORARY TABLE q (a INT) WITH ('connector' = 'blackhole', 'path' = '/x')", "OPT-003", 67),
    ("ALTER TABLE stored SET ('nope' = 'x')", "OPT-003", 25),
    ("STOP EVERYTHING", "PARSE-002", 6),
    ("FROM s", "PARSE-002", 7),
    ("FROM s SELCT a", "PARSE-002", 14),
    ("MAP a USING", "PARSE-002", 12),
]

#: Right ones; those that make something come before those that use it.
RIGHT = """
CREATE TABLE s (a INT, b INT) USING delta PARTITIONED BY (b) LOCATION '/x' COMMENT 'c' TBLPROPERTIES ('k' = 'v');
CREATE TABLE IF NOT EXISTS u USING parquet OPTIONS (compression 'snappy') AS SELECT 1 AS a, array(1) AS c;
CREATE EXTERNAL TABLE e (a INT) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE LOCATION '/x';
CREATE TABLE h (a INT) ROW FORMAT SERDE 'x' WITH SERDEPROPERTIES ('a' = 'b') STORED AS INPUTFORMAT 'i' OUTPUTFORMAT 'o';
CREATE TABLE g (a INT) USING parquet CLUSTERED BY (a) SORTED BY (a DESC) INTO 4 BUCKETS;
CREATE TABLE w USING delta AS SELECT x FROM u LATERAL VIEW explode(c) t AS x;
CREATE TABLE k SHALLOW CLONE s VERSION AS OF 1;
CREATE TABLE l LIKE s USING delta;
CREATE OR REPLACE TABLE s (a INT, b INT) USING delta CLUSTER BY (a);
REPLACE TABLE s (a INT, b INT) USING delta;
CREATE GLOBAL TEMPORARY VIEW v AS SELECT a FROM s;
CREATE TEMPORARY VIEW j USING json OPTIONS (path '/x');
CREATE DATABASE d COMMENT 'c' LOCATION '/x' WITH DBPROPERTIES ('a' = 'b');
CREATE FUNCTION twice (x INT) RETURNS INT RETURN x * 2;
CREATE TEMPORARY FUNCTION g AS 'com.acme.G' USING JAR '/x.jar';
SELECT twice(a), g(a) FROM s;
SELECT * FROM global_temp.v;
SELECT * FROM parquet.`/x`;
SELECT * FROM other_database.t;
SELECT * FROM range(3);
SELECT sum(a) OVER (ORDER BY b) FROM s;
INSERT INTO s SELECT a, a FROM u;
INSERT OVERWRITE DIRECTORY '/x' USING csv SELECT a FROM s;
FROM s SELECT a WHERE a > 1;
FROM s |> WHERE a > 1;
MAP a USING 'cat' AS b FROM s;
DELETE FROM s;
DELETE FROM s AS x WHERE x.a = 1 AND x.b IN (SELECT a FROM u);
UPDATE s SET a = 1, b = a + 1 WHERE b > 2;
MERGE INTO s AS t USING (SELECT a FROM u) AS r ON t.a = r.a
WHEN MATCHED AND r.a > 1 THEN UPDATE SET t.b = r.a WHEN MATCHED THEN DELETE
WHEN NOT MATCHED THEN INSERT (a, b) VALUES (r.a, 0) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET b = 0;
MERGE WITH SCHEMA EVOLUTION INTO s USING u ON s.a = u.a WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
TRUNCATE TABLE s PARTITION (b = 1);
ALTER TABLE s ADD COLUMNS (c INT COMMENT 'c' AFTER a);
ALTER TABLE s ADD COLUMN c ARRAY<INT> FIRST;
ALTER TABLE s ALTER COLUMN a TYPE BIGINT;
ALTER TABLE s ALTER COLUMN a SET NOT NULL;
ALTER TABLE s CHANGE COLUMN a a INT COMMENT 'x';
ALTER TABLE s RENAME COLUMN a TO z;
ALTER TABLE s DROP COLUMNS (a, b);
ALTER TABLE s ADD IF NOT EXISTS PARTITION (b = 1) LOCATION '/y' PARTITION (b = 2);
ALTER TABLE s DROP IF EXISTS PARTITION (b = 1), PARTITION (b = 2) PURGE;
ALTER TABLE s PARTITION (b = 1) RENAME TO PARTITION (b = 2);
ALTER TABLE s SET TBLPROPERTIES ('a' = 'b');
ALTER TABLE s UNSET TBLPROPERTIES IF EXISTS ('a');
ALTER TABLE s CLUSTER BY NONE;
ALTER TABLE s ADD CONSTRAINT positive CHECK (a > 0);
ALTER TABLE s DROP FEATURE deletionVectors TRUNCATE HISTORY;
ALTER DATABASE d SET LOCATION '/y';
ANALYZE TABLE s PARTITION (b = 1) COMPUTE STATISTICS FOR COLUMNS a, b;
ANALYZE TABLES IN d COMPUTE STATISTICS NOSCAN;
OPTIMIZE s WHERE b > 1 ZORDER BY (a);
OPTIMIZE '/x' ZORDER BY a, b;
VACUUM s RETAIN 168 HOURS DRY RUN;
RESTORE TABLE s TO TIMESTAMP AS OF '2024-01-01';
REORG TABLE s APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2));
GENERATE symlink_format_manifest FOR TABLE delta.`/x`;
CONVERT TO DELTA parquet.`/x` NO STATISTICS PARTITIONED BY (b INT);
CACHE LAZY TABLE c OPTIONS ('storageLevel' = 'DISK_ONLY') AS SELECT * FROM s;
CACHE TABLE s;
UNCACHE TABLE IF EXISTS s;
CLEAR CACHE;
REFRESH TABLE s;
REFRESH FUNCTION twice;
REFRESH '/x';
MSCK REPAIR TABLE s SYNC PARTITIONS;
LOAD DATA LOCAL INPATH '/x' OVERWRITE INTO TABLE s PARTITION (b = 1);
COMMENT ON TABLE s IS 'x';
COMMENT ON NAMESPACE d IS NULL;
DECLARE OR REPLACE VARIABLE n DECIMAL(10, 2) DEFAULT 1 + 1;
SET VAR n = (SELECT max(a) FROM s);
SET spark.sql.shuffle.partitions = 4;
SET TIME ZONE INTERVAL '1' HOUR;
SET -v;
RESET spark.sql.shuffle.partitions;
EXECUTE IMMEDIATE 'SELECT ?' INTO n USING 1;
ADD JARS '/x.jar' /y.jar;
LIST FILES;
SHOW PARTITIONS s PARTITION (b = 1);
SHOW TBLPROPERTIES s ('k');
SHOW TABLE EXTENDED IN d LIKE 's*';
SHOW USER FUNCTIONS LIKE 't*';
SHOW CURRENT NAMESPACE;
FROM s INSERT INTO s SELECT a, b INSERT OVERWRITE TABLE s SELECT b, a WHERE a > 1;
FROM (SELECT a FROM s) AS q INSERT INTO s SELECT a, a;
SELECT * EXCEPT (a) FROM s;
SELECT t.* EXCEPT (a), 1 AS one FROM s AS t;
SELECT a FROM s EXCEPT (SELECT b FROM s);
SHOW COLUMNS IN s;
DESCRIBE FUNCTION EXTENDED upper;
DESCRIBE DATABASE EXTENDED d;
DESCRIBE QUERY SELECT a FROM s;
DESCRIBE HISTORY s LIMIT 3;
DESCRIBE DETAIL '/x';
DESCRIBE EXTENDED s AS JSON;
DESCRIBE s a;
GRANT SELECT, MODIFY ON TABLE s TO `someone`;
DROP TEMPORARY VARIABLE n;
DROP TABLE s PURGE;
DROP FUNCTION twice;
"""


def errors(text: str) -> list[SqlExtError]:
    return errors_of(substitute(f"{TABLES}{text};", None), new_state(None).fork())


@pytest.mark.parametrize(("text", "code", "column"), BROKEN)
def test_broken(text: str, code: str, column: int) -> None:
    (error,) = errors(text)
    assert (error.code, error.line, error.column) == (code, 3, column)
    assert error.hint


def test_right_ones_pass() -> None:
    assert errors(RIGHT) == []


def test_there_are_many() -> None:
    assert len({text for text, _, _ in BROKEN}) >= 150
    assert RIGHT.count(";\n") >= 90


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("DELETE FROM stored WHERE stored.a = 1", "DELETE FROM delta.`/data/stored` AS `stored` WHERE stored.a = 1"),
        ("DELETE FROM stored AS t WHERE t.a = 1", "DELETE FROM delta.`/data/stored` AS t WHERE t.a = 1"),
        ("UPDATE default_database.stored SET a = 1", "UPDATE delta.`/data/stored` AS `stored` SET a = 1"),
        (
            "MERGE INTO stored USING stored s ON TRUE WHEN MATCHED THEN DELETE",
            "MERGE INTO delta.`/data/stored` AS `stored` USING delta.`/data/stored` s ON TRUE WHEN MATCHED THEN DELETE",
        ),
        ("/* all */ OPTIMIZE stored -- of it", "OPTIMIZE delta.`/data/stored`"),
        # It only adds rows.
        (
            "MERGE INTO grows USING stored s ON TRUE WHEN NOT MATCHED THEN INSERT *",
            "MERGE INTO delta.`/data/g` AS grows USING delta.`/data/stored` s ON TRUE WHEN NOT MATCHED THEN INSERT *",
        ),
        ("TRUNCATE TABLE stored", "TRUNCATE TABLE delta.`/data/stored`"),
        ("SHOW PARTITIONS stored", "SHOW PARTITIONS delta.`/data/stored`"),
        ("DESCRIBE HISTORY stored LIMIT 1", "DESCRIBE HISTORY delta.`/data/stored` LIMIT 1"),
        ("OPTIMIZE other", ""),
    ],
)
def test_spark_gets_the_rows_behind_a_delta_table(text: str, given: str) -> None:
    passed: list[str] = []

    class Noting(DryRun):
        def spark(self, statement):  # type: ignore[no-untyped-def]
            passed.append(statement.text)
            return super().spark(statement)

    state = new_state(None).fork()
    interpreter = Interpreter(state, Noting(state))
    for statement in parse_script(substitute(f"{TABLES}{text};", None), "spark"):
        interpreter.run(statement)
    assert passed == [given]


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("SET table.exec.state.ttl = 1 d", "table.exec.state.ttl", "1 d"),
        ("SET state.backend = rocksdb", "state.backend", "rocksdb"),
        ("SET restart-strategy.type = 'fixed-delay'", "restart-strategy.type", "fixed-delay"),
        ("SET restart-strategy = none", "restart-strategy", "none"),
        ("SET sql-client.execution.result-mode = tableau", "sql-client.execution.result-mode", "tableau"),
        ("SET rest.port = 8081", "rest.port", "8081"),
        ("SET taskmanager.memory.process.size = 2g", "taskmanager.memory.process.size", "2g"),
    ],
)
def test_flinks_keys_need_no_quotes(text: str, key: str, value: str) -> None:
    state = new_state(None).fork()
    assert errors_of(substitute(f"{text};", None), state) == []
    assert state.settings.get(key) == value
    assert errors_of(substitute(f"RESET {key};", None), state) == []
    assert dict(state.settings.items()) == {}

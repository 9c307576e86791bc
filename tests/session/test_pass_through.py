"""Statements that are Spark's own: handed over byte for byte, with Spark's answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.session.api import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SET_UP = """
CREATE OR REPLACE TEMPORARY VIEW people AS
SELECT * FROM VALUES (1, 'Ann', array(1, 2), TIMESTAMP '2024-01-01 00:00:00'), (2, 'Bob', array(3), NULL)
AS people (id, name, scores, seen)
"""

STATEMENTS = [
    "SELECT * FROM people",
    "SELECT id, name FROM people WHERE name LIKE 'A%' ORDER BY id LIMIT 1",
    "SELECT 'it''s', \"x\", r'a\\b', 'a\\tb', 1e3, 2L, 3.5BD, X'1F'",
    "WITH t AS (SELECT id FROM people), u AS (SELECT id + 1 AS id FROM t) SELECT * FROM u ORDER BY 1",
    "SELECT id, score FROM people LATERAL VIEW explode(scores) AS score",
    "SELECT id, pos, score FROM people LATERAL VIEW OUTER posexplode(scores) t AS pos, score",
    "SELECT * FROM (SELECT id, name FROM people) PIVOT (max(id) FOR name IN ('Ann', 'Bob'))",
    "SELECT * FROM (SELECT 1 AS a, 2 AS b) UNPIVOT (v FOR k IN (a, b))",
    "SELECT id FROM people TABLESAMPLE (100 PERCENT)",
    "SELECT name FROM people SORT BY name DESC",
    "SELECT id FROM people DISTRIBUTE BY id",
    "SELECT id FROM people CLUSTER BY id",
    "SELECT transform(scores, x -> x + 1), filter(scores, (x, i) -> i = 0) FROM people ORDER BY id",
    "SELECT name, row_number() OVER (ORDER BY id DESC) FROM people ORDER BY id",
    "SELECT name, sum(id) OVER w FROM people WINDOW w AS (ORDER BY id) ORDER BY id",
    "SELECT count(*), count(DISTINCT name), max_by(name, id) FROM people",
    "SELECT id % 2 AS odd, count(*) FROM people GROUP BY ALL ORDER BY odd",
    "SELECT name, count(*) FROM people GROUP BY GROUPING SETS ((name), ()) ORDER BY name",
    "SELECT * EXCEPT (scores) FROM people",
    "SELECT id FROM people QUALIFY row_number() OVER (ORDER BY id) = 1",
    "VALUES (1, 'a'), (2, 'b')",
    "TABLE people",
    "(SELECT 1) UNION ALL (SELECT 2) EXCEPT SELECT 2",
    "SELECT window.start, count(*) FROM people WHERE seen IS NOT NULL GROUP BY window(seen, '1 hour')",
    "SELECT id DIV 1, id & 1, id || '', name IS DISTINCT FROM 'Ann', name RLIKE '^A' FROM people ORDER BY id",
    "SELECT named_struct('a', 1).a, map('k', 1)['k'], array(1, 2)[0], CAST('1' AS INT), '2'::BIGINT",
    "SELECT * FROM range(3)",
    "SELECT * FROM people AS p JOIN people AS q USING (id) ORDER BY id",
    "SELECT * FROM people p LEFT ANTI JOIN (SELECT 1 AS id) q ON p.id = q.id",
    "SELECT (SELECT max(id) FROM people), EXISTS (SELECT 1 FROM people)",
    "SELECT p.id, t.* FROM people p, LATERAL (SELECT p.id * 2 AS twice) t ORDER BY 1",
    "SELECT /*+ BROADCAST(people) */ id FROM people ORDER BY id -- why\n",
    "FROM people SELECT id WHERE id > 1",
    "FROM people |> WHERE id > 1 |> SELECT name",
    "DESCRIBE FUNCTION upper",
    "CACHE TABLE people",
    "UNCACHE TABLE people",
    "SELECT `na``me` FROM (SELECT 1 AS `na``me`)",
    "SELECT current_catalog(), current_database(), typeof(1), spark_partition_id()",
]


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    made = sqlext.connect(spark, catalog=str(tmp_path / "catalog"))
    made.spark.sql(SET_UP)
    made.spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield made
    made.stop()


@pytest.mark.parametrize("statement", STATEMENTS)
def test_spark_answers(session: Session, statement: str) -> None:
    result = session.sql(statement)
    frame = session.spark.sql(statement)
    assert list(result.columns) == frame.columns
    assert [tuple(r) for r in result.rows] == [tuple(r) for r in frame.collect()]


def test_tables_of_spark(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "t"
    session.sql(f"CREATE TABLE pass_through_t (a INT, b STRING) USING parquet LOCATION '{path}'")
    try:
        session.sql("INSERT INTO pass_through_t VALUES (1, 'x')")
        session.sql(
            "INSERT INTO pass_through_t SELECT c + 1, 'y' FROM VALUES (array(1)) t (b) LATERAL VIEW explode(b) AS c"
        )
        session.sql("INSERT INTO pass_through_t BY NAME SELECT 'z' AS b, 3 AS a")
        assert session.sql("SELECT * FROM pass_through_t ORDER BY a").rows == [(1, "x"), (2, "y"), (3, "z")]
        session.sql("INSERT OVERWRITE pass_through_t VALUES (1, 'x')")
        assert session.sql("SELECT * FROM pass_through_t").rows == [(1, "x")]
        assert session.sql(f"SELECT a FROM parquet.`{path}`").rows == [(1,)]
        assert session.sql("SELECT a FROM default.pass_through_t").rows == [(1,)]
        session.sql("ANALYZE TABLE pass_through_t COMPUTE STATISTICS")
        session.sql("REFRESH TABLE pass_through_t")
    finally:
        session.spark.sql("DROP TABLE IF EXISTS pass_through_t")


def test_statements_about_a_table_of_spark(session: Session) -> None:
    session.sql("CREATE TABLE pass_through_a (a INT) USING parquet")
    for statement in (
        "ALTER TABLE pass_through_a SET TBLPROPERTIES ('x' = 'y')",
        "ALTER TABLE pass_through_a ADD COLUMNS (b STRING)",
    ):
        session.sql(statement)
    assert session.sql("DESCRIBE TABLE pass_through_a").columns == ("col_name", "data_type", "comment")
    assert session.sql("SHOW COLUMNS IN pass_through_a").rows == [("a",), ("b",)]
    assert "USING parquet" in session.sql("SHOW CREATE TABLE pass_through_a").rows[0][0]
    session.sql("DROP TABLE pass_through_a")
    with pytest.raises(SqlExtError):
        session.sql("DROP TABLE pass_through_a")


def test_settings_of_spark(session: Session) -> None:
    session.sql("SET spark.sql.shuffle.partitions = 3")
    assert session.spark.conf.get("spark.sql.shuffle.partitions") == "3"


def test_an_unknown_table_is_found_before_anything_runs(session: Session) -> None:
    session.sql("CREATE TABLE clicks (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    with pytest.raises(SqlExtError) as caught:
        session.run("CREATE TABLE made (a INT) WITH ('connector' = 'blackhole');\nSELECT * FROM clikcs;")
    error = caught.value
    assert (error.code, error.line, error.column) == ("NAME-002", 2, 15)
    assert error.hint == "did you mean `clicks`?"
    assert ("made",) not in session.sql("SHOW TABLES").rows


def test_our_tables_in_a_query_that_only_spark_can_read(session: Session) -> None:
    session.sql("CREATE TABLE ours (a ARRAY<INT>) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    with pytest.raises(SqlExtError) as caught:
        session.sql("SELECT x FROM ours LATERAL VIEW explode(a) AS x")
    assert caught.value.code == "PARSE-004"
    assert caught.value.column == 20


def test_a_mistake_in_sparks_query_is_ours_to_report(session: Session) -> None:
    with pytest.raises(SqlExtError) as caught:
        session.sql("SELECT id FRO people")
    assert caught.value.file == "<sql>"


def test_a_table_made_by_spark_earlier_in_the_script(session: Session) -> None:
    script = """
        CREATE TABLE pass_through_made USING parquet AS SELECT 1 AS a;
        SELECT a FROM pass_through_made;
        SELECT a, x FROM pass_through_made LATERAL VIEW explode(array(7)) AS x;
        DROP TABLE pass_through_made;
    """
    results = session.run(script)
    assert [r.rows for r in results[1:3]] == [[(1,)], [(1, 7)]]


@pytest.mark.parametrize(
    ("statement", "column"),
    [("DROP FUNCTION nope", 15), ("DROP TEMPORARY FUNCTION nope", 25), ("DESCRIBE FUNCTION nope", 19)],
)
def test_an_unknown_function_is_found_before_anything_is_written(
    session: Session, tmp_path: Path, statement: str, column: int
) -> None:
    made = f"CREATE TABLE made (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/out', 'format' = 'json');"
    with pytest.raises(SqlExtError) as caught:
        session.run(f"{made}\nINSERT INTO made VALUES (1);\n{statement};")
    assert (caught.value.code, caught.value.line, caught.value.column) == ("FUNC-001", 3, column)
    assert not (tmp_path / "out").exists()


def test_a_function_that_a_script_makes_can_be_described_and_dropped(session: Session) -> None:
    made = "CREATE TEMPORARY FUNCTION seven() RETURNS INT RETURN 7"
    results = session.run(f"{made}; DESCRIBE FUNCTION seven; DROP TEMPORARY FUNCTION seven")
    assert ("Function: seven",) in results[1].rows

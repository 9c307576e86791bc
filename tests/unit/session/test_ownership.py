"""Whose statement is it, where ``spark.sql`` asks? No Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext.errors import SqlExtError
from sqlext.session.api import Session

OURS = """
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
CREATE TABLE t (a INT) WITH ('connector' = 'datagen')
CREATE TABLE t (a INT, b AS a + 1)
CREATE TABLE t LIKE events
CREATE VIEW w AS SELECT * FROM events
CREATE MATERIALIZED VIEW m AS SELECT 1 AS a
SELECT * FROM events
SELECT * FROM events LATERAL VIEW explode(array(1)) x AS y
SELECT COUNT(*) FROM other GROUP BY a EMIT CHANGES
SELECT * FROM TABLE(TUMBLE(TABLE other, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
SELECT * FROM information_schema.tables
INSERT INTO events SELECT * FROM other
INSERT INTO other SELECT * FROM events
EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END
EXPLAIN SELECT * FROM events
DESCRIBE events
SHOW CREATE TABLE events
SHOW JOBS
SHOW QUERIES
ALTER TABLE events SET ('number-of-rows' = '1')
DROP TABLE events
DROP QUERY q
STOP JOB 'j'
SET 'sqlext.bounded' = 'catch-up'
"""
SPARKS = """
CREATE TABLE t (a INT)
CREATE TABLE t (a INT) USING delta
CREATE TABLE t AS SELECT * FROM other
CREATE VIEW w AS SELECT * FROM other
CREATE DATABASE d
SELECT * FROM other
SELECT 1
SELECT * FROM other LATERAL VIEW explode(array(1)) x AS y
INSERT INTO other SELECT 1
EXPLAIN SELECT * FROM other
DESCRIBE other
SHOW TABLES
SHOW DATABASES
USE d
DROP TABLE other
DROP TABLE IF EXISTS other
DROP DATABASE d
ALTER TABLE other RENAME TO another
SET spark.sql.shuffle.partitions = 2
SET
MERGE INTO other USING x ON true WHEN MATCHED THEN DELETE
OPTIMIZE other
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    session = Session(None, tmp_path_factory.mktemp("catalog"))
    session.run("CREATE TABLE events (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')")
    return session


@pytest.mark.parametrize("text", OURS.strip().splitlines())
def test_ours(session: Session, text: str) -> None:
    assert session.owns(text)


@pytest.mark.parametrize("text", SPARKS.strip().splitlines())
def test_sparks(session: Session, text: str) -> None:
    assert not session.owns(text)


def test_what_cannot_be_read_is_nobodys(session: Session) -> None:
    with pytest.raises(SqlExtError):
        session.owns("CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FR ts AS ts)")
    assert not session.owns("SELECT 1; SELECT 2")


def test_asking_starts_no_spark(session: Session) -> None:
    assert session._own is None
    assert isinstance(session.folder, Path)

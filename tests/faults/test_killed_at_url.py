"""kill -9 of a driver, with everything in an object store, and a restart: each row once."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Mapping

import pytest
from pyspark.sql import SparkSession

import sqlext
from sqlext.stores.location import Location
from tests.s3_server import BUCKET, S3Server
from tests.s3_spark import s3a_session, s3a_settings
from tests.workspace import COUNTS, Workspace, csv_line

#: One file a micro-batch. A query of Spark's own, one with an operator of ours, and one into files.
SCRIPT = f"""
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'spark', 'format' = 'csv', 'path' = '${{IN}}', 'maxFilesPerTrigger' = '1');
{COUNTS}
CREATE TABLE early (k STRING, w TIMESTAMP(3), n BIGINT, PRIMARY KEY (k, w) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${{OUT}}/early');
CREATE TABLE copies (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${{OUT}}/copies', 'format' = 'csv');
EXECUTE STATEMENT SET BEGIN
  INSERT INTO counts SELECT k, window_start, COUNT(*), SUM(CAST(v AS BIGINT))
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
  INSERT INTO early SELECT k, window_start, COUNT(*)
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end
    EMIT AFTER WATERMARK EARLY EVERY 1 ROWS;
  INSERT INTO copies SELECT k, v FROM events;
END;
"""
FILES = (("a,1,1", "b,2,2"), ("a,3,12", "b,4,13"), ("a,5,31",))
_CHANCE = random.Random(20240101)
#: Twenty. Each query has four to six batches; which call is hit changes from moment to moment.
MOMENTS = [
    f"{moment}:{_CHANCE.randint(1, 9) if 'commit' in moment else n}"
    for n in (1, 2)
    for moment in ("begin", "before-commit", "after-commit", "before-finish", "after-finish", "between-finish")
    for _ in range(3 if "commit" in moment else 1)
]


def places() -> dict[str, str]:
    """Return where input, outputs, catalog and checkpoints lie: nobody was there."""
    url = f"s3a://{BUCKET}/{uuid.uuid4().hex}"
    return {name: f"{url}/{name.lower()}" for name in ("IN", "OUT", "CATALOG", "CHECKPOINT")}


def delta_rows(spark: SparkSession, path: str) -> list[tuple[str, ...]]:
    """Return the rows of a Delta table, sorted."""
    return sorted(tuple(map(str, row)) for row in spark.read.format("delta").load(path).collect())


def require_each_row_once(workspace: Workspace, connected: SparkSession, s3: S3Server, moment: str) -> None:
    """Kill a driver at a moment, go on, and look at what was written."""
    found = places()
    source = Location.of(found["IN"], s3.settings)
    for i, rows in enumerate(FILES):
        source.put(f"{i}.csv", "".join(f"{csv_line(row)}\n" for row in rows))
    settings: Mapping[str, str] = s3a_settings(s3)
    workspace.killed(SCRIPT, moment, variables={**found, "SETTINGS": json.dumps(settings)})
    session = sqlext.connect(connected, catalog=found["CATALOG"])
    tables = {name: found[name] for name in ("IN", "OUT")}
    workspace.run(SCRIPT, session=session, variables=tables, checkpoint=found["CHECKPOINT"])
    counts = delta_rows(connected, f"{found['OUT']}/counts")
    assert counts == [
        ("a", "2024-01-01 00:00:00", "1", "1"),
        ("a", "2024-01-01 00:00:10", "1", "3"),
        ("a", "2024-01-01 00:00:30", "1", "5"),
        ("b", "2024-01-01 00:00:00", "1", "2"),
        ("b", "2024-01-01 00:00:10", "1", "4"),
    ]
    assert delta_rows(connected, f"{found['OUT']}/early") == [(k, w, n) for k, w, n, _ in counts]
    *_, copies = session.run("SET 'execution.runtime-mode' = 'batch'; SELECT k, v FROM copies;")
    assert sorted(copies.rows) == [("a", 1), ("a", 3), ("a", 5), ("b", 2), ("b", 4)]
    assert {q.status for q in session.catalog.snapshot().queries()} == {"finished"}
    assert not any((workspace.folder / name).exists() for name in ("catalog", "out"))
    assert len({name.partition("/")[0] for name in Location.of(found["CHECKPOINT"], s3.settings).names()}) == 3


@pytest.fixture(scope="module")
def connected(spark: SparkSession, s3: S3Server) -> SparkSession:
    """A Spark that knows the server."""
    session = s3a_session(spark, s3)
    for name, value in s3.settings.items():
        session.conf.set(name, value)
    return session


@pytest.mark.costly
@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_and_restarted(workspace: Workspace, connected: SparkSession, s3: S3Server, moment: str) -> None:
    require_each_row_once(workspace, connected, s3, moment)

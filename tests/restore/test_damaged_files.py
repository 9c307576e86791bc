"""Each file of a query on Spark may be damaged: the next run is right, or names the file and a way on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.damaged_files import Damaged
from tests.workspace import COUNTS, Workspace

_TABLES = """
SET 'sqlext.bounded' = 'catch-up';
CREATE TABLE IF NOT EXISTS events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
CREATE TABLE IF NOT EXISTS files (k STRING, v INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/files', 'format' = 'csv');
"""
_JOB = """
BEGIN STATEMENT SET;
INSERT INTO counts SELECT k, window_start, COUNT(*), SUM(CAST(v AS BIGINT))
FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))
GROUP BY k, window_start, window_end;
INSERT INTO files SELECT k, v FROM events;
END;
"""
_SCRIPT = (_TABLES, COUNTS.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"), _JOB)
_SHOWN = "SET 'execution.runtime-mode' = 'batch'; SELECT * FROM counts;"
#: A pattern of files of the checkpoints, the sinks or the catalog, and how the last of those is damaged.
_TRIALS = [
    ("*/checkpoint/metadata", "delete"),
    ("*/checkpoint/metadata", "cut, unseen"),
    ("*/checkpoint/offsets/?", "cut, unseen"),
    ("*/checkpoint/offsets/?", "garble"),
    ("*/checkpoint/commits/?", "empty"),
    ("*/checkpoint/commits/?", "cut, unseen"),
    ("*/checkpoint/sources/0/?", "delete, unseen"),
    ("*/checkpoint/state/**/_metadata/**/*", "empty"),
    ("*/checkpoint/state/**/_metadata/**/*", "cut, unseen"),
    ("*/checkpoint/state/0/0/[0-9]*", "delete"),
    ("*/checkpoint/state/0/0/[0-9]*", "garble"),
    ("*/checkpoint/sqlext-run", "empty"),
    ("*/checkpoint/sqlext-run", "delete"),
    ("*/run.json", "delete"),
    ("*/lease/*", "cut"),
    ("*/sources/*/*.json", "delete"),
    ("*/sources/*/*.json", "garble"),
    ("counts/_delta_log/*1.json", "empty, unseen"),
    ("counts/_delta_log/*1.json", "cut, unseen"),
    ("counts/_delta_log/*1.json", "garble"),
    ("counts/_delta_log/*0.json", "delete, unseen"),
    ("files/_sqlext/*/done", "garble"),
]


class _Jobs:
    """One job for each reader, which has read two files of three."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder = spark, folder
        self._made: dict[str, Damaged] = {}

    def by(self, reader: str) -> Damaged:
        if reader not in self._made:
            self._made[reader] = self._begun(reader)
        return self._made[reader]

    def _begun(self, reader: str) -> Damaged:
        folder = self._folder / reader / "job"
        folder.mkdir(parents=True)
        workspace = Workspace(self._spark, folder)
        read_by = f"SET 'sqlext.source' = '{reader}';"
        workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
        workspace.run(read_by, *_SCRIPT)
        workspace.put("b.csv", "a,4,14", "a,1,40")
        workspace.run(read_by, *_SCRIPT)
        workspace.put("c.csv", "a,7,45", "b,1,59")

        def again() -> dict[str, list[Any]]:
            # A reader of another kind would say in its own words that a file is damaged.
            counts = workspace.run(read_by, *_SCRIPT, _SHOWN)[-1].rows
            return {"counts": sorted(map(str, counts)), "files": workspace.files("files")}

        return Damaged(workspace.folder, again)


@pytest.fixture(scope="module")
def jobs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Jobs]:
    folder = tmp_path_factory.mktemp("damaged")
    yield _Jobs(spark, folder)
    shutil.rmtree(folder)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("reader", ["arrow", "spark"])
@pytest.mark.parametrize(("pattern", "how"), _TRIALS)
def test_a_file(jobs: _Jobs, reader: str, pattern: str, how: str) -> None:
    job = jobs.by(reader)
    found = [name for name in job.kinds if name.match(pattern) and not name.name.startswith(".")]
    if not found:
        pytest.skip("this reader keeps no such file")
    job.told(found[-1], how)


@pytest.mark.costly
@pytest.mark.parametrize("reader", ["arrow", "spark"])
@pytest.mark.parametrize("how", ["delete", "empty", "cut", "garble", "empty, unseen", "cut, unseen", "garble, unseen"])
def test_each_file(jobs: _Jobs, reader: str, how: str) -> None:
    """Rows that are gone from a folder of csv files are gone for each reader of it."""
    job = jobs.by(reader)
    names = [name for name in job.kinds if not name.match("files/part-*") and job.differs(name, how)]
    job.all_told(names, how)

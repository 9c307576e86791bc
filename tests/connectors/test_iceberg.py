"""Tables of a catalog of Iceberg: one that a script of Flink's opens, and one that settings of Spark's open."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from maven_jars import fetched

#: Spark's version -> the package of Iceberg 1.11 for it; there is none for Spark 4.2 yet.
PACKAGES = {"4.0": "iceberg-spark-runtime-4.0_2.13", "4.1": "iceberg-spark-runtime-4.1_2.13"}
PACKAGE = PACKAGES.get(pyspark.__version__[:3])
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PACKAGE is None, reason="Iceberg has no package for this version of Spark"),
]

WRITTEN = """
CREATE NAMESPACE IF NOT EXISTS lake.shop;
CREATE TABLE lake.shop.totals (item STRING, minute TIMESTAMP_NTZ, total DOUBLE) USING iceberg;

CREATE TABLE orders (
  item STRING, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');

CREATE TABLE totals (item STRING, minute TIMESTAMP(6), total DOUBLE)
WITH ('connector' = 'spark', 'format' = 'iceberg', 'path' = 'lake.shop.totals');

INSERT INTO totals
SELECT item, window_start, SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end;
"""
READ = """
SET 'execution.runtime-mode' = 'batch';
SELECT * FROM lake.shop.totals ORDER BY item;
SET 'execution.runtime-mode' = 'streaming';
SET 'sqlext.bounded' = 'catch-up';
CREATE TABLE copied (item STRING, total DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/copied', 'format' = 'csv');
INSERT INTO copied SELECT item, total FROM totals /*+ OPTIONS('scan.mode' = 'snapshot') */;
"""


@pytest.fixture
def lake(tmp_path: Path) -> list[str]:
    """Return the settings of Spark that open a catalog in a folder."""
    assert PACKAGE is not None
    (jar,) = fetched(f"{PACKAGE}-1.11.0", (("org.apache.iceberg", PACKAGE, "1.11.0"),), transitive=False).glob("*.jar")
    settings = {
        "spark.jars": str(jar),
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(tmp_path / "warehouse"),
    }
    return [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]


@pytest.fixture
def jar(lake: list[str]) -> list[str]:
    """Return the setting of Spark that puts Iceberg on the class path."""
    return lake[:2]


#: As it runs on Flink with Iceberg's jar: nothing in it is ours but the folders.
FLINKS = """
SET 'sqlext.expressions' = 'flink';
CREATE CATALOG ice WITH (
  'type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${OUT}/warehouse', 'property-version' = '1'
);
CREATE TABLE orders (
  item STRING, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
USE CATALOG ice;
CREATE DATABASE IF NOT EXISTS shop;
USE shop;
CREATE TABLE IF NOT EXISTS events (item VARCHAR(10), small SMALLINT, ts TIMESTAMP(3), clock TIME)
PARTITIONED BY (item) WITH ('format-version' = '2', 'write.format.default' = 'parquet');
CREATE TABLE totals (item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED)
WITH ('format-version' = '2', 'write.upsert.enabled' = 'true');
INSERT INTO events
SELECT item, CAST(amount AS SMALLINT), ts, CAST(ts AS TIME) FROM default_catalog.default_database.orders;
INSERT INTO totals SELECT item, COUNT(*) FROM events GROUP BY item;
INSERT INTO totals SELECT item, COUNT(*) * 10 FROM ice.shop.events WHERE item = 'pen' GROUP BY item;
CREATE TABLE default_catalog.default_database.copied (item STRING, small SMALLINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/copied', 'format' = 'csv');
INSERT INTO default_catalog.default_database.copied SELECT item, small FROM events;
SET 'execution.runtime-mode' = 'batch';
SHOW TABLES;
DESCRIBE events;
SELECT * FROM totals ORDER BY item;
SELECT * FROM events ORDER BY ts;
"""
#: A micro-batch that is written again is in the table once.
REPEATED = """
import sys
import sqlext
from sqlext.connectors.registry import connector_of
from sqlext.sinks.base import SinkContext
from sqlext.sinks.opening import open_sink
from sqlext.spark.local import local_spark
from sqlext_catalog.model import Table

out, jar = sys.argv[1:]
session = sqlext.connect(local_spark(settings={"spark.jars": jar}), catalog=out + "/catalog")
session.sql(f"CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{out}/warehouse')")
session.sql("CREATE TABLE ice.`default`.t (id INT)")
(table,) = (t for t in session.catalog.snapshot().relations() if isinstance(t, Table) and t.name.name == "t")
sink = open_sink(session.spark, connector_of(table).write_spec(table), SinkContext("q", "c"))
for batch in (0, 0, 1, 0, 1):
    sink.write(session.spark.sql(f"SELECT {batch} AS id"), batch)
print("rows:", sorted(row.id for row in session.spark.table("ice.`default`.t").collect()))
"""
#: It has no end.
STREAMED = """
SET 'sqlext.expressions' = 'flink';
CREATE TABLE default_catalog.default_database.followed (item STRING, small SMALLINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/followed', 'format' = 'csv');
INSERT INTO default_catalog.default_database.followed
SELECT item, small FROM ice.shop.events /*+ OPTIONS('streaming' = 'true', 'monitor-interval' = '1s') */;
"""
#: Another session, which has none of these definitions: what is asked for lies in the lake.
AGAIN = """
SET 'sqlext.expressions' = 'flink';
SET 'execution.runtime-mode' = 'batch';
CREATE CATALOG other WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${OUT}/warehouse');
USE CATALOG other;
SHOW DATABASES;
SHOW TABLES FROM shop;
SELECT item, n FROM other.shop.totals ORDER BY item;
CREATE TABLE default_catalog.default_database.plain (item STRING, n BIGINT) WITH (
  'connector' = 'iceberg', 'catalog-name' = 'x', 'catalog-type' = 'hadoop', 'warehouse' = '${OUT}/warehouse',
  'catalog-database' = 'shop', 'catalog-table' = 'totals'
);
INSERT INTO default_catalog.default_database.plain VALUES ('cup', 5);
SELECT COUNT(*) AS many FROM default_catalog.default_database.plain;
DROP TABLE default_catalog.default_database.plain;
DROP TABLE shop.events;
SHOW TABLES FROM shop;
DROP DATABASE shop CASCADE;
SHOW DATABASES;
"""


def run(folder: Path, lake: list[str], script: str) -> str:
    """Run a script by the command line, and return what it prints."""
    (folder / "job.sql").write_text(script, "utf-8")
    places = ["--define", f"IN={folder / 'in'}", "--define", f"OUT={folder / 'out'}"]
    command = [sys.executable, "-m", "sqlext.cli.main", "run", "job.sql", *places, *lake]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def lines(folder: Path) -> list[str]:
    """Return the lines of files that a query has written, in order."""
    found = (f.read_text("utf-8") for f in folder.rglob("part-*") if "_sqlext" not in f.parts)
    return sorted("".join(found).split())


def test_a_table_is_written_and_read(tmp_path: Path, lake: list[str]) -> None:
    orders(tmp_path)
    run(tmp_path, lake, WRITTEN)
    shown = [line.split() for line in run(tmp_path, lake, READ).splitlines() if "2024-01-01" in line]
    assert shown == [
        ["ink", "2024-01-01", "10:00:00", "7.0"],
        ["pad", "2024-01-01", "10:01:00", "2.0"],
        ["pen", "2024-01-01", "10:00:00", "4.5"],
    ]
    assert lines(tmp_path / "out" / "copied") == ["ink,7.0", "pad,2.0", "pen,4.5"]


def orders(folder: Path) -> None:
    (folder / "in").mkdir()
    rows = [("pen", 1.5, "10:00:01"), ("ink", 7.0, "10:00:20"), ("pen", 3.0, "10:00:30"), ("pad", 2.0, "10:01:10")]
    lines = (f'{{"item": "{i}", "amount": {a}, "ts": "2024-01-01 {t}"}}\n' for i, a, t in rows)
    (folder / "in" / "1.json").write_text("".join(lines), "utf-8")


def words(text: str) -> list[list[str]]:
    """Return the words of the lines that are rows or heads of tables."""
    return [line.split() for line in text.splitlines() if line.strip() and "─" not in line]


def test_a_file_of_flinks_runs_unchanged(tmp_path: Path, jar: list[str]) -> None:
    orders(tmp_path)
    shown = words(run(tmp_path, jar, FLINKS))
    for row in (["events"], ["totals"], ["ink", "1"], ["pad", "1"], ["pen", "20"]):
        assert row in shown
    assert ["ink", "7", "2024-01-01", "10:00:20", "10:00:20"] in shown
    assert lines(tmp_path / "out" / "copied") == ["ink,7", "pad,2", "pen,1", "pen,3"]
    run(tmp_path, [*jar, "--for", "20 s"], STREAMED)
    assert lines(tmp_path / "out" / "followed") == ["ink,7", "pad,2", "pen,1", "pen,3"]
    again = words(run(tmp_path, [*jar, "--catalog", str(tmp_path / "another")], AGAIN))
    assert again.count(["shop"]) == 1  # the database is gone in the end
    assert again.count(["events"]) == 1
    assert again.count(["totals"]) == 2
    assert ["pen", "20"] in again
    assert ["4"] in again


def test_an_append_that_is_done_again_is_there_once(tmp_path: Path, jar: list[str]) -> None:
    command = [sys.executable, "-c", REPEATED, str(tmp_path), jar[1].removeprefix("spark.jars=")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert "rows: [0, 1]" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("CREATE CATALOG p WITH ('type' = 'paimon', 'warehouse' = '/w');", "CAT-039: Spark has no paimon"),
        (
            """CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${OUT}/a');
            DROP CATALOG c;
            CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${OUT}/b');""",
            "CAT-045",
        ),
    ],
)
def test_what_cannot_be_opened(tmp_path: Path, jar: list[str], script: str, said: str) -> None:
    (tmp_path / "job.sql").write_text(script, "utf-8")
    places = ["--define", f"OUT={tmp_path / 'out'}"]
    command = [sys.executable, "-m", "sqlext.cli.main", "run", "job.sql", *places, *jar]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1
    assert said in done.stdout + done.stderr

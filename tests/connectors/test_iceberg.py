"""Tables of a catalog of Iceberg, which Spark opens: written by a stream, read by a stream, in batch and by name."""

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


def run(folder: Path, lake: list[str], script: str) -> str:
    """Run a script by the command line, and return what it prints."""
    (folder / "job.sql").write_text(script, "utf-8")
    places = ["--define", f"IN={folder / 'in'}", "--define", f"OUT={folder / 'out'}"]
    command = [sys.executable, "-m", "sqlext.cli.main", "run", "job.sql", *places, *lake]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_table_is_written_and_read(tmp_path: Path, lake: list[str]) -> None:
    (tmp_path / "in").mkdir()
    rows = [("pen", 1.5, "10:00:01"), ("ink", 7.0, "10:00:20"), ("pen", 3.0, "10:00:30"), ("pad", 2.0, "10:01:10")]
    lines = (f'{{"item": "{i}", "amount": {a}, "ts": "2024-01-01 {t}"}}\n' for i, a, t in rows)
    (tmp_path / "in" / "1.json").write_text("".join(lines), "utf-8")
    run(tmp_path, lake, WRITTEN)
    shown = [line.split() for line in run(tmp_path, lake, READ).splitlines() if "2024-01-01" in line]
    assert shown == [
        ["ink", "2024-01-01", "10:00:00", "7.0"],
        ["pad", "2024-01-01", "10:01:00", "2.0"],
        ["pen", "2024-01-01", "10:00:00", "4.5"],
    ]
    copied = (f.read_text("utf-8") for f in (tmp_path / "out" / "copied").rglob("part-*") if "_sqlext" not in f.parts)
    assert sorted("".join(copied).split()) == ["ink,7.0", "pad,2.0", "pen,4.5"]

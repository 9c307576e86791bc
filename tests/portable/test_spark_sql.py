"""``sqlext rewrite --target spark-sql`` runs as it is in a bare spark-sql, and gives sqlext's rows."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.session.offline.commands import rewrite_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Each query shows its number first, so that one spark-sql can run them all.
SCRIPT = """
SET 'sqlext.expressions' = 'flink';
SET 'table.local-time-zone' = '${ZONE}';
CREATE TABLE clicks (
  user_name STRING, amount INT, `odd name` STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/clicks', 'format' = 'json');
CREATE TABLE instants (
  user_name STRING, millis BIGINT, rt AS TO_TIMESTAMP_LTZ(millis, 3), WATERMARK FOR rt AS rt
) WITH ('connector' = 'filesystem', 'path' = '${IN}/clicks', 'format' = 'json');
CREATE TABLE users (name STRING, country STRING)
WITH ('connector' = 'filesystem', 'path' = '${IN}/users', 'format' = 'csv', 'scan.mode' = 'snapshot');
CREATE VIEW minutes AS
SELECT user_name, window_time AS t, COUNT(*) AS n, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY user_name, window_start, window_end, window_time;

SELECT 'q1' AS q, user_name, window_start, window_end, window_time, COUNT(*) AS n, AVG(amount) AS a
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY user_name, window_start, window_end, window_time;
SELECT 'q2' AS q, window_start, MAX(amount) AS m, SUM(amount) FILTER (WHERE amount > 3) AS s
FROM TABLE(HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND))
GROUP BY window_start, window_end HAVING COUNT(*) > 1;
SELECT 'q3' AS q, user_name, window_start, window_end, COUNT(*) AS n
FROM TABLE(SESSION(TABLE clicks PARTITION BY user_name, DESCRIPTOR(ts), INTERVAL '15' SECOND))
GROUP BY user_name, window_start, window_end;
SELECT 'q4' AS q, user_name, window_start, SUM(n) AS n, MAX(total) AS most
FROM TABLE(TUMBLE(TABLE minutes, DESCRIPTOR(t), INTERVAL '1' HOUR)) GROUP BY user_name, window_start, window_end;
SELECT 'q5' AS q, HOP_START(ts, INTERVAL '10' SECOND, INTERVAL '3' SECOND) AS s, COUNT(*) AS n
FROM clicks GROUP BY HOP(ts, INTERVAL '10' SECOND, INTERVAL '3' SECOND);
SELECT 'q6' AS q, u.country, w.window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS w
LEFT JOIN users AS u ON u.name = w.user_name GROUP BY u.country, w.window_start, w.window_end;
SELECT 'q7' AS q, window_start, user_name, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, GROUPING SETS ((user_name), ());
SELECT 'q8' AS q, window_start, window_end, CAST(window_time AS STRING) AS t, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE instants, DESCRIPTOR(rt), INTERVAL '1' DAY)) GROUP BY window_start, window_end, window_time;
SELECT 'q9' AS q, `odd name`, amount / 2 AS half, UPPER(user_name) || '''s' AS `it's`
FROM (SELECT * FROM clicks WHERE amount > 2 UNION ALL SELECT * FROM clicks WHERE amount <= 2);
"""
USERS = ["Ann", "Bob", None]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("portable")
    (folder / "clicks").mkdir()
    (folder / "users").mkdir()
    rows = [
        {
            "user_name": USERS[i % 3],
            "amount": i % 7,
            "odd name": f"x\\'{i}",
            "ts": f"2024-03-10 00:{i // 10:02d}:{i % 10 * 6:02d}.{i:03d}",
            "millis": 1710028800000 + i * 3_600_000,
        }
        for i in range(40)
    ]
    (folder / "clicks" / "f.json").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (folder / "users" / "f.csv").write_text("Ann,FR\nBob,DE\n")
    return folder


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_the_same_rows(spark: SparkSession, data: Path, tmp_path: Path, zone: str) -> None:
    script = tmp_path / "script.sql"
    script.write_text(SCRIPT)
    variables = {"IN": str(data), "ZONE": zone}
    text = rewrite_file(script, variables, target="spark-sql")
    assert not re.search(r"\b(STREAM|WATERMARK)\b|heartbeat|__seen|__mark", text)
    results = sqlext.connect(spark, catalog=str(tmp_path / "catalog")).run(script, variables)
    ours = {r.rows[0][0]: sorted(shown(row) for row in r.rows) for r in results if r.rows}
    assert len(ours) == 9
    assert by_spark_sql(text, tmp_path) == ours


def by_spark_sql(text: str, folder: Path) -> dict[str, list[str]]:
    """Return the lines that spark-sql prints for a script, by their first column."""
    file = folder / "portable.sql"
    file.write_text(text)
    home = Path(pyspark.__file__).parent
    settings = ["spark.ui.enabled=false", f"spark.sql.warehouse.dir={folder / 'warehouse'}"]
    command = [str(home / "bin" / "spark-sql"), "--master", "local[2]"]
    command += [part for s in settings for part in ("--conf", s)]
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_", "PYTHON"))}
    done = subprocess.run(
        [*command, "-S", "-f", str(file)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=env | {"SPARK_HOME": str(home)},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, list[str]] = defaultdict(list)
    for line in done.stdout.splitlines():
        if re.match(r"q\d\t", line):
            found[line[:2]].append(line)
    return {q: sorted(lines) for q, lines in found.items()}


def shown(row: tuple[object, ...]) -> str:
    """Return a row as spark-sql prints it."""
    return "\t".join(
        "NULL" if v is None else str(v).rstrip("0").rstrip(".") if _is_fraction(v) else str(v) for v in row
    )


def _is_fraction(value: object) -> bool:
    return bool(re.fullmatch(r"\d{4}-.*\.\d+", str(value)))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM information_schema.tables",
        "SELECT COUNT(DISTINCT a) FROM t",
    ],
)
def test_what_has_no_plain_form(tmp_path: Path, query: str) -> None:
    script = tmp_path / "s.sql"
    script.write_text(f"CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');\n{query};")
    try:
        text = rewrite_file(script, target="spark-sql")
    except SqlExtError as error:
        assert error.line == 2  # noqa: PT017
    else:
        assert "count(DISTINCT a)" in text or "COUNT(DISTINCT a)" in text

"""Hostile names through a real run: the rows come back, and nothing is written where it should not be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlext
from sqlext.quoting import SPARK_KEYWORDS, identifier, string
from sqlext.types import quote

from .test_names import HOSTILE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: ``${x}`` in any text is Spark's own to replace.
OURS = [name for name in HOSTILE if "${" not in name]
PLAIN = ["a", "_b", "userName", "x1", "__window", "ts", "e", "localtimestamp", "rand", "true_"]
SCRIPT = """
CREATE TABLE {name} ({name} STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE VIEW {view} AS SELECT {name}, ts FROM {name};
CREATE TABLE {sink} ({name} STRING, n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'json');
INSERT INTO {sink} SELECT {name}, COUNT(*)
FROM TABLE(TUMBLE(TABLE {view}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY {name}, window_start, window_end;
"""


def test_every_name_is_read_back_as_it_is(spark: SparkSession) -> None:
    names = [*PLAIN, *OURS, *sorted(SPARK_KEYWORDS), *(k.lower() for k in SPARK_KEYWORDS)]
    names = list(dict.fromkeys(names))
    items = [f"{i} AS {identifier(n)}" for i, n in enumerate(names)]
    again = ", ".join(identifier(n) for n in names)
    session = spark.newSession()
    session.conf.set("spark.sql.caseSensitive", "true")
    assert session.sql(f"SELECT {', '.join(items)}").columns == names
    assert session.sql(f"SELECT {again} FROM (SELECT {', '.join(items)})").first() == tuple(range(len(names)))


def test_sparks_keywords_are_those_that_we_quote(spark: SparkSession) -> None:
    assert {r[0] for r in spark.sql("SELECT keyword FROM sql_keywords()").collect()} == SPARK_KEYWORDS


def test_every_string_is_read_back_as_it_is(spark: SparkSession) -> None:
    texts = [*OURS, "it's", "\\", "\\'", "''", "%_", "\t\r\n", "{", "$$", "𝒳", ""]
    row = spark.newSession().sql(f"SELECT {', '.join(map(string, texts))}").first()
    assert list(row or ()) == texts


@pytest.mark.parametrize(
    "name", ["../../evil", "/tmp/sqlext_evil", "a`; DROP TABLE t; --", "a\nb", "a.b", "select", "'"]
)
def test_a_run_stays_in_its_folders(spark: SparkSession, tmp_path: Path, name: str) -> None:
    root = tmp_path / "one" / "two" / "three"
    (root / "in").mkdir(parents=True)
    rows = [{name: "x", "ts": "2024-01-01 00:00:01"}, {name: "x", "ts": "2024-01-01 00:00:02"}]
    (root / "in" / "f.json").write_text("".join(json.dumps(r) + "\n" for r in rows))
    session = sqlext.connect(spark, catalog=str(root / "catalog"))
    text = SCRIPT.format(name=quote(name), view=quote(f"{name}v"), sink=quote(f"{name}s"), root=root)
    beside = {p.name for p in Path.cwd().iterdir()} | {p.name for p in Path("/tmp").glob("sqlext_evil*")}
    session.run(text)
    written = [json.loads(line) for path in (root / "out").rglob("*.json") for line in path.read_text().splitlines()]
    assert written == [{name: "x", "n": 2}]
    assert {p.name for p in tmp_path.iterdir()} == {"one"}
    assert {p.name for p in (tmp_path / "one").iterdir()} == {"two"}
    assert {p.name for p in (tmp_path / "one" / "two").iterdir()} == {"three"}
    assert {p.name for p in root.iterdir()} <= {"in", "out", "catalog"}
    now = {p.name for p in Path.cwd().iterdir()} | {p.name for p in Path("/tmp").glob("sqlext_evil*")}
    assert now - beside <= {"spark-warehouse", "metastore_db", "derby.log"}

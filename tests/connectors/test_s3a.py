"""Tables of files and of Delta in an object store: Spark and our own readers and sinks, against a real server."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import sqlext
from sqlext.stores.object_files import ObjectFiles
from tests.s3_server import BUCKET, SECRET, S3Server
from tests.s3_spark import s3a_session

pytestmark = pytest.mark.slow

_SELDOM = [pytest.param("s3", form, marks=pytest.mark.costly) for form in ("json", "orc")]
EVENTS = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{url}/in', 'format' = 'csv');
"""
COUNTED = """
INSERT INTO dst SELECT k, CAST(COUNT(*) AS INT)
FROM TABLE(TUMBLE(TABLE {source}, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
"""


@pytest.fixture(scope="module")
def connected(spark: SparkSession, s3: S3Server) -> SparkSession:
    """A session that knows the server."""
    return s3a_session(spark, s3)


class Place:
    """A folder in the store that nobody else has, and a catalog.

    Attributes:
        path: without the scheme.
    """

    def __init__(self, spark: SparkSession, folder: Path, settings: Mapping[str, str]) -> None:
        self.spark = spark
        self.catalog = folder / "catalog"
        self.settings = settings
        self.path = f"://{BUCKET}/{uuid.uuid4().hex}"

    def put(self, name: str, text: str) -> None:
        """Write a file."""
        ObjectFiles(f"s3{self.path}", self.settings).put(name, text.encode())

    def names(self, below: str) -> list[str]:
        """Return the names of the objects below a folder that readers see."""
        found = (n for n, _ in ObjectFiles(f"s3{self.path}", self.settings).sizes(below))
        return sorted(n for n in found if "_sqlext" not in n and "_delta_log" not in n)

    def run(self, script: str, **variables: str) -> sqlext.Session:
        """Run a script in a session of its own; it names the folder as ``{url}``."""
        session = sqlext.connect(self.spark, catalog=self.catalog, settings=self.settings)
        session.run(script.format(url=f"s3a{self.path}", **variables))
        return session

    def rows(self, name: str = "dst") -> list[tuple[Any, ...]]:
        """Return the rows of a table."""
        return sorted(self.run("SET 'sqlext.source' = 'spark';").sql(f"SELECT k, v FROM {name}").rows)

    def by_us(self) -> bool:
        """Return whether a run was begun by a reader of ours."""
        runs = (json.loads(run.read_text()) for run in (self.catalog / "queries").glob("*/run.json"))
        return any(part.startswith("reader of ") for run in runs for part in run["fingerprint"])


@pytest.fixture
def place(connected: SparkSession, s3: S3Server, tmp_path: Path) -> Place:
    return Place(connected, tmp_path, s3.settings)


def table(name: str, url: str, connector: str = "filesystem", by: str = "", **options: str) -> str:
    form = {} if connector == "delta" else {"format": "csv"}
    chosen = {"connector": connector, "path": url, **form, **options}
    given = ", ".join(f"'{key}' = '{value}'" for key, value in chosen.items())
    return f"CREATE TABLE {name} (k STRING, v INT) {by} WITH ({given});\n"


@pytest.mark.parametrize(("scheme", "form"), [("s3", "csv"), ("s3a", "parquet"), *_SELDOM])
def test_spark_reads_what_is_written(place: Place, scheme: str, form: str) -> None:
    place.put("in/1.csv", "a,1\nb,2\n")
    place.put("in/_hidden.csv", "x,9\n")
    url = f"{scheme}{place.path}"
    place.run(
        table("src", f"{url}/in") + table("dst", f"{url}/out", format=form) + "INSERT INTO dst SELECT k, v FROM src;"
    )
    assert place.rows() == [("a", 1), ("b", 2)]
    there = place.spark.read.schema("k STRING, v INT").format(form).load(f"s3a{place.path}/out")
    assert there.count() == 2
    assert all(name.startswith("out/part-") for name in place.names("out"))


@pytest.mark.parametrize(
    ("reader", "connector"), [("arrow", "filesystem"), pytest.param("spark", "delta", marks=pytest.mark.costly)]
)
def test_a_stream_that_goes_on(place: Place, reader: str, connector: str) -> None:
    """Started three times, in new sessions; the second time nothing is new."""
    script = (
        f"SET 'sqlext.source' = '{reader}'; SET 'sqlext.bounded' = 'catch-up';"
        + EVENTS
        + table("dst", "{url}/out", connector)
        + COUNTED.format(source="events")
    )
    place.put("in/1.csv", "a,1,2024-01-01 00:00:01\na,2,2024-01-01 00:00:02\nb,3,2024-01-01 00:00:30\n")
    place.run(script)
    assert place.by_us() == (reader == "arrow")
    assert place.rows() == [("a", 2)]
    place.run(script)
    assert place.rows() == [("a", 2)]
    place.put("in/2.csv", "c,1,2024-01-01 00:01:00\n")
    place.run(script)
    assert place.rows() == [("a", 2), ("b", 1)]
    # What stays on this machine knows no credentials.
    assert all(SECRET.encode() not in p.read_bytes() for p in place.catalog.rglob("*") if p.is_file())


def test_delta_is_read_by_arrow(place: Place) -> None:
    place.put("in/1.csv", "a,1,2024-01-01 00:00:01\na,2,2024-01-01 00:00:02\nb,3,2024-01-01 00:00:30\n")
    columns = "(k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
    copied = f"CREATE TABLE copy {columns} WITH ('connector' = 'delta', 'path' = '{{url}}/copy');"
    place.run(EVENTS + copied + "INSERT INTO copy SELECT k, v, ts FROM events;")
    script = "SET 'sqlext.source' = 'arrow'; SET 'sqlext.bounded' = 'catch-up';" + table("dst", "{url}/out")
    session = place.run(script + COUNTED.format(source="copy"))
    (plan,) = session.explain(
        "SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE copy, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
        " GROUP BY k, window_start, window_end"
    )
    assert SECRET not in plan
    assert place.by_us()
    assert place.rows() == [("a", 2)]


def test_overwriting_partitions_and_the_final_state(place: Place) -> None:
    place.put("in/1.csv", "a,1\nb,2\na,3\n")
    parts = table("parts", "{url}/parts", by="PARTITIONED BY (k)", format="json")
    place.run(table("src", "{url}/in") + parts + "INSERT INTO parts SELECT k, v FROM src;")
    assert place.rows("parts") == [("a", 1), ("a", 3), ("b", 2)]
    place.run("SET 'execution.runtime-mode' = 'batch'; INSERT OVERWRITE parts SELECT k, v + 1 FROM src WHERE k = 'a';")
    assert place.rows("parts") == [("a", 2), ("a", 4), ("b", 2)]
    folded = table("sums", "{url}/sums")
    updates = "SET 'sqlext.sink.updates' = 'final-state'; "
    place.run(folded + updates + "INSERT INTO sums SELECT k, CAST(SUM(v) AS INT) FROM src GROUP BY k;")
    assert place.rows("sums") == [("a", 4), ("b", 2)]


def test_an_empty_result_is_an_empty_table(place: Place) -> None:
    place.put("in/1.csv", "a,1\n")
    place.run(
        table("src", "{url}/in") + table("dst", "{url}/out") + "INSERT INTO dst SELECT k, v FROM src WHERE v > 1;"
    )
    assert place.rows() == []


@pytest.mark.parametrize("connector", ["filesystem", "delta"])
@pytest.mark.parametrize("role", ["source", "sink"])
def test_a_spark_without_the_file_system(place: Place, connector: str, role: str) -> None:
    """Refused before anything runs: nothing is made."""
    place.settings = {**place.settings, "spark.hadoop.fs.s3a.impl": "org.example.NoFileSystem"}
    place.catalog.parent.joinpath("in.csv").write_text("a,1\n")
    tables = table("here", str(place.catalog.parent / "in.csv")) + table("there", "{url}/out", connector)
    with pytest.raises(sqlext.SqlExtError) as refused:
        place.run(tables + ("INSERT INTO there SELECT k, v FROM here;" if role == "sink" else "SELECT * FROM there;"))
    assert refused.value.code == "OPT-014"
    assert place.names("") == []

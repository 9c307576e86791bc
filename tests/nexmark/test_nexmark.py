"""Each Nexmark query, run as a stream, gives what batch Spark SQL answers to the same question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlext

from .answers import ANSWERS
from .events import write_events

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sqlext.session.api import Session

QUERIES = Path(__file__).parents[2] / "sql_examples" / "nexmark"
EVENTS = 100_000
_PERSON = "id BIGINT, name STRING, city STRING, state STRING, dateTime TIMESTAMP_NTZ"
_AUCTION = "id BIGINT, itemName STRING, dateTime TIMESTAMP_NTZ, expires TIMESTAMP_NTZ, seller BIGINT, category BIGINT"
_BID = "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIMESTAMP_NTZ, extra STRING"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the events."""
    folder = tmp_path_factory.mktemp("nexmark")
    write_events(folder / "in", EVENTS)
    return folder


@pytest.fixture(scope="module")
def session(spark: SparkSession, data: Path) -> Session:
    """Return a session that knows the tables."""
    made = sqlext.connect(spark, catalog=str(data / "catalog"))
    made.run((QUERIES / "tables.sql").read_text("utf-8"), variables={"IN": str(data / "in")})
    return made


@pytest.fixture(scope="module")
def batch(spark: SparkSession, data: Path) -> Iterator[SparkSession]:
    """Return a plain Spark session with views of the same data."""
    own = spark.newSession()
    own.conf.set("spark.sql.session.timeZone", "UTC")
    schema = f"event_type INT, person STRUCT<{_columns(_PERSON)}>, auction STRUCT<{_columns(_AUCTION)}>, "
    events = own.read.schema(schema + f"bid STRUCT<{_columns(_BID)}>").json(str(data / "in" / "nexmark")).cache()
    for number, name in enumerate(("person", "auction", "bid")):
        events.where(f"event_type = {number}").select(f"{name}.*").createOrReplaceTempView(name)
    side = own.read.schema("key BIGINT, value STRING").csv(str(data / "in" / "side_input"))
    side.createOrReplaceTempView("side_input")
    yield own
    events.unpersist()


def _columns(fields: str) -> str:
    return ", ".join(f.replace(" ", ": ", 1) for f in fields.split(", "))


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("number", ANSWERS)
def test_query(number: int, session: Session, batch: SparkSession, data: Path) -> None:
    text = (QUERIES / f"q{number}.sql").read_text("utf-8")
    query = session.run(text, variables={"OUT": str(data / "out")})[-1].query
    assert query is not None
    assert query.streaming
    actual = batch.read.format("delta").load(str(data / "out" / f"q{number}"))
    expected = batch.sql(ANSWERS[number]).toDF(*actual.columns)
    assert _sample(expected.exceptAll(actual)) == []
    assert _sample(actual.exceptAll(expected)) == []


def _sample(rows: DataFrame) -> list[tuple[object, ...]]:
    return [tuple(r) for r in rows.limit(5).collect()]


def test_every_query_has_an_answer() -> None:
    assert {p.stem for p in QUERIES.glob("q*.sql")} == {f"q{n}" for n in ANSWERS} == {f"q{n}" for n in range(23)}

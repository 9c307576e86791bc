"""The demo's numbers, each compared with plain batch Spark asked the same question in other words."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own habit

from sqlext.demo.files import prepare

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "sql_examples" / "01_flights.sql"
HOUR = "INTERVAL 1 HOUR"

# No window functions of ours or of Spark's streaming here: truncation, calendars and gaps-and-islands.
BATCH = {
    "hourly_delays": f"""
        SELECT origin, date_trunc('HOUR', sched_dep) AS window_start,
               date_trunc('HOUR', sched_dep) + {HOUR} AS window_end,
               count(1) AS flights, count_if(dep_delay IS NULL) AS cancelled,
               avg(dep_delay) AS avg_delay, max(dep_delay) AS max_delay
        FROM f GROUP BY ALL""",
    "rolling_delays": f"""
        SELECT origin, window_start, window_start + INTERVAL 3 HOURS AS window_end,
               count(1) AS flights, count_if(dep_delay > 15) AS late_flights,
               avg(dep_delay) AS avg_delay
        FROM (SELECT *, explode(sequence(date_trunc('HOUR', sched_dep) - INTERVAL 2 HOURS,
                                         date_trunc('HOUR', sched_dep), {HOUR})) AS window_start FROM f)
        GROUP BY origin, window_start""",
    # Six hours to the minute still belong together, as in Flink.
    "aircraft_shifts": """
        WITH marked AS (
          SELECT tailnum, sched_dep, distance,
                 coalesce(sched_dep > lag(sched_dep) OVER w + INTERVAL 6 HOURS, true) AS is_first
          FROM f WHERE tailnum IS NOT NULL WINDOW w AS (PARTITION BY tailnum ORDER BY sched_dep)),
        numbered AS (
          SELECT *, count_if(is_first) OVER (PARTITION BY tailnum ORDER BY sched_dep) AS shift FROM marked)
        SELECT tailnum, min(sched_dep) AS window_start, max(sched_dep) + INTERVAL 6 HOURS AS window_end,
               count(1) AS flights, sum(distance) AS miles
        FROM numbered GROUP BY tailnum, shift""",
    "daily_delays": """
        SELECT origin, CAST(day AS TIMESTAMP) AS window_start,
               CAST(day + INTERVAL 1 DAY AS TIMESTAMP) AS window_end,
               count(DISTINCT clock_hour) AS hours, count(1) AS flights,
               count_if(dep_delay IS NULL) AS cancelled, sum(dep_delay) AS delay_minutes,
               max(in_hour) AS busiest_hour, max(dep_delay) AS max_delay
        FROM (SELECT *, CAST(sched_dep AS DATE) AS day, hour(sched_dep) AS clock_hour,
                     count(1) OVER (PARTITION BY origin, date_trunc('HOUR', sched_dep)) AS in_hour FROM f)
        GROUP BY origin, day""",
    "hourly_weather": """
        SELECT origin, date_trunc('HOUR', observed) AS window_start, count(1) AS reports,
               avg(temp) AS temp, max(wind_speed) AS wind_speed, sum(precip) AS precip
        FROM w GROUP BY 1, 2""",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the demo's input files."""
    folder = tmp_path_factory.mktemp("flights")
    prepare(folder)
    return folder


@pytest.fixture(scope="module")
def batch(spark: SparkSession, data: Path) -> SparkSession:
    """Return a plain Spark session that sees the input files as the views f and w."""
    plain = spark.newSession()
    flights = "sched_dep TIMESTAMP, tailnum STRING, origin STRING, dep_delay INT, distance INT"
    plain.read.schema(flights).json(str(data / "flights")).createOrReplaceTempView("f")
    weather = "observed TIMESTAMP, origin STRING, temp DOUBLE, humid DOUBLE, wind_speed DOUBLE, precip DOUBLE"
    plain.read.schema(weather).csv(str(data / "weather"), nullValue="NA").createOrReplaceTempView("w")
    return plain


@pytest.fixture(scope="module")
def run(spark: SparkSession, data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """Run the script twice (the second run must change nothing) and return its output and results."""
    import sqlext

    out = tmp_path_factory.mktemp("out")
    session = sqlext.connect(spark, catalog=str(tmp_path_factory.mktemp("catalog")))
    variables = {"IN": str(data), "OUT": str(out)}
    session.run(SCRIPT, variables=variables)
    return out, session.run(SCRIPT, variables=variables)


@pytest.mark.parametrize("table", BATCH)
def test_streaming_equals_batch(
    table: str, run: tuple[Path, list[Any]], batch: SparkSession, spark: SparkSession
) -> None:
    expected = batch.sql(BATCH[table])
    actual = spark.read.format("delta").load(str(run[0] / table))
    assert actual.columns == expected.columns
    ours, theirs = _rows(actual), _rows(expected)
    assert len(ours) == len(theirs)
    wrong = [(a, b) for a, b in zip(ours, theirs, strict=True) if not _same(a, b)]
    assert not wrong, f"{len(wrong)} rows differ, the first: {wrong[0]}"


def test_flights_are_read_once_for_three_windows(data: Path) -> None:
    """``make demo`` shows the line."""
    import sqlext

    plans = sqlext.connect().explain(SCRIPT, variables={"IN": str(data), "OUT": str(data / "out")})
    told = "flights: read and decoded once for hourly_delays, rolling_delays, aircraft_shifts"
    assert [told in plan for plan in plans[:4]] == [True, True, True, False]


def test_no_row_is_late(run: tuple[Path, list[Any]]) -> None:
    queries = [result.query for result in run[1] if result.query is not None]
    assert queries
    assert sum(query.progress["rows_dropped"] for query in queries) == 0


def test_every_flight_is_counted(run: tuple[Path, list[Any]], spark: SparkSession) -> None:
    daily = spark.read.format("delta").load(str(run[0] / "daily_delays"))
    assert daily.agg({"flights": "sum"}).collect()[0][0] == 336_776


def _rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    # As wall clocks: collect() would turn instants into the time zone of this machine.
    times = {f.name: F.col(f.name).cast("timestamp_ntz") for f in frame.schema if "timestamp" in f.dataType.typeName()}
    rows = frame.withColumns(times).collect() if times else frame.collect()
    return sorted((tuple(row) for row in rows), key=lambda row: tuple(map(str, row[:2])))


def _same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return all(_equal(x, y) for x, y in zip(a, b, strict=True))


def _equal(x: Any, y: Any) -> bool:
    if isinstance(x, float) and isinstance(y, float):
        return math.isclose(x, y, rel_tol=1e-9)
    return bool(x == y)

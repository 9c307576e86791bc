"""Makes the helpers beside these tests importable."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

sys.path.append(str(Path(__file__).parents[1]))


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    """A Spark session as sqlext sets one up, in UTC."""
    return _session(spark, "UTC")


@pytest.fixture(params=["UTC", "America/New_York"])
def zoned(spark: SparkSession, request: pytest.FixtureRequest) -> SparkSession:
    """The same in UTC and in a zone with DST."""
    return _session(spark, request.param)


def _session(spark: SparkSession, zone: str) -> SparkSession:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    session.conf.set("spark.sql.timeType.enabled", "true")
    return session

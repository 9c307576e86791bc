"""A Spark session as sqlext sets one up, for reading the same files on both paths."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sqlext.spark.settings_scope import query_settings

sys.path.append(str(Path(__file__).parents[1]))


@pytest.fixture(params=["UTC", "America/New_York"])
def zoned(spark: SparkSession, request: pytest.FixtureRequest) -> SparkSession:
    """The session in UTC and in a zone with DST."""
    session = spark.newSession()
    for key, value in query_settings(request.param, ()).items():
        session.conf.set(key, value)
    return session

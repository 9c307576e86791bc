"""The table that the answers of Flink were recorded over, as a Spark DataFrame."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def session(spark: SparkSession) -> SparkSession:
    """Return a session set up as ours are."""
    own = spark.newSession()
    own.conf.set("spark.sql.ansi.enabled", "true")
    own.conf.set("spark.sql.session.timeZone", "UTC")
    own.conf.set("spark.sql.timeType.enabled", "true")
    return own


@pytest.fixture(scope="session")
def strs(session: SparkSession) -> DataFrame:
    """Return the recorded table."""
    from recorded_flink import DERIVED, FILE_SCHEMA, RECORDED

    frame = session.read.schema(FILE_SCHEMA).json(str(RECORDED / "strs.json"))
    return frame.selectExpr("*", *DERIVED).coalesce(1).cache()

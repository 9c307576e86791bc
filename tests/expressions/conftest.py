"""The tables that the answers of Flink were recorded over, as Spark DataFrames."""

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
def frames(session: SparkSession) -> dict[str, DataFrame]:
    """Return the recorded tables, by the files of answers over them."""
    from recorded_flink import ANSWERS, RECORDED

    opened: dict[str, DataFrame] = {}
    for table in ANSWERS.values():
        if table.file not in opened:
            frame = session.read.schema(table.schema).json(str(RECORDED / table.file))
            opened[table.file] = frame.selectExpr(*table.derived).coalesce(1).cache()
    return {name: opened[table.file] for name, table in ANSWERS.items()}


@pytest.fixture(scope="session")
def strs(frames: dict[str, DataFrame]) -> DataFrame:
    """Return the table of the scalar functions."""
    return frames["scalars"]

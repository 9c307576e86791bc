"""Makes the helpers beside these tests importable."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

sys.path.append(str(Path(__file__).parent))


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    """A Spark session with settings of its own."""
    return spark.newSession()

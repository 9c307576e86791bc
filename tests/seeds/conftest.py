"""A session of its own for each test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.session.api import Session


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Session:
    """Return a session with a fresh catalog."""
    return sqlext.connect(spark, catalog=tmp_path / "catalog")

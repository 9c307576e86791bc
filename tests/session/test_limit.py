"""SELECT ... LIMIT over an endless table ends when it has its rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '20');"


def test_it_ends_with_its_rows(spark: SparkSession, tmp_path: Path) -> None:
    session = sqlext.connect(spark, catalog=tmp_path / "catalog")
    session.spark.conf.set("spark.sql.shuffle.partitions", "1")
    session.run(TABLE)
    result = session.sql("SELECT n / 10 AS m FROM numbers WHERE n <> 2 LIMIT 4 OFFSET 1")
    assert result.query is not None
    assert not result.query.bounded
    assert result.query.await_termination(120)
    assert result.query.exception is None
    assert len(set(result.rows)) == 4

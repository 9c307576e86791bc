"""Two Spark sessions of one process both know our data source."""

from __future__ import annotations

from pyspark.sql import SparkSession

from sqlext.connectors.socket.reader import SocketReader
from sqlext.spark.reading.data_source import ArrowInput, open_arrow


def test_a_session_beside_the_active_one(spark: SparkSession) -> None:
    """Spark asks the active session whether a name is taken, whichever session registers it."""
    given = ArrowInput(SocketReader("localhost", 1), "a INT, b STRING")
    first, second = spark.newSession(), spark.newSession()
    for session in (first, second, second, first):
        assert open_arrow(session, given).columns == ["a", "b"]
        first.createDataFrame([], "none INT")

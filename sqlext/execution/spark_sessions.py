"""Spark sessions, classic and over Spark Connect: what is told apart, in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_connect(spark: object) -> bool:
    """Whether a Spark session is a client of Spark Connect (its class cannot be imported without grpc)."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def is_spark(value: object) -> bool:
    """Whether a value is a Spark session, of either kind."""
    return type(value).__name__ == "SparkSession" and type(value).__module__.startswith("pyspark.sql.")


def own_session(spark: SparkSession) -> SparkSession:
    """Return a further session on the same Spark: settings and views that are made in it stay in it.

    Spark Connect has no ``newSession``; a clone has copies of the views and settings that there are.
    """
    if is_connect(spark):
        client: Any = spark
        cloned: SparkSession = client.cloneSession()
        return cloned
    return spark.newSession()

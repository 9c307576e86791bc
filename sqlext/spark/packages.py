"""Check that Spark has the packages that formats need beyond its own jars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlext.connectors.options import OptionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Formats that Spark has in packages of their own.
_PACKAGES = {"avro": "spark-avro", "kafka": "spark-sql-kafka-0-10"}
#: What a Spark must be started with for its SQL to know Delta.
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
EXTENSIONS = "spark.sql.extensions"
_NOT_LOADED = "AVRO_NOT_LOADED"
_NO_FORMAT = "DATA_SOURCE_NOT_FOUND"
#: A table that is not there.
_NOWHERE = "/no-such-folder-of-sqlext"


def has_delta(spark: SparkSession) -> bool:
    """Return whether a Spark was started with Delta's extension; platforms may have a Delta of their own without it."""
    return DELTA_EXTENSION in (spark.conf.get(EXTENSIONS, None) or "")


def require_delta(spark: SparkSession) -> None:
    """Check that Spark has Delta.

    Raises:
        OptionError: OPT-014 if the session was started without it.
    """
    if has_delta(spark):
        return
    try:
        spark.read.format("delta").load(_NOWHERE).schema  # noqa: B018 - analysed here, by Spark Connect too
    except Exception as error:  # a missing class is no AnalysisException, but Java's own
        if _NO_FORMAT not in str(error):
            return  # it looked for the table
        hint = f"start Spark with delta-spark and {EXTENSIONS}={DELTA_EXTENSION}"
        raise OptionError("OPT-014", "Spark has no format 'delta' here", option="connector", hint=hint) from error


def require_avro(spark: SparkSession) -> None:
    """Check that Spark has ``from_avro`` and ``to_avro``.

    Raises:
        OptionError: OPT-014 if the session was started without spark-avro.
    """
    from pyspark.errors import AnalysisException

    try:
        spark.range(0).selectExpr("to_avro(id)").schema  # noqa: B018 - analysed here, by Spark Connect too
    except AnalysisException as error:
        if _NOT_LOADED not in str(error):
            raise
        hint = package_hint("avro", spark.version)
        raise OptionError("OPT-014", "Spark has no format 'avro' here", option="format", hint=hint) from error


def package_hint(form: str, version: str) -> str:
    """Return how a Spark of some version gets a format that it has not."""
    name = _PACKAGES.get(form)
    package = f"org.apache.spark:{name}_2.13:{version}" if name else "..."
    return f"add its package when Spark is started: --conf spark.jars.packages={package}"

"""Make an archive of Spark's classes: the JVM maps them from a file, and starts in half the time.

``python -m sqlext.spark.class_archive`` makes it, and ``make`` calls that after the installation. The archive belongs
to this environment's pyspark and this Java; any other JVM ignores it.
"""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING

from sqlext.errors import SqlExtError
from sqlext.spark.local import ARCHIVE_LOGS_OFF, CLASS_ARCHIVE, local_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def make_archive() -> None:
    """Run a small streaming job in a JVM of its own, which writes at its exit which classes that took."""
    CLASS_ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    draft = CLASS_ARCHIVE.with_suffix(".draft")
    spark = local_spark(cores=2, java_options=f"-XX:ArchiveClassesAtExit={draft} {ARCHIVE_LOGS_OFF}")
    _exercise(spark)
    jvm = spark.sparkContext._gateway.proc  # type: ignore[union-attr]  # noqa: SLF001 - to wait for its exit
    spark.stop()
    jvm.stdin.close()
    jvm.wait()
    draft.replace(CLASS_ARCHIVE)


def _exercise(spark: SparkSession) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table, checkpoint = f"{folder}/table", f"{folder}/checkpoint"
        spark.range(100).selectExpr("id", "timestamp_millis(id * 1000) AS ts").write.json(f"{folder}/in")
        rows = spark.readStream.schema("id BIGINT, ts TIMESTAMP").json(f"{folder}/in")
        counts = rows.withWatermark("ts", "5 seconds").groupBy("id", "ts").count()
        query = counts.writeStream.format("delta").option("checkpointLocation", checkpoint)
        query.trigger(availableNow=True).start(table).awaitTermination()
        spark.read.format("delta").load(table).orderBy("id").collect()


if __name__ == "__main__":
    try:
        make_archive()
    except SqlExtError as e:
        sys.exit(e.render())

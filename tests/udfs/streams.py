"""A stream of files of numbers, run until it has read them all."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from sqlext_udfs.spark.registry import operator


def add_file(folder: Path, ids: Iterable[int | None]) -> None:
    """Add a file with a column ``id``."""
    folder.mkdir(parents=True, exist_ok=True)
    position = len(list(folder.iterdir()))
    pq.write_table(pa.table({"id": pa.array(ids, pa.int64())}), folder / f"{position:03}-{uuid.uuid4().hex}.parquet")


def numbers(spark: SparkSession, folder: Path) -> DataFrame:
    """Return the files as a stream, one in each micro-batch."""
    reader = spark.readStream.schema("id BIGINT").option("maxFilesPerTrigger", 1).option("latestFirst", "false")
    return reader.parquet(str(folder))


def run_distinct(frame: DataFrame, checkpoint: Path, arguments: Mapping[str, Any] | None = None) -> list[list[Any]]:
    """Return what DISTINCT gives out of each micro-batch, until all input is read."""
    batches: list[list[Any]] = []
    writer = operator("distinct").apply(frame, arguments or {}).writeStream
    writer = writer.foreachBatch(lambda batch, _: batches.append(batch.collect()))
    query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    query.awaitTermination()
    return batches


def counted(rows: Iterable[Any]) -> Counter[str]:
    """Return how often each row is there. As text: NaN is not equal to itself in Python."""
    return Counter(repr(row) for row in rows)

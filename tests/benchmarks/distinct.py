"""Streaming DISTINCT: the operator against Spark's own dropDuplicates(), in one run.

python tests/benchmarks/distinct.py [--rows 1000000] [--batches 6]

Prints seconds per micro-batch (the median after the first two) and the ratio. Both sides take turns, because the
machine may be shared: believe the ratios.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from sqlext.spark.local import local_spark
from sqlext_udfs.spark.registry import operator

_WARM_UP = 2
_FILES = 2  # per micro-batch: one for each core
_HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class Side(NamedTuple):
    """A way to do it."""

    name: str
    provider: str
    apply: Callable[[DataFrame], DataFrame]


SIDES = (
    Side("sqlext distinct", _ROCKSDB, lambda frame: operator("distinct").apply(frame, {})),
    Side("dropDuplicates, in memory", _HDFS, lambda frame: frame.dropDuplicates()),
    Side("dropDuplicates, RocksDB", _ROCKSDB, lambda frame: frame.dropDuplicates()),
)


def write_input(spark: SparkSession, folder: Path, rows: int, keys: int, batches: int) -> None:
    """Write one folder of files per micro-batch: a key and a text, at random."""
    for batch in range(batches):
        key = f"cast(rand({batch}) * {keys} as bigint)"
        frame = spark.range(0, rows, 1, _FILES).selectExpr(f"{key} as a").selectExpr("a", "concat('name-', a) as b")
        frame.write.parquet(str(folder / f"batch={batch}"))


def measure(spark: SparkSession, side: Side, source: Path, checkpoint: Path) -> list[float]:
    """Return the seconds of each micro-batch."""
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.stateStore.providerClass", side.provider)
    session.conf.set("spark.sql.files.openCostInBytes", str(1 << 30))  # a task for each file
    stream = session.readStream.schema("a BIGINT, b STRING").option("maxFilesPerTrigger", _FILES)
    frame = side.apply(stream.parquet(str(source / "batch=*")))
    writer = frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return [p.durationMs["triggerExecution"] / 1000 for p in query.recentProgress if p.numInputRows]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--keys", type=int, nargs="*", default=[1_000, 1_000_000])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        spark = local_spark(cores=2, folder=root / "spark")
        for keys in arguments.keys:
            source = root / f"in-{keys}"
            write_input(spark, source, arguments.rows, keys, arguments.batches)
            _compare(spark, source, root / f"checkpoints-{keys}", f"{arguments.rows:,} rows, {keys:,} keys")
        spark.stop()


def _compare(spark: SparkSession, source: Path, checkpoints: Path, title: str) -> None:
    print(f"\n{title}")
    medians: dict[str, float] = {}
    for side in SIDES:
        seconds = measure(spark, side, source, checkpoints / side.name)
        medians[side.name] = median(seconds[_WARM_UP:])
        each = " ".join(f"{s:.2f}" for s in seconds)
        print(f"  {side.name:28} {medians[side.name]:6.2f} s   ({each})", flush=True)
    ours, *others = medians.items()
    for name, theirs in others:
        print(f"  speed against {name}: {theirs / ours[1]:.2f}")


if __name__ == "__main__":
    main()

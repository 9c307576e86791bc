"""A driver of its own that runs DISTINCT, to be killed: FOLDER CORES PARTITIONS [BATCH MOMENT].

Writes each micro-batch to FOLDER/out/batch=N, over what a killed driver may have left there. At the MOMENT
(``before``, ``during``, ``after`` the write) of BATCH it makes the file FOLDER/now and, unless during, waits.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame
from streams import numbers

from sqlext.spark.local import local_spark
from sqlext_udfs.spark.registry import operator


def main(folder: Path, cores: int, partitions: str, kill: tuple[int, str]) -> None:
    """Run until all input is read."""
    settings = {"spark.sql.shuffle.partitions": partitions}
    spark = local_spark(cores=cores, folder=folder / f"spark-{cores}", settings=settings)

    def write(batch: DataFrame, number: int) -> None:
        _reach(folder, kill, (number, "before"))
        _reach(folder, kill, (number, "during"))
        batch.write.mode("overwrite").parquet(str(folder / "out" / f"batch={number}"))
        _reach(folder, kill, (number, "after"))

    frame = numbers(spark, folder / "in").selectExpr("id % 500 as n", "concat('n', id % 500) as s")
    writer = operator("distinct").apply(frame, {}).writeStream.foreachBatch(write)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()


def _reach(folder: Path, kill: tuple[int, str], moment: tuple[int, str]) -> None:
    if kill == moment:
        (folder / "now").touch()
        if moment[1] != "during":
            time.sleep(600)


if __name__ == "__main__":
    root, some_cores, some_partitions, *rest = sys.argv[1:]
    main(Path(root), int(some_cores), some_partitions, (int(rest[0]), rest[1]) if rest else (-1, ""))

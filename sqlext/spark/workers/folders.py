"""Try whether Spark sees a folder of this process: where it runs its driver, and where it runs workers."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How many files workers are to see: one for each task, and each is a job's least work.
_FILES = 32


@contextmanager
def signs(folder: Path) -> Iterator[list[Path]]:
    """Lay files into a folder, for the block; readers of the folder pass over the name."""
    place = folder / f"_seen-{uuid.uuid4().hex}"
    place.mkdir(parents=True)
    try:
        files = [place / f"{n}.txt" for n in range(_FILES)]
        for file in files:
            file.write_text("seen\n", encoding="utf-8")
        yield files
    finally:
        shutil.rmtree(place, ignore_errors=True)


def existing(folder: Path) -> Path:
    """Return a folder, or the next one above it that is there."""
    folder = folder.absolute()
    return next(place for place in (folder, *folder.parents) if place.exists())


def count_seen(spark: SparkSession, names: list[str]) -> int:
    """Return how many of some files workers see; raises what Spark raises where its driver does not see them.

    Spark reads them without Python. It gives each file a task, up to as many as it has cores.
    """
    # A file that is missing would else fail its task, and the next try may meet a worker that sees it.
    lenient = spark.read.option("ignoreMissingFiles", "true")
    return lenient.text(names).count()

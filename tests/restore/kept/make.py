"""Makes checkpoints of the engine as it is now, for versions to come: ``python -m tests.restore.kept.make [NAME ...]``.

Each query runs over the first part of its input; its folder as it is then goes to ``kept/<version>/<name>.tar.xz``, and
beside it the script, the rows that are to come and the answer of a run that was not interrupted. What lies there
already is left alone: it is of the engine that made it. Remove it, or give the names, to have it made anew.

A query is kept only if going on gives this answer now, and if it gives another one without its state.
"""

from __future__ import annotations

import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.spark.local import local_spark

from .queries import QUESTIONS, Question, inputs
from .runs import KEPT, Kept, Rows, alone, number_of_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def make(spark: SparkSession, name: str, question: Question) -> str:
    """Make one checkpoint; return what is to be said of it."""
    first, later = inputs(question)
    kept = Kept(version("sqlext-spark"), name, question.script, question.endless, len(first), later, {})
    rows, more = number_of_rows(first), number_of_rows(later)
    kept.clear()
    kept.put({**first, **later}, 0)
    kept.run(spark, rows + more)
    answer = kept.rows()

    kept.clear()
    kept.put(later, len(first))
    kept.run(spark, more)
    if kept.rows() == answer:
        raise ValueError("the rows before the checkpoint make no difference")

    kept.clear()
    kept.put(first, 0)
    kept.run(spark, rows)
    before = kept.rows()
    kept.pack()
    kept.put(later, len(first))
    kept.run(spark, more)
    if kept.rows() != answer:
        kept.packed.unlink()
        raise ValueError(f"going on gives other rows: {_differences(answer, kept.rows())}")
    Kept(kept.version, name, kept.script, kept.endless, kept.files, later, answer).write()
    kept.clear()
    counts = ", ".join(f"{len(before.get(sink, ()))} of {len(found)} rows of {sink}" for sink, found in answer.items())
    return f"{kept.packed.stat().st_size / 1024:.0f} KB, {counts}"


def _differences(whole: dict[str, Rows], interrupted: dict[str, Rows]) -> list[str]:
    found = []
    for sink in sorted(whole.keys() | interrupted.keys()):
        one, other = whole.get(sink, []), interrupted.get(sink, [])
        found += [f"{sink} without {row}" for row in one if row not in other]
        found += [f"{sink} with {row}" for row in other if row not in one]
    return found


def main(names: list[str]) -> int:
    """Make those that are named, or all that are not there yet."""
    there = KEPT / version("sqlext-spark")
    missing = [name for name in QUESTIONS if not (there / f"{name}.json").exists()]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, alone():
        spark = local_spark(cores=2, folder=Path(folder))
        for name in names or missing:
            try:
                print(f"{name}: {make(spark, name, QUESTIONS[name])}", flush=True)
            except Exception as error:  # noqa: BLE001 - the others are made
                failed += 1
                print(f"{name}: failed: {error}", flush=True)
        spark.stop()
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What a micro-batch of 100,000 rows costs when much state is kept: of operators alone, or of whole jobs on Spark.

python -m tests.benchmarks.kept_state [--keys 100000 1000000 10000000] [--batches 20] [--only NAME ...] [--ways ...]
python -m tests.benchmarks.kept_state --spark [--keys ...] [--batches ...] [--only NAME ...] [--ways ...]

Keys are loaded by large batches first. Then random keys come. ``one`` keeps a bucket's state as one value, ``levels``
as the rules say. Without Spark one bucket of eight is measured, and a micro-batch is eight times as much: milliseconds
of CPU to decode, to step, to encode, all, and the bytes that Spark's state would read and write. A level is read from
its file, as a worker does. With Spark it is seconds of a micro-batch, and CPU seconds of Python and the JVM together.
Operators that need a clock are measured without Spark.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.grouping.operator import GroupAggregate
from sqlext_udfs.joins.operator import JoinOperator
from sqlext_udfs.joins.specification import JoinSpecification
from sqlext_udfs.kernel.levelled import LevelEntry, Levelled, LevelRules, StepTimes
from sqlext_udfs.kernel.levels import Hashes, Level
from sqlext_udfs.kernel.operator import BucketOperator, Clock
from sqlext_udfs.ranking.operator import RankOperator
from sqlext_udfs.ranking.specification import RankSpecification, SortKey
from sqlext_udfs.spark.level_store import LevelFiles
from sqlext_udfs.windows.operator import WindowOperator
from sqlext_udfs.windows.policy import Policy, Tumble
from sqlext_udfs.windows.specification import WindowSpecification
from sqlext_udfs.windows.triggers.tree import AfterDelay, AfterWatermark, Delay, Repeat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROWS, _BUCKETS, _LOAD = 100_000, 8, 2_000_000
_HOUR = 3_600_000
_SECOND = 1000
_WAYS = {"one": LevelRules(smallest=1 << 40), "levels": LevelRules()}


class Case(NamedTuple):
    """A question.

    Attributes:
        operator: makes its operator.
        rows: makes rows of keys and a random generator.
    """

    operator: Callable[[], BucketOperator[Any]]
    rows: Callable[[Any, np.random.Generator], pa.Table]


def _values(keys: Any, random: np.random.Generator) -> pa.Table:
    return pa.table({"c0": keys, "c1": random.integers(0, 1000, len(keys)), "bucket": np.zeros(len(keys), np.int16)})


def _timed(keys: Any, random: np.random.Generator) -> pa.Table:
    times = random.integers(0, _HOUR, len(keys))
    return _values(keys, random).add_column(1, "time", pa.array(times)).rename_columns(["c0", "c1", "c2", "bucket"])


def _sided(keys: Any, random: np.random.Generator) -> pa.Table:
    side, value = random.integers(0, 2, len(keys)), random.integers(0, 1000, len(keys))
    columns = [keys, side.astype(np.int8), *(pa.array(value, mask=side != of) for of in (0, 1))]
    return pa.table([*columns, np.zeros(len(keys), np.int16)], ["c0", "c1", "c2", "c3", "bucket"])


_COUNT_SUM = AggregateCall("count"), AggregateCall("sum", (1,))
_SUM_OF_TIMED = AggregateCall("count"), AggregateCall("sum", (2,))
_EARLY = Policy(Tumble(_HOUR), AfterWatermark(early=Repeat(AfterDelay((Delay(_SECOND),)))), keep_index=False)
_INTS = [pa.int64(), pa.int64()]
CASES = {
    "GROUP BY": Case(
        lambda: GroupAggregate(WindowSpecification(1, Policy(Tumble(1), AfterWatermark()), _COUNT_SUM), _INTS),
        _values,
    ),
    "TUMBLE, early": Case(
        lambda: WindowOperator(WindowSpecification(1, _EARLY, _SUM_OF_TIMED, time=1), [*_INTS, pa.int64()]),
        _timed,
    ),
    "TOP 1": Case(
        lambda: RankOperator(RankSpecification(1, (0, 1), (SortKey(1),)), _INTS),
        _values,
    ),
    "JOIN": Case(
        lambda: JoinOperator(JoinSpecification(1, 1, (2,), (3,)), [pa.int64(), pa.int8(), pa.int64(), pa.int64()]),
        _sided,
    ),
}


@dataclass
class Shelf:
    """Stands for Spark's state: keeps levels as bytes, counts what is written, and has files as a worker does."""

    files: LevelFiles
    kept: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    written: int = 0

    def load(self, entry: LevelEntry) -> Level | None:
        """Return a level, if it is at hand."""
        return self.files.load(entry.id)

    def read(self, entry: LevelEntry) -> tuple[bytes, Hashes]:
        """Return a level as it is kept."""
        data, gone = self.kept[entry.id]
        return data, np.frombuffer(gone, np.uint64)

    def write(self, entry: LevelEntry, level: Level) -> None:
        """Keep a level."""
        self.kept[entry.id] = bytes(level.data), level.gone.tobytes()
        self.written += level.size
        self.remember(entry, level)

    def remember(self, entry: LevelEntry, level: Level) -> None:
        """Have a level at hand."""
        self.files.remember(entry.id, level)

    def remove(self, entry: LevelEntry) -> None:
        """Forget a level."""
        del self.kept[entry.id]
        self.files.remove(entry.id)


def measure(case: Case, keys: int, batches: int, rules: LevelRules) -> Iterator[str]:
    """Yield the figures of one bucket: mean and most milliseconds of CPU, megabytes that are read and written."""
    random, operator = np.random.default_rng(0), case.operator()
    own = keys // _BUCKETS
    now = iter(range(0, 1 << 40, 2 * _SECOND))
    with tempfile.TemporaryDirectory() as folder:
        shelf, data = Shelf(LevelFiles(Path(folder))), None
        bucket = Levelled(operator, 1, rules)
        for start in range(0, own, _LOAD // _BUCKETS):
            some = np.arange(start, min(start + _LOAD // _BUCKETS, own)) * _BUCKETS
            data = bucket.step(data, _gathered(case, operator, some, random), _times(next(now)), shelf).kept or data
        spent, moved = [], []
        for _ in range(batches):
            rows = _gathered(case, operator, random.integers(0, own, _ROWS // _BUCKETS) * _BUCKETS, random)
            shelf.written, times, began = 0, _times(next(now)), time.process_time()
            done = bucket.step(data, rows, times, shelf)
            spent.append(1000 * (time.process_time() - began))
            moved.append((len(data or b"") + len(done.kept or b"") + shelf.written) / 1e6)
            data = done.kept or data
        parts = _parts(operator, data, rows) if rules.smallest > 1 << 32 else ""
        yield f"{mean(spent):8.1f} {median(spent):8.1f} {max(spent):8.1f} ms {mean(moved):8.1f} MB  {parts}"


def _times(now: int) -> StepTimes:
    return StepTimes(Clock(0, 0, now), now - 2 * _SECOND)


def _parts(operator: BucketOperator[Any], data: bytes | None, rows: pa.Table) -> str:
    assert data is not None
    spent = [time.process_time()]
    state = operator.decode(data)
    spent.append(time.process_time())
    state = operator.step(state, rows, Clock(0, 0, 0)).state
    spent.append(time.process_time())
    operator.encode(state)
    spent.append(time.process_time())
    decoding, stepping, encoding = 1000 * np.diff(spent)
    return f"decode {decoding:.1f} step {stepping:.1f} encode {encoding:.1f}, {len(data) / 1e6:.1f} MB"


def _gathered(case: Case, operator: BucketOperator[Any], keys: Any, random: np.random.Generator) -> pa.Table:
    partial = operator.partial(case.rows(keys, random))
    return operator.gathered([partial.remove_column(partial.num_columns - 1)])


def measure_job(case: Case, keys: int, batches: int, rules: LevelRules) -> Iterator[str]:
    """Yield the figures of a stream on Spark: seconds and CPU seconds of its micro-batches after the loading ones."""
    from sqlext.spark.local import local_spark

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        loads = _write_files(case, place / "in", keys, batches)
        spark = local_spark()
        out = _applied(case, spark.readStream.schema(_ddl(case)).option("maxFilesPerTrigger", 1), place / "in", rules)
        taken: list[tuple[float, float]] = []

        def noted(frame: DataFrame, number: int) -> None:
            frame.write.format("noop").mode("overwrite").save()
            taken.append((time.monotonic(), _cpu_seconds()))

        writer = out.writeStream.foreachBatch(noted).option("checkpointLocation", str(place / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        after = np.diff(np.array(taken), axis=0)[loads:]
        wall, cpu = after[:, 0], after[:, 1]
        size = sum(f.stat().st_size for f in (place / "checkpoint" / "state").rglob("*.changelog"))
        yield (
            f"wall mean {wall.mean():6.2f} median {np.median(wall):6.2f} most {wall.max():6.2f} s, "
            f"CPU mean {cpu.mean():6.2f} median {np.median(cpu):6.2f} s, changelogs {size / 1e6:,.0f} MB"
        )


def _write_files(case: Case, folder: Path, keys: int, batches: int) -> int:
    """Write a file for each micro-batch; return how many load keys."""
    random = np.random.default_rng(0)
    folder.mkdir()
    loads = [np.arange(start, min(start + _LOAD, keys)) for start in range(0, keys, _LOAD)]
    for number, some in enumerate([*loads, *(random.integers(0, keys, _ROWS) for _ in range(batches))]):
        rows = case.rows(some, random)
        pq.write_table(rows.remove_column(rows.num_columns - 1), folder / f"{number:04}.parquet")
        os.utime(folder / f"{number:04}.parquet", (number, number))
    return len(loads)


def _ddl(case: Case) -> str:
    schema = case.rows(np.zeros(1, np.int64), np.random.default_rng(0)).schema
    return ", ".join(f"{f.name} {'TINYINT' if pa.types.is_int8(f.type) else 'BIGINT'}" for f in list(schema)[:-1])


def _applied(case: Case, reader: Any, folder: Path, rules: LevelRules) -> DataFrame:
    from pyspark.sql.types import StructField, StructType

    from sqlext_udfs.spark import buckets
    from sqlext_udfs.spark.arrow_schemas import spark_type

    buckets.RULES = rules
    operator = case.operator()
    empty = operator.step(operator.empty(), None, Clock(0, 0, 0)).out
    output = StructType([StructField(f"o{i}", spark_type(of.type)) for i, of in enumerate(empty.schema)])
    return buckets.apply_in_buckets(reader.parquet(str(folder)), operator, keys=[0], output=output, buckets=_BUCKETS)


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and all that it has started, also of those that have ended."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(folder.name)] = int(fields[1])
            ticks[int(folder.name)] = sum(map(int, fields[11:15]))
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(ticks[pid] for pid in mine) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", nargs="*", type=int, default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--ways", nargs="*", default=list(_WAYS), choices=list(_WAYS))
    parser.add_argument("--spark", action="store_true")
    given = parser.parse_args()
    for name in given.only:
        for keys in given.keys:
            for way in given.ways:
                if given.spark and name == "TUMBLE, early":
                    continue
                for line in (measure_job if given.spark else measure)(CASES[name], keys, given.batches, _WAYS[way]):
                    print(f"{name:14} {keys:>10,} {way:6} {line}", flush=True)


if __name__ == "__main__":
    main()

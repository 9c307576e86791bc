"""Read the state that an operator has in an old checkpoint, divided into other buckets.

Each old bucket is divided by its keys where it is read. The pieces of a new bucket meet, and become one state. What
comes out is the initial state of the operator in a new checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.bucket_keys import bucket_keys
from sqlext_udfs.kernel.dividing import Wanted, greatest
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.kernel.levelled import VERSION, LevelEntry, Levelled, LevelRules
from sqlext_udfs.kernel.levels import Hashes
from sqlext_udfs.kernel.operator import BucketOperator
from sqlext_udfs.spark.bucket_processor import CLOCK, LEVELS, STATE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Columns of a key, how many rows there are, and how many buckets -> the bucket of each row.
BucketsOf = Callable[[Sequence[pa.Array], int, int], Ints]
#: The initial state of a bucket: its grouping key, state, and the time that the old buckets knew.
INITIAL = "bucket INT, state BINARY, watermark BIGINT, now BIGINT"
_LEVELS = "ARRAY<STRUCT<id STRING, state BINARY, gone BINARY>>"
_SCHEMA = pa.schema([("bucket", pa.int32()), ("state", pa.binary()), ("watermark", pa.int64()), ("now", pa.int64())])


@dataclass(frozen=True)
class StateBefore:
    """The state of one operator in a checkpoint.

    Attributes:
        place: the folder, as Spark names it, where the state lies when it is divided.
        checkpoint: that of the state, which is divided now; None where that is done. A checkpoint can be read where it
            was made alone, as it names whole paths.
        number: the operator's, as Spark counts those with state.
        buckets_of: finds buckets of keys.
    """

    place: str
    checkpoint: str | None
    number: int
    buckets_of: BucketsOf

    def in_buckets(
        self, spark: SparkSession, operator: BucketOperator[Any], *, keys: int, buckets: int, timed: bool
    ) -> DataFrame:
        """Return the state for other buckets, as ``INITIAL``, which is kept at the place.

        Args:
            spark: reads it.
            operator: whose state it is.
            keys: how many of its first columns are the key.
            buckets: how many there are to be.
            timed: whether it keeps what time it is.
        """
        divided = f"{self.place}/{self.number}"
        if self.checkpoint is not None:
            rows = self._divided(spark, self.checkpoint, operator, keys, buckets, timed=timed)
            rows.write.mode("overwrite").parquet(divided)
        return spark.read.schema(INITIAL).parquet(divided)

    def _divided(
        self,
        spark: SparkSession,
        checkpoint: str,
        operator: BucketOperator[Any],
        keys: int,
        buckets: int,
        *,
        timed: bool,
    ) -> DataFrame:
        kept = _variable(spark, checkpoint, self.number, STATE).selectExpr(
            "key.bucket AS bucket", "value.state AS state"
        )
        kept = self._with_levels(spark, checkpoint, kept)
        if timed:
            clock = _variable(spark, checkpoint, self.number, CLOCK).selectExpr(
                "key.bucket AS bucket", "value.watermark", "value.now"
            )
            kept = clock.join(kept, "bucket", "left").select("bucket", "state", "watermark", "now", "levels")
        else:
            kept = kept.selectExpr(
                "bucket", "state", "CAST(NULL AS BIGINT) AS watermark", "CAST(NULL AS BIGINT) AS now", "levels"
            )
        dividing = _Dividing(operator, keys, bucket_keys(buckets), self.buckets_of)
        return (
            kept.mapInArrow(dividing.divided, INITIAL)
            .groupBy("bucket")
            .applyInArrow(lambda pieces: dividing.together(pieces), INITIAL)
        )

    def _with_levels(self, spark: SparkSession, checkpoint: str, kept: DataFrame) -> DataFrame:
        """Return buckets with the levels of their states, as a column of arrays."""
        from pyspark.sql import functions as f

        # A checkpoint of an earlier release has no such variable, and asking for it is an error.
        if kept.filter(f"substring(state, 1, 1) = X'{VERSION:02X}'").isEmpty():
            return kept.selectExpr("*", f"CAST(NULL AS {_LEVELS}) AS levels")
        level = "struct(user_map_value.id AS id, user_map_value.state AS state, user_map_value.gone AS gone) AS level"
        levels = _variable(spark, checkpoint, self.number, LEVELS).selectExpr("key.bucket AS bucket", level)
        return kept.join(levels.groupBy("bucket").agg(f.collect_list("level").alias("levels")), "bucket", "left")


def _variable(spark: SparkSession, checkpoint: str, number: int, name: str) -> DataFrame:
    """Return a state variable of an operator."""
    # Spark's tasks ask the driver who has the state; nobody answers before the session's streams were asked for once.
    _ = spark.streams.active
    reader = spark.read.format("statestore").option("operatorId", number).option("stateVarName", name)
    return reader.load(checkpoint)


@dataclass(frozen=True)
class _Read:
    """The levels of a bucket in a checkpoint, by id: of each its state, and hashes of keys (a ``LevelStore``)."""

    levels: Mapping[str, tuple[bytes, bytes]]

    def read(self, entry: LevelEntry) -> tuple[bytes, Hashes]:
        """Return a level."""
        data, gone = self.levels[entry.id]
        return data, np.frombuffer(gone, np.uint64)


@dataclass(frozen=True)
class _Dividing:
    """Runs in Python workers.

    Attributes:
        keys: how many columns choose the bucket.
        groups: the grouping key of each new bucket.
    """

    operator: BucketOperator[Any]
    keys: int
    groups: Sequence[int]
    buckets_of: BucketsOf

    def divided(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the pieces of each old bucket."""
        for batch in batches:
            for row in range(batch.num_rows):
                _, state, watermark, now, levels = (batch.column(place)[row] for place in range(batch.num_columns))
                known = self._whole(state.as_py(), levels.as_py() or ()) if state.is_valid else None
                for bucket, group in enumerate(self.groups):
                    piece = None if known is None else self._piece(known, bucket)
                    yield _row(group, piece, watermark.as_py(), now.as_py())

    def together(self, pieces: pa.Table) -> pa.Table:
        """Return the state of one new bucket."""
        states = [self.operator.decode(s.as_py()) for s in pieces.column("state").combine_chunks() if s.is_valid]
        made = self.operator.encode(self.operator.together(states)) if states else None
        # All buckets of a micro-batch saw the same time; one that had not begun yet saw none.
        watermark, now = (greatest(pieces.column(name).to_pylist()) for name in ("watermark", "now"))
        return pa.Table.from_batches([_row(pieces.column("bucket")[0].as_py(), made, watermark, now)])

    def _whole(self, data: bytes, levels: Sequence[Mapping[str, Any]]) -> Any:
        read = _Read({level["id"]: (level["state"], level["gone"]) for level in levels})
        return Levelled(self.operator, self.keys, LevelRules()).whole(data, read)

    def _piece(self, state: Any, bucket: int) -> bytes:
        return self.operator.encode(
            self.operator.of_keys(state, wanted(self.buckets_of, self.keys, bucket, self.count))
        )

    @property
    def count(self) -> int:
        """How many buckets there are to be."""
        return len(self.groups)


def wanted(buckets_of: BucketsOf, keys: int, bucket: int, buckets: int) -> Wanted:
    """Return what tells the rows of one bucket, by the first ``keys`` of the columns that it is given."""

    def are_wanted(columns: Sequence[pa.Array], rows: int) -> Bools:
        found: Bools = buckets_of(columns[:keys], rows, buckets) == bucket
        return found

    return are_wanted


def _row(group: int, state: bytes | None, watermark: int | None, now: int | None) -> pa.RecordBatch:
    values = ([group], [state], [watermark], [now])
    return pa.record_batch([pa.array(v, f.type) for v, f in zip(values, _SCHEMA, strict=True)], _SCHEMA)

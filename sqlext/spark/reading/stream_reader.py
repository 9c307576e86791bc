"""Read a source of ours as a stream of Spark's, with limits of a micro-batch (``capabilities.ADMISSION``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from sqlext.connectors.moments import moment_between, rows_alone
from sqlext.connectors.splits import Limit
from sqlext.sources.stream import SplitStream
from sqlext.spark.reading.data_source import ArrowInput, partitions_of, rows_of

if TYPE_CHECKING:
    import pyarrow as pa


class ArrowStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets beside the driver, rows in the workers."""

    def __init__(self, source: ArrowInput) -> None:
        self._source = source
        self._stream = SplitStream(source.reader, source.holds, source.time)

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """Return where a new query begins."""
        return self._stream.initial()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return the limit of a micro-batch."""
        limit = self._source.limit
        return ReadAllAvailable() if limit is None else _LIMITS[limit.unit](limit.most)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """Return where the next micro-batch ends."""
        return self._stream.latest(start, _limit(limit))

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Take what is there now, and no more."""
        self._stream.stop_at_what_is_there()

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Return the slices of a micro-batch."""
        before, after = rows_alone(start), rows_alone(end)
        slices = self._source.reader.slices(before, after) if before != after else ()
        return partitions_of(slices, moment_between(start, end))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield what is made of a slice."""
        yield from rows_of(self._source, partition)

    def commit(self, end: dict[str, int]) -> None:
        """Let the source forget what is through."""
        self._source.reader.commit(rows_alone(end))

    def stop(self) -> None:
        """Give free what the driver's side has opened."""
        self._source.reader.close()


_LIMITS: dict[str, type[ReadMaxRows] | type[ReadMaxFiles] | type[ReadMaxBytes]] = {
    "rows": ReadMaxRows,
    "files": ReadMaxFiles,
    "bytes": ReadMaxBytes,
}


def _limit(given: ReadLimit) -> Limit | None:
    if isinstance(given, ReadMaxRows):
        return Limit("rows", given.max_rows)
    if isinstance(given, ReadMaxFiles):
        return Limit("files", given.max_files)
    return Limit("bytes", given.max_bytes) if isinstance(given, ReadMaxBytes) else None

"""Define the Spark data source of our Arrow readers: any ``SplitReader``, and the work on its rows.

Spark asks a source for columns, offsets and rows in processes of their own, which start one after the other. Each
loads no more than it needs, so the work on rows is unpacked only where rows are.
"""

from __future__ import annotations

import base64
import copy
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, cast

from pyspark import cloudpickle
from pyspark.errors import AnalysisException
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from sqlext.capabilities import ADMISSION, require
from sqlext.connectors.moments import TimeMessage, TimeWithRows
from sqlext.connectors.splits import Limit, Slice, SplitReader
from sqlext.sources.stream import HoldsPlace, Read, Work
from sqlext_udfs.kernel.worker_memory import spare_what_is_loaded

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

#: The name of the data source, and of its options. A reader may hold credentials, and Spark does not show options whose
#: names say ``secret``.
FORMAT = "sqlext"
_INPUT, _COLUMNS = "secret.input", "columns"


@dataclass(frozen=True)
class ArrowInput:
    """A source and all that Spark is told of it.

    Attributes:
        reader: the source.
        schema: Spark DDL of what comes out.
        work: what is made of its rows.
        limit: the most that a micro-batch takes.
        holds, time: see ``SplitStream``.
    """

    reader: SplitReader
    schema: str
    work: Work = field(default_factory=Work)
    limit: Limit | None = None
    holds: HoldsPlace | None = None
    time: TimeWithRows | None = None


def open_at_once(spark: SparkSession, source: ArrowInput) -> DataFrame:
    """Return all that a source has now, as a static DataFrame.

    Of a static data source Spark would ask for columns, slices and rows in a process each, one after the other. The
    driver knows all of that.
    """
    reader = copy.deepcopy(source.reader)  # what it opens here cannot go to the workers
    try:
        start = reader.initial()
        slices = [pickle.dumps(piece) for piece in reader.slices(start, reader.latest(start, None))]
    finally:
        reader.close()
    # A task for each slice, which unpacks its own alone.
    tasks = spark.range(0, len(slices), 1, max(len(slices), 1))
    return tasks.mapInArrow(partial(_read_slices, source, slices), source.schema)


def _read_slices(
    source: ArrowInput, slices: Sequence[bytes], numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield what is made of some slices, by their numbers."""
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            piece: Slice = pickle.loads(slices[number])  # noqa: S301 - Spark itself sends it so
            yield from rows_of(source, SlicePartition(piece, number))


def open_arrow(spark: SparkSession, source: ArrowInput) -> DataFrame:
    """Return a source as a streaming DataFrame."""
    _register(spark)
    dumps: Callable[[object], bytes] = cloudpickle.dumps
    packed = base64.b64encode(dumps(replace(source, work=_Sealed(dumps(source.work))))).decode("ascii")
    return spark.readStream.format(FORMAT).option(_INPUT, packed).option(_COLUMNS, source.schema).load()


def _register(spark: SparkSession) -> None:
    """Make the format known to a session.

    Spark looks whether a name is taken in the session that is active in its thread, which may be another one that has
    our format. So a refusal says something of this session only once this session is the active one.
    """
    if not _registered(spark):
        spark.createDataFrame([], "none INT")  # the public call that makes a session the active one
        _registered(spark)


def _registered(spark: SparkSession) -> bool:
    """Register the format, and return whether Spark took it; it refuses what the active session has."""
    try:
        spark.dataSource.register(ArrowSource)
    except AnalysisException as error:
        if error.getCondition() != "DATA_SOURCE_ALREADY_EXISTS":
            raise
        return False
    return True


@dataclass(frozen=True)
class _Sealed(Work):
    """The work on rows, pickled until there are some."""

    packed: bytes

    def process(self, split: str, read: Read, place: int = 0) -> Iterator[pa.RecordBatch]:
        """Do it."""
        return self._work.process(split, read, place)

    def told(self, moment: TimeMessage) -> Iterator[pa.RecordBatch]:
        """Tell the time."""
        return self._work.told(moment)

    @cached_property
    def _work(self) -> Work:
        return cast(Work, pickle.loads(self.packed))  # noqa: S301 - Spark itself sends it so


class ArrowSource(DataSource):
    """Spark's side of an ``ArrowInput``."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return FORMAT

    def schema(self) -> str:
        """Return the columns that come out."""
        return self.options[_COLUMNS]

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Return the reader.

        Raises:
            SqlExtError: ENV-014 where Spark has no admission control for it.
        """
        require(ADMISSION)
        from sqlext.spark.reading.stream_reader import ArrowStreamReader  # what it is made of may be missing

        return ArrowStreamReader(self._input())

    def _input(self) -> ArrowInput:
        # Spark itself sends this class by pickle: whoever can set the option can run code anyway.
        return cast(ArrowInput, pickle.loads(base64.b64decode(self.options[_INPUT])))  # noqa: S301


class SlicePartition(InputPartition):
    """A slice as Spark's partition, and its number in the micro-batch; with what is told of time, or that alone."""

    def __init__(self, value: Slice | None, place: int = 0, moment: TimeMessage | None = None) -> None:
        super().__init__(value)
        self.place, self.moment = place, moment


def partitions_of(slices: Sequence[Slice], moment: TimeMessage | None) -> Sequence[InputPartition]:
    """Return the partitions of a micro-batch; the first one tells the time."""
    if moment is None or slices:
        return [SlicePartition(piece, n, None if n else moment) for n, piece in enumerate(slices)]
    return [SlicePartition(None, 0, moment)]


def rows_of(source: ArrowInput, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """Yield what is made of a slice."""
    assert isinstance(partition, SlicePartition)
    if partition.moment is not None:
        yield from source.work.told(partition.moment)
    piece = cast("Slice | None", partition.value)
    if piece is not None:
        yield from source.work.process(piece.split, partial(source.reader.read, piece), partition.place)
    spare_what_is_loaded()

"""Decode parquet by row groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.parquet as pq

from sqlext.connectors.row_bounds import ColumnBounds
from sqlext.connectors.splits import Passes
from sqlext.errors import SqlExtError
from sqlext.locations import is_remote
from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.malformed import BAD_ROW, BROKEN_FILE
from sqlext.sources.file_slices import Range
from sqlext_udfs.kernel.arrow_numpy import whole

#: Arrow gives a batch room for a power of two of values, and wants room for the whole page in which it ends. Where
#: there is none, all values are copied into twice the room, and back. Writers end pages after 20,000 rows.
_PAGE_ROWS = 20_000
#: Rows of a batch where columns have few bytes: little is paid for batches, and their columns stay in the processor's
#: caches. Of columns of any length nobody knows the bytes.
_MOST_ROWS, _ROWS_OF_ANY_LENGTH = (1 << 19) - _PAGE_ROWS, 1 << 18
_BATCH_BYTES = 1 << 23
#: Written by Spark before 3.0: dates and times by another calendar, which only Spark turns back.
_OLD_CALENDAR = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_WIDENINGS = {
    (pa.int8(), pa.int16()),
    (pa.int8(), pa.int32()),
    (pa.int8(), pa.int64()),
    (pa.int16(), pa.int32()),
    (pa.int16(), pa.int64()),
    (pa.int32(), pa.int64()),
    (pa.float32(), pa.float64()),
    (pa.int8(), pa.float64()),
    (pa.int16(), pa.float64()),
    (pa.int32(), pa.float64()),
}
#: How many digits before the point a DECIMAL needs for an integer.
_DIGITS = {pa.int8(): 10, pa.int16(): 10, pa.int32(): 10, pa.int64(): 20}


@dataclass(frozen=True)
class ParquetDecoder:
    """Reads parquet files.

    Attributes:
        columns: those that are read; one that a file lacks is NULL there, as in Spark.
        stored: the names of columns in files, where these are others.
    """

    columns: tuple[ArrowField, ...]
    stored: Mapping[str, str] = field(default_factory=dict, hash=False)

    def can_cut(self, path: str) -> bool:
        """Return whether a file can be read in parts: its row groups."""
        return True

    def read(self, part: Range, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the row groups whose middle lies in a part of a file; they have statistics.

        Raises:
            SqlExtError: RUN-065 for a column of another type, for times of an old calendar; RUN-066 for what is no
                parquet file.
        """
        try:
            with _opened(part) as file:
                self._check(file, part.path)
                groups = _groups(file.metadata, part)
                yield from self._rows(file, [g for g in groups if passes is None or not self._passed(file, g, passes)])
        except (pa.ArrowInvalid, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise SqlExtError(BAD_ROW, f"`{part.path}`: {error}", hint=BROKEN_FILE) from error

    def _passed(self, file: pq.ParquetFile, number: int, passes: Passes) -> bool:
        group = file.metadata.row_group(number)
        chunks = {c.path_in_schema: c for c in map(group.column, range(group.num_columns))}
        found = {c.name: _bounds(file.schema_arrow, chunks, self._stored(c), group.num_rows) for c in self.columns}
        return passes({name: bounds for name, bounds in found.items() if bounds is not None}, group.num_rows)

    def _rows(self, file: pq.ParquetFile, groups: list[int]) -> Iterator[pa.RecordBatch]:
        if not groups:
            return
        columns = [(c.name, self._stored(c)) for c in self.columns]
        there = [c.name for _, c in columns if c.name in file.schema_arrow.names]
        for batch in file.iter_batches(_batch_rows(self.columns), groups, there, use_threads=False):
            found = dict(zip(batch.schema.names, batch.columns, strict=True))
            if not self.columns:
                yield pa.record_batch({"": pa.nulls(batch.num_rows)})
                continue
            yield pa.record_batch(
                {
                    name: _as(whole(found[c.name]), c.type) if c.name in found else pa.nulls(batch.num_rows, c.type)
                    for name, c in columns
                }
            )

    def _stored(self, column: ArrowField) -> ArrowField:
        """Return a column under its name in the files."""
        return column._replace(name=self.stored.get(column.name, column.name))

    def _check(self, file: pq.ParquetFile, path: str) -> None:
        known = file.metadata.metadata or {}
        times = any(pa.types.is_temporal(c.type) for c in self.columns)
        if times and any(key in known for key in _OLD_CALENDAR):
            raise _other(path, "has times of the calendar of Spark 2")
        for column in map(self._stored, self.columns):
            if column.name not in file.schema_arrow.names:
                continue
            own = file.schema_arrow.field(column.name).type
            if not fits(own, column.type):
                raise _other(path, f"has column `{column.name}` of type {own}, declared is {column.type}")


def _batch_rows(columns: Iterable[ArrowField]) -> int:
    try:
        width = sum(int(column.type.bit_width) for column in columns)
    except ValueError:  # a type without a width
        return _ROWS_OF_ANY_LENGTH
    return min(_MOST_ROWS, max(_ROWS_OF_ANY_LENGTH, 8 * _BATCH_BYTES // max(1, width)))


def _opened(part: Range) -> pq.ParquetFile:
    """Return a file; of one in an object store the columns of a row group are asked for at once, in parallel."""
    far = is_remote(part.path)
    file = part.access.opened(part.path) if far else part.path
    # INT96 would come as nanoseconds, which reach from 1677 to 2262 only.
    return pq.ParquetFile(
        file,
        coerce_int96_timestamp_unit="us",
        memory_map=not far,
        pre_buffer=far,
        page_checksum_verification=True,
    )


def _other(path: str, what: str) -> SqlExtError:
    return SqlExtError("RUN-065", f"`{path}` {what}", hint="SET 'sqlext.source' = 'spark' reads it as Spark does")


def _groups(metadata: pq.FileMetaData, part: Range) -> list[int]:
    """Return the row groups whose middle lies in a part of the file: each is in exactly one, as Spark splits them."""
    found = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        first = min(_start(group.column(i)) for i in range(group.num_columns))
        size = sum(group.column(i).total_compressed_size for i in range(group.num_columns))
        if part.start <= first + size // 2 < part.end:
            found.append(number)
    return found


def _bounds(
    schema: pa.Schema, chunks: Mapping[str, pq.ColumnChunkMetaData], column: ArrowField, rows: int
) -> ColumnBounds | None:
    """Return what a row group's statistics say of a column; nothing of FLOAT and DOUBLE, where NaN is not counted."""
    if column.name not in schema.names:
        return ColumnBounds(pa.array([], column.type), rows)
    chunk = chunks.get(column.name)
    known = chunk.statistics if chunk is not None and chunk.is_stats_set else None
    if known is None or not known.has_null_count or pa.types.is_floating(column.type):
        return None
    if known.null_count == rows:
        return ColumnBounds(pa.array([], column.type), rows)
    if not known.has_min_max:
        return None
    try:
        own = pa.array([known.min, known.max], schema.field(column.name).type)
        return ColumnBounds(_as(own, column.type), known.null_count)
    except (ValueError, OverflowError, pa.ArrowException):  # a time that Python has not, a text that was cut off
        return None


def _start(chunk: pq.ColumnChunkMetaData) -> int:
    places: list[int] = [p for p in (chunk.dictionary_page_offset, chunk.data_page_offset) if p]
    return min(places)


def fits(own: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether a column of a file is read as another type without loss."""
    if own == wanted or (own, wanted) in _WIDENINGS:
        return True
    if pa.types.is_large_string(own) or pa.types.is_string_view(own):
        return bool(pa.types.is_string(wanted))
    if pa.types.is_large_binary(own) or pa.types.is_binary_view(own):
        return bool(pa.types.is_binary(wanted))
    if pa.types.is_decimal(wanted):
        return _fits_decimal(own, wanted)
    # An instant takes both kinds of times: a wall clock is the instant that it is in UTC.
    both = pa.types.is_timestamp(own) and pa.types.is_timestamp(wanted)
    return both and own.unit in ("ms", "us") and (wanted.tz is not None or own.tz is None)


def _fits_decimal(own: pa.DataType, wanted: pa.DataType) -> bool:
    digits = wanted.precision - wanted.scale
    if pa.types.is_decimal(own):
        return bool(own.scale <= wanted.scale and own.precision - own.scale <= digits)
    return own in _DIGITS and digits >= _DIGITS[own]


def _as(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    if column.type == wanted:
        return column
    if pa.types.is_timestamp(wanted):
        # ``view`` keeps the number: a wall clock becomes the instant that it is in UTC.
        return column.cast(pa.timestamp("us", column.type.tz)).view(wanted)
    return column.cast(wanted)

"""Decode Avro records of messages, many at once: column by column, without a loop over records.

A record has no marks: where a field begins is known once those before it have been read. So all records are read side
by side, a field at a time, with an array of places (Avro 1.12, "Binary Encoding"). What Spark's ``from_avro`` refuses
is refused: a record that ends too early, a branch of a union that there is not, a number of too many bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.block_texts import texts_at
from sqlext.sources.decoding.malformed import BadValueError
from sqlext.sources.decoding.text_messages import Reader
from sqlext_udfs.kernel.groups import Ints

_Bytes = np.ndarray[Any, np.dtype[np.uint8]]

#: The most bytes of a number, as Java's decoder has it.
_INT_BYTES, _LONG_BYTES = 5, 10
#: Around the records: what may be read beyond one before that is found out.
_AROUND = bytes(16)


@dataclass(frozen=True)
class AvroField:
    """A field of a record.

    Attributes:
        kind: how it is written, one of ``KINDS``.
        nullable: whether it is the union of null and its type, null first.
        type: as what it is read; None: it is passed over.
        ticks: microseconds of a tick, where it is a time.
    """

    name: str
    kind: str
    nullable: bool
    type: pa.DataType | None
    ticks: int = 1


@dataclass(frozen=True)
class AvroValues:
    """Values that are Avro records of one schema, without a header.

    Attributes:
        fields: all of the record, in order.
    """

    fields: tuple[AvroField, ...]

    @property
    def columns(self) -> Sequence[ArrowField]:
        """What is read of them."""
        return tuple(ArrowField(f.name, f.type) for f in self.fields if f.type is not None)

    def reader(self) -> Reader:
        """Return what makes rows of them."""
        return self._rows

    def _rows(self, texts: Sequence[bytes]) -> pa.RecordBatch:
        records = _Records(texts)
        return pa.record_batch({f.name: column for f in self.fields if (column := _column(f, records)) is not None})


class _Records:
    """Records side by side, and how far each has been read.

    Args:
        texts: at least one record.
    """

    def __init__(self, texts: Sequence[bytes]) -> None:
        self.block = b"".join([_AROUND, *texts, _AROUND])
        self.data: _Bytes = np.frombuffer(self.block, np.uint8)
        bounds: Ints = np.cumsum([len(_AROUND), *map(len, texts)], dtype=np.int64)
        # A copy: places move as records are read, and ends are in the same memory.
        self.places, self._ends = bounds[:-1].copy(), bounds[1:]
        self.all: Ints = np.arange(len(texts))

    def whole(self, rows: Ints, most: int) -> Ints:
        """Read a number of some records: seven bits a byte, the lowest first, the sign in the lowest bit."""
        found, left = np.zeros(len(self.all), np.uint64), rows
        for n in range(most):
            byte = self.data[self.places[left]]
            found[left] |= (byte & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * n)
            self.places[left] += 1
            left = left[byte > 0x7F]
            if not len(left):
                break
            self.require(left, self.places[left] < self._ends[left], "it ends within a number")
        self.refuse(left, f"a number of more than {most} bytes")
        self.require(rows, self.places[rows] <= self._ends[rows], "it ends too early")
        # Java's decoder drops what a fifth byte has beyond the 32 bits of an int.
        values = found[rows] if most == _LONG_BYTES else found[rows] & np.uint64(0xFFFFFFFF)
        # Zigzag: 0, 1, 2, 3 stand for 0, -1, 1, -2.
        numbers: Ints = (values >> np.uint64(1)).astype(np.int64) ^ -(values & np.uint64(1)).astype(np.int64)
        return numbers

    def passed(self, rows: Ints, lengths: Any) -> Ints:
        """Pass over so many bytes of some records; return where they began."""
        begins: Ints = self.places[rows]
        self.require(rows, (lengths >= 0) & (lengths <= self._ends[rows] - begins), "it ends too early")
        self.places[rows] += lengths
        return begins

    def require(self, rows: Ints, good: Any, why: str) -> None:
        """Check that all is good."""
        if not np.all(good):
            self.refuse(rows[~good], why)

    @staticmethod
    def refuse(rows: Ints, why: str) -> None:
        """Raise BadValueError for the first record, if there is one."""
        if len(rows):
            raise BadValueError(int(rows[0]), why)


def _column(field: AvroField, records: _Records) -> pa.Array | None:
    """Read a field of all records; return its values, None where it is passed over."""
    rows = records.all
    if field.nullable:
        branches = records.whole(rows, _INT_BYTES)
        records.require(rows, (branches == 0) | (branches == 1), "a union has no such branch")
        rows = rows[branches == 1]
    values = KINDS[field.kind](field, rows, records)
    if values is None or len(rows) == len(records.all):
        return values
    known = np.zeros(len(records.all), bool)
    known[rows] = True
    return pc.replace_with_mask(pa.nulls(len(known), values.type), pa.array(known), values)


def _boolean(field: AvroField, rows: Ints, records: _Records) -> pa.Array | None:
    begins = records.passed(rows, np.ones(len(rows), np.int64))
    return None if field.type is None else pa.array(records.data[begins] == 1)


def _int(field: AvroField, rows: Ints, records: _Records) -> pa.Array | None:
    return _number(field, rows, records.whole(rows, _INT_BYTES), records)


def _long(field: AvroField, rows: Ints, records: _Records) -> pa.Array | None:
    return _number(field, rows, records.whole(rows, _LONG_BYTES), records)


def _number(field: AvroField, rows: Ints, values: Ints, records: _Records) -> pa.Array | None:
    of = field.type
    if of is None:
        return None
    if pa.types.is_timestamp(of):
        micros = values * field.ticks
        # numpy wraps around where a product is too large; dividing again shows that.
        records.require(rows, micros // field.ticks == values, "a time beyond microseconds of 64 bits")
        return pa.array(micros, pa.int64()).view(of)
    if pa.types.is_date32(of):
        return pa.array(values.astype(np.int32)).view(of)
    least, most = -(1 << (of.bit_width - 1)), (1 << (of.bit_width - 1)) - 1
    records.require(rows, (values >= least) & (values <= most), f"a number beyond {of}")
    return pa.array(values.astype(of.to_pandas_dtype()))


def _floating(field: AvroField, rows: Ints, records: _Records) -> pa.Array | None:
    kind = np.dtype("<f4" if field.kind == "float" else "<f8")
    begins = records.passed(rows, np.full(len(rows), kind.itemsize))
    if field.type is None:
        return None
    return pa.array(np.ascontiguousarray(_bytes_at(records, begins, kind.itemsize)).view(kind)[:, 0])


def _sized(field: AvroField, rows: Ints, records: _Records) -> pa.Array | None:
    lengths = records.whole(rows, _LONG_BYTES)
    begins = records.passed(rows, lengths)
    if field.type is None:
        return None
    if pa.types.is_decimal(field.type):
        return _decimals(field.type, rows, begins, lengths, records)
    return _texts(records.block, begins, begins + lengths)


def _texts(block: bytes, begins: Ints, ends: Ints) -> pa.Array:
    found = texts_at(block, begins, ends, pa.large_binary())
    try:
        return found.cast(pa.string())
    except pa.ArrowInvalid:  # no UTF-8: as Java reads such texts
        return pa.array([text.decode("utf-8", "replace") for text in found.to_pylist()], pa.string())


def _decimals(of: pa.Decimal128Type, rows: Ints, begins: Ints, lengths: Ints, records: _Records) -> pa.Array:
    """Return decimals: their unscaled numbers, highest byte first, in two's complement."""
    short = (lengths >= 1) & (lengths <= 8)
    if not np.all(short):
        return _long_decimals(of, rows, begins, lengths, records)
    # The last eight bytes up to each end; what stands before a number is shifted out, its sign in.
    ends = _bytes_at(records, begins + lengths - 8, 8)
    beyond = (8 * (8 - lengths)).astype(np.int64)
    numbers = np.ascontiguousarray(ends).view(">i8")[:, 0].astype(np.int64) << beyond >> beyond
    # Eight bytes hold no number of more than 19 digits, and 10**19 is no number of 64 bits.
    if of.precision < 19:
        records.require(rows, np.abs(numbers) < 10**of.precision, f"a number beyond {of}")
    # Arrow's decimals are two words, the lower one first; the upper one repeats the sign.
    halves = np.empty((len(numbers), 2), np.int64)
    halves[:, 0], halves[:, 1] = numbers, numbers >> 63
    return pa.Array.from_buffers(of, len(numbers), [None, pa.py_buffer(halves)])


def _long_decimals(of: pa.Decimal128Type, rows: Ints, begins: Ints, lengths: Ints, records: _Records) -> pa.Array:
    found = []
    for row, begin, length in zip(rows.tolist(), begins.tolist(), lengths.tolist(), strict=True):
        number = int.from_bytes(records.block[begin : begin + length], "big", signed=True)
        if not length or abs(number) >= 10**of.precision:
            raise BadValueError(row, f"a number beyond {of}")
        found.append(number.to_bytes(16, "little", signed=True))
    return pa.Array.from_buffers(of, len(found), [None, pa.py_buffer(b"".join(found))])


def _bytes_at(records: _Records, begins: Ints, size: int) -> Any:
    return records.data[begins[:, None] + np.arange(size)]


#: How a field is read, by how it is written.
KINDS: Mapping[str, Callable[[AvroField, Ints, _Records], pa.Array | None]] = {
    "boolean": _boolean,
    "int": _int,
    "long": _long,
    "float": _floating,
    "double": _floating,
    "bytes": _sized,
}

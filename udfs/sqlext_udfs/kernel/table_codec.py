"""Turn tables into bytes and back: for state, and for rows on their way to a bucket.

The columns are in Arrow's IPC stream format, which is stable across versions and runs no code when it is read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import cast

import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.dividing import Wanted, rows_of_keys, tables_together

# The first byte of each state value.
VERSION = 1
# As wide as Arrow's alignment: so columns are read in place, not copied.
_HEADER_BYTES = 8
_HEADER = bytes([VERSION]).ljust(_HEADER_BYTES, b"\0")
# The protocol to the JVM and a row of its state store end at 2 GiB; the limit is half of that.
LIMIT_BYTES = 1 << 30


def encode_state(table: pa.Table) -> bytes:
    """Return a table as a state value: a version byte, then its columns.

    Raises:
        SqlExtError: RUN-032 if it is larger than Spark can keep in one value.
    """
    data = _encoded(table, _HEADER)
    if len(data) > LIMIT_BYTES:
        raise SqlExtError(
            "RUN-032",
            f"the state of one bucket has grown to {len(data):,} bytes; it can have {LIMIT_BYTES:,}",
            hint="bound what is remembered, or DROP QUERY and begin anew with SET 'sqlext.state.buckets' = '64'",
        )
    return data


def decode_state(data: bytes) -> pa.Table:
    """Return the table of a state value.

    Raises:
        SqlExtError: RUN-030 if its version is not known, RUN-031 if it is damaged.
    """
    version = data[0] if data else None
    if version != VERSION:
        raise SqlExtError(
            "RUN-030",
            f"state of version {version} cannot be read, this is version {VERSION}",
            hint="a newer sqlext wrote it: upgrade, or DROP QUERY starts the query anew",
        )
    try:
        return decode_rows(memoryview(data)[_HEADER_BYTES:])
    except (pa.ArrowInvalid, OSError, EOFError) as error:
        raise SqlExtError(
            "RUN-031",
            f"state is damaged: {error}",
            hint="DROP QUERY starts the query anew, without what it has in state",
        ) from error


def facts_of(data: bytes) -> dict[bytes, bytes]:
    """Return what is said of the table of a state value; its columns are not read."""
    with pa.ipc.open_stream(pa.py_buffer(memoryview(data)[_HEADER_BYTES:])) as reader:
        return dict(reader.schema.metadata or {})


def encode_rows(table: pa.Table) -> bytes:
    """Return a table's columns as bytes."""
    return _encoded(table, b"")


def decode_rows(data: bytes | memoryview) -> pa.Table:
    """Return the table that ``encode_rows`` wrote, on the same memory."""
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_all()


def nested(tables: Iterable[pa.Table]) -> pa.Table:
    """Return tables as the cells of the only column of one table, so that together they are one state value."""
    return pa.table([pa.array([encode_rows(t) for t in tables], pa.large_binary())], ["part"])


def unnested(table: pa.Table) -> list[pa.Table]:
    """Return the tables that ``nested`` was given, on the same memory."""
    return [decode_rows(part) for part in _parts(table)]


def of_cells(parts: Sequence[bytes], header: bytes, facts: Mapping[bytes, str]) -> bytes:
    """Return bytes behind a header of eight, as the cells of one column, and some facts."""
    table = pa.table([pa.array(parts, pa.large_binary())], ["part"])
    return _encoded(table.replace_schema_metadata(dict(facts)), header)


def cells(data: bytes) -> tuple[list[bytes], Mapping[bytes, bytes]]:
    """Return the bytes that ``of_cells`` was given, on the same memory, and the facts."""
    table = decode_rows(memoryview(data)[_HEADER_BYTES:])
    return [cast("bytes", part) for part in _parts(table)], table.schema.metadata or {}


def _parts(table: pa.Table) -> list[memoryview]:
    """Return the cells of the only column, which has no NULLs, as they lie in memory: a scalar's buffer is a copy."""
    (chunk,) = table.column(0).chunks
    _, offsets, data = chunk.buffers()
    ends = memoryview(offsets).cast("q")[chunk.offset : chunk.offset + len(chunk) + 1]
    view = memoryview(data) if data is not None else memoryview(b"")
    return [view[start:end] for start, end in pairwise(ends)]


def _encoded(table: pa.Table, header: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    sink.write(header)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue())


class TableState(ABC):
    """Mix into a bucket operator whose state is one table: its codec, and how it is divided."""

    @abstractmethod
    def key_places(self, state: pa.Table) -> Sequence[int]:
        """Return where the columns stand that choose the bucket."""

    def of_keys(self, state: pa.Table, wanted: Wanted) -> pa.Table:
        """Return the rows of some keys."""
        return rows_of_keys(state, self.key_places(state), wanted)

    def together(self, states: Sequence[pa.Table]) -> pa.Table:
        """Return the rows of all states."""
        return tables_together(states)

    def encode(self, state: pa.Table) -> bytes:
        """Return a state as bytes; see ``encode_state``."""
        return encode_state(state)

    def decode(self, data: bytes) -> pa.Table:
        """Return the state that ``encode`` wrote; see ``decode_state``."""
        return decode_state(data)

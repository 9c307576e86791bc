"""Two tables as one state value."""

from __future__ import annotations

import pyarrow as pa

from sqlext_udfs.kernel.table_codec import decode_rows, decode_state, encode_rows, encode_state


def encode(first: pa.Table, second: pa.Table) -> bytes:
    """Return two tables as a state value."""
    return encode_state(pa.table([pa.array([encode_rows(first), encode_rows(second)], pa.large_binary())], ["part"]))


def decode(data: bytes) -> tuple[pa.Table, pa.Table]:
    """Return the tables of a state value.

    Raises:
        SqlExtError: RUN-030, RUN-031 if it cannot be read.
    """
    first, second = (decode_rows(memoryview(p.as_buffer())) for p in decode_state(data).column(0))
    return first, second

"""Write bytes with a checksum in front: who reads what the disk has changed is told, and takes it for nothing else."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

from sqlext_udfs.kernel.table_codec import cells, of_cells

#: The first byte; three that are 0, and the checksum of all that follows, make it eight.
_VERSION, _HEADER_BYTES = 1, 8
_NO_HEADER = bytes(_HEADER_BYTES)


def sealed(parts: Sequence[bytes], facts: Mapping[bytes, str]) -> bytes:
    """Return bytes, and some facts, as one value."""
    data = memoryview(of_cells(parts, _NO_HEADER, facts))[_HEADER_BYTES:]
    return b"".join((bytes([_VERSION, 0, 0, 0]), zlib.crc32(data).to_bytes(4, "big"), data))


def unsealed(value: bytes) -> tuple[list[bytes], Mapping[bytes, bytes]]:
    """Return what ``sealed`` was given.

    Raises:
        ValueError: if it is damaged, or of another version.
    """
    if len(value) <= _HEADER_BYTES or value[0] != _VERSION:
        raise ValueError("its header is none")
    if zlib.crc32(memoryview(value)[_HEADER_BYTES:]) != int.from_bytes(value[4:_HEADER_BYTES], "big"):
        raise ValueError("its checksum is another one")
    return cells(value)

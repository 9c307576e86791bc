"""Make a column of texts that lie at known places in a block of bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.groups import Ints


def texts_at(block: bytes | memoryview, begins: Ints, ends: Ints, of: pa.DataType) -> pa.Array:
    """Return texts: every other one of those that the block falls into.

    Args:
        begins, ends: where they are, in order; none overlaps another.
        of: their type. ``string`` is for blocks known to be UTF-8, a ``large`` one for those beyond 2 GB.
    """
    if not len(begins):
        return pa.array([], of)
    large = pa.types.is_large_binary(of) or pa.types.is_large_string(of)
    places = np.empty(2 * len(begins), np.int64 if large else np.int32)
    places[0::2], places[1::2] = begins, ends
    # Bounds cut the block into texts and what lies between them: Arrow has no texts with gaps.
    pieces = pa.Array.from_buffers(of, len(places) - 1, [None, pa.py_buffer(places), pa.py_buffer(block)])
    return pieces.take(pa.array(np.arange(0, len(places), 2, dtype=places.dtype)))

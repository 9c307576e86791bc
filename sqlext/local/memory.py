"""Keep the memory that work on one piece of rows has freed, for the next one."""

from __future__ import annotations

from functools import cache

import numpy as np

# Just less than the most to which glibc adapts.
_LARGE = 31 << 20


@cache
def keep_freed_memory() -> None:
    """Let this process keep up to 64 MB of freed memory for each of its threads, where glibc gives it memory.

    glibc gives large pieces back to the system at once. They come again page by page: that costs 2 ns for each number
    of each array, as much as the work on it. When a piece is freed, glibc takes its size for the limit from then on.
    So one large piece, which nobody touches, is enough.
    """
    np.empty(_LARGE, np.uint8)

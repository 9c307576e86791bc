"""Choose delays that are worth a look: those that lose certain shares of the rows."""

from __future__ import annotations

import numpy as np

from sqlext.watermarks.advice.arrivals import Ints

#: Shares of rows to lose, one row in so many; at last none.
_ONE_IN = (10, 100, 1_000, 10_000, 100_000)
_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000
#: Up to a delay, what it is a multiple of.
_STEPS = ((10 * _SECOND, 100), (_MINUTE, _SECOND), (10 * _MINUTE, 10 * _SECOND), (_HOUR, _MINUTE), (_DAY, 10 * _MINUTE))


def chosen_delays(lag: Ints, rows: Ints, always: int) -> tuple[int, ...]:
    """Return delays (ms), the least first: with each of them fewer rows are late, with the last one none.

    Args:
        lag: of each entry; it is late with delays up to that.
        rows: how many rows it stands for.
        always: a lag from which on no delay helps.
    """
    helped = lag < always
    late = helped & (lag >= 0)
    order = np.argsort(lag[late])[::-1]
    lags, lost = lag[late][order], rows[late][order].cumsum()
    total = int(rows[helped].sum())
    found = {0}
    for allowed in (*(total // n for n in _ONE_IN), 0):
        # The first entries, of the greatest lags, may be lost; the next one must not be.
        place = int(np.searchsorted(lost, allowed, "right"))
        if place < len(lags):
            found.add(rounded_up(int(lags[place]) + 1))
    return tuple(sorted(found))


def rounded_up(delay: int) -> int:
    """Return the next delay (ms) that people would write."""
    step = next((step for most, step in _STEPS if delay <= most), _HOUR)
    return -(-delay // step) * step

"""As-of joins in plain Python: each left row with the right row of its key that is nearest in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from join_model import Row

from sqlext_udfs.joins.specification import JoinKind

_FITS = {
    ">=": lambda left, right: right <= left,
    ">": lambda left, right: right < left,
    "<=": lambda left, right: right >= left,
    "<": lambda left, right: right > left,
    "NEAREST": lambda _left, _right: True,
}
#: The values of ``NearestBound.nearest``.
NEAREST = list(_FITS)


def nearest_model(
    rows: Sequence[Row], nearest: str, tolerance: int | None, join: JoinKind
) -> Counter[tuple[object, ...]]:
    """Return each left row with what it meets."""
    result: Counter[tuple[object, ...]] = Counter()
    for left in (r for r in rows if r.side == 0):
        near = [
            (abs(right.time - left.time), right.time, -place, right.value)
            for place, right in enumerate(rows)
            if right.side == 1 and right.key is not None and right.key == left.key
            if _FITS[nearest](left.time, right.time)
            if tolerance is None or abs(right.time - left.time) <= tolerance
        ]
        # Of those that are as near the earlier one, of those at one time the last that came.
        found = min(near)[-1] if near else None
        if near or join is JoinKind.LEFT:
            result[left.value, found] += 1
    return result

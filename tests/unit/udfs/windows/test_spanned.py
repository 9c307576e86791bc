"""Windows over ranges of slices: those that slices have one by one, each once, over all its slices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.windows.panes.slices import Slicing

_OFFSETS = st.integers(-3, 3)
_HOPS = st.builds(Slicing, st.sampled_from([6, 10, 12]), st.sampled_from([1, 2, 4]), _OFFSETS)
_CUMULATES = st.builds(Slicing, st.just(12), st.sampled_from([2, 4]), _OFFSETS, st.just(True))


def _windows(slicing: Slicing, time: int) -> Iterator[tuple[int, int]]:
    """Yield the windows that a time is in, by their definition."""
    if slicing.cumulating:
        start = (time - slicing.offset) // slicing.size * slicing.size + slicing.offset
        yield from (
            (start, end) for end in range(start + slicing.step, start + slicing.size + 1, slicing.step) if end > time
        )
    else:
        first = (time - slicing.offset) // slicing.step * slicing.step + slicing.offset
        yield from ((start, start + slicing.size) for start in range(first, time - slicing.size, -slicing.step))


@settings(deadline=None, max_examples=300)
@given(
    _HOPS | _CUMULATES,
    st.sets(st.tuples(st.integers(0, 2), st.integers(-20, 40)), max_size=12),
    st.integers(-30, 60),
    st.integers(0, 60),
)
def test_each_window_has_its_slices(slicing: Slicing, rows: set[tuple[int, int]], after: int, more: int) -> None:
    times = np.array([time for _, time in rows], np.int64)
    found, _ = slicing.assign(times)
    kept = sorted({(key, int(start)) for (key, _), start in zip(rows, found, strict=True)})
    keys, slices = (np.array([row[i] for row in kept], np.int64) for i in (0, 1))
    until = after + more
    expected: dict[tuple[int, int, int], list[int]] = {}
    for place, (key, slice_) in enumerate(kept):
        for start, end in _windows(slicing, slice_):
            if after < end <= until:
                expected.setdefault((key, start, end), []).append(place)
    spanned = slicing.spanned(keys, slices, after, until)
    windows = zip(spanned.starts.tolist(), spanned.ends.tolist(), strict=True)
    ranges = zip(spanned.slices.firsts.tolist(), spanned.slices.ends.tolist(), strict=True)
    got = [
        ((int(keys[first]), start, end), list(range(first, behind)))
        for (start, end), (first, behind) in zip(windows, ranges, strict=True)
    ]
    assert got == [(window, sorted(expected[window])) for window in sorted(expected, key=lambda w: (w[0], w[2]))]

"""Any accumulator over many frames at once.

A frame of n rows is put together from at most 2 log2(n) blocks of 1, 2, 4, ... rows, which frames share (a segment
tree). So MIN over the last 1,000 rows costs 20 partial results a row and not 1,000, nothing is ever subtracted (a sum
of floating-point numbers stays as good as it was), and every accumulator that can merge works.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from sqlext.udfs.core.accumulator import Accumulator
from sqlext.udfs.core.arrow_numpy import taken
from sqlext.udfs.core.groups import Groups, Ints


@dataclass(frozen=True)
class _Pieces:
    """Of one size: the frames that have a block of it, and which."""

    owners: Ints
    blocks: Ints


@dataclass(frozen=True)
class Before:
    """What an unbounded frame has from the steps before.

    Attributes:
        partials: partial results.
        places: which of them each frame goes on from, -1 for none.
    """

    partials: list[pa.Array]
    places: Ints


def over_frames(
    each: Accumulator, start: Callable[[Ints], list[pa.Array]], low: Ints, high: Ints, before: Before | None = None
) -> list[pa.Array]:
    """Return the partial result of each frame.

    Args:
        each: the accumulator.
        start: returns the partial result of each of some single rows.
        low: the first row of each frame.
        high: behind the last one; above ``low``.
        before: what comes before the rows of each frame.
    """
    lefts, rights = _pieces(low, high)
    needed = _needed(lefts, rights)
    partials, first = _blocks(each, start, needed)
    owners, places = [], []
    if before is not None:
        known = np.flatnonzero(before.places >= 0)
        owners.append(known)
        places.append(before.places[known])
        first = [f + len(before.partials[0]) for f in first]
        partials = [pa.concat_arrays([a, b]) for a, b in zip(before.partials, partials, strict=True)]
    # Lists are joined in this order: that of the rows.
    for size, pieces in [*enumerate(lefts), *reversed(list(enumerate(rights)))]:
        owners.append(pieces.owners)
        places.append(first[size] + np.searchsorted(needed[size], pieces.blocks))
    together = np.concatenate(places)
    return each.merge([taken(p, together) for p in partials], Groups(np.concatenate(owners), len(low)))


def _pieces(low: Ints, high: Ints) -> tuple[list[_Pieces], list[_Pieces]]:
    """Return the blocks of each size, the smallest first, at the left of frames (ascending) and at their right."""
    lefts: list[_Pieces] = []
    rights: list[_Pieces] = []
    frames = np.arange(len(low))
    while len(frames):
        odd = (low & 1).astype(np.bool_)
        lefts.append(_Pieces(frames[odd], low[odd]))
        low = (low + 1) >> 1
        odd = (high & 1).astype(np.bool_)
        rights.append(_Pieces(frames[odd], high[odd] - 1))
        high = high >> 1
        open_ = low < high
        frames, low, high = frames[open_], low[open_], high[open_]
    return lefts, rights


def _needed(lefts: list[_Pieces], rights: list[_Pieces]) -> list[Ints]:
    """Return the blocks of each size that frames have, or of which such blocks are made."""
    needed: list[Ints] = []
    above = np.zeros(0, np.int64)
    for left, right in zip(reversed(lefts), reversed(rights), strict=True):
        above = np.unique(np.concatenate([left.blocks, right.blocks, 2 * above, 2 * above + 1]))
        needed.append(above)
    return needed[::-1]


def _blocks(
    each: Accumulator, start: Callable[[Ints], list[pa.Array]], needed: list[Ints]
) -> tuple[list[pa.Array], list[int]]:
    """Return the partial results of blocks, and where those of each size begin."""
    levels = [start(needed[0])]
    for below, blocks in pairwise(needed):
        halves = np.searchsorted(below, np.stack([2 * blocks, 2 * blocks + 1], axis=1).ravel())
        pairs = Groups(np.repeat(np.arange(len(blocks)), 2), len(blocks))
        levels.append(each.merge([taken(p, halves) for p in levels[-1]], pairs))
    first = np.cumsum([0, *(len(b) for b in needed)])
    columns = [pa.concat_arrays(parts) for parts in zip(*levels, strict=True)]
    return columns, first.tolist()

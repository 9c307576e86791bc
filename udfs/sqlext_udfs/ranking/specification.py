"""Describe a ranking: Top-N and deduplication, per key."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

#: The last number where all are in range.
ALL = 2**31 - 1


class Ranking(Enum):
    """How rows of a key are numbered from 1 on."""

    ROW_NUMBER = "ROW_NUMBER"  # each row has its own number; of equal rows the first that came comes first
    RANK = "RANK"  # equal rows share a number, the next ones are counted on
    DENSE_RANK = "DENSE_RANK"  # equal rows share a number, the next ones have the next


class Emission(Enum):
    """When the rows in range come out."""

    CHANGES = "CHANGES"  # at once; later rows take back what they push out
    WINDOW = "WINDOW"  # once, when the watermark reaches the end of the window that is part of the key
    FIRST = "FIRST"  # the first row by event time, once, when the watermark has passed its time


@dataclass(frozen=True, slots=True)
class SortKey:
    """One item of ORDER BY.

    Attributes:
        place: position of its column.
        descending, nulls_first: as in SQL.
    """

    place: int
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True, slots=True)
class RankSpecification:
    """The operator's input columns by position, and which rows come out.

    Attributes:
        keys: how many of the first columns are PARTITION BY (and the bounds of a window).
        out: the columns that come out, in front of the number.
        order: ORDER BY; empty: the order in which rows came.
        ranking: how rows are numbered.
        first, last: the numbers in range.
        numbered: whether each row's number comes out; else it is NULL, and a row that only moves inside the range
            gives no change.
        emission: when rows come out.
        time: BIGINT of milliseconds (UTC): the end of the window (WINDOW), or the rowtime (FIRST).
        kind: row kinds of a changelog; None where rows only come. With CHANGES only.
        latest_first: of rows that are equal in ``order`` the last that came comes first (Flink's deduplication).
        ttl: ms of processing time after which a key that was not written is forgotten, as in Flink. A key is written
            when what it keeps changes. What had come out of it stays out. Of FIRST a key that waits for the watermark
            is kept. None: never.
    """

    keys: int
    out: tuple[int, ...]
    order: tuple[SortKey, ...] = ()
    ranking: Ranking = Ranking.ROW_NUMBER
    first: int = 1
    last: int = 1
    numbered: bool = False
    emission: Emission = Emission.CHANGES
    time: int | None = None
    kind: int | None = None
    latest_first: bool = False
    ttl: int | None = None

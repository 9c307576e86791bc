"""Describe what an OVER operator computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class OverFrame:
    """The rows around a row that a function looks at.

    Attributes:
        unit: ROWS counts rows. RANGE goes by time, and rows of one time are in each other's frames.
        preceding: how many rows before the row it begins, or milliseconds before its time; below 0: behind the row;
            None: with the first that ever came.
        following: how many rows behind the row it ends, or milliseconds behind its time; below 0: before the row.
    """

    unit: Literal["ROWS", "RANGE"] = "RANGE"
    preceding: int | None = None
    following: int = 0

    @property
    def ahead(self) -> int:
        """How many rows, or milliseconds, behind a row must be known before it comes out."""
        return max(self.following, -self.preceding if self.preceding is not None else 0, 0)

    @property
    def ends_in_time(self) -> bool:
        """Whether time alone says when nobody looks at a row any more."""
        return self.unit == "RANGE" and self.preceding is not None


@dataclass(frozen=True, slots=True)
class OverCall:
    """One function over its frame.

    Attributes:
        function: an accumulator (``aggregates.known``), or ``row_number``, ``rank``, ``dense_rank``, ``lag``.
        inputs: positions of columns.
        frame: which rows; the three numbers go by all rows, whatever it says.
        distinct: whether each value of the frame counts once.
        parameters: as of ``AggregateCall``; of ``lag``: ``offset``, by default 1.
    """

    function: str
    inputs: tuple[int, ...] = ()
    frame: OverFrame = OverFrame()
    distinct: bool = False
    parameters: tuple[tuple[str, Any], ...] = ()

    def parameter(self, name: str, default: Any = None) -> Any:
        """Return a parameter, or a default."""
        return dict(self.parameters).get(name, default)


@dataclass(frozen=True, slots=True)
class OverSpecification:
    """The operator's input columns by position, and what is made of them.

    Attributes:
        keys: how many of the first columns are PARTITION BY, of any type that can be compared; NULL equals NULL.
        time: the rowtime, BIGINT of milliseconds (UTC), never NULL; None: rows are taken as they arrive.
        values: columns that are handed on, of any type.
        calls: the functions.
        ttl: ms of processing time after which a key without new rows is forgotten, unless a row of it still waits.
            Its next row begins it anew. None: never.
        once: whether rows of one key and one time come out as one, the last of them. All functions then go by RANGE,
            so that these rows have the same results.
        row: a struct, the original row, which comes out where it is too late; None where nobody keeps late rows.
    """

    keys: int
    time: int | None
    values: tuple[int, ...]
    calls: tuple[OverCall, ...]
    ttl: int | None = None
    once: bool = False
    row: int | None = None

"""Define a source of rows for our own readers: named splits, each with positions that only grow.

A split is what has an order and a watermark of its own: a partition of a topic, the files of a folder, the versions of
a table. What Spark keeps as the offset of a micro-batch is one number for each split. Everything else (limits, splits
that are held back, the end of what is available) is done once for all sources, in ``stream.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlext.connectors.row_bounds import Known

Offset = Mapping[str, int]
"""Split -> position: how much of it has been read. Written to the checkpoint as JSON, so it stays small."""


Passes: TypeAlias = "Callable[[Known, int], bool]"
"""Told what is known of some rows, and how many they are: whether they need not be read. Then they count as read."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that one micro-batch may take, over all splits together; a reader may take one unit too much of it,
    never nothing where there is something.

    Attributes:
        unit: what is counted; ``arrivals`` are what came together: a file of a folder, a commit of a table.
        most: how many, at least 1.
    """

    unit: Literal["rows", "files", "bytes", "arrivals"]
    most: int


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of one split that one task reads; readers derive from it what they need to find the rows.

    Picklable and small: it travels from the driver to a worker.

    Attributes:
        split: which one.
        end: the position of the split when the micro-batch that this belongs to is through.
        part: numbers the slices of a split within a micro-batch, from 0.
    """

    split: str
    end: int
    part: int


@runtime_checkable
class LooksAtFields(Protocol):
    """A reader, or the decoder of one, that can leave out fields of rows that nobody looks at."""

    def looking_at(self, types: Mapping[str, pa.DataType]) -> Any:
        """Return the same with fewer fields in some of its columns; a value of another field still must fit its type.

        Args:
            types: those of columns, with the fields that are looked at.
        """


class SplitReader(Protocol):
    """A source of rows.

    A reader is picklable as it is made: it is sent to a process of its own beside the driver, where ``latest``,
    ``slices`` and ``commit`` are called in turn, and to the workers, where ``read`` is. What cannot be pickled
    (connections, open files) is opened by the first call that needs it.
    """

    def initial(self) -> Offset:
        """Return where a new query begins. A split that is missing here begins where ``latest`` first sees it."""

    def latest(self, start: Offset, limit: Limit | None) -> Offset:
        """Return how far a micro-batch that begins at ``start`` can go.

        Called before every micro-batch, also when nothing has come. Whatever ``slices`` needs to find these rows
        again, after a crash too, must be durable when this returns.

        Args:
            start: the end of the micro-batch before, or ``initial``.
            limit: the most to take; None for all there is.

        Returns:
            All splits that there are, none behind ``start``.
        """

    def slices(self, start: Offset, end: Offset) -> Sequence[Slice]:
        """Return what lies between two offsets, cut for parallel tasks; the same rows whenever it is asked again.

        A split without a position in ``start`` is read from its beginning.
        """

    def read(self, piece: Slice, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a slice in their order, in the reader's columns; called in a worker.

        Args:
            piece: the slice.
            passes: asked before rows are read of which the source knows something; None: all are wanted.

        Raises:
            SqlExtError: RUN-... for rows that cannot be read.
        """

    def commit(self, end: Offset) -> None:
        """Forget what lies before ``end``: it is through, and will not be read again."""

    def close(self) -> None:
        """Give free what ``latest`` and ``slices`` have opened."""

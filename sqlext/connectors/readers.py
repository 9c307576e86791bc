"""Define what a connector's own reader does with a table.

Spark's reader is described by ``ReadSpec``. Our own one is code, in the reader's part of a connector's folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sqlext.stores.location import Location
from sqlext_catalog.model import Column, Table

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlext.connectors.splits import Limit, SplitReader


@dataclass(frozen=True)
class OwnSource:
    """A table as a reader of ours gives it.

    Attributes:
        schema: what comes out.
        limit: the most that a micro-batch takes.
        decoded: whether these are the table's columns; otherwise what ``read_spec`` makes them of.
    """

    reader: SplitReader
    schema: pa.Schema
    limit: Limit | None = None
    decoded: bool = False


class Unread(Exception):  # noqa: N818 - not an error: Spark reads the table
    """Why a reader of ours does not read a table; its text is for EXPLAIN."""


class FilePlace(NamedTuple):
    """Where a file lies in a split that has others before and behind it.

    Attributes:
        split: which one.
        begin, end: positions of the split before and behind all that came together with the file.
        text: what it came with, in words.
    """

    split: str
    begin: int
    end: int
    text: str


class NewestRows(Protocol):
    """A reader that finds the rows that came last, without Spark."""

    def newest(self, table: Table, most: int) -> pa.Table:
        """Return the last rows of the newest files, oldest first, without the columns that it cannot read.

        Raises:
            Unread: where it cannot read them.
            OptionError: OPT-009 if nothing is there, OPT-012 if other columns are.
        """


class TableReader(Protocol):
    """The reader's part of a connector."""

    def why_not(self, table: Table) -> str:
        """Return why ``source`` does not give the table's rows, empty if it does."""

    def source(self, table: Table, state: Location | None, tasks: int) -> OwnSource:
        """Return the table's rows; where ``why_not`` has nothing against it.

        Args:
            state: a folder of the query, for what the reader must remember; None where nothing is to be remembered.
            tasks: how many tasks run at once.

        Raises:
            SqlExtError: OPT-009, RUN-060 where there is nothing to read.
        """

    def require(self, table: Table) -> None:
        """Check that ``reader`` can read a table, whatever its columns.

        Raises:
            Unread: if it cannot.
        """

    def column(self, table: Table, column: Column) -> pa.DataType:
        """Return the type of a column as ``reader`` gives it.

        Raises:
            Unread: for one that it does not give exactly as Spark does.
        """

    def reader(self, table: Table, needed: Sequence[str], state: Location, tasks: int) -> SplitReader:
        """Return what reads some columns of a table; see ``source``.

        Args:
            needed: the columns that are looked at.

        Raises:
            OptionError: OPT-009 if nothing is there, OPT-012 if other columns are.
        """

    def limit(self, table: Table) -> Limit | None:
        """Return the most that a micro-batch takes; None where it takes what there is."""

    def history(self, table: Table) -> Table:
        """Return a table that is read from its first row on, in the order in which a stream would have read it."""

    def arrived(self, table: Table) -> Mapping[str, int]:
        """Return when files came, by their paths, in ms since 1970 UTC; nothing where that is not known."""

    def places(self, table: Table) -> Mapping[str, FilePlace]:
        """Return where files lie in their split, by their paths; nothing where rows or a log of files say it."""

    def reached(self, offset: Mapping[str, object]) -> Mapping[str, int]:
        """Return the positions by split that an offset in a checkpoint means, ours or Spark's.

        Nothing where a log of files says it, and for an offset that is not understood.
        """

    def numbering(self, reader: SplitReader) -> tuple[SplitReader, str] | None:
        """Return a reader of the same rows with the position of each in its split, and the name of that column.

        None where rows have no positions.
        """

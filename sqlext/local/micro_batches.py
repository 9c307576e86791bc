"""Read a table in this process as a stream would read it: in micro-batches, each in pieces that say where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from sqlext.connectors.splits import Limit, Slice, SplitReader
from sqlext.local.reading import opened, rows_read
from sqlext.rewrite.arrow.in_process import LocalScript, Operated, Queried
from sqlext.rewrite.script.model import ReadView
from sqlext.sources.file_slices import FileSlice
from sqlext.sources.program import Facts
from sqlext.sources.stream import SplitStream
from sqlext.sources.tables import reader_of
from sqlext.stores.location import Location


@dataclass(frozen=True)
class Piece:
    """Some rows of a table that lie together.

    Attributes:
        origin: the file or the split that they lie in.
        rows: the table's view of them.
        positions: of each row in its split, where rows have some and they are asked for.
    """

    origin: str
    rows: pa.Table
    _script: LocalScript
    _view: str
    positions: pa.ChunkedArray | None = None

    def run(self, start: int = 0, count: int | None = None) -> pa.Table:
        """Return what the query, which works row by row, makes of some of the rows."""
        tables = {self._view: self.rows.slice(start, count)}
        for step in self._script.steps:
            assert not isinstance(step, Operated)
            if isinstance(step, Queried):
                tables[step.view] = step.query.run(tables)
        return self._script.query.run(tables)


def micro_batches(
    script: LocalScript, sources: Location, limit: Limit | None, *, numbered: bool = False
) -> Iterator[Iterator[Piece]]:
    """Yield the pieces of each micro-batch of a query over one table, without operators, up to what the table has now.

    Args:
        script: the query.
        sources: a folder for what readers remember of this run.
        limit: the most that a micro-batch takes.
        numbered: whether the positions of rows are asked for.

    Raises:
        SqlExtError: RUN-... for rows that cannot be read or computed, OPT-009 where nothing lies at a path.
    """
    (read,) = script.reads
    reader = opened(read, sources)
    asked = reader_of(read.table).numbering(reader) if numbered else None
    reader, number = asked if asked is not None else (reader, None)
    try:
        stream = SplitStream(reader)
        stream.stop_at_what_is_there()
        start = stream.initial()
        while (end := stream.latest(start, limit)) != start:
            yield _pieces(script, read, reader, reader.slices(start, end), number)
            start = end
    finally:
        reader.close()


def pieces_read(script: LocalScript, sources: Location) -> Iterator[Piece]:
    """Yield all pieces of a query over one table, with the positions of rows; as ``micro_batches``."""
    for pieces in micro_batches(script, sources, None, numbered=True):
        yield from pieces


def _pieces(
    script: LocalScript, read: ReadView, reader: SplitReader, slices: Sequence[Slice], number: str | None
) -> Iterator[Piece]:
    for piece, origin in (found for each in slices for found in _parts(each)):
        batches = list(reader.read(piece))
        positions: pa.ChunkedArray | None = None
        if number is not None:
            positions = pa.chunked_array([b.column(number) for b in batches], pa.int64())
            batches = [b.drop_columns([number]) for b in batches]
        yield Piece(origin, rows_read(read, batches, Facts()), script, read.view, positions)


def _parts(piece: Slice) -> Iterator[tuple[Slice, str]]:
    if not isinstance(piece, FileSlice):
        yield piece, piece.split
        return
    for part in piece.ranges:
        yield replace(piece, ranges=(part,)), part.path

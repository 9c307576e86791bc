"""Read a table in this process whose rows are joined where they are read, its slices side by side in threads."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from sqlext.connectors.splits import Offset, Slice, SplitReader
from sqlext.local.reading import in_slices, threads
from sqlext.rewrite.script.model import ArrowView, ReadView
from sqlext.sources.joined import JoinedSlice, JoinedWork, OtherSides, gathered, slice_joined
from sqlext.sources.tables import reader_of
from sqlext.stores.location import Location


class JoinedRows(NamedTuple):
    """What an operator's step takes of a table, how many rows were read for it, and how far, by split."""

    rows: pa.Table | None
    read: int
    end: Offset


def read_joined(step: ReadView | ArrowView, work: JoinedWork, others: OtherSides, sources: Location) -> JoinedRows:
    """Return what comes of a table's rows.

    Args:
        step: names what is read.
        work: what is done with it.
        others: what it is joined with.
        sources: a folder for what readers remember of this run.

    Raises:
        SqlExtError: RUN-... for rows that cannot be read or computed, OPT-009 where nothing lies at a path.
    """

    def taken(reader: SplitReader, piece: Slice) -> JoinedSlice:
        return slice_joined(work, others, lambda passes: reader.read(piece, passes))

    reader = reader_of(step.table).reader(step.table, step.needed, sources, threads())
    slices, end = in_slices(work.program.narrowed(reader), taken)
    return JoinedRows(gathered(work, others, slices), sum(each.facts.rows for each in slices), end)

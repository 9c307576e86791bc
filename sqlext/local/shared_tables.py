"""Read tables once for several queries of a job in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import pyarrow as pa

from sqlext.local.engine import TASKS, Gathered, ReadRows
from sqlext.rewrite.script.model import ReadView
from sqlext.rewrite.script.shared import SharedRead
from sqlext.sources.tables import reader_of
from sqlext.stores.location import Location


@dataclass
class SharedTables:
    """The tables that queries of a job read together, each read when the first of them asks.

    Attributes:
        reads: the tables and their views.
    """

    reads: Sequence[SharedRead]
    _rows: dict[int, list[ReadRows]] = field(default_factory=dict)

    def given(self, query: int, sources: Location) -> Mapping[str, ReadRows]:
        """Return the rows of a query's shared views, by their names. They are given once, so that they can go.

        Args:
            query: its place in the job.
            sources: a folder for what readers remember of this run.

        Raises:
            SqlExtError: as ``engine.computed``.
        """
        found = {}
        for number, read in enumerate(self.reads):
            mine = [place for place, member in enumerate(read.members) if member.query == query]
            if mine and number not in self._rows:
                self._rows[number] = read_together(read, sources.below(str(number)))
            for place in mine:
                found[read.members[place].step.view] = self._rows[number][place]
                self._rows[number][place] = ReadRows(pa.table({}), 0)
        return found


def read_together(read: SharedRead, sources: Location) -> list[ReadRows]:
    """Return the rows of each view of a table, which is read and decoded once; what is the same in views is one."""
    reader = reader_of(read.table).reader(read.table, read.needed, sources, TASKS)
    steps = [cast(ReadView, member.step) for member in read.members]
    same = [next(n for n, first in enumerate(steps) if _makes(first) == _makes(step)) for step in steps]
    views = {number: Gathered(steps[number]) for number in dict.fromkeys(same)}
    try:
        start = reader.initial()
        end = reader.latest(start, None)
        for piece in reader.slices(start, end):
            for batch in reader.read(piece):
                for view in views.values():
                    view.take(batch)
    finally:
        reader.close()
    rows = {number: view.rows(end) for number, view in views.items()}
    return [rows[number] for number in same]


def _makes(step: ReadView) -> tuple[object, object]:
    """Return what a view makes of the table's rows, whatever it is called."""
    return step.program, step.columns

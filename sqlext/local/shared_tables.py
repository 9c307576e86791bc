"""Read tables once for several queries of a job in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from sqlext.local.reading import ReadRows, read_views
from sqlext.rewrite.script.shared import SharedRead
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
            SqlExtError, WorkFailedError: as ``engine.computed``.
        """
        found = {}
        for number, read in enumerate(self.reads):
            mine = [place for place, member in enumerate(read.members) if member.query == query]
            if mine and number not in self._rows:
                views = [member.step for member in read.members]
                self._rows[number] = list(read_views(views, read.needed, sources.below(str(number))))
            for place in mine:
                found[read.members[place].step.view] = self._rows[number][place]
                self._rows[number][place] = ReadRows(pa.table({}), 0)
        return found

"""Read tables once for several queries of a job in this process."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from sqlext.local.reading import ReadRows, read_views
from sqlext.rewrite.arrow.in_process import LocalScript
from sqlext.rewrite.script.model import ArrowView, ReadView
from sqlext.rewrite.script.shared import SharedRead
from sqlext.stores.location import Location


@dataclass
class SharedTables:
    """The tables that queries of a job read together, each read when the first of them asks; others wait for it.

    Attributes:
        reads: the tables and their views.
    """

    reads: Sequence[SharedRead]
    _rows: dict[int, list[ReadRows] | Exception] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closed: threading.Event = field(default_factory=threading.Event)

    def close(self) -> None:
        """Let no further slice be read."""
        self._closed.set()

    def has_all_of(self, query: int, script: LocalScript) -> bool:
        """Whether a query reads no table by itself."""
        shared = {member.step.view for read in self.reads for member in read.members if member.query == query}
        return all(step.view in shared for step in script.steps if isinstance(step, (ReadView, ArrowView)))

    def given(self, query: int, sources: Location) -> Mapping[str, ReadRows]:
        """Return the rows of a query's shared views, by their names. They are given once, so that they can go.

        Args:
            query: its place in the job.
            sources: a folder for what readers remember of this run.

        Raises:
            SqlExtError, WorkFailedError: as ``engine.computed``.
        """
        with self._lock:
            return self._given(query, sources)

    def _given(self, query: int, sources: Location) -> Mapping[str, ReadRows]:
        found = {}
        for number, read in enumerate(self.reads):
            mine = [place for place, member in enumerate(read.members) if member.query == query]
            if not mine:
                continue
            rows = self._read(number, read, sources)
            for place in mine:
                found[read.members[place].step.view] = rows[place]
                rows[place] = ReadRows(pa.table({}), 0)
        return found

    def _is_open(self) -> bool:
        return not self._closed.is_set()

    def _read(self, number: int, read: SharedRead, sources: Location) -> list[ReadRows]:
        """Return the rows of all views of a table. One that cannot be read is not read once more for each query."""
        if number not in self._rows:
            views = [member.step for member in read.members]
            try:
                self._rows[number] = list(read_views(views, read.needed, sources.below(str(number)), self._is_open))
            except Exception as error:  # noqa: BLE001 - each query that asks is told of it
                self._rows[number] = error
        rows = self._rows[number]
        if isinstance(rows, Exception):
            raise rows
        return rows

"""Search the rows of one partition for matches: an attempt begins at every row (``run``)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from sqlext_udfs.expressions.trees import Cell
from sqlext_udfs.matching.conditions import Conditions, Evaluate
from sqlext_udfs.matching.links import PartitionRows
from sqlext_udfs.matching.program import PatternProgram, program_of
from sqlext_udfs.matching.run import CompleteMatch, MatchRun
from sqlext_udfs.matching.specification import MatchSpecification


class SearchResult(NamedTuple):
    """What a search found.

    Attributes:
        matches: those that count, in order.
        kept_from: the place of the first row that may be part of a later match.
    """

    matches: list[CompleteMatch]
    kept_from: int


class Search:
    """A specification, compiled; it holds no rows.

    Args:
        specification: what is looked for.
    """

    def __init__(self, specification: MatchSpecification) -> None:
        self.specification = specification
        self.program: PatternProgram = program_of(specification.pattern, standard=specification.standard)
        made = Conditions(wraps=specification.wraps)
        self.conditions: list[Evaluate | None] = [
            None if c is None else made.function(c) for c in specification.conditions
        ]
        self.groups = specification.groups()
        # The column that is the condition of a variable, where that looks at no other row.
        self.columns = [
            c.value if isinstance(c, Cell) and c == Cell(c.value, v) else None
            for v, c in enumerate(specification.conditions)
        ]
        start = self.program.states[self.program.start]
        first = [self.columns[e.variable] for e in start.edges if self.columns[e.variable] is not None]
        plain = len(first) == len(start.edges) and not start.accepts
        # The columns of which one must hold where a match begins; None: any row will do.
        self.begins = [c for c in first if c is not None] if plain else None
        # Where no condition looks back, threads in one state have one future: the preferred one stands for all.
        self.forgets = all(
            c is None or column is not None for c, column in zip(specification.conditions, self.columns, strict=True)
        )

    def run(
        self, rows: PartitionRows, times: Sequence[int] | None, start: int, end: int, now: int | None
    ) -> SearchResult:
        """Return what is found in the rows of a partition.

        Args:
            rows: the partition.
            times: of its rows in milliseconds, where the specification has WITHIN.
            start: the first row at which a match may begin.
            end: behind the last row that may be taken.
            now: rows that come later are not before this time; None: nothing is known of them.
        """
        run = MatchRun(self, rows, times)
        self._take(run, start, end)
        run.pass_time(now)
        return SearchResult(run.matches, run.attempts[0].start if run.attempts else end)

    def finish(self, rows: PartitionRows, times: Sequence[int] | None, start: int, end: int) -> list[CompleteMatch]:
        """Return what is found in the rows of a partition after which nothing will come.

        Flink knows no end of rows but the last watermark. With WITHIN that watermark ends all open attempts. Without
        it nothing does, so a match that waits does not come out.
        """
        run = MatchRun(self, rows, times)
        self._take(run, start, end)
        # A match that waits for nothing but more rows is complete now, as no more will come.
        if self.specification.standard or self.specification.within is not None:
            run.end_threads(lambda attempt: True)
        return run.matches

    def _take(self, run: MatchRun, start: int, end: int) -> None:
        """Let a run take rows. While no attempt is open, those are passed over at which none can get any further."""
        beginning = self._beginning(run.rows, start, end)
        row = start
        while row < end:
            if beginning is not None and not run.attempts:
                place = bisect_left(beginning, row)
                if place == len(beginning):
                    return
                row = beginning[place]
            run.take(row)
            row += 1

    def _beginning(self, rows: PartitionRows, start: int, end: int) -> list[int] | None:
        """Return the rows at which an attempt may get any further, of some that can be looked at; None for all."""
        if self.begins is None:
            return None
        columns = [column[start:end] for column in (rows.values[c] for c in self.begins) if column is not None]
        # Conditions are booleans, or NULL.
        return [row for row, held in enumerate(zip(*columns, strict=True), start) if True in held]

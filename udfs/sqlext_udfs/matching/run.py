"""Run the attempts at matches in the rows of one partition.

An attempt follows all ways of the program at once, each as a thread, in the order of preference. A complete match ends
the threads that are less preferred; for Flink it ends all threads of its attempt. It counts when nothing preferred can
come any more: its own attempt has no thread left, and no earlier one has a thread or a match. Then it removes the
attempts that AFTER MATCH SKIP passes over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from sqlext.errors import SqlExtError
from sqlext_udfs.matching.links import Link, PartitionRows
from sqlext_udfs.matching.program import PatternEdge
from sqlext_udfs.matching.specification import LAST, NEXT, PAST_LAST

if TYPE_CHECKING:
    from sqlext_udfs.matching.search import Search

#: An attempt with more ways than this to match the same rows is given up: they would double with each row.
MOST_THREADS = 1 << 14


class CompleteMatch(NamedTuple):
    """A match that counts.

    Attributes:
        start: the place of its first row.
        link: the link of its last row; None for a match of no row.
    """

    start: int
    link: Link | None


class _Thread(NamedTuple):
    state: int
    link: Link | None


@dataclass(slots=True)
class _Attempt:
    """What may still begin at a row. ``found``: it is complete, with ``link`` (None: of no row)."""

    start: int
    threads: list[_Thread]
    found: bool = False
    link: Link | None = None


@dataclass
class MatchRun:
    """The search in the rows of one partition, row by row.

    Attributes:
        search: what is looked for.
        rows: the partition.
        times: of its rows in milliseconds, where the specification has WITHIN.
        matches: those that count.
        attempts: what may still become a match, by the row that it begins with.
    """

    search: Search
    rows: PartitionRows
    times: Sequence[int] | None
    matches: list[CompleteMatch] = field(default_factory=list)
    attempts: list[_Attempt] = field(default_factory=list)

    def take(self, row: int) -> None:
        """Try a row in all attempts, and in one that begins with it."""
        if self.times is not None:
            self.pass_time(self.times[row])
        for attempt in self.attempts:
            attempt.threads = self._advanced(attempt, attempt.threads, row)
        program = self.search.program
        fresh = _Attempt(row, [])
        fresh.found = self.search.specification.standard and program.states[program.start].accepts
        fresh.threads = self._advanced(fresh, [_Thread(program.start, None)], row)
        self.attempts = [a for a in (*self.attempts, fresh) if a.threads or a.found]
        self._settle()

    def pass_time(self, now: int | None) -> None:
        """End the threads whose match would be longer than WITHIN; what waited for them counts."""
        within, times = self.search.specification.within, self.times
        if now is None or within is None or times is None or not self.attempts:
            return
        # First and last row are less than WITHIN apart: one at that distance is outside.
        self.end_threads(lambda attempt: now - times[attempt.start] >= within)

    def end_threads(self, ends: Callable[[_Attempt], bool]) -> None:
        """End the threads of some attempts."""
        for attempt in self.attempts:
            if ends(attempt):
                attempt.threads = []
        self._settle()

    def _advanced(self, attempt: _Attempt, threads: Iterable[_Thread], row: int) -> list[_Thread]:
        """Return the threads after a row; those that are less preferred than a match which is complete are gone."""
        states, standard = self.search.program.states, self.search.specification.standard
        advanced: list[_Thread] = []
        seen: set[int] = set()
        for thread in threads:
            for edge in states[thread.state].edges:
                link = self._taken(edge, thread.link, row)
                # Where threads of one state have one future, the first to reach it is preferred and stands for all.
                if link is None or (self.search.forgets and edge.target in seen):
                    continue
                seen.add(edge.target)
                state = states[edge.target]
                if state.edges and (standard or not state.accepts):
                    advanced.append(_Thread(edge.target, link))
                if state.accepts:
                    attempt.found, attempt.link = True, link
                    return advanced if standard else []
        if len(advanced) > MOST_THREADS:
            raise _too_many(advanced)
        return advanced

    def _taken(self, edge: PatternEdge, before: Link | None, row: int) -> Link | None:
        """Return the link of a row as the variable of an edge, None if the row cannot be taken."""
        if any(self._holds(variable, before, row) is not None for variable in edge.unless):
            return None
        return self._holds(edge.variable, before, row)

    def _holds(self, variable: int, before: Link | None, row: int) -> Link | None:
        search, condition = self.search, self.search.conditions[variable]
        column = search.columns[variable]
        if column is not None and self.rows.value(column, row) is not True:
            return None
        link = Link.taken(row, variable, before, search.groups, search.specification.group_count)
        # Unknown is not true, and the link is needed first: the condition counts the row as taken.
        if condition is None or column is not None or condition(link, self.rows) is True:
            return link
        return None

    def _settle(self) -> None:
        """Let the matches count that nothing preferred can come before."""
        while self.attempts and not self.attempts[0].threads:
            first = self.attempts[0]
            if not first.found:
                del self.attempts[0]
                continue
            self.matches.append(CompleteMatch(first.start, first.link))
            passed = self._passed(first)
            # Attempts that begin before that are passed over, complete or not.
            self.attempts = [a for a in self.attempts if a.start >= passed]

    def _passed(self, match: _Attempt) -> int:
        """Return the first row at which the next match may begin.

        Raises:
            SqlExtError: RUN-042 where that would be the same match again.
        """
        skip = self.search.specification.skip
        if skip.to == NEXT or (skip.to == PAST_LAST and match.link is None):
            return match.start + 1
        if skip.to == PAST_LAST:
            assert match.link is not None
            return match.link.row + 1
        ends = () if match.link is None else (match.link.last if skip.to == LAST else match.link.first)
        target = ends[skip.group] if ends else None
        name = self._name(skip.group)
        if target is None:
            raise SqlExtError(
                "RUN-042",
                f"AFTER MATCH SKIP TO {skip.to} {name}: a match has no row of {name}",
                hint="skip to a variable that every match has",
            )
        if target.row == match.start:
            raise SqlExtError(
                "RUN-042",
                f"AFTER MATCH SKIP TO {skip.to} {name} would find the same match again: it begins there",
                hint="skip to a variable that no match begins with, or TO NEXT ROW",
            )
        return target.row

    def _name(self, group: int) -> str:
        variables = self.search.specification.variables
        return variables[group] if group < len(variables) else "the subset"


def _too_many(threads: Sequence[_Thread]) -> SqlExtError:
    return SqlExtError(
        "RUN-043",
        f"MATCH_RECOGNIZE: the rows of one match can be taken in more than {len(threads):,} ways",
        hint="let the conditions of neighbouring variables exclude each other",
    )

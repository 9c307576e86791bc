"""Find the tables that queries of one job can read together, and why others are read by one query alone.

One rule for all engines: queries that read all that a table has now, as one batch, may share the reading. A stream
goes at its own pace, from a place of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.relations.same_place import place_of
from sqlext.rewrite.script.model import ArrowView, ReadView, SparkScript
from sqlext_catalog.model import Table


class Member(NamedTuple):
    """A view of a shared table.

    Attributes:
        query: the place of its query in the job.
        step: what reads the table there.
    """

    query: int
    step: ArrowView | ReadView


@dataclass(frozen=True)
class SharedRead:
    """A table that is read and decoded once for several views.

    Attributes:
        table: the table, with the options that all of them give it.
        members: the views, at least two, in the order of their queries.
    """

    table: Table
    members: tuple[Member, ...]

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that any of them looks at, in the table's order."""
        looked_at = {name for member in self.members for name in member.step.needed}
        return tuple(c.name for c in self.table.columns if c.name in looked_at)


def tables_read(script: SparkScript) -> list[Table]:
    """Return the tables that a query reads, whoever reads them for it."""
    read = [step.table for step in script.steps if isinstance(step, (ArrowView, ReadView))]
    return [*(source.table for source in script.sources), *read]


def tables_written(script: SparkScript, insert: BoundInsert) -> list[Table]:
    """Return the tables that a query writes, also with rows that come beside its own."""
    return [insert.table, *(side.table for side in script.sides)]


def shared_reads(scripts: Sequence[SparkScript], inserts: Sequence[BoundInsert]) -> tuple[SharedRead, ...]:
    """Return the tables that are read once for all queries of a job that read them.

    Args:
        scripts: those of its queries; one that is not run has no steps.
        inserts: these queries. What one of them writes the others read for themselves: later ones may find its rows.
    """
    written = {place_of(t) for query in zip(scripts, inserts, strict=True) for t in tables_written(*query)}
    found: list[SharedRead] = []
    for member in (m for number, script in enumerate(scripts) for m in _members(number, script)):
        same = next((n for n, read in enumerate(found) if read.table == member.step.table), None)
        if same is None:
            found.append(SharedRead(member.step.table, (member,)))
        else:
            found[same] = SharedRead(member.step.table, (*found[same].members, member))
    return tuple(read for read in found if len(read.members) > 1 and place_of(read.table) not in written)


def _members(number: int, script: SparkScript) -> Iterator[Member]:
    """Yield what a query reads at once, by Arrow."""
    for step in script.steps if script.at_once else ():
        # What is shared is partial work of operators. Rows that nobody combines are as many as the table's.
        if isinstance(step, ReadView) or (isinstance(step, ArrowView) and step.function):
            yield Member(number, step)


def told(scripts: Sequence[SparkScript], inserts: Sequence[BoundInsert]) -> list[list[str]]:
    """Say of each query of a job which tables it shares, and why not the others that several of them read.

    Args:
        scripts: those of its queries.
        inserts: these queries.
    """
    reads = shared_reads(scripts, inserts)
    names = [insert.table.name.name for insert in inserts]
    return [[*_shared(number, reads, names), *_alone(number, scripts, reads)] for number in range(len(scripts))]


def _shared(number: int, reads: Sequence[SharedRead], names: Sequence[str]) -> Iterator[str]:
    for read in reads:
        queries = list(dict.fromkeys(member.query for member in read.members))
        if number in queries:
            who = ", ".join(dict.fromkeys(names[query] for query in queries))
            yield f"{read.table.name.name}: read and decoded once for {who}"


def _alone(number: int, scripts: Sequence[SparkScript], reads: Sequence[SharedRead]) -> Iterator[str]:
    """Say why a query reads tables by itself that others of the job read too."""
    mine = scripts[number]
    others = {table.name for n, script in enumerate(scripts) if n != number for table in tables_read(script)}
    together = {read.table.name for read in reads for member in read.members if member.query == number}
    for table in dict.fromkeys(tables_read(mine)):
        if table.name in others and table.name not in together:
            yield f"{table.name.name}: this query reads it by itself: {_why(table, mine)}"


def _why(table: Table, script: SparkScript) -> str:
    if any(source.table == table for source in script.sources):
        return "Arrow does not combine its rows where it reads them"
    if not script.at_once:
        return "it keeps state, and goes on from a place of its own"
    if any(step.table == table and not step.function for step in script.read_by_arrow):
        return "its rows are not combined where they are read"
    return "the set writes it, or others have other options"

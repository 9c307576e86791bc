"""Find the tables that queries of one job can read together, and why others are read by one query alone.

One rule for all engines: queries that read all that a table has now, as one batch, may share the reading. A stream of
Spark's goes at its own pace, from a place of its own. Streams of this process share each micro-batch where a position
says the same to all of them, else each part of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.relations.same_place import place_of
from sqlext.connectors.registry import connector_of
from sqlext.rewrite.script.model import ArrowView, ReadView, SparkScript
from sqlext_catalog.model import Table

_OTHERS = "the set writes it, or others have other options"


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
    return _together((m for number, script in enumerate(scripts) for m in _members(number, script)), scripts, inserts)


def shared_streams(scripts: Sequence[SparkScript], inserts: Sequence[BoundInsert]) -> tuple[SharedRead, ...]:
    """Return the tables of which queries without an end read each micro-batch, or each file, once in this process.

    Args:
        scripts: those of the queries, as this process takes them.
        inserts: as of ``shared_reads``.
    """
    read = ((n, script, step) for n, script in enumerate(scripts) for step in script.steps)
    members = (Member(n, step) for n, of, step in read if isinstance(step, ReadView) and not _own_pace(step, of))
    return _together(members, scripts, inserts)


def _own_pace(step: ReadView, script: SparkScript) -> str:
    """Return why a query without an end reads a table at its own pace in this process; empty if it need not."""
    connector = connector_of(step.table)
    if connector.bounded(step.table):
        return "it has an end"
    aligned = any(kept.source == step.scan and kept.input.alignment is not None for kept in script.kept)
    return "it waits for others, where it is ahead" if aligned and connector.has_own_positions(step.table) else ""


def _together(
    members: Iterable[Member], scripts: Sequence[SparkScript], inserts: Sequence[BoundInsert]
) -> tuple[SharedRead, ...]:
    """Return the tables that several members read, with the same options."""
    written = {place_of(t) for query in zip(scripts, inserts, strict=True) for t in tables_written(*query)}
    found: list[SharedRead] = []
    for member in members:
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


def told(
    scripts: Sequence[SparkScript], inserts: Sequence[BoundInsert], *, streams_here: bool = False
) -> list[list[str]]:
    """Say of each query of a job which tables it shares, and why not the others that several of them read.

    Args:
        scripts: those of its queries.
        inserts: these queries.
        streams_here: whether they are streams of this process.
    """
    reads = shared_streams(scripts, inserts) if streams_here else shared_reads(scripts, inserts)
    names = [insert.table.name.name for insert in inserts]
    why = _why_a_stream if streams_here else _why
    what = _once_of_a_stream if streams_here else _once
    return [
        [*_shared(number, reads, names, what), *_alone(number, scripts, reads, why)] for number in range(len(scripts))
    ]


def _shared(
    number: int, reads: Sequence[SharedRead], names: Sequence[str], what: Callable[[Table], str]
) -> Iterator[str]:
    for read in reads:
        queries = list(dict.fromkeys(member.query for member in read.members))
        if number in queries:
            who = ", ".join(dict.fromkeys(names[query] for query in queries))
            yield f"{read.table.name.name}: {what(read.table)} for {who}"


def _once(table: Table) -> str:
    return "read and decoded once"


def _once_of_a_stream(table: Table) -> str:
    return f"each {'micro-batch' if connector_of(table).has_own_positions(table) else 'file'} is read and decoded once"


def _alone(
    number: int,
    scripts: Sequence[SparkScript],
    reads: Sequence[SharedRead],
    why: Callable[[Table, SparkScript], str],
) -> Iterator[str]:
    """Say why a query reads tables by itself that others of the job read too."""
    mine = scripts[number]
    others = {table.name for n, script in enumerate(scripts) if n != number for table in tables_read(script)}
    together = {read.table.name for read in reads for member in read.members if member.query == number}
    for table in dict.fromkeys(tables_read(mine)):
        if table.name in others and table.name not in together:
            yield f"{table.name.name}: this query reads it by itself: {why(table, mine)}"


def _why(table: Table, script: SparkScript) -> str:
    if any(source.table == table for source in script.sources):
        return "Arrow does not combine its rows where it reads them"
    if not script.at_once:
        return "it keeps state, and goes on from a place of its own"
    if any(step.table == table and not step.function for step in script.read_by_arrow):
        return "its rows are not combined where they are read"
    return _OTHERS


def _why_a_stream(table: Table, script: SparkScript) -> str:
    steps = (step for step in script.steps if isinstance(step, ReadView) and step.table == table)
    return next((why for step in steps if (why := _own_pace(step, script))), _OTHERS)

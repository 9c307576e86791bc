"""Answer ANALYZE WATERMARK FROM QUERIES by what time keepers have counted. It needs no Spark, and reads no rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlext.errors import SqlExtError
from sqlext.jobs.query_files import TIME
from sqlext.jobs.result import DelayCurve, Result
from sqlext.jobs.timekeeping import read_state
from sqlext.session.introspection.advisor import Analyzed
from sqlext.session.records import home_location
from sqlext.watermarks.advice.seen import COLUMNS, SeenLateness
from sqlext.watermarks.sketch import Sketches
from sqlext_catalog.model import Table

if TYPE_CHECKING:
    from sqlext.jobs.query import Query
    from sqlext.session.state import SessionState


def seen_by_queries(found: Analyzed, running: Sequence[Query], state: SessionState) -> Result:
    """Return how late the rows of a table were when queries read them.

    Args:
        found: the statement.
        running: the queries of the session that run.
        state: the session's; its catalog has the records of other queries.

    Raises:
        SqlExtError: TIME-020 where no query of which something is known reads the table.
    """
    seen = [s for s in _seen(found.table, running, state) if s.whole.rows]
    if not seen:
        name = found.table.name.name
        message = f"no query has read rows of `{name}` by its watermark"
        hint = f"ANALYZE WATERMARK FOR {name} reads the table itself"
        raise SqlExtError("TIME-020", message, span=found.statement.seen_span, hint=hint)
    curves = {f"{s.query} {s.input}": [(delay, high) for delay, _, high in s.curve()] for s in seen}
    rows = [row for s in seen for row in s.rows(found.delays, found.partitions)]
    notices = tuple(s.summary() for s in seen)
    return Result(COLUMNS, rows, notices=notices, curve=DelayCurve("late rows", curves, seen[0].declared))


def lateness_of(query: str, state: Mapping[str, Any] | None) -> Iterator[SeenLateness]:
    """Yield what a query has seen of each of its inputs.

    Args:
        query: its name.
        state: what its time keeper has written (``timekeeping.read_state``).
    """
    if state is None:
        return
    delays = {i["name"]: int(i["delay"]) for i in state["report"]["inputs"]}
    for name, known in state["known"].items():
        if name in delays and known.get("lateness"):
            yield SeenLateness(query, name, delays[name], Sketches.from_json(known["lateness"]))


def _seen(table: Table, running: Sequence[Query], state: SessionState) -> Iterator[SeenLateness]:
    mine = set()
    for query in running:
        for name, keeping in query.timekeeping.items():
            mine.add(name)
            yield from _of(table, lateness_of(name, keeping.written))
    for record in state.catalog.snapshot().queries():
        if record.name not in mine and table.name.plain in record.reads:
            place = home_location(state.folder, record, state.stores).below(TIME)
            yield from _of(table, lateness_of(record.name, read_state(place)))


def _of(table: Table, seen: Iterator[SeenLateness]) -> Iterator[SeenLateness]:
    # An input is called as its table is, numbered where it is read twice.
    return (s for s in seen if s.input.split("#")[0] == table.name.name)

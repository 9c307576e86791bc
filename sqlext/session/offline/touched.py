"""Find the queries of other scripts that read what a script changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlext.jobs.decisions import Verdict
from sqlext.session.offline.script_plan import QueryPlan, TablePlan, TouchedQuery
from sqlext_catalog.model import QueryRecord

_OF_TABLES = {"altered": "which is altered", "dropped": "which is dropped"}
_OF_QUERIES = {
    Verdict.BEGINS_ANEW.value: "into which `{0}` writes from the beginning",
    Verdict.WITHOUT_STATE.value: "into which `{0}` writes without its state of before",
}
#: Of a query that cannot go on. It is refused, so a run of the script does nothing.
_IF_DEPLOYED = "whose rows `sqlext deploy` of `{0}` replaces where they differ: see above what becomes of it"


def touched_queries(
    tables: Sequence[TablePlan], queries: Sequence[QueryPlan], records: Sequence[QueryRecord]
) -> Iterator[TouchedQuery]:
    """Yield the queries of other scripts that read what is changed, directly or through each other.

    Args:
        records: of the queries that the catalog knows.
    """
    changed = dict(_changed(tables, queries))
    left = [record for record in records if record.name not in {query.name for query in queries}]
    while found := [(record, table) for record in left if (table := _first(record, changed)) is not None]:
        for record, table in found:
            yield TouchedQuery(record.name, table, changed[table])
            if record.writes is not None:
                changed.setdefault(record.writes, f"into which `{record.name}` writes")
        left = [record for record in left if record not in [r for r, _ in found]]


def _first(record: QueryRecord, changed: Mapping[str, str]) -> str | None:
    return next((table for table in record.reads if table in changed), None)


def _changed(tables: Sequence[TablePlan], queries: Sequence[QueryPlan]) -> Iterator[tuple[str, str]]:
    """Yield what readers of a table are to know; what is said last counts."""
    for table in tables:
        if table.action in _OF_TABLES:
            yield table.name, _OF_TABLES[table.action]
    for query in queries:
        if query.outcome in _OF_QUERIES:
            yield query.sink.table, _OF_QUERIES[query.outcome].format(query.name)
        if query.refusal is not None and query.refusal.code == "RUN-020":
            yield query.sink.table, _IF_DEPLOYED.format(query.name)
        if query.sink.action == "rewritten":
            yield query.sink.table, f"which `{query.name}` rewrites"
        if query.sink.columns:
            yield query.sink.table, f"which gets {', '.join(f'`{c}`' for c in query.sink.columns)}"

"""Ask a session's policy about the tables that a statement defines, changes or takes away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlext.connectors.admission import admit
from sqlext.connectors.options import OptionError
from sqlext.dialect.ast import statements as ast
from sqlext.session.records import job_records
from sqlext.session.state import SessionState
from sqlext.source import Span
from sqlext_catalog.model import QueryRecord, Relation, Table


def admit_defined(item: Relation | None, options: Sequence[ast.Option], used: Span, state: SessionState) -> None:
    """Refuse a table that may not be used, where it is defined or changed: who reads it later may be less restricted.

    Args:
        options: as they are written.
        used: where the table is named.

    Raises:
        SqlExtError: RESTRICT-001 to RESTRICT-004.
    """
    if isinstance(item, Table):
        try:
            admit(item, state.policy)
        except OptionError as error:
            written = (o.key_span.to(o.value_span) for o in options if o.key == error.option)
            raise error.at(next(written, used)) from None


def admit_queries(records: Iterable[QueryRecord], used: Span, state: SessionState) -> None:
    """Refuse to change queries of the catalog that read or write what may not be used.

    Args:
        used: where they are named.

    Raises:
        SqlExtError: as ``admit_defined``.
    """
    for table in _tables_of(records, state) if state.policy.restricted else ():
        admit_defined(table, (), used, state)


def _tables_of(records: Iterable[QueryRecord], state: SessionState) -> Iterator[Relation]:
    names = {name for record in records for name in (record.writes, *record.reads)}
    yield from (table for table in state.catalog.snapshot().relations() if table.name.plain in names)


def admit_dropped(statement: ast.Drop, state: SessionState) -> None:
    """Refuse DROP of what others may not use: a table, all tables of a database, or a query of such tables.

    Raises:
        SqlExtError: as ``admit_defined``.
    """
    for table in _gone_with(statement, state) if state.policy.restricted else ():
        admit_defined(table, (), statement.name_span, state)


def _gone_with(statement: ast.Drop, state: SessionState) -> Iterator[Relation | None]:
    catalog = state.catalog
    if statement.kind == "QUERY":
        yield from _tables_of(job_records(catalog, ".".join(statement.name)), state)
    elif statement.kind == "CATALOG":
        yield from catalog.snapshot().relations(statement.name[-1])
    elif statement.kind == "DATABASE":
        database = catalog.resolve_database(statement.name)
        yield from catalog.snapshot().relations(database.catalog, database.database)
    elif statement.kind != "FUNCTION":
        yield catalog.lookup(statement.name)

"""Find and remove tables that a query of their name keeps, as dbt and schedules see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sqlext.session.records import drop_query
from sqlext_catalog import ddl
from sqlext_catalog.model import View

if TYPE_CHECKING:
    from sqlext.session.api import Session

Kind = Literal["source", "view", "streaming_table"]

#: Codes of refusals that say: the table, or the state of its query, was made by another definition.
CHANGED = frozenset({"CAT-003", "RUN-020"})


def kind_of(session: Session, name: tuple[str, str]) -> Kind | None:
    """Return what the catalog has under ``(database, name)``, None for nothing.

    A table is a ``streaming_table`` if there is a query ``database.name``, else a ``source``.
    """
    found = session.catalog.lookup(name)
    if found is None:
        return None
    if isinstance(found, View):
        return "view"
    return "streaming_table" if session.catalog.snapshot().query(".".join(name)) is not None else "source"


def forget(session: Session, name: tuple[str, str]) -> None:
    """Remove a table or view from the catalog, and the query of its name with its state; its rows are left.

    Raises:
        SqlExtError: RUN-022 if another process runs the query.
    """
    catalog = session.catalog
    drop_query(catalog, session.folder, ".".join(name), if_exists=True)
    found = catalog.lookup(name)
    if found is not None:
        drop = ddl.drop_view if isinstance(found, View) else ddl.drop_table
        catalog.apply(drop(found.name, if_exists=True), f"DROP {found.name.plain}")

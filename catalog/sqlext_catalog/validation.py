"""Check objects before any store keeps them: their names, and literal secrets in them."""

from __future__ import annotations

from collections.abc import Iterable

from sqlext.errors import SqlExtError
from sqlext_catalog.model import Catalog, CatalogObject, Database, QueryRecord, Table, View, check_part
from sqlext_catalog.secrets import check_storable, check_storable_text
from sqlext_catalog.snapshot import Change, Put


def check_changes(changes: Iterable[Change]) -> None:
    """Refuse unusable names, and literal secrets in what is stored."""
    for change in changes:
        if isinstance(change, Put):
            _check_names(change.object)
            _check_secrets(change.object)


def check_no_temporary(changes: Iterable[Change]) -> None:
    """Refuse temporary objects: a store does not keep them, the session does."""
    for change in changes:
        if change.key.kind == "temporary":
            raise SqlExtError("CAT-021", f"`{change.key.plain}` is temporary and cannot be stored")


def _check_names(item: CatalogObject) -> None:
    if isinstance(item, QueryRecord):
        check_part(item.name, "query")
    elif isinstance(item, Catalog):
        check_part(item.name, "catalog")
        check_part(item.default_database, "database")
    else:
        check_part(item.name.catalog, "catalog")
        check_part(item.name.database, "database")
        if not isinstance(item, Database):
            _check_relation(item)


def _check_relation(item: Table | View) -> None:
    check_part(item.name.name, "table" if isinstance(item, Table) else "view")
    names = [c.name for c in item.columns] if isinstance(item, Table) else item.columns
    for name in names:
        check_part(name, "column")


def _check_secrets(item: CatalogObject) -> None:
    if isinstance(item, Table) and not item.temporary:
        check_storable(item.options, f"table `{item.name.plain}`")
    elif isinstance(item, View) and not item.temporary:
        check_storable_text(item.query, f"view `{item.name.plain}`")
    elif isinstance(item, Database):
        check_storable(item.options, f"database `{item.name.database}`")
    elif isinstance(item, Catalog):
        check_storable(item.options, f"catalog `{item.name}`")
    elif isinstance(item, QueryRecord):
        check_storable(item.details, f"query `{item.name}`")
        check_storable_text(item.statement, f"query `{item.name}`")

"""Give a table that is defined in a catalog of a lake what its connector needs: the catalog's own options."""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.connectors.lake.kinds import (
    CATALOG_DATABASE,
    CATALOG_NAME,
    CATALOG_TABLE,
    OF_CATALOG,
    LakeKind,
    kind_of,
)
from sqlext.dialect.ast.statements import CreateTable
from sqlext.errors import SqlExtError
from sqlext_catalog.model import ObjectName
from sqlext_catalog.session_catalog import SessionCatalog


def lake_of(name: ObjectName, catalog: SessionCatalog) -> LakeKind | None:
    """Return the kind of lake whose catalog a name is in, None if it is in none."""
    found = catalog.snapshot().catalog(name.catalog)
    return kind_of(found.options) if found is not None else None


def in_lake(name: ObjectName, options: Mapping[str, str], catalog: SessionCatalog) -> dict[str, str]:
    """Return the options of a table in a catalog of a lake: where it lies, and its own."""
    found = catalog.snapshot().catalog(name.catalog)
    kind = kind_of(found.options) if found is not None else None
    if found is None or kind is None:
        return dict(options)
    own = {k: v for k, v in options.items() if not k.startswith(OF_CATALOG)}
    placed = {CATALOG_NAME: name.catalog, CATALOG_DATABASE: name.database, CATALOG_TABLE: name.name}
    given = {f"{OF_CATALOG}{k}": v for k, v in {"type": kind.name, **dict(found.options)}.items()}
    return {**own, "connector": kind.name, **placed, **given}


def check_connector(statement: CreateTable, options: Mapping[str, str], kind: LakeKind) -> None:
    """Refuse a connector in a catalog of a lake, which keeps tables of its own alone.

    Raises:
        SqlExtError: OPT-005 at the option, or at the table's name if LIKE gives it.
    """
    named = options.get("connector")
    if named is None or (named == kind.name and CATALOG_NAME in options and statement.like is not None):
        return
    place = next((o.value_span for o in statement.options if o.key == "connector"), statement.name_span)
    catalog = f"a catalog of type '{kind.name}' has tables of its own alone"
    raise SqlExtError(
        "OPT-005",
        f"{catalog}, and none of connector '{named}'",
        span=place,
        hint="CREATE TEMPORARY TABLE it there, or create it in default_catalog; without 'connector' it is one of them",
    )

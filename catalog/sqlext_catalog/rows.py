"""Turn objects into rows and back: one row an object, nested columns for what an object has many of.

No Arrow here: a row is a dict of lists, dicts and scalars, and a map is a list of pairs, as Arrow reads them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sqlext.types import Field, LogicalType
from sqlext_catalog.model import (
    Catalog,
    CatalogObject,
    Column,
    Database,
    ObjectName,
    Options,
    PrimaryKey,
    QueryRecord,
    Table,
    View,
    Watermark,
)

Row = dict[str, Any]

#: What a row has where its object has nothing.
_BLANK: Row = {
    "catalog": "",
    "database": "",
    "comment": None,
    "columns": [],
    "watermark": None,
    "primary_key": None,
    "partitioned_by": [],
    "options": [],
    "expressions": None,
    "query": None,
    "resolved_in": None,
    "run": None,
}


def to_row(item: CatalogObject) -> Row:
    """Return an object's row. Temporary objects have none: they are never stored."""
    if isinstance(item, Table):
        return _table_row(item)
    if isinstance(item, View):
        return _view_row(item)
    if isinstance(item, Database):
        return _row("database", item.name, comment=item.comment, options=list(item.options))
    if isinstance(item, Catalog):
        # The column `database` of a catalog's row is its default database.
        name = ObjectName(item.name, item.default_database, "")
        return _row("catalog", name, comment=item.comment, options=list(item.options))
    return _query_row(item)


def from_row(row: Row) -> CatalogObject:
    """Return the object that a row holds."""
    return _READERS[row["kind"]](row)


def _row(kind: str, name: ObjectName, **values: Any) -> Row:
    return _BLANK | {"kind": kind} | name._asdict() | values


def _table_row(t: Table) -> Row:
    key = t.primary_key
    return _row(
        "table",
        t.name,
        columns=[_column_row(c) for c in t.columns],
        watermark=t.watermark and {"column": t.watermark.column, "expression": t.watermark.expression},
        primary_key=key and {"name": key.name, "columns": list(key.columns)},
        partitioned_by=list(t.partitioned_by),
        options=list(t.options),
        comment=t.comment,
        expressions=t.expressions,
    )


def _view_row(v: View) -> Row:
    return _row(
        "view",
        v.name,
        columns=[_column_row(Column(name, None)) for name in v.columns],
        query=v.query,
        comment=v.comment,
        expressions=v.expressions,
        resolved_in={"catalog": v.catalog, "database": v.database},
    )


def _query_row(q: QueryRecord) -> Row:
    run = {
        "statement": q.statement,
        "reads": list(q.reads),
        "writes": q.writes,
        "checkpoint": q.checkpoint,
        "fingerprint": q.fingerprint,
        "status": q.status,
        "watermark": q.watermark,
        "started": q.started,
    }
    # Details are pairs of text as options are, and share their column.
    return _row("query", ObjectName("", "", q.name), run=run, options=list(q.details))


def _column_row(c: Column) -> Row:
    return {
        "name": c.name,
        "kind": c.kind,
        # For readers of the Delta table; ours is `type`, which keeps what the text does not (comments of fields).
        "data_type": None if c.type is None else str(c.type),
        "type": None if c.type is None else dump_type(c.type),
        "expression": c.expression,
        "metadata_key": c.metadata_key,
        "virtual": c.virtual,
        "comment": c.comment,
    }


def _read_table(row: Row) -> Table:
    watermark, key = row["watermark"], row["primary_key"]
    return Table(
        name=_name(row),
        columns=tuple(_read_column(c) for c in row["columns"]),
        watermark=watermark and Watermark(watermark["column"], watermark["expression"]),
        primary_key=key and PrimaryKey(key["name"], tuple(key["columns"])),
        partitioned_by=tuple(row["partitioned_by"]),
        options=_pairs(row["options"]),
        comment=row["comment"],
        expressions=row["expressions"],
    )


def _read_view(row: Row) -> View:
    return View(
        name=_name(row),
        columns=tuple(c["name"] for c in row["columns"]),
        query=row["query"],
        comment=row["comment"],
        expressions=row["expressions"],
        catalog=row["resolved_in"]["catalog"],
        database=row["resolved_in"]["database"],
    )


def _read_database(row: Row) -> Database:
    return Database(_name(row), row["comment"], _pairs(row["options"]))


def _read_catalog(row: Row) -> Catalog:
    return Catalog(row["catalog"], row["database"], row["comment"], _pairs(row["options"]))


def _read_query(row: Row) -> QueryRecord:
    run = dict(row["run"], reads=tuple(row["run"]["reads"]))
    return QueryRecord(name=row["name"], details=_pairs(row["options"]), **run)


_READERS: dict[str, Callable[[Row], CatalogObject]] = {
    "table": _read_table,
    "view": _read_view,
    "database": _read_database,
    "catalog": _read_catalog,
    "query": _read_query,
}


def _read_column(c: Row) -> Column:
    return Column(
        name=c["name"],
        type=None if c["type"] is None else load_type(c["type"]),
        kind=c["kind"],
        expression=c["expression"],
        metadata_key=c["metadata_key"],
        virtual=c["virtual"],
        comment=c["comment"],
    )


def _name(row: Row) -> ObjectName:
    return ObjectName(row["catalog"], row["database"], row["name"])


def _pairs(stored: list[tuple[str, str]]) -> Options:
    return tuple((key, value) for key, value in stored)


@lru_cache(1_000)
def dump_type(t: LogicalType) -> str:
    """Return a type as JSON, whole: equal types give equal text, and ``load_type`` gives the type back."""
    return json.dumps(_type_dict(t), ensure_ascii=False, separators=(",", ":"))


@lru_cache(1_000)
def load_type(text: str) -> LogicalType:
    """Return the type that ``dump_type`` wrote."""
    return _type_of(json.loads(text))


def _type_dict(t: LogicalType) -> Row:
    fields = [[f.name, _type_dict(f.type), f.comment] for f in t.fields]
    children = [_type_dict(c) for c in t.children]
    full = {
        "root": t.root,
        "precision": t.precision,
        "scale": t.scale,
        "children": children,
        "fields": fields,
    }
    # Defaults are left out, so that a new field leaves the text of stored types as it is.
    kept = {key: value for key, value in full.items() if value is not None and value != []}
    return kept if t.nullable else kept | {"nullable": False}


def _type_of(d: Row) -> LogicalType:
    return LogicalType(
        root=d["root"],
        precision=d.get("precision"),
        scale=d.get("scale"),
        nullable=d.get("nullable", True),
        children=tuple(_type_of(c) for c in d.get("children", ())),
        fields=tuple(Field(name, _type_of(t), comment) for name, t, comment in d.get("fields", ())),
    )

"""Write a table as flat properties under Flink's keys: other tools read its time from the Delta table.

The keys are those of Flink's CatalogPropertiesUtil: ``schema.N.name``, ``.data-type``, ``.expr``, ``.metadata``,
``.virtual``, ``.comment``; ``schema.watermark.0.rowtime``, ``.strategy.expr``, ``.strategy.data-type``;
``schema.primary-key.name``, ``.columns``; ``partition.keys.N.name``; ``comment``; and the options under their own.
One key is ours: ``sqlext.expressions``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlext.errors import SqlExtError
from sqlext.secrets import redact
from sqlext.types import quote
from sqlext_catalog.model import Column, ObjectName, PrimaryKey, Table, Watermark
from sqlext_catalog.type_text import parse_type

_WATERMARK = "schema.watermark.0"
_KEY = "schema.primary-key"
_EXPRESSIONS = "sqlext.expressions"
_OURS = re.compile(r"schema\.|partition\.keys\.|comment$|sqlext\.expressions$")
_LISTED = re.compile(r"`(?:[^`]|``)*`|[^,]+")


def to_properties(table: Table) -> dict[str, str]:
    """Return the table's definition as properties; literal secrets are hidden (Delta prints properties)."""
    for key, _ in table.options:
        if _OURS.match(key):
            raise SqlExtError("OPT-092", f"option '{key}' has the name of a property of the table's schema")
    properties: dict[str, str] = {}
    for n, column in enumerate(table.columns):
        properties.update({f"schema.{n}.{key}": value for key, value in _column(column)})
    properties.update(_watermark(table))
    if table.primary_key:
        properties[f"{_KEY}.name"] = table.primary_key.name
        # The list is separated by commas, so a name that holds one is quoted.
        properties[f"{_KEY}.columns"] = ",".join(_listed(c) for c in table.primary_key.columns)
    properties.update({f"partition.keys.{n}.name": name for n, name in enumerate(table.partitioned_by)})
    if table.comment is not None:
        properties["comment"] = table.comment
    return properties | {_EXPRESSIONS: table.expressions} | dict(redact(table.options))


def from_properties(name: ObjectName, properties: Mapping[str, str]) -> Table:
    """Return the table that the properties describe; keys that are not of the schema are its options."""
    return Table(
        name=name,
        columns=tuple(_read_columns(properties)),
        watermark=_read_watermark(properties),
        primary_key=_read_key(properties),
        partitioned_by=tuple(_numbered(properties, "partition.keys.{}.name")),
        options=tuple((k, v) for k, v in properties.items() if not _OURS.match(k)),
        comment=properties.get("comment"),
        expressions=properties.get(_EXPRESSIONS, "spark"),
    )


def _column(c: Column) -> Iterator[tuple[str, str]]:
    yield "name", c.name
    if c.type is not None:
        yield "data-type", str(c.type)
    if c.kind == "computed":
        yield "expr", c.expression or ""
    if c.kind == "metadata":
        yield "metadata", c.metadata_key or c.name
        yield "virtual", str(c.virtual).lower()
    if c.comment is not None:
        yield "comment", c.comment


def _watermark(table: Table) -> Iterator[tuple[str, str]]:
    if table.watermark is None:
        return
    yield f"{_WATERMARK}.rowtime", table.watermark.column
    yield f"{_WATERMARK}.strategy.expr", table.watermark.expression
    rowtime = next((c.type for c in table.columns if c.name == table.watermark.column), None)
    if rowtime is not None:
        yield f"{_WATERMARK}.strategy.data-type", str(rowtime)


def _read_columns(properties: Mapping[str, str]) -> Iterator[Column]:
    for n, name in enumerate(_numbered(properties, "schema.{}.name")):
        found = {key: properties.get(f"schema.{n}.{key}") for key in ("data-type", "expr", "metadata", "comment")}
        text, metadata = found["data-type"], found["metadata"]
        yield Column(
            name=name,
            type=parse_type(text) if text is not None else None,
            kind="computed" if found["expr"] is not None else "metadata" if metadata is not None else "physical",
            expression=found["expr"],
            # The key is always written; no key and the column's own name mean the same.
            metadata_key=None if metadata == name else metadata,
            virtual=properties.get(f"schema.{n}.virtual") == "true",
            comment=found["comment"],
        )


def _read_watermark(properties: Mapping[str, str]) -> Watermark | None:
    rowtime = properties.get(f"{_WATERMARK}.rowtime")
    return Watermark(rowtime, properties[f"{_WATERMARK}.strategy.expr"]) if rowtime is not None else None


def _read_key(properties: Mapping[str, str]) -> PrimaryKey | None:
    name = properties.get(f"{_KEY}.name")
    if name is None:
        return None
    return PrimaryKey(name, tuple(_unlisted(c) for c in _LISTED.findall(properties[f"{_KEY}.columns"])))


def _numbered(properties: Mapping[str, str], key: str) -> Iterator[str]:
    n = 0
    while (value := properties.get(key.format(n))) is not None:
        yield value
        n += 1


def _listed(name: str) -> str:
    return quote(name) if "," in name or "`" in name else name


def _unlisted(text: str) -> str:
    return text[1:-1].replace("``", "`") if text.startswith("`") else text

"""Show the catalog as tables (INFORMATION_SCHEMA), each a pure function of a snapshot.

Names follow the SQL standard's information schema where it has them (``table_schema`` is Flink's database);
TIME_ATTRIBUTES, WATERMARKS, OPTIONS and QUERIES are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from sqlext.secrets import redact, redact_options, redact_text
from sqlext.types import BIGINT, BOOLEAN, INT, STRING, TIMESTAMP_LTZ3, Field, LogicalType, array, row
from sqlext_catalog.ddl.queries import dead_letters_of, inputs_of
from sqlext_catalog.model import Column, Relation, Table, View
from sqlext_catalog.snapshot import Snapshot

Schema = tuple[tuple[str, LogicalType], ...]
Row = tuple[Any, ...]


class SystemView(NamedTuple):
    """A view of the information schema: its columns, and its rows as Python values in their order."""

    columns: Schema
    rows: list[Row]


def system_view(name: str, snapshot: Snapshot) -> SystemView | None:
    """Return ``information_schema.<name>`` (names in any case), or None if there is no such view."""
    found = _VIEWS.get(name.lower())
    return SystemView(found[0], list(found[1](snapshot))) if found else None


def system_view_columns(name: str) -> Schema | None:
    """Return the columns of ``information_schema.<name>``, or None if there is no such view."""
    found = _VIEWS.get(name.lower())
    return found[0] if found else None


def _texts(names: str) -> Schema:
    return tuple((name, STRING) for name in names.split())


_RELATION = _texts("table_catalog table_schema table_name")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_END_OF_TIME = datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=timezone.utc)


def _schemata(snapshot: Snapshot) -> Iterator[Row]:
    for catalog in snapshot.catalogs():
        for database in snapshot.databases(catalog.name):
            yield catalog.name, database.name.database, database.comment


def _tables(snapshot: Snapshot) -> Iterator[Row]:
    for item in snapshot.relations():
        connector = item.option("connector") if isinstance(item, Table) else None
        kind = "BASE TABLE" if isinstance(item, Table) else "VIEW"
        yield *item.name, kind, item.temporary, connector, item.comment


def _columns(snapshot: Snapshot) -> Iterator[Row]:
    for item in snapshot.relations():
        for position, column in enumerate(_columns_of(item), 1):
            yield *item.name, column.name, position, *_column(item, column)


def _column(item: Relation, c: Column) -> Row:
    key_columns = item.primary_key.columns if isinstance(item, Table) and item.primary_key else ()
    partitions = item.partitioned_by if isinstance(item, Table) else ()
    nullable = None if c.type is None else "YES" if c.type.nullable else "NO"
    type_text = None if c.type is None else c.type.flink()
    kind = c.kind.upper() if isinstance(item, Table) else None
    flags = (c.name in key_columns, c.name in partitions)
    return (type_text, nullable, kind, c.expression, _metadata_key(c), c.virtual, *flags, c.comment)


def _metadata_key(c: Column) -> str | None:
    return c.metadata_key or c.name if c.kind == "metadata" else None


def _columns_of(item: Relation) -> Iterable[Column]:
    return item.columns if isinstance(item, Table) else (Column(name, None) for name in item.columns)


def _time_attributes(snapshot: Snapshot) -> Iterator[Row]:
    for table in _only_tables(snapshot):
        for c in table.columns:
            if table.watermark and table.watermark.column == c.name:
                yield *table.name, c.name, "ROWTIME", _flink(c.type), table.watermark.expression
            elif c.name in table.proctime_columns:
                yield *table.name, c.name, "PROCTIME", _flink(c.type), None


def _watermarks(snapshot: Snapshot) -> Iterator[Row]:
    for table in _only_tables(snapshot):
        if table.watermark:
            kind = next((c.type for c in table.columns if c.name == table.watermark.column), None)
            yield *table.name, table.watermark.column, table.watermark.expression, _flink(kind)


def _options(snapshot: Snapshot) -> Iterator[Row]:
    for table in _only_tables(snapshot):
        for key, value in redact(table.options):
            yield *table.name, key, value


def _views(snapshot: Snapshot) -> Iterator[Row]:
    for item in snapshot.relations():
        if isinstance(item, View):
            query = redact_options(item.query, item.expressions)
            yield *item.name, query, item.temporary, item.expressions, item.comment


def _queries(snapshot: Snapshot) -> Iterator[Row]:
    for q in snapshot.queries():
        times = (_instant(q.watermark), _instant(q.started))
        statement = redact_text(q.statement)
        inputs = list(map(_input, inputs_of(q)))
        told = q.name, q.status, statement, list(q.reads), q.writes, q.checkpoint, q.fingerprint
        yield *told, *times, inputs, dead_letters_of(q)


def _input(known: Mapping[str, Any]) -> Row:
    times = (_instant(known[key]) for key in ("largest", "watermark", "idle_since"))
    return known["input"], known["split"], *times, known["held"], known["holds"], known["rows"]


def _only_tables(snapshot: Snapshot) -> Iterator[Table]:
    return (item for item in snapshot.relations() if isinstance(item, Table))


def _flink(kind: LogicalType | None) -> str | None:
    return None if kind is None else kind.flink()


def _instant(millis: int | None) -> datetime | None:
    """Return the instant; a watermark at the end of time is the last one that a datetime can hold."""
    if millis is None:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        # timedelta and datetime end with the year 9999, a watermark of longs does not.
        return _END_OF_TIME if millis > 0 else _EPOCH


#: How far a split of an input of a query is; the split is NULL where the input is not taken apart.
_INPUT = row(
    Field("input_name", STRING),
    Field("split_name", STRING),
    Field("largest_event_time", TIMESTAMP_LTZ3),
    Field("watermark", TIMESTAMP_LTZ3),
    Field("idle_since", TIMESTAMP_LTZ3),
    Field("is_held", BOOLEAN),
    Field("holds_back", BOOLEAN),
    Field("rows_in", BIGINT),
)
_SCHEMATA = (_texts("catalog_name schema_name comment"), _schemata)

_VIEWS: Mapping[str, tuple[Schema, Callable[[Snapshot], Iterator[Row]]]] = {
    "schemata": _SCHEMATA,
    "databases": _SCHEMATA,
    "tables": (
        (*_RELATION, ("table_type", STRING), ("is_temporary", BOOLEAN), *_texts("connector comment")),
        _tables,
    ),
    "columns": (
        (
            *_RELATION,
            ("column_name", STRING),
            ("ordinal_position", INT),
            *_texts("data_type is_nullable column_kind expression metadata_key"),
            ("is_virtual", BOOLEAN),
            ("is_primary_key", BOOLEAN),
            ("is_partition_key", BOOLEAN),
            ("comment", STRING),
        ),
        _columns,
    ),
    "time_attributes": (
        (*_RELATION, *_texts("column_name time_attribute data_type watermark_expression")),
        _time_attributes,
    ),
    "watermarks": ((*_RELATION, *_texts("rowtime_column strategy_expression data_type")), _watermarks),
    "options": ((*_RELATION, *_texts("option_name option_value")), _options),
    "views": (
        (*_RELATION, ("view_definition", STRING), ("is_temporary", BOOLEAN), *_texts("expressions comment")),
        _views,
    ),
    "queries": (
        (
            *_texts("query_name status statement"),
            ("reads", array(STRING)),
            *_texts("writes checkpoint fingerprint"),
            ("watermark", TIMESTAMP_LTZ3),
            ("started", TIMESTAMP_LTZ3),
            ("inputs", array(_INPUT)),
            ("dead_letters", BIGINT),
        ),
        _queries,
    ),
}

#: The names of the views, lower case.
NAMES: tuple[str, ...] = tuple(_VIEWS)

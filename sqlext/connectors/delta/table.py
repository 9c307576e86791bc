"""Describe ``'connector' = 'delta'``: a Delta table by path or by its name in Spark's catalog.

Bounded, like Flink's filesystem: what is there when the query starts, to the end. ``'scan.mode' = 'streaming'``
or ``source.monitor-interval`` makes it unbounded: later commits are read too.

With ``'readChangeFeed' = 'true'`` (Spark's name) its change data feed is read: the rows that each commit has inserted,
updated and deleted. Without a ``startingVersion`` the rows that are there come first, as inserts. The table needs
``delta.enableChangeDataFeed``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlext.connectors.base import (
    Connector,
    Role,
    declared_type,
    metadata_columns,
    metadata_key,
    physical_fields,
    read_columns,
)
from sqlext.connectors.formats.columnar import stored_columns, stored_schema
from sqlext.connectors.options import OptionError, Rules, any_text, boolean, duration, memory, positive, whole
from sqlext.connectors.spec import ReadColumn, ReadSpec, WriteSpec, kind_column
from sqlext.locations import absolute
from sqlext.quoting import identifier, string
from sqlext.types import BIGINT, TIMESTAMP_LTZ3, LogicalType
from sqlext_catalog.model import KEPT_BY, Options, Table
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE

_STREAM_READER = {
    "maxFilesPerTrigger": positive,
    "maxBytesPerTrigger": memory,
    "startingVersion": any_text,
    "startingTimestamp": any_text,
    "ignoreDeletes": boolean,
    "ignoreChanges": boolean,
    "skipChangeCommits": boolean,
}
_CHANGE_FEED = "readChangeFeed"
#: As Delta's writer has it: a sink adds the columns that the table lacks.
MERGE_SCHEMA = "mergeSchema"
#: The kinds of rows, by the names of Delta's change data feed.
_KINDS = {
    "insert": INSERT,
    "update_preimage": UPDATE_BEFORE,
    "update_postimage": UPDATE_AFTER,
    "delete": DELETE,
}
#: Metadata columns of the feed, and its own columns that hold them.
_FEED_METADATA = {
    "commit-version": (BIGINT, "_commit_version"),
    "commit-timestamp": (TIMESTAMP_LTZ3, "_commit_timestamp"),
}
#: Delta's source then takes the columns that the table has at the start, by their names in the files. Without it a
#: column that was renamed or dropped ends each stream that reads the table, also where it looks at others alone.
_STREAM_SETTINGS = (
    ("spark.databricks.delta.streaming.unsafeReadOnIncompatibleColumnMappingSchemaChanges.enabled", "true"),
)
_BATCH_READER = {"versionAsOf": whole, "timestampAsOf": any_text}


class Delta(Connector):
    """A Delta table. Reader options go by Delta's own names."""

    name = "delta"
    reader = "sqlext.connectors.delta.reader.tables:READER"
    places = "sqlext.connectors.delta.reader.places:PLACES"
    sink = "sqlext.connectors.delta.sink.tables:DeltaSink"
    local_sink = "sqlext.connectors.delta.local_sink:local_delta"
    replacement = "sqlext.connectors.delta.replacement:DeltaReplacement"
    decodes = True
    in_files = True
    keeps_order = True
    read_anew = True
    merges_any_key = True
    stream_settings = _STREAM_SETTINGS
    can_alter = True
    is_dataset = True
    leads_out = ("table-name",)
    rules = Rules(
        {
            "path": any_text,
            "table-path": any_text,
            "table-name": any_text,
            "source.monitor-interval": duration,
            _CHANGE_FEED: boolean,
            MERGE_SCHEMA: boolean,
            KEPT_BY: any_text,
            **_STREAM_READER,
            **_BATCH_READER,
        },
        prefixes=("delta.",),
    )

    def validate(self, table: Table, role: Role) -> None:
        """Refuse what cannot work; see Connector.validate."""
        super().validate(table, role)
        places = [k for k in ("path", "table-path", "table-name") if table.option(k)]
        if not places:
            hint = "add 'path' = '/folder', or 'table-name' = 'database.table' of Spark's catalog"
            raise OptionError("OPT-004", f"{self.owner} needs option 'path' or 'table-name'", hint=hint)
        if len(places) > 1:
            message = f"{self.owner} takes one of {' and '.join(places)}, not both"
            raise OptionError("OPT-005", message, option=places[1])

    def bounded(self, table: Table) -> bool:
        """Return whether it is read to the version of when the query starts."""
        return table.option("scan.mode") != "streaming" and table.option("source.monitor-interval") is None

    def has_own_positions(self, table: Table) -> bool:
        """Return that versions are the table's."""
        return True

    def changelog(self, table: Table) -> bool:
        """Return whether its change data feed is read."""
        return (table.option(_CHANGE_FEED) or "false").strip().lower() == "true"

    def merges(self, table: Table) -> bool:
        """Return whether it has a PRIMARY KEY."""
        return table.primary_key is not None

    def tells_refused(self, table: Table) -> bool:
        """Return that its constraints are asked of the rows of a batch."""
        return True

    def has_statistics(self, table: Table) -> bool:
        """Return that its files are parquet."""
        return True

    def as_of(self, time: str) -> Options:
        """Return Delta's option."""
        return (("timestampAsOf", time),)

    def metadata(self, table: Table) -> Mapping[str, LogicalType]:
        """Return which commit a change is of; a table that is read without its feed has none."""
        return {key: type_ for key, (type_, _) in _FEED_METADATA.items()} if self.changelog(table) else {}

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return how the table is read; its own schema is held against the declared one when it is opened."""
        spec = self._rows_spec(table, zone)
        return _feed_spec(spec, table) if self.changelog(table) else spec

    def _rows_spec(self, table: Table, zone: str) -> ReadSpec:
        fields = physical_fields(table)
        return ReadSpec(
            format="delta",
            schema=stored_schema(fields),
            fixed_schema=True,
            columns=stored_columns(fields, zone),
            # Delta's two readers take different options: a stream starts at a version, a batch is as of one.
            stream_options=tuple((k, v) for k, v in table.options if k in _STREAM_READER),
            batch_options=tuple((k, v) for k, v in table.options if k in _BATCH_READER),
            path=absolute(table.option("path") or table.option("table-path")),
            table=table.option("table-name"),
            bounded=self.bounded(table),
        )

    def name_in_spark(self, table: Table) -> str | None:
        """Return its folder as Delta names one, or its name in Spark's catalog."""
        path = absolute(table.option("path") or table.option("table-path"))
        return f"delta.{identifier(path)}" if path else table.option("table-name")

    def write_spec(self, table: Table) -> WriteSpec:
        """Return how the table is written."""
        spec = super().write_spec(table)
        path = absolute(table.option("path") or table.option("table-path"))
        return replace(spec, format="delta", path=path, table=table.option("table-name"))

    def growing(self, spec: WriteSpec) -> WriteSpec:
        """Return a sink that adds the columns which the table lacks."""
        return replace(spec, options=(*(o for o in spec.options if o[0] != MERGE_SCHEMA), (MERGE_SCHEMA, "true")))


def _feed_spec(spec: ReadSpec, table: Table) -> ReadSpec:
    """Return how the feed is read: the table's columns, the metadata asked for, and the kind of each row."""
    whens = " ".join(f"WHEN {string(name)} THEN {kind}" for name, kind in _KINDS.items())
    own = {c.name: c for c in spec.columns}
    for column in metadata_columns(table):
        type_, held = _FEED_METADATA[metadata_key(column)]
        declared = declared_type(column)
        value = held if declared == type_ else f"CAST({held} AS {declared.spark()})"
        own[column.name] = ReadColumn(column.name, value, declared.spark())
    columns = (
        *(own[c.name] for c in read_columns(table)),
        kind_column(f"CAST(CASE _change_type {whens} END AS TINYINT)"),
    )
    return replace(spec, columns=columns, options=(*spec.options, (_CHANGE_FEED, "true")))

"""Describe ``'connector' = 'spark'``: any other data source of Spark, by ``'format'``; its options are passed on."""

from __future__ import annotations

from dataclasses import replace

from sqlext.connectors.base import Connector, physical_fields
from sqlext.connectors.formats.columnar import stored_columns, stored_schema
from sqlext.connectors.options import COMMON, OWN_PREFIX, Rules, any_text
from sqlext.connectors.spec import ReadSpec, WriteSpec
from sqlext.locations import absolute
from sqlext_catalog.model import Options, Table

#: Formats that are told their columns instead of knowing them, and are files in a folder.
FILES = ("csv", "json", "parquet", "orc", "text", "avro", "xml", "binaryFile")


class SparkFormat(Connector):
    """A Spark data source: unbounded unless it is files; static where ``'scan.mode' = 'snapshot'``."""

    name = "spark"
    sink = "sqlext.connectors.spark_format.sink:SparkFormatSink"
    passes_on = True
    rules = Rules({"format": any_text, "path": any_text}, required=("format",), prefixes=("",))

    def leads(self, table: Table) -> tuple[str, ...]:
        """Return the format, unless it is one of files: it may be any class, and its path a name in a catalog."""
        return () if table.option("format") in (*FILES, "delta") else ("format",)

    def bounded(self, table: Table) -> bool:
        """Return whether it has an end: files do, other sources of Spark do not say."""
        mode = table.option("scan.mode")
        return mode == "snapshot" or (mode is None and table.option("format") in FILES)

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return the source with its options as they are."""
        fields = physical_fields(table)
        return ReadSpec(
            format=table.option("format") or "",
            schema=stored_schema(fields),
            # A source with columns of its own refuses to be told some.
            fixed_schema=table.option("format") not in FILES,
            columns=stored_columns(fields, zone),
            options=_passed_on(table),
            path=_place(table),
            bounded=self.bounded(table),
        )

    def write_spec(self, table: Table) -> WriteSpec:
        """Return the sink with its options as they are."""
        spec = super().write_spec(table)
        return replace(spec, path=_place(table), format=table.option("format"), options=_passed_on(table))


def _place(table: Table) -> str | None:
    """Return the path; a name in a catalog of Spark's (``lake.shop.orders``) stays, for a source that is no files."""
    path = table.option("path")
    named = path is not None and "." in path and "/" not in path and table.option("format") not in FILES
    return path if named else absolute(path)


def _passed_on(table: Table) -> Options:
    own = {"format", "path", *COMMON.keys}
    return tuple((k, v) for k, v in table.options if k not in own and not k.startswith(OWN_PREFIX))

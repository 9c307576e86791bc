"""Write a table of a lake: append, or keep the current row of every key by MERGE."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.connectors.formats.conversions import as_text, convert, stored_type, time_as_text
from sqlext.connectors.lake.kinds import KINDS, LakeKind
from sqlext.connectors.lake.table import Lake
from sqlext.connectors.registry import connector_named
from sqlext.connectors.spec import WriteSpec
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier, string
from sqlext.sinks.base import Sink, SinkContext, refuse_mode
from sqlext.sinks.last_rows import existence, merge_statement, one_row_per_key
from sqlext.spark.lake_catalogs import open_catalog
from sqlext.types import LogicalType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriterV2, SparkSession

#: The property of a commit that says which batch it is.
_MARK = "sqlext-batch"


@dataclass(frozen=True)
class LakeSink(Sink):
    """A table in a catalog of Iceberg or Paimon.

    An append carries the query's identity and the batch's number where the lake keeps that of a commit, and a batch
    that may come again is looked up. A MERGE that is done again gives the same rows.
    """

    spec: WriteSpec
    context: SinkContext

    def require(self, spark: SparkSession) -> None:
        """Refuse a catalog that cannot be opened, and a table with other columns."""
        refuse_mode(self.spec, self.context, "append", "upsert", "overwrite")
        assert self.spec.catalog is not None
        open_catalog(spark, self.spec.catalog)
        if spark.catalog.tableExists(self._target):
            self._check(spark)

    def open(self, spark: SparkSession) -> None:
        """Create the table as declared, or hold the one that is there against the declaration."""
        self.require(spark)
        if not spark.catalog.tableExists(self._target):
            spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self._target.rpartition('.')[0]}")
            spark.sql(self._create_statement())

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Commit a batch, unless the table has it already."""
        if self.context.mode == "upsert" or not self._has(df.sparkSession, batch_id):
            self.write_new(df, batch_id)

    def write_new(self, df: DataFrame, batch_id: int) -> None:
        """Commit a batch."""
        columns = [f"{v} AS {identifier(n)}" for n, v in self._values().items()]
        columns += [identifier(c) for c in (self.context.exists, self.context.kind) if c is not None]
        rows = df.selectExpr(*columns)
        if self.context.mode == "upsert":
            self._merge(one_row_per_key(rows, self._keys, self.context))
            return
        if self.context.exists is not None:
            rows = rows.where(identifier(self.context.exists)).drop(self.context.exists)
        writer = rows.writeTo(self._target)
        if self._kind.marks:
            writer = writer.option(f"snapshot-property.{_MARK}", self._mark(batch_id))
            # Flink makes columns of a key NOT NULL. Rows are checked against that before they come here.
            writer = writer.option("check-nullability", "false")
        _commit(writer, overwrite=self.context.mode == "overwrite")

    def drop(self, spark: SparkSession) -> None:
        """Drop the table with its rows, as DROP TABLE in a catalog of the lake's."""
        assert self.spec.catalog is not None
        open_catalog(spark, self.spec.catalog)
        spark.sql(f"DROP TABLE IF EXISTS {self._target}")

    @property
    def _kind(self) -> LakeKind:
        return KINDS[self.spec.connector]

    @property
    def _lake(self) -> Lake:
        found = connector_named(self.spec.connector)
        assert isinstance(found, Lake)
        return found

    @property
    def _target(self) -> str:
        return self.spec.table or ""

    @property
    def _keys(self) -> tuple[str, ...]:
        """The columns that name a row: the PRIMARY KEY, else the query's own key. None: there is one row."""
        return self.spec.primary_key or self.context.keys

    def _values(self) -> dict[str, str]:
        return {c.name: convert(c.type, identifier(c.name), _time_text) for c in self.spec.columns}

    def _stored_columns(self) -> dict[str, str]:
        return {c.name: self._lake.stored(stored_type(c.type, time_as_text)) for c in self.spec.columns}

    def _merge(self, rows: DataFrame) -> None:
        spark = rows.sparkSession
        view = f"sqlext_batch_{self.context.identity.replace('-', '_')}"
        # A MERGE reads its source more than once, and takes none that may raise an error or give other rows then.
        rows.localCheckpoint().createOrReplaceTempView(view)
        names = [identifier(n) for n in self._stored_columns()]
        spark.sql(merge_statement(self._target, view, self._keys, names, existence(self.context)))
        spark.catalog.dropTempView(view)

    def _mark(self, batch_id: int) -> str:
        return f"{self.context.identity}:{batch_id}"

    def _has(self, spark: SparkSession, batch_id: int) -> bool:
        if not self._kind.marks or self.context.mode == "overwrite":
            return False
        mark = string(self._mark(batch_id))
        found = spark.sql(f"SELECT 1 FROM {self._target}.snapshots WHERE summary[{string(_MARK)}] = {mark} LIMIT 1")
        return bool(found.collect())

    def _create_statement(self) -> str:
        columns = ", ".join(f"{identifier(n)} {t}" for n, t in self._stored_columns().items())
        partitions = ", ".join(identifier(p) for p in self.spec.partitioned_by)
        clauses = f"\nPARTITIONED BY ({partitions})" if partitions else ""
        own = self.spec.options
        if self._kind.key_property and self.spec.primary_key:
            own = (*own, (self._kind.key_property, ",".join(self.spec.primary_key)))
        properties = ", ".join(f"{string(k)} = {string(v)}" for k, v in own)
        clauses += f"\nTBLPROPERTIES ({properties})" if properties else ""
        return f"CREATE TABLE {self._target} ({columns}) USING {self._kind.name}{clauses}"

    def _check(self, spark: SparkSession) -> None:
        """Hold the declared columns against those that are there; a lake may have been made by Flink.

        Raises:
            SqlExtError: SINK-091 for the first that differs.
        """
        there = {f.name: _plain(f.dataType.simpleString()) for f in spark.table(self._target).schema.fields}
        wanted = {n: _plain(t) for n, t in self._stored_columns().items()}
        for name in dict.fromkeys((*wanted, *there)):
            if wanted.get(name) == there.get(name):
                continue
            own, other = there.get(name), wanted.get(name)
            what = f"has no column `{name}`" if own is None else f"has `{name}` of type {own.upper()}"
            declared = "is not declared" if other is None else f"is declared as {other.upper()}"
            message = f"the table {self._target} {what}, which {declared} for `{self.spec.name}`"
            raise SqlExtError("SINK-091", message, hint="declare the columns that are there")


def _commit(writer: DataFrameWriterV2, *, overwrite: bool) -> None:
    # As INSERT OVERWRITE in Flink: partitions that get no rows stay.
    if overwrite:
        writer.overwritePartitions()
    else:
        writer.append()


def _plain(text: str) -> str:
    return re.sub(r"[ `]", "", text.lower())


def _time_text(declared: LogicalType, expression: str) -> str:
    return as_text(declared, expression, "UTC") if declared.root == "TIME" else expression

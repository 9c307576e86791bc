"""Write the final state of an updating result: keep its changes, fold them by key at the end.

Every batch brings the new row of each key that changed. They are kept as a parquet folder per batch, written over
if the batch is run again; the end takes the last change of each key. That is one plain write per batch (a MERGE into
a staging table costs ten times as much) and one aggregation at the end, and needs no transaction log: the batch's
number is the folder's name. Of a changelog, whose rows have no key, the rows that were not taken back are left.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.connectors.filesystem.sink.part_files import FileSink
from sqlext.connectors.filesystem.sink.places import STAGING
from sqlext.connectors.spec import Alteration, WriteSpec
from sqlext.locations import is_remote, on_disk
from sqlext.quoting import identifier
from sqlext.sinks.base import Foreseen, Sink, SinkContext
from sqlext.spark.object_urls import require_file_system
from sqlext.spark.sessions import session_with
from sqlext.stores.access import object_settings
from sqlext.stores.files import FileAccess
from sqlext_udfs.kernel.row_kinds import INSERT, UPDATE_AFTER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BATCH = "__batch"
_ROW = "__row"
_COUNT, _COPY = "__count", "__copy"


def file_sink(spec: WriteSpec, context: SinkContext) -> Sink:
    """Return the sink of a folder, for the query's mode."""
    far = is_remote(spec.path or "") or is_remote(context.staging or "")
    files = FileSink(spec, context, object_settings() if far else {})
    return FinalStateSink(context, files) if context.mode == "final-state" else files


@dataclass(frozen=True)
class FinalStateSink(Sink):
    """Folds an updating result by key and hands its final rows to ``target``, as one batch."""

    context: SinkContext
    target: FileSink

    def open(self, spark: SparkSession) -> None:
        """Make the target ready."""
        self.target.open(spark)

    def require(self, spark: SparkSession) -> None:
        """Refuse what the target does."""
        self.target.require(spark)

    def foreseen(self, coming: Sequence[Alteration] = ()) -> Foreseen:
        """Return what becomes of the target; see ``Sink.foreseen``."""
        return self.target.foreseen(coming)

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Keep the changes of a batch."""
        df.write.mode("overwrite").parquet(f"{self._changes}/{_BATCH}={batch_id}")

    def finish(self, spark: SparkSession) -> None:
        """Write the rows that exist at the end. A second time replaces what the first has written."""
        if FileAccess(self.target.settings).is_there(on_disk(self._changes)):
            with session_with(spark, self._settings) as own:
                # Where Spark gives no session of our own, nobody else's view is replaced.
                view = f"sqlext_changes_{uuid.uuid4().hex}"
                try:
                    self.target.write(self._rows(own, view), 0)
                finally:
                    own.catalog.dropTempView(view)
        self.target.finish(spark)

    @property
    def _changes(self) -> str:
        """Beside the rows if the query has no folder of its own: any executor can write there."""
        beside = f"{self.target.path.rstrip('/')}/{STAGING}"
        return f"{(self.context.staging or beside).rstrip('/')}/{self.context.identity}/changes"

    @property
    def _settings(self) -> dict[str, str]:
        return {
            **self.target.settings,
            "spark.sql.timeType.enabled": "true",
            "spark.sql.caseSensitive": "true",
            "spark.sql.session.timeZone": self.context.zone,
        }

    def _rows(self, spark: SparkSession, view: str) -> DataFrame:
        require_file_system(spark, self._changes)
        changes = spark.read.parquet(self._changes)
        changes.createOrReplaceTempView(view)
        if self.context.kind is not None:
            return spark.sql(_net(changes.columns, self.context.kind, view))
        columns = ", ".join(identifier(c) for c in changes.columns if c != _BATCH)
        # Spark infers a number from the folder's name `__batch=12`, so 12 comes after 9.
        last = f"max_by(struct({columns}), {identifier(_BATCH)}) AS {identifier(_ROW)}"
        keys = ", ".join(identifier(k) for k in self.context.keys)
        grouping = f" GROUP BY {keys}" if keys else ""
        folded = spark.sql(f"SELECT {last} FROM {view}{grouping}")
        present = f"{identifier(_ROW)}.{identifier(self.context.exists)}" if self.context.exists else "true"
        return folded.where(f"{identifier(_ROW)} IS NOT NULL AND {present}").select(f"{_ROW}.*")


def _net(columns: Sequence[str], kind: str, view: str) -> str:
    """Return the query of the rows of a changelog that are left: added once more than they were taken back."""
    names = ", ".join(identifier(c) for c in columns if c not in (_BATCH, kind))
    sign = f"CASE WHEN {identifier(kind)} IN ({INSERT}, {UPDATE_AFTER}) THEN 1 ELSE -1 END"
    counted = f"SELECT {names}, sum({sign}) AS {_COUNT} FROM {view} GROUP BY {names}"
    # Equal rows are told apart by their number only: each is written as often as it is left.
    copies = f"explode(array_repeat(0, CAST({_COUNT} AS INT))) AS {_COPY}"
    return f"SELECT {names} FROM (SELECT {names}, {copies} FROM ({counted}) WHERE {_COUNT} > 0)"

"""Replace all rows of a Delta table in one commit, and bring back those of an earlier version in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlext.connectors.delta.reader.log import DeltaLog
from sqlext.connectors.delta.reader.moving import behind, has_more, places_in
from sqlext.connectors.delta.reader.tables import log_of
from sqlext.connectors.delta.sink.history import History
from sqlext.connectors.delta.sink.tables import DeltaSink, target_of
from sqlext.connectors.spec import WriteSpec
from sqlext.locations import on_disk
from sqlext.sinks.replacing import Replacement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class DeltaReplacement(Replacement):
    """The rows of a Delta table by path or name.

    The commit has the identity of the query and the number of its micro-batch, in both forms that ``DeltaSink`` looks
    for. So the next micro-batch of the query is a new one, and the last ones are none.
    """

    def beside(self, place: str) -> WriteSpec:
        """Return a Delta table elsewhere."""
        return replace(self.spec, path=place, table=None)

    def keys(self) -> tuple[str, ...]:
        """Return the key by which rows are merged."""
        return (self.spec.primary_key or self.context.keys) if self.context.mode == "upsert" else ()

    def rows(self, spark: SparkSession) -> DataFrame:
        """Return the table's rows."""
        if self.spec.table is not None:
            return spark.table(self.spec.table)
        return spark.read.format("delta").load(self.spec.path)

    def has(self, spark: SparkSession, batch_id: int) -> bool | None:
        """Return whether a micro-batch is in the table, by what its commit has left there."""
        merged = self._last_merged()
        if self.context.mode == "upsert" or merged is not None:  # the version before may have merged
            return None if merged is None else merged >= batch_id
        last, whole = History(self._target, self._identity).last(spark)
        if last is not None:
            return last >= batch_id
        # What a MERGE leaves in a table that Spark alone finds is not looked up.
        return False if whole and self.spec.path is not None else None

    def _last_merged(self) -> int | None:
        return log_of(on_disk(self.spec.path)).transaction(self._identity) if self.spec.path is not None else None

    @property
    def _identity(self) -> str:
        return self.context.identity

    def version(self, spark: SparkSession) -> int:
        """Return the last version of the table."""
        return int(spark.sql(f"DESCRIBE HISTORY {self._target} LIMIT 1").select("version").collect()[0][0])

    def takes(self, spark: SparkSession) -> bool:
        """Return whether the table has the declared columns, or gets them when its sink is opened."""
        return DeltaSink(self.spec, self.context).fits(spark)

    def replace(self, rows: DataFrame, batch_id: int) -> None:
        """Overwrite the whole table in one commit; Delta finds out by itself whether it has it."""
        options = {
            "userMetadata": History(self._target, self._identity).mark(batch_id),
            "txnAppId": self._identity,
            "txnVersion": str(batch_id),
            "partitionOverwriteMode": "static",
        }
        if not self.takes(rows.sparkSession):
            self._rewrite(rows, options)
        elif self.spec.table is not None:
            from pyspark.sql.functions import lit

            rows.writeTo(self.spec.table).options(**options).overwrite(lit(True))
        else:
            rows.write.format("delta").mode("overwrite").options(**options).save(self.spec.path)

    def _rewrite(self, rows: DataFrame, options: Mapping[str, str]) -> None:
        """Overwrite it with rows of other columns."""
        writer = rows.write.format("delta").mode("overwrite").options(**options, overwriteSchema="true")
        if self.spec.partitioned_by:
            writer = writer.partitionBy(*self.spec.partitioned_by)
        if self.spec.table is not None:
            writer.saveAsTable(self.spec.table)
        else:
            writer.save(self.spec.path)

    def restore(self, spark: SparkSession, version: int) -> None:
        """Restore the table in one commit."""
        spark.sql(f"RESTORE TABLE {self._target} TO VERSION AS OF {version}")

    def behind(
        self, spark: SparkSession, ends: Sequence[str], read: Replacement, *, alone: bool
    ) -> tuple[str | None, ...]:
        """Return the places moved behind the table's last version; see ``Replacement.behind``."""
        assert isinstance(read, DeltaReplacement)
        now = self._log(spark)
        # A second time they are moved already.
        found = places_in(ends, (read._log(spark), now), alone=alone)  # noqa: SLF001 - of the same class
        return tuple(behind(place, now) if place is not None else None for place in found)

    def are_read(self, spark: SparkSession, ends: Sequence[str], *, alone: bool) -> bool:
        """Return whether no version that adds rows lies behind the places."""
        log = self._log(spark)
        found = [place for place in places_in(ends, (log,), alone=alone) if place is not None]
        return bool(found) and not any(has_more(place, log) for place in found)

    def _log(self, spark: SparkSession) -> DeltaLog:
        path = self.spec.path
        if path is None:
            path = str(spark.sql(f"DESCRIBE DETAIL {self._target}").select("location").collect()[0][0])
        return log_of(on_disk(path))

    @property
    def _target(self) -> str:
        return target_of(self.spec)

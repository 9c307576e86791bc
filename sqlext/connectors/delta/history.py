"""Which batches of a query a Delta table has, by the metadata of its commits (``DESCRIBE HISTORY``)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.spark.notices import Notice

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How many commits are looked at: those of other writers may lie above the query's last one.
_DEPTHS = (100, 10_000, 100_000)


@dataclass(frozen=True)
class History:
    """The commits that a query made to a table.

    Attributes:
        table: as SQL names it.
        identity: the query's, without spaces.
    """

    table: str
    identity: str

    def mark(self, batch_id: int) -> str:
        """Return the ``userMetadata`` of a batch's commit."""
        return f"{self._prefix}{batch_id}"

    def has(self, spark: SparkSession, batch_id: int) -> bool:
        """Return whether a batch is in the table: the last commit of the query says up to which all are.

        Warns where the log no longer reaches back to the query's last commit: a batch as old as that is taken for one
        that was not written.
        """
        for depth in _DEPTHS:
            found = spark.sql(f"DESCRIBE HISTORY {self.table} LIMIT {depth}")
            commits = [(int(r[0]), r[1] or "") for r in found.select("version", "userMetadata").collect()]
            own = [(v, int(mark.removeprefix(self._prefix))) for v, mark in commits if mark.startswith(self._prefix)]
            if own:
                return max(own)[1] >= batch_id
            if len(commits) < depth:
                break
        if min(version for version, _ in commits) > 0:
            warnings.warn(self._unknown(batch_id), Notice, stacklevel=2)
        return False

    @property
    def _prefix(self) -> str:
        return f"sqlext {self.identity} "

    def _unknown(self, batch_id: int) -> str:
        return (
            f"the log of {self.table} reaches back to no commit of `{self.identity}`: if micro-batch {batch_id} was "
            "written before the log was shortened, its rows are there twice now"
        )

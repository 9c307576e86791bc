"""Know which batches a Delta table has: by the metadata of a query's commits."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.spark.notices import Notice

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How many commits are looked at: those of other writers may lie above the query's last one.
_DEPTHS = (100, 10_000, 100_000)


@dataclass(frozen=True)
class History:
    """The commits that a query made to a table, by their metadata (``DESCRIBE HISTORY``).

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
        last, commits = self._looked_up(spark)
        if last is not None:
            return last >= batch_id
        self.tell_unless_whole(commits, batch_id)
        return False

    def last(self, spark: SparkSession) -> tuple[int | None, bool]:
        """Return the last batch that is in the table, None where the log has none; and whether the log is whole."""
        last, commits = self._looked_up(spark)
        return last, _is_whole(commits)

    def _looked_up(self, spark: SparkSession) -> tuple[int | None, list[tuple[int, str]]]:
        """Return the last batch of the query, and the commits that were looked at."""
        commits: list[tuple[int, str]] = []
        for depth in _DEPTHS:
            found = spark.sql(f"DESCRIBE HISTORY {self.table} LIMIT {depth}")
            commits = [(int(r[0]), r[1] or "") for r in found.select("version", "userMetadata").collect()]
            last = self.last_of(commits)
            if last is not None or len(commits) < depth:
                return last, commits
        return None, commits

    def last_of(self, commits: Iterable[tuple[int, str]]) -> int | None:
        """Return the last batch of the query among commits, given as version and ``userMetadata``; None without one."""
        own = [(v, int(mark.removeprefix(self._prefix))) for v, mark in commits if mark.startswith(self._prefix)]
        return max(own)[1] if own else None

    def tell_unless_whole(self, commits: Iterable[tuple[int, str]], batch_id: int) -> None:
        """Warn if a batch may be in the part of the log that is no longer there: its last versions are these."""
        # Then the batch is certainly not in it.
        if not _is_whole(commits):
            warnings.warn(self._unknown(batch_id), Notice, stacklevel=2)

    @property
    def _prefix(self) -> str:
        return f"sqlext {self.identity} "

    def _unknown(self, batch_id: int) -> str:
        return (
            f"the log of {self.table} reaches back to no commit of `{self.identity}`: if micro-batch {batch_id} was "
            "written before the log was shortened, its rows are there twice now"
        )


def _is_whole(commits: Iterable[tuple[int, str]]) -> bool:
    """Return whether a log reaches back to the first version; a checkpoint may be all that is left of one."""
    return min((version for version, _ in commits), default=-1) == 0

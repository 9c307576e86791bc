"""Part a batch of rows that replace others: those that a sink takes, and those that become dead letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.plan.bad_rows import REFUSED
from sqlext.plan.nodes import EXISTS, KIND
from sqlext.sinks.base import RefusedRow, SinkContext
from sqlext.sinks.last_rows import last_of_each, net_rows
from sqlext_udfs.kernel.row_kinds import DELETE, UPDATE_AFTER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TELLING = ("text", "code", "reason")


@dataclass(frozen=True)
class RefusedChanges:
    """Which rows of a batch a sink does not take that keeps one row of each key.

    The row that a key has in the end counts, as a sink looks at no other. Where it is refused, the sink keeps the row
    that it has. A row that is gone has no values that could be refused: it takes its key away.

    Attributes:
        keys: the columns of the sink that name a row; none: there is one row.
        context: of the query.
    """

    keys: tuple[str, ...]
    context: SinkContext

    def parted(self, rows: DataFrame) -> tuple[DataFrame, Sequence[RefusedRow]]:
        """Return the rows for the sink, and those that it refuses."""
        net = net_rows(rows, self.context)
        wrong = net.where(f"{EXISTS} AND {REFUSED} IS NOT NULL").selectExpr(f"{REFUSED}.*")
        refused = tuple(RefusedRow(*row) for row in wrong.select(*_TELLING).collect())
        # Without its key a row is none that the sink could have.
        named = net.where(f"NOT coalesce({REFUSED}.keyless, false)")
        # A row that is taken goes before one that is refused, and this one before the deletion of what it replaces.
        last = last_of_each(named, self.keys, (EXISTS, f"{REFUSED} IS NULL"))
        taken = last.where(f"{REFUSED} IS NULL OR NOT {EXISTS}").drop(REFUSED)
        return self._as_it_came(taken), refused

    def _as_it_came(self, rows: DataFrame) -> DataFrame:
        """Return net rows as those of a changelog, if the sink expects one."""
        if self.context.kind is None:
            return rows
        kind = f"CAST(IF({EXISTS}, {UPDATE_AFTER}, {DELETE}) AS TINYINT) AS {KIND}"
        return rows.selectExpr("*", kind).drop(EXISTS)

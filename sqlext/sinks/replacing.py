"""Replace all rows of a sink in one step, and bring back those of before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from sqlext.connectors.base import loaded
from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import WriteSpec
from sqlext.sinks.base import SinkContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sqlext_catalog.model import Table


@dataclass(frozen=True)
class Replacement(ABC):
    """How the rows of a sink are replaced; its readers see all of the old rows, or all of the new ones.

    Attributes:
        context: of the query whose rows they are then.
    """

    spec: WriteSpec
    context: SinkContext

    @abstractmethod
    def beside(self, place: str) -> WriteSpec:
        """Return a sink of the same columns elsewhere."""

    @abstractmethod
    def keys(self) -> tuple[str, ...]:
        """Return the columns that name a row; none where rows are only added."""

    @abstractmethod
    def rows(self, spark: SparkSession) -> DataFrame:
        """Return the rows that are there, with all their columns."""

    @abstractmethod
    def has(self, spark: SparkSession, batch_id: int) -> bool | None:
        """Return whether a micro-batch of the query is among them; None where nobody can tell."""

    @abstractmethod
    def version(self, spark: SparkSession) -> int:
        """Return what names the rows that are there, for ``restore``."""

    @abstractmethod
    def takes(self, spark: SparkSession) -> bool:
        """Return whether the table has the declared columns, or gets those that it lacks when its sink is opened."""

    @abstractmethod
    def replace(self, rows: DataFrame, batch_id: int) -> None:
        """Put rows in place of all that are there, as the query's micro-batch of that number; a second time is none.

        The table gets the columns of the rows.
        """

    @abstractmethod
    def restore(self, spark: SparkSession, version: int) -> None:
        """Bring back the rows of a version; a second time changes nothing."""

    @abstractmethod
    def behind(
        self, spark: SparkSession, ends: Sequence[str], read: Replacement, *, alone: bool
    ) -> tuple[str | None, ...]:
        """Return where a query stands that goes on behind all the rows that are there.

        Args:
            ends: the place of each of its sources, as a line of Spark's log.
            read: the rows that it has read, here or elsewhere.
            alone: whether it reads no other table with such places.

        Returns:
            The new places; None for a source that has not read these rows.
        """

    @abstractmethod
    def are_read(self, spark: SparkSession, ends: Sequence[str], *, alone: bool) -> bool:
        """Return whether a query has read all the rows that are there; arguments as of ``behind``."""


@dataclass(frozen=True)
class UntouchedRows(Replacement):
    """A sink that keeps its rows: those of the version beside are computed for its state alone.

    Attributes:
        known: how they could be replaced, where that can be one step.
    """

    known: Replacement | None

    def beside(self, place: str) -> WriteSpec:
        """Return a sink that keeps nothing."""
        return WriteSpec("blackhole", ())

    def keys(self) -> tuple[str, ...]:
        """Return none: nothing is compared."""
        return ()

    def rows(self, spark: SparkSession) -> DataFrame:
        """Return no row, so that nothing differs."""
        return spark.createDataFrame([], "nothing int")

    def has(self, spark: SparkSession, batch_id: int) -> bool | None:
        """Return whether a micro-batch is among them, where the sink can tell."""
        return None if self.known is None else self.known.has(spark, batch_id)

    def version(self, spark: SparkSession) -> int:
        """Return the same always: they are no others after a switch."""
        return 0

    def takes(self, spark: SparkSession) -> bool:
        """Return that the sink is opened as it is."""
        return True

    def replace(self, rows: DataFrame, batch_id: int) -> None:
        """Leave them."""

    def restore(self, spark: SparkSession, version: int) -> None:
        """Leave them."""

    def behind(
        self, spark: SparkSession, ends: Sequence[str], read: Replacement, *, alone: bool
    ) -> tuple[str | None, ...]:
        """Leave every place as it is: who reads the rows goes on."""
        return tuple(None for _ in ends)

    def are_read(self, spark: SparkSession, ends: Sequence[str], *, alone: bool) -> bool:
        """Return that nothing is asked for."""
        return True


def replacement_of(table: Table, context: SinkContext) -> Replacement | None:
    """Return how the rows of a table are replaced; None where that cannot be one step."""
    connector = connector_of(table)
    if not connector.replacement:
        return None
    # A connector names it as text, so that reading a table loads no code that writes.
    make = cast(Callable[[WriteSpec, SinkContext], Replacement], loaded(connector.replacement))
    return make(connector.write_spec(table), context)

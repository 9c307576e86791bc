"""Reach the catalogs of lakes: what is asked of them, what is made there, and who cannot reach them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import SparkCatalog
from sqlext.types import LogicalType
from sqlext_catalog.model import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Lakes(Protocol):
    """What a handler of statements asks of catalogs of lakes."""

    def open(self, catalog: SparkCatalog) -> None:
        """Open a catalog; raises CAT-039 or CAT-045 if that cannot be."""

    def databases(self, catalog: SparkCatalog) -> Sequence[str] | None:
        """Return the names of the databases that are there; None where nobody can be asked."""

    def tables(self, catalog: SparkCatalog, database: str) -> Sequence[str]:
        """Return the names of the tables that are there."""

    def columns(
        self, catalog: SparkCatalog, parts: tuple[str, ...]
    ) -> tuple[tuple[str, LogicalType | None], ...] | None:
        """Return the columns of a table that is there; None if it is not, or nobody can be asked."""

    def make_database(self, catalog: SparkCatalog, name: str) -> None:
        """Make a database, if it is not there."""

    def drop_database(self, catalog: SparkCatalog, name: str) -> None:
        """Drop a database without tables, if it is there."""

    def make(self, table: Table) -> None:
        """Make a table, or hold the one that is there against it."""

    def drop(self, table: Table) -> None:
        """Drop a table with its rows."""


class NoLakes:
    """Implements ``Lakes`` where no Spark is asked: what a script says is taken as it is."""

    def open(self, catalog: SparkCatalog) -> None:
        """Open nothing."""

    def databases(self, catalog: SparkCatalog) -> Sequence[str] | None:
        """Say that nobody can be asked."""
        return None

    def tables(self, catalog: SparkCatalog, database: str) -> Sequence[str]:
        """Know none."""
        return ()

    def columns(
        self, catalog: SparkCatalog, parts: tuple[str, ...]
    ) -> tuple[tuple[str, LogicalType | None], ...] | None:
        """Know none."""
        return None

    def make_database(self, catalog: SparkCatalog, name: str) -> None:
        """Make nothing."""

    def drop_database(self, catalog: SparkCatalog, name: str) -> None:
        """Drop nothing."""

    def make(self, table: Table) -> None:
        """Make nothing."""

    def drop(self, table: Table) -> None:
        """Drop nothing."""


NO_LAKES = NoLakes()


class SeenLakes(NoLakes):
    """Implements ``Lakes`` for a dry run with a Spark: catalogs are opened and asked, nothing is made."""

    def __init__(self, spark: Callable[[], SparkSession]) -> None:
        self._spark = spark

    def open(self, catalog: SparkCatalog) -> None:
        """Open a catalog."""
        from sqlext.spark.lake_catalogs import open_catalog

        open_catalog(self._spark(), catalog)

    def databases(self, catalog: SparkCatalog) -> Sequence[str] | None:
        """Ask the catalog."""
        from sqlext.spark.lake_catalogs import databases

        return databases(self._spark(), catalog)

    def tables(self, catalog: SparkCatalog, database: str) -> Sequence[str]:
        """Ask the catalog."""
        from sqlext.spark.lake_catalogs import tables

        return tables(self._spark(), catalog, database)

    def columns(
        self, catalog: SparkCatalog, parts: tuple[str, ...]
    ) -> tuple[tuple[str, LogicalType | None], ...] | None:
        """Ask the catalog."""
        from sqlext.spark.tables import spark_columns

        self.open(catalog)
        return spark_columns(self._spark(), (catalog.name, *parts))


class SparkLakes(SeenLakes):
    """Implements ``Lakes`` on a Spark session."""

    def make_database(self, catalog: SparkCatalog, name: str) -> None:
        """Make a database, if it is not there."""
        from sqlext.spark.lake_catalogs import make_database

        make_database(self._spark(), catalog, name)

    def drop_database(self, catalog: SparkCatalog, name: str) -> None:
        """Drop a database without tables, if it is there."""
        from sqlext.spark.lake_catalogs import drop_database

        drop_database(self._spark(), catalog, name)

    def make(self, table: Table) -> None:
        """Make a table, or hold the one that is there against it."""
        from sqlext.sinks.opening import make_stored

        make_stored(self._spark(), connector_of(table).write_spec(table))

    def drop(self, table: Table) -> None:
        """Drop a table with its rows."""
        from sqlext.sinks.opening import drop_stored

        drop_stored(self._spark(), connector_of(table).write_spec(table))

"""Find a session's catalog, and give it the settings that it begins with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse
from urllib.request import url2pathname

from sqlext.errors import SqlExtError
from sqlext.locations import catalog_place
from sqlext.session.offline.compilation import new_state
from sqlext.session.state import SessionState
from sqlext.spark.catalog_table import TableStore
from sqlext_catalog.session_catalog import SessionCatalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Settings with this prefix are Spark's. All others are options of SET.
_SPARK = "spark."
#: The catalog's folder below that of a database.
_BELOW = "_sqlext"
#: Settings of Hadoop's file systems: how Spark is started with them, and their own names.
_OF_HADOOP, _STORES = "spark.hadoop.", "fs."
#: How the place of a catalog begins that is a table of Spark's: a URL at which nothing else lies.
IN_TABLE = "table:/"


def catalog_folder(spark: SparkSession | None, catalog: str | os.PathLike[str] | None) -> Path | str:
    """Return the catalog's folder or URL: the one given, or one below that of a database of Spark of this name.

    Raises:
        SqlExtError: CAT-037 for a database, CAT-038 for a URL, that lies where no catalog can lie.
    """
    name = os.fspath(catalog or "")
    if spark is None or not isinstance(catalog, str) or not name.isidentifier():
        return catalog_place(name)
    # A folder goes before a database of that name, as it would without a Spark session.
    if Path(name).is_dir() or not spark.catalog.databaseExists(name):
        return Path(name).absolute()
    location = spark.catalog.getDatabase(name).locationUri
    if location.startswith("file:"):
        return Path(url2pathname(urlparse(location).path)) / _BELOW
    try:
        return catalog_place(f"{location.rstrip('/')}/{_BELOW}")
    except SqlExtError as error:
        message = f"database `{name}` lies at {location}, where the catalog cannot lie"
        raise SqlExtError("CAT-037", message, hint=error.hint) from None


def open_state(
    spark: SparkSession | None, catalog: str | os.PathLike[str] | None, stores: Mapping[str, str]
) -> SessionState:
    """Return the state of a session over a catalog: a folder, a URL, or a table of Spark's.

    Args:
        stores: settings of object stores, by the names of Spark or Hadoop.

    Raises:
        SqlExtError: as ``catalog_folder`` and ``new_state``.
    """
    table = _catalog_table(spark, catalog)
    if spark is None or table is None:
        return new_state(catalog_folder(spark, catalog), stores)
    return SessionState(SessionCatalog(TableStore(spark, table)), folder=f"{IN_TABLE}{table}", stores=stores)


def _catalog_table(spark: SparkSession | None, catalog: str | os.PathLike[str] | None) -> str | None:
    """Return the table of Spark's that is the catalog, ``main.streaming.sqlext``; None if it is a folder or a URL.

    A folder of that name goes before a table. The table is made with the first commit, its schema must be there.
    """
    name = catalog if isinstance(catalog, str) else ""
    *schema, table = name.split(".")
    named = 1 <= len(schema) <= 2 and all(part.isidentifier() for part in (*schema, table))
    if spark is None or not named or Path(name).exists():
        return None
    return name if spark.catalog.databaseExists(".".join(schema)) else None


def of_spark(settings: Mapping[str, str]) -> dict[str, str]:
    """Return those that are Spark's."""
    return {key: value for key, value in settings.items() if key.startswith(_SPARK)}


def set_options(state: SessionState, settings: Mapping[str, str]) -> None:
    """Set those that are ours.

    Raises:
        SqlExtError: OPT-010, OPT-011 as SET.
    """
    for key, value in settings.items():
        if not key.startswith(_SPARK):
            state.settings = state.settings.with_value(key, value)


def apply_to_spark(spark: SparkSession, settings: Mapping[str, str]) -> None:
    """Give a session its settings of Spark.

    Raises:
        SqlExtError: ENV-010 for one that must be there when Spark starts, and is not.
    """
    for key, value in settings.items():
        hadoop = key.removeprefix(_OF_HADOOP)
        if hadoop.startswith(_STORES):
            # A session's own go to Hadoop under their plain names.
            if spark.conf.get(hadoop, spark.conf.get(key, None)) != value:
                spark.conf.set(hadoop, value)
            continue
        # Spark's static settings cannot be set any more; one that has the value already is no reason to refuse.
        if spark.conf.isModifiable(key):
            spark.conf.set(key, value)
        elif not _has(spark.conf.get(key, None) or "", value):
            raise SqlExtError("ENV-010", f"`{key}` counts when Spark starts, and this process already runs a Spark")


def _has(found: str, wanted: str) -> bool:
    """Whether a setting has the value; a list of packages may have more than those that were asked for."""
    return set(wanted.split(",")) <= set(found.split(","))

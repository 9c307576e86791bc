"""Where a session's catalog lies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse
from urllib.request import url2pathname

from sqlext.errors import SqlExtError
from sqlext.locations import catalog_place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def catalog_folder(spark: SparkSession | None, catalog: str | os.PathLike[str] | None) -> Path:
    """Return the catalog's folder: the one given, or one below that of a database of Spark of this name.

    Raises:
        SqlExtError: CAT-037 for a database that lies elsewhere than in a local file system, CAT-038 for a URL.
    """
    name = os.fspath(catalog or "")
    if spark is None or not isinstance(catalog, str) or not name.isidentifier():
        return catalog_place(name)
    if Path(name).is_dir() or not spark.catalog.databaseExists(name):
        return Path(name)
    location = spark.catalog.getDatabase(name).locationUri
    if not location.startswith("file:"):
        raise SqlExtError("CAT-037", f"database `{name}` lies at {location}; the catalog needs a local folder")
    return Path(url2pathname(urlparse(location).path)) / "_sqlext"

"""Flink-like streaming SQL on Spark.

import sqlext

session = sqlext.connect()
session.run("job.sql", variables={"IN": "data"})
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlext.errors import SqlExtError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.execution.session import Session

__all__ = ["SqlExtError", "connect"]


def connect(
    spark: SparkSession | None = None,
    catalog: str | os.PathLike[str] | None = None,
    *,
    allow_python_functions: bool = False,
    isolated: bool = True,
    settings: Mapping[str, str] | None = None,
) -> Session:
    """Return a session.

    Args:
        spark: an existing Spark session with Delta, classic or of Spark Connect; None builds a local one when it is
            first needed.
        catalog: the folder of the catalog, made if it is not there; None uses a fresh temporary one.
        allow_python_functions: whether scripts may import code with CREATE FUNCTION ... LANGUAGE PYTHON.
        isolated: False to work in ``spark`` itself instead of a session of its own beside it: statements see its
            temporary views, and the DataFrames that come out are its own.
        settings: what the session begins with: settings of Spark (``spark...``), and options of SET.
    """
    from sqlext.execution.session import Session

    return Session(spark, catalog, allow_python_functions=allow_python_functions, isolated=isolated, settings=settings)

"""Flink-like streaming SQL on Spark.

import sqlext

session = sqlext.connect()
session.run("job.sql", variables={"IN": "data"})
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sqlext.errors import SqlExtError

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from pyspark.sql import SparkSession

    from sqlext.hooks import Action, Trigger, TriggerContext, UserAggregate, UserEvictor, UserTrigger
    from sqlext.jobs.query import Query
    from sqlext.jobs.result import Result
    from sqlext.policy import Restrictions
    from sqlext.session.api import Session

__all__ = [
    "connect",
    "install",
    "uninstall",
    "Session",
    "Query",
    "Result",
    "Restrictions",
    "SqlExtError",
    "Action",
    "Trigger",
    "TriggerContext",
    "UserAggregate",
    "UserEvictor",
    "UserTrigger",
    "load_ipython_extension",
    "unload_ipython_extension",
]
#: Name -> module. They are imported when first asked for, so that ``import sqlext`` stays cheap.
_LAZY = {
    "Session": "sqlext.session.api",
    "Query": "sqlext.jobs.query",
    "Result": "sqlext.jobs.result",
    "Restrictions": "sqlext.policy",
    **dict.fromkeys(
        ("Action", "Trigger", "TriggerContext", "UserAggregate", "UserEvictor", "UserTrigger"), "sqlext.hooks"
    ),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'sqlext' has no attribute '{name}'")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def connect(
    spark: SparkSession | None = None,
    catalog: str | os.PathLike[str] | None = None,
    *,
    allow_python_functions: bool = False,
    isolated: bool = True,
    settings: Mapping[str, str] | None = None,
    restricted: bool | Restrictions = False,
) -> Session:
    """Return a session.

    Args:
        spark: an existing Spark session with Delta, classic or of Spark Connect; None builds a local one when it is
            first needed.
        catalog: the folder of the catalog, made if it is not there, or its URL (``s3://bucket/folder``, ``gs://``,
            ``abfss://``); None uses a fresh temporary one.
        allow_python_functions: whether scripts may import code with CREATE FUNCTION ... LANGUAGE PYTHON.
        isolated: False to work in ``spark`` itself instead of a session of its own beside it: statements see its
            temporary views, and the DataFrames that come out are its own.
        settings: what the session begins with: settings of Spark (``spark...``), and options of SET.
        restricted: whether SQL is others': True, or ``Restrictions`` that say what it may use.

    Raises:
        SqlExtError: ENV-013 for a ``spark`` that is no Spark session.
    """
    from sqlext.session.api import Session
    from sqlext.spark.sessions import check_spark

    if spark is not None:
        check_spark(spark)
    return Session(
        spark,
        catalog,
        allow_python_functions=allow_python_functions,
        isolated=isolated,
        settings=settings,
        restricted=restricted,
    )


def install(
    spark: SparkSession,
    catalog: str | os.PathLike[str] | None = None,
    *,
    allow_python_functions: bool = False,
) -> Session:
    """Let ``spark.sql`` run our statements too, until ``uninstall``; return the session that runs them.

    Statements that are not ours go to Spark untouched. A second call returns the same session.

    Args:
        spark: a Spark session with Delta, classic or of Spark Connect; statements run in it itself.
        catalog, allow_python_functions: as ``connect``.

    Raises:
        SqlExtError: ENV-013 for what is no Spark session.
    """
    from sqlext.session.spark_sql import install
    from sqlext.spark.sessions import check_spark

    check_spark(spark)
    return install(spark, catalog, allow_python_functions=allow_python_functions)


def uninstall(spark: SparkSession) -> None:
    """Give ``spark.sql`` back to Spark; queries that were started go on."""
    from sqlext.session.spark_sql import uninstall

    uninstall(spark)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the magics of notebooks: ``%load_ext sqlext``."""
    from sqlext.notebook.magics import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take the magics away: ``%unload_ext sqlext``."""
    from sqlext.notebook.magics import unload

    unload(shell)

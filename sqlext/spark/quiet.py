"""Keep stack traces of PySpark and py4j off the screen while we call Spark.

PySpark logs every exception that has a place in a query, and py4j every failure of a Python callback, before anyone
can handle it. Inside our calls such records are left out. The user's own calls of Spark keep theirs.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from sqlext.spark.gone import has_gone

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_CALLBACKS = "py4j.clientserver"
#: The module of py4j that asks the JVM.
_GATEWAY = "java_gateway"
_local = threading.local()


class ToldError(Exception):
    """An exception that is told elsewhere: whoever logs it says nothing new."""


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out, in this thread and for the block, what PySpark logs of exceptions."""
    _install()
    before = getattr(_local, "quiet", False)
    _local.quiet = True
    try:
        yield
    finally:
        _local.quiet = before


class _NotOurs(logging.Filter):
    """Leaves out what is logged in a quiet block, and exceptions that are told elsewhere."""

    def filter(self, record: logging.LogRecord) -> bool:
        told = record.exc_info is not None and isinstance(record.exc_info[1], ToldError)
        return not told and not getattr(_local, "quiet", False)


class _NotOfAnEndedJvm(logging.Filter):
    """Leaves out what py4j tells the root logger of a JVM that has ended: it raises that too, in any thread."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.module != _GATEWAY or record.exc_info is None:
            return True
        error = record.exc_info[1]
        return error is None or not has_gone(error)


@cache
def _install() -> None:
    from pyspark.logger import PySparkLogger

    for name in _LOGGERS:
        PySparkLogger.getLogger(name).addFilter(_NotOurs())
    logging.getLogger(_CALLBACKS).addFilter(_NotOurs())
    logging.getLogger().addFilter(_NotOfAnEndedJvm())

"""Say of a Spark that has ended under its session that it has."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from sqlext.errors import SqlExtError
from sqlext.source import Span


def has_gone(error: BaseException) -> bool:
    """Return whether an error is that Spark's JVM does not answer any more."""
    # Who has not imported py4j has no error of it: Spark may not even be installed.
    of_py4j = getattr(sys.modules.get("py4j.protocol"), "Py4JNetworkError", None)
    if of_py4j is not None and isinstance(error, of_py4j):
        return True
    broken = isinstance(error, (ConnectionRefusedError, ConnectionResetError, BrokenPipeError))
    return broken and _came_through(error.__traceback__, "py4j")


def _came_through(trace: TracebackType | None, package: str) -> bool:
    """Return whether an error came out of a package: servers of others break connections too."""
    while trace is not None:
        if str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0] == package:
            return True
        trace = trace.tb_next
    return False


def gone(span: Span | None) -> SqlExtError:
    """Return RUN-080, at a statement."""
    hint = "start a new process: checkpoints and tables are as the last micro-batch left them"
    return SqlExtError("RUN-080", "Spark has ended: its JVM does not answer any more", span=span, hint=hint)


@contextmanager
def answering() -> Iterator[None]:
    """Tell by RUN-080 that Spark does not answer, wherever in the block it was asked."""
    try:
        yield
    except Exception as error:
        if has_gone(error):
            raise gone(None) from error
        raise

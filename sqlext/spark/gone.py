"""Say of a Spark that has ended under its session that it has."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sqlext.errors import SqlExtError
from sqlext.source import Span


def has_gone(error: BaseException) -> bool:
    """Return whether an error is that Spark's JVM does not answer any more."""
    # Who has not imported py4j has no error of it: Spark may not even be installed.
    of_py4j = getattr(sys.modules.get("py4j.protocol"), "Py4JNetworkError", ConnectionResetError)
    return isinstance(error, (of_py4j, ConnectionRefusedError, ConnectionResetError, BrokenPipeError))


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

"""Spark's failures in the user's terms: one code, one sentence, the statement's position."""

from __future__ import annotations

import re

from sqlext.errors import SqlExtError
from sqlext.source import Span

_OURS = re.compile(r"\[(RUN-\d{3})\] ([^\n]*?)(?= SQLSTATE|\n|$)")
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\] ([^\n]*)")
#: Conditions that only wrap the real one.
_WRAPPERS = frozenset({"STREAM_FAILED", "FAILED_EXECUTE_UDF", "TASK_WRITE_FAILED", "FAILED_READ_FILE"})


def run_error(error: BaseException, span: Span | None) -> SqlExtError:
    """Return a failure of a running query as RUN-..., at its statement."""
    if isinstance(error, SqlExtError):
        return error if span is None else error.at(span)
    text = str(error)
    ours = _OURS.search(text)
    if ours:
        made = SqlExtError(ours.group(1), ours.group(2).strip(), span=span)
    else:
        made = SqlExtError("RUN-100", _sentence(text), span=span)
    made.__cause__ = error
    return made


def refused(error: BaseException, span: Span | None) -> SqlExtError:
    """Return what Spark's analyser refuses in a rewritten query as RUN-101, before anything ran."""
    made = SqlExtError(
        "RUN-101",
        f"Spark refuses the query: {_sentence(str(error))}",
        span=span,
        hint="`sqlext rewrite` prints the Spark SQL that was tried",
    )
    made.__cause__ = error
    return made


def _sentence(text: str) -> str:
    found = [m for m in _CONDITION.finditer(text) if m.group(1).split(".")[0] not in _WRAPPERS]
    if found:
        condition, message = found[-1].groups()
        return f"[{condition}] {message.split(' SQLSTATE')[0].strip()}"
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0].strip() if lines else "no reason given"

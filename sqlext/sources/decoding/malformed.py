"""Refuse texts and values that cannot be read."""

from __future__ import annotations

import re

from sqlext.errors import SqlExtError

#: The code of a row, a file or a message that is none of its table.
BAD_ROW = "RUN-066"
#: A hint: what leaves out such rows of a format.
SKIPS = "'{form}.ignore-parse-errors' = 'true' skips such rows"

#: A hint for a file of which no part can be trusted.
BROKEN_FILE = "write the file anew, or take it out of the folder: none of its rows was taken"

_CONDITION = re.compile(r"\[\w+\] ")


def malformed(place: str, text: bytes, error: Exception, hint: str | None) -> SqlExtError:
    """Return RUN-066 for a text that cannot be read."""
    return SqlExtError(BAD_ROW, f"[MALFORMED_RECORD_IN_PARSING] {place}: {error} in {_shown(text)}", hint=hint)


def at_line(error: SqlExtError, place: str, text: bytes) -> SqlExtError:
    """Return what is wrong with a line, with the line's place and text; a condition of Spark's stays in front."""
    found = _CONDITION.match(error.message)
    condition = found.group() if found else ""
    reason = error.message.removeprefix(condition)
    return SqlExtError(error.code, f"{condition}{place}: {reason} in {_shown(text)}", hint=error.hint)


def _shown(text: bytes) -> str:
    return text[:200].decode("utf-8", "replace")


class BadValueError(Exception):
    """A value that cannot be read.

    Attributes:
        index: its place among those that were read with it.
        hint: what to do.
    """

    def __init__(self, index: int, why: object, hint: str | None = None) -> None:
        super().__init__(str(why))
        self.index = index
        self.hint = hint

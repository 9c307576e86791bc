"""Refuse texts and values that cannot be read."""

from __future__ import annotations

from sqlext.errors import SqlExtError

#: A hint: what leaves out such rows of a format.
SKIPS = "'{form}.ignore-parse-errors' = 'true' skips such rows"


def malformed(place: str, text: bytes, error: Exception, hint: str | None) -> SqlExtError:
    """Return RUN-100 for a text that cannot be read."""
    shown = text[:200].decode("utf-8", "replace")
    return SqlExtError("RUN-100", f"[MALFORMED_RECORD_IN_PARSING] {place}: {error} in {shown}", hint=hint)


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

"""What is said of a text that cannot be read."""

from __future__ import annotations

from sqlext.errors import SqlExtError

#: A hint: what leaves out such rows of a format.
SKIPS = "'{form}.ignore-parse-errors' = 'true' skips such rows"


def malformed(place: str, text: bytes, error: Exception, hint: str | None) -> SqlExtError:
    """Return RUN-100 for a text that cannot be read."""
    shown = text[:200].decode("utf-8", "replace")
    return SqlExtError("RUN-100", f"[MALFORMED_RECORD_IN_PARSING] {place}: {error} in {shown}", hint=hint)

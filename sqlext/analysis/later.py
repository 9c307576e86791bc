"""What waits for an operator of our own: refused with the word that asks for it."""

from __future__ import annotations

from sqlext.errors import SqlExtError
from sqlext.source import Span


def needs_operator(code: str, what: str, span: Span | None, hint: str | None = None) -> SqlExtError:
    """Return the refusal of something that Spark cannot do natively and no operator of ours does yet."""
    return SqlExtError(code, f"{what} needs a stateful operator that sqlext does not have yet", span=span, hint=hint)

"""How long rows of a join without bounds of time are kept: ``table.exec.state.ttl`` and the hint STATE_TTL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlext.analysis.environment import Environment
from sqlext.analysis.scope import ScopeRelation
from sqlext.dialect.query_nodes import Hint
from sqlext.errors import SqlExtError
from sqlext.settings import parse_duration
from sqlext.source import Span

_SETTING = "table.exec.state.ttl"


def ttl_of(relations: Sequence[ScopeRelation], hints: Sequence[Hint], env: Environment) -> int | None:
    """Return the ms of processing time after which a row of a side is forgotten, None for never.

    The hint names a table or its alias, and beats the setting.

    Raises:
        SqlExtError: JOIN-006 for a text that is no duration.
    """
    names = {r.qualifier[-1] for r in relations if r.qualifier}
    hinted = next(((v, span) for name, v, span in _hints(hints) if name in names), None)
    text, span = hinted or (env.settings.get(_SETTING) or "0", None)
    millis = parse_duration(text)
    if millis is None:
        raise SqlExtError("JOIN-006", f"'{text}' is no duration", span=span, hint="write '1 d' or '30 min'")
    return millis or None


def _hints(hints: Sequence[Hint]) -> Iterator[tuple[str, str, Span | None]]:
    for hint in hints:
        if hint.name.upper() == "STATE_TTL":
            yield from ((name, value, hint.span) for name, value in hint.options)

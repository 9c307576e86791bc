"""Find the time to live of state: ``table.exec.state.ttl`` and the hint STATE_TTL.

It is processing time, as the batch clock tells it. An unbounded query ticks each second, or by the lines of
``sqlext.clock``. In a bounded query the clock stands still, so nothing is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast.queries import Hint
from sqlext.errors import SqlExtError
from sqlext.plan.scope import ScopeRelation
from sqlext.settings import parse_duration
from sqlext.source import Span

_SETTING = "table.exec.state.ttl"


def ttl_of(relations: Sequence[ScopeRelation], hints: Sequence[Hint], env: Environment) -> int | None:
    """Return the ms of processing time after which what came of some relations is forgotten, None for never.

    The hint names a table or its alias, and beats the setting. As in Flink it is for joins and GROUP BY.

    Raises:
        SqlExtError: JOIN-006 for a text that is no duration.
    """
    names = {r.qualifier[-1] for r in relations if r.qualifier}
    hinted = next(((v, span) for name, v, span in _hints(hints) if name in names), None)
    return _millis(*hinted) if hinted is not None else setting_ttl(env)


def setting_ttl(env: Environment) -> int | None:
    """Return the ms of ``table.exec.state.ttl``, None for never.

    Raises:
        SqlExtError: JOIN-006 for a text that is no duration.
    """
    return _millis(env.settings.get(_SETTING) or "0", None)


def _millis(text: str, span: Span | None) -> int | None:
    millis = parse_duration(text)
    if millis is None:
        raise SqlExtError("JOIN-006", f"'{text}' is no duration", span=span, hint="write '1 d' or '30 min'")
    # Flink's default is 0 ms, which keeps state for ever.
    return millis or None


def _hints(hints: Sequence[Hint]) -> Iterator[tuple[str, str, Span | None]]:
    for hint in hints:
        if hint.name.upper() == "STATE_TTL":
            yield from ((name, value, hint.span) for name, value in hint.options)

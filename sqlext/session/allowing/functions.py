"""Ask a session's policy about the functions that a text calls."""

from __future__ import annotations

from sqlext.dialect.calls import calls
from sqlext.errors import SqlExtError
from sqlext.policy import Policy
from sqlext.rewrite.script.model import SparkScript
from sqlext.source import SourceText, Span


def require_functions(span: Span, mode: str, policy: Policy) -> None:
    """Refuse a statement that calls what the session may not use.

    Raises:
        SqlExtError: RESTRICT-007, at the call.
    """
    for name, token in calls(span.source, mode, span.start, span.end) if policy.restricted else ():
        refusal = policy.function(name)
        if refusal is not None:
            raise SqlExtError(
                refusal.code, refusal.message, span=span.source.span(token.start, token.end), hint=refusal.hint
            )


def require_script(script: SparkScript, policy: Policy, span: Span) -> None:
    """Refuse a query whose views or tables call what the session may not use; ``span`` is where it stands.

    Raises:
        SqlExtError: RESTRICT-007.
    """
    source = SourceText.of(script.sql)
    try:
        require_functions(source.span(0, len(source.text)), "spark", policy)
    except SqlExtError as error:
        raise SqlExtError(error.code, error.message, span=span, hint=error.hint) from None

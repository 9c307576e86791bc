"""Tell a failure that may pass by itself from one that comes again: a server that is away from a wrong password."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlext.errors import SqlExtError

#: Codes of what is outside: stores, brokers, databases, registries; of Spark's and of users' functions.
_OUTSIDE = frozenset("RUN-010 RUN-015 RUN-047 RUN-060 RUN-062 RUN-070 RUN-073 RUN-074 RUN-076 RUN-077 RUN-100".split())
#: What is said where nobody answers, where somebody is busy, or where there is no room.
_PASSES = re.compile(
    r"does not answer|did not come|nobody listens|time[d\s-]*out|timeout|timelimit"
    r"|connection\W+(?:\w+\W+){0,3}(?:refused|reset|aborted|closed|lost|error)|connect(?:ion)? (?:attempt )?failed"
    r"|could not connect|cannot connect|can't connect|unable to connect|failed to connect|connecterror|connectionerror"
    r"|unreachable|unavailable|not available|temporar|try again|broken pipe|gone away|server closed|starting up"
    r"|shutting down|too many (?:connections|requests|clients)|throttl|slow ?down|deadlock|is locked|lock wait"
    r"|no space left|disk full|quota exceeded|input/output error|stale file handle|no route to host"
    r"|name or service not known|name resolution|network is|exited unexpectedly|executor lost|lost executor"
    r"|fetchfailed|\b(?:429|500|502|503|504)\b",
    re.IGNORECASE,
)
#: What is said where a second attempt cannot go otherwise.
_STAYS = re.compile(
    r"authenti|authoriz|password|credential|access denied|permission denied|forbidden|\b(?:401|403)\b"
    r"|does not exist|no such|unknown (?:topic|database|host key)|syntax error|violates|constraint|duplicate key",
    re.IGNORECASE,
)


def may_pass(error: SqlExtError) -> bool:
    """Return whether the same job may go on if it begins again after a while.

    Only then, if its code is of something outside of the query, and if it is said that nobody answers, that somebody is
    busy, or that there is no room. What asks for another password, table or row comes again.
    """
    if error.code not in _OUTSIDE:
        return False
    said = "\n".join(_texts(error))
    return _PASSES.search(said) is not None and _STAYS.search(error.message) is None


def _texts(error: SqlExtError) -> Iterator[str]:
    yield error.message
    cause = error.__cause__
    # A failure of Spark quotes the whole query and its plan: only the kind of the others counts.
    if isinstance(cause, OSError):
        yield f"{type(cause).__name__}: {cause}"

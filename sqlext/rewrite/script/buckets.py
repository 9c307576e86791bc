"""Into how many buckets the state of a query's operators is cut: ``SET 'sqlext.state.buckets'`` when it begins.

Keys stay in their buckets, so a query that goes on keeps the number, whatever is set then.
"""

from __future__ import annotations

from sqlext.analysis.inserts.fingerprint import Fingerprint
from sqlext.rewrite.script.model import OperatorView, SparkScript
from sqlext.settings import Settings

SETTING = "sqlext.state.buckets"
#: Of a fingerprint.
_PART = "state buckets"


def wanted_buckets(settings: Settings) -> int:
    """Return how many a new query has."""
    return int(settings.get(SETTING) or 0)


def begun_buckets(prints: Fingerprint) -> int | None:
    """Return how many a query began with, None where its fingerprint does not say."""
    return int(prints[_PART][1]) if _PART in prints else None


def state_buckets(script: SparkScript) -> Fingerprint:
    """Return the part of a fingerprint that keeps the number, if there is an operator with a state."""
    operators = any(isinstance(step, OperatorView) for step in script.steps)
    return {_PART: (str(script.buckets),) * 2} if operators else {}

"""Read a table of upserts (upsert-kafka) as the changes that its records make."""

from __future__ import annotations

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.relations.state_ttl import setting_ttl
from sqlext.plan.current_rows import CurrentRows
from sqlext.plan.nodes import PlanNode, Scan


def current_rows(scan: Scan, env: Environment) -> PlanNode:
    """Return the changes of a table whose records are upserts.

    Raises:
        SqlExtError: JOIN-006 for a time to live that is no duration.
    """
    key = scan.table.primary_key
    if key is None:
        return scan
    return CurrentRows(scan.columns, (scan,), retracts=True, primary=key.columns, ttl=setting_ttl(env))

"""The INSERTs beside a query: of its late rows, and of the rows that its sources cannot decode."""

from __future__ import annotations

from sqlext.analysis.inserts.bad_rows import bad_inserts
from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.late import late_insert
from sqlext.analysis.names.environment import Environment
from sqlext.plan.nodes import PlanNode


def side_inserts(plan: PlanNode, env: Environment) -> tuple[BoundInsert, ...]:
    """Return where rows go that a query keeps beside its own: the late ones first.

    Raises:
        SqlExtError: EMIT-118 if late rows cannot reach the end of the query.
    """
    late = late_insert(plan, env)
    return (*((late,) if late is not None else ()), *bad_inserts(plan, env))

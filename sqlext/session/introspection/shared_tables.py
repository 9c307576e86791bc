"""Say which tables the queries of a statement set read together."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.names.environment import Environment
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler.inserts import insert_script
from sqlext.rewrite.script.model import SparkScript
from sqlext.rewrite.script.shared import told
from sqlext.session.local_plans import is_of_this_process


def shared_tables(
    scripts: Sequence[SparkScript],
    inserts: Sequence[BoundInsert | None],
    engines: Sequence[str | None],
    env: Environment,
) -> list[Sequence[str]]:
    """Return of each query of a job what it reads together with others, and why it reads other tables by itself.

    Args:
        scripts: those of the queries, for Spark.
        inserts: their INSERTs; None of one that has none.
        engines: who runs each (``engine_of``).
    """
    known = [insert for insert in inserts if insert is not None]
    if len(known) < len(scripts) or not known:
        return [()] * len(scripts)
    if all(map(is_of_this_process, engines)):
        scripts = [insert_script(insert, env, end=InputEnd.FINISH, local=True) for insert in known]
    return list(told(scripts, known))

"""Deploy the queries of a script, or of a DEPLOY statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.dialect.ast import statements as ast
from sqlext.errors import SqlExtError
from sqlext.jobs.result import Result
from sqlext.session.allowing.tables import admit_queries
from sqlext.session.deploying.beside import NewVersions
from sqlext.session.deploying.candidates import candidates_of
from sqlext.session.deploying.deployer import Deployer
from sqlext.session.deploying.downstream import Downstream
from sqlext.session.deploying.options import DeployOptions
from sqlext.session.deploying.records import VersionRecords
from sqlext.session.deploying.report import Deployment
from sqlext.session.deploying.rollback import Rollback
from sqlext.session.drafts import RunOptions
from sqlext.session.state import SessionState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = ("query", "table", "outcome", "details")


@dataclass(frozen=True)
class Deploying:
    """Deploys queries in a session: those of a script, or of a DEPLOY statement.

    Attributes:
        folder: the catalog's, or its URL.
        options: as of a run.
    """

    spark: Callable[[], SparkSession]
    state: SessionState
    folder: Path | str
    options: RunOptions

    def deploy(self, statements: Iterable[ast.Statement], asked: DeployOptions) -> Deployment:
        """Deploy the queries of statements, or roll them back.

        Raises:
            SqlExtError: as ``Session.deploy`` and ``Session.roll_back``.
        """
        statements = tuple(statements)
        state = self.state.fork()
        state.created = set()
        before = state.fork()
        # A new version ends where the old one is, whatever it does later. Its name is that of the first query that a
        # script would start: what this script has started before may be the version that is there.
        rules = replace(self.options.rules, endless=False)
        options = replace(self.options, ordinals={}, rules=rules)
        candidates = candidates_of(statements, state, options, redefines=asked.rollback, keeps_rows=asked.keep_rows)
        versions, records = NewVersions(self.spark, state, self.folder, options), VersionRecords(self.state.catalog)
        known = records.all()
        for one in candidates:
            mine = one.draft.insert.table.name.plain
            touched = [r for r in known if r.name == one.draft.name or (asked.renews and mine in r.reads)]
            admit_queries(touched, one.draft.insert.span, self.state)
        downstream = Downstream(statements, before, state, options, known, versions.run_of, redefines=asked.rollback)
        if asked.rollback:
            return Rollback(versions, records, downstream).roll_back(candidates)
        asked.allowed.require_columns([c.name for one in candidates for c in one.draft.insert.table.columns])
        return Deployer(versions, records, downstream, asked.renews).deploy(candidates, asked.allowed, stops=asked.stop)

    def answer(self, statement: ast.Deploy) -> Result:
        """Return what became of each query: a row each, of name, table, outcome, and what differs, line by line.

        Raises:
            SqlExtError: as ``deploy``; RUN-089 more rows differ than may, so that nothing behind it runs.
        """
        found = self.deploy([statement.statement], DeployOptions.of(statement))
        _require(found, statement)
        return Result(_COLUMNS, [(q.name, q.table, q.outcome, "\n".join(q.lines())) for q in found.queries])


def _require(found: Deployment, statement: ast.Deploy) -> None:
    if not found.refused:
        return
    hint = "WITH ('allow-differences' = '...') says how many may differ; the old version is still the current one"
    raise SqlExtError("RUN-089", f"more rows differ than may:\n{found}", span=statement.span, hint=hint)

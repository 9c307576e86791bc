"""Define what the interpreter hands on: the statements that read data.

Three classes implement ``Handler``. ``executor.SparkHandler`` runs queries, ``frame_handler.FrameHandler`` returns
DataFrames, and ``offline.dry_run.DryRun`` compiles only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.replays import BoundReplay
from sqlext.analysis.names.environment import Environment, SparkLookup
from sqlext.connectors.spec import Alteration
from sqlext.dialect.ast import statements as ast
from sqlext.jobs.result import Result
from sqlext.plan.nodes import PlanNode
from sqlext.session.catalogs.lakes import Lakes
from sqlext.session.state import SessionState
from sqlext.source import Span
from sqlext_catalog.model import ObjectName, Relation, Table


class Handler(Protocol):
    """Handles the statements that read data, and those about queries."""

    def select(self, statement: ast.SelectStatement, plan: PlanNode, env: Environment) -> Result:
        """Show a query's rows."""

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        """Run INSERTs as one job: one, or those of a statement set."""

    def explain(self, statement: ast.Explain, env: Environment) -> Result:
        """Say what a statement would do."""

    def spark(self, statement: ast.Statement) -> Result:
        """Hand a statement to Spark byte for byte."""

    def drop_query(self, statement: ast.Drop) -> Result:
        """Remove a query and its state."""

    def stop_job(self, statement: ast.StopJob) -> Result:
        """Stop a running job."""

    def show_watermarks(self, statement: ast.Show, env: Environment) -> Result:
        """Say how far the inputs of queries are."""

    def explain_why(self, statement: ast.ExplainWhy, env: Environment) -> Result:
        """Say why nothing comes out of a query."""

    def explain_row(self, statement: ast.ExplainRow, rows: PlanNode, env: Environment) -> Result:
        """Say which input rows made the rows of a result."""

    def analyze_watermark(self, statement: ast.AnalyzeWatermark, env: Environment) -> Result:
        """Say how late the rows of a table are."""

    def replay(self, replay: BoundReplay, env: Environment) -> Result:
        """Feed dead letters back into their queries."""

    def deploy(self, statement: ast.Deploy) -> Result:
        """Make the new version of a statement's queries the current one."""

    def runs(self, query: str) -> bool:
        """Whether a query of this session runs."""

    def drop_kept(self, query: str, table: Table) -> None:
        """Stop the query that keeps a materialized view, and remove its state; the view's own rows go too."""

    def alter_stored(self, name: ObjectName, alteration: Alteration, span: Span) -> None:
        """Change the columns of what lies behind a table, as ALTER TABLE asks."""

    def lakes(self) -> Lakes:
        """Return how to reach catalogs of lakes."""

    def spark_table(self) -> SparkLookup | None:
        """Return how to ask Spark for a table, None without Spark."""


class Definitions(Protocol):
    """The part of the interpreter that statements with several steps call back."""

    state: SessionState
    handler: Handler

    def environment(self) -> Environment:
        """Return the surroundings of the next statement."""

    def create(self, item: Relation, statement: ast.CreateTable | ast.CreateView, verb: str) -> None:
        """Store what a CREATE defines, by the statement's rules for a name that is taken."""

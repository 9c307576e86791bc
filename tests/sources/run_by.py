"""One INSERT by a reader: Arrow's or Spark's."""

from __future__ import annotations

from dataclasses import dataclass

from workspace import Workspace

#: How a test keeps what comes out, in a folder of its own for each reader.
CSV = "'connector' = 'filesystem', 'format' = 'csv'"
CHANGES = "'connector' = 'filesystem', 'format' = 'debezium-json'"


@dataclass(frozen=True)
class Case:
    """A query over tables.

    Attributes:
        tables: the DDL of what it reads.
        columns: what comes out, as DDL.
        query: the SELECT.
        kept: the options of the table that takes it, all but its path.
    """

    tables: str
    columns: str
    query: str
    kept: str = CSV

    def run_by(self, source: str, workspace: Workspace) -> str:
        """Run it into the folder that is named like the reader; return what EXPLAIN says of it."""
        session = workspace.session(source)
        setting = f"SET 'sqlext.source' = '{source}'; SET 'pipeline.name' = '{source}';"
        taker = f"CREATE TABLE o ({self.columns}) WITH ('path' = '${{OUT}}/{source}', {self.kept});"
        workspace.run(setting, self.tables, taker, session=session)
        explained = str(session.sql(f"EXPLAIN INSERT INTO o {self.query}").rows[0][0])
        workspace.run(f"INSERT INTO o {self.query};", session=session)
        return explained

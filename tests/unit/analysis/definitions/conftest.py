"""A catalog that statements are run against, without the rest of a session."""

from __future__ import annotations

import pytest

from sqlext.analysis.definitions import alteration_of, table_of, view_of
from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.session.introspection.show import describe, show
from sqlext.settings import Settings
from sqlext.source import SourceText
from sqlext_catalog import ddl
from sqlext_catalog.model import Table, View
from sqlext_catalog.session_catalog import SessionCatalog


class Definitions:
    """Runs definitions and asks what they became."""

    def __init__(self, mode: str = "flink") -> None:
        self.mode = mode
        self.catalog = SessionCatalog()

    def run(self, text: str) -> list[tuple[object, ...]]:
        """Run statements; return the rows of the last one."""
        rows: list[tuple[object, ...]] = []
        for statement in parse_script(SourceText.of(text), self.mode):
            rows = self._run(statement)
        return rows

    def refuse(self, text: str, code: str, at: str | None = None) -> SqlExtError:
        """Check that a statement is refused, at the first place where ``at`` stands."""
        before = self.catalog.snapshot().objects()
        with pytest.raises(SqlExtError) as caught:
            self.run(text)
        error = caught.value
        assert error.code == code, error
        assert self.catalog.snapshot().objects() == before
        if at is not None:
            assert error.span is not None
            assert error.span.start == text.index(at), error.render()
        return error

    def table(self, name: str) -> Table:
        """Return a table."""
        found = self.catalog.lookup([name])
        assert isinstance(found, Table)
        return found

    def view(self, name: str) -> View:
        """Return a view."""
        found = self.catalog.lookup([name])
        assert isinstance(found, View)
        return found

    def environment(self) -> Environment:
        """Return the surroundings of a statement."""
        return Environment(self.catalog, Settings({"sqlext.expressions": self.mode}))

    def _run(self, statement: ast.Statement) -> list[tuple[object, ...]]:
        env, catalog = self.environment(), self.catalog
        if isinstance(statement, ast.CreateTable):
            catalog.apply(ddl.create(table_of(statement, env, catalog)), "CREATE TABLE")
        elif isinstance(statement, ast.CreateView):
            exists: ddl.IfExists = "replace" if statement.or_replace else "error"
            catalog.apply(ddl.create(view_of(statement, env, catalog), exists), "CREATE VIEW")
        elif isinstance(statement, ast.AlterTable):
            name = catalog.resolve(statement.name)
            catalog.apply(ddl.alter_table(name, alteration_of(statement, env, catalog)), "ALTER TABLE")
        elif isinstance(statement, ast.Describe):
            return describe(statement, catalog, env)[1]
        elif isinstance(statement, ast.Show):
            return show(statement, catalog, env)[1]
        else:
            raise NotImplementedError(type(statement).__name__)
        return []


@pytest.fixture
def flink() -> Definitions:
    return Definitions()


@pytest.fixture
def spark() -> Definitions:
    return Definitions("spark")

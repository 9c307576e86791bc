"""Offer read-only questions to an assistant on standard input and output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from importlib.metadata import version
from typing import ParamSpec

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from sqlext.cli.messages import as_json
from sqlext.errors import SqlExtError
from sqlext.policy import Restrictions, policy_of
from sqlext.session.offline.commands import check_file, described, explain_source, relations
from sqlext.session.offline.compilation import new_state, read_source
from sqlext.session.state import SessionState

_ABOUT = """Streaming SQL on Spark, in the dialect of Flink SQL. All questions are read-only. None starts Spark.
Ask `check` about a script before you show it, and `plan` for its time attributes and watermarks.
A code RESTRICT-... means that the owner of this server has not named what the script uses."""
_Arguments = ParamSpec("_Arguments")


@dataclass(frozen=True)
class Questions:
    """What can be asked; the docstrings are what an assistant reads.

    Attributes:
        catalog: the folder or URL of the catalog.
        variables: values of ``${NAME}`` in scripts.
        restricted: what scripts may use.
    """

    catalog: str
    variables: Mapping[str, str] = field(default_factory=dict)
    restricted: bool | Restrictions = True

    def tables(self) -> str:
        """List the tables and views of the catalog, with their connectors."""
        return "\n".join(relations(self._state())) or "there is no table and no view"

    def describe(self, table: str) -> str:
        """Show the columns of a table or view: types, keys, time attributes and watermarks.

        Args:
            table: its name, of one to three parts joined by dots.
        """
        return described(table, self._state())

    def check(self, script: str) -> str:
        """Find the mistakes in a script of SQL, and what may not be meant, as JSON with positions, codes and hints.

        An empty list means that there is none.

        Args:
            script: the statements, each with its semicolon. They see the tables of the catalog.
        """
        # With a line break at its end a text is never taken for the name of a file.
        return as_json(check_file(f"{script}\n", self.variables, state=self._state()))

    def plan(self, script: str) -> str:
        """Show how the queries of a script would run: plan, time attributes, watermarks, state and Spark SQL.

        Args:
            script: as for check.
        """
        return explain_source(read_source(f"{script}\n", self.variables), self._state())

    def watermarks(self, query: str | None = None) -> str:
        """Show how far the time of running queries is, input by input.

        Args:
            query: its name; without one all queries are shown.
        """
        from sqlext.session.introspection.watermarks import COLUMNS, Watermarks

        rows = Watermarks((), self._state()).rows(query)
        return "\n".join("\t".join("" if v is None else str(v) for v in row) for row in (COLUMNS, *rows))

    def why(self, query: str) -> str:
        """Say why nothing comes out of a running query, and what must happen.

        Args:
            query: its name.
        """
        from sqlext.session.introspection.watermarks import Watermarks

        return Watermarks((), self._state()).why(query)

    def _state(self) -> SessionState:
        # Anew for each question: other processes change the catalog. A copy, so that no question changes it.
        state = new_state(self.catalog).fork()
        state.policy = policy_of(self.restricted, [state.folder])
        return state


def server(questions: Questions) -> MCPServer:
    """Return a server that is ready to be run."""
    made = MCPServer("sqlext", instructions=_ABOUT, version=version("sqlext-spark"), log_level="ERROR")
    asked = (
        questions.tables, questions.describe, questions.check, questions.plan, questions.watermarks, questions.why
    )  # fmt: skip
    for question in asked:
        hints = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
        made.add_tool(_told(question), annotations=hints, structured_output=False)
    return made


def _told(question: Callable[_Arguments, str]) -> Callable[_Arguments, str]:
    """Return a question whose refusals are told with their place and hint."""

    @wraps(question)
    def ask(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> str:
        try:
            return question(*args, **kwargs)
        except SqlExtError as error:
            raise ToolError(error.render()) from error

    return ask

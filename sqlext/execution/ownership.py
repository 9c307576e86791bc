"""Whose statement is it? What names nothing of our catalog and no syntax of ours is Spark's, byte for byte."""

from __future__ import annotations

from sqlext.analysis.environment import Environment
from sqlext.analysis.relations import require_spark_table
from sqlext.analysis.windows import WINDOW_FUNCTIONS
from sqlext.dialect import statement_nodes as ast
from sqlext.dialect.query_nodes import MatchRecognize, Query, Select, TableFunction, TableRef

#: Kinds of SHOW that are about one table.
_OF_A_TABLE = frozenset({"COLUMNS", "CREATE TABLE", "CREATE VIEW"})


def names_sparks_table(statement: ast.Statement, env: Environment) -> bool:
    """Whether a statement is about one table, which Spark alone knows."""
    if isinstance(statement, ast.Insert):
        return _is_sparks(statement.name, env) and not concerns_us(statement.query, env)
    if isinstance(statement, ast.Drop):
        # IF EXISTS is written before a CREATE of ours: it must not take away a table of Spark's with that name.
        return statement.kind in ("TABLE", "VIEW") and not statement.if_exists and _is_sparks(statement.name, env)
    if isinstance(statement, ast.Show):
        return statement.what in _OF_A_TABLE and _is_sparks(statement.name, env)
    return isinstance(statement, (ast.AlterTable, ast.AlterView, ast.Describe)) and _is_sparks(statement.name, env)


def _is_sparks(name: tuple[str, ...], env: Environment) -> bool:
    if not name or env.catalog.lookup(name) is not None or env.system_view(name[-1]) is not None:
        return False
    return env.spark_table(name) is not None


def check_spark_tables(query: Query, env: Environment) -> None:
    """Check that Spark knows the tables of a query that is its own.

    Raises:
        SqlExtError: NAME-002 with close matches among our tables.
    """
    ctes = {cte.name.lower() for node in query.walk() if isinstance(node, Query) for cte in node.ctes}
    for node in query.walk():
        if isinstance(node, TableRef) and (len(node.parts) > 1 or node.parts[0].lower() not in ctes):
            require_spark_table(node, env)


def concerns_us(query: Query, env: Environment) -> bool:
    """Whether a query uses a table of the catalog or syntax of ours; any other goes to Spark as it is."""
    for node in query.walk():
        if isinstance(node, MatchRecognize) or (isinstance(node, Select) and node.emit is not None):
            return True
        if isinstance(node, TableFunction) and (
            node.function in WINDOW_FUNCTIONS or env.functions.find("table", node.name) is not None
        ):
            return True
        if isinstance(node, TableRef) and (
            node.system_time is not None
            or env.catalog.lookup(node.parts) is not None
            or (len(node.parts) > 1 and env.system_view(node.parts[-1]) is not None)
        ):
            return True
    return False

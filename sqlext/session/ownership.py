"""Decide whether a statement is ours or Spark's.

A statement that names nothing of our catalog and uses no syntax of ours is Spark's. It goes there byte for byte.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlext.analysis import functions
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.selects.from_clause import require_spark_table
from sqlext.analysis.windows.table_functions import WINDOW_FUNCTIONS
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.ast.expressions import ArrayValue, Call, MapValue, Node, RowValue
from sqlext.dialect.ast.queries import MatchRecognize, Query, Select, TableFunction, TableRef, Unnest
from sqlext.errors import SqlExtError, did_you_mean

#: Kinds of SHOW that are about one table.
_OF_A_TABLE = frozenset({"COLUMNS", "CREATE TABLE", "CREATE VIEW"})
#: And those that Spark does not have.
_OF_JOBS = frozenset({"JOBS", "QUERIES", "WATERMARKS"})
#: Statements that Spark does not have.
_OURS = (
    ast.StatementSet,
    ast.StopJob,
    ast.Replay,
    ast.Deploy,
    ast.ExplainWhy,
    ast.ExplainRow,
    ast.AnalyzeWatermark,
    ast.AlterMaterialized,
)


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
    # By name alone, wherever a CTE stands: a wrong guess leaves the check to Spark.
    ctes = {cte.name.lower() for node in query.walk() if isinstance(node, Query) for cte in node.ctes}
    for node in query.walk():
        if isinstance(node, TableRef) and (len(node.parts) > 1 or node.parts[0].lower() not in ctes):
            require_spark_table(node, env)


def refuse_our_syntax(query: Query) -> None:
    """Check that Spark can read a query that is its own.

    Raises:
        SqlExtError: PARSE-004 at the first value, or relation, that is written as Flink writes it.
    """
    for node in query.walk():
        shown = _written_for_flink(node)
        if shown is not None:
            what, instead = shown
            raise SqlExtError(
                "PARSE-004",
                f"Spark has no {what}, and this query goes to Spark: it reads no table of this catalog",
                span=node.span,
                hint=f"write {instead}, or SET 'sqlext.expressions' = 'flink'",
            )


def _written_for_flink(node: Node) -> tuple[str, str] | None:
    match node:
        case ArrayValue():
            return "ARRAY[...]", "array(...)"
        case MapValue():
            return "MAP[...]", "map(...)"
        case RowValue() if node.span.text[:3].upper() == "ROW":
            return "ROW(...)", "struct(...)"
        case Unnest():
            return "UNNEST", "explode(...)"
    return None


def check_spark_functions(query: Query, made: Collection[str]) -> None:
    """Check the names of functions in a query of Spark's, where no Spark can be asked.

    Args:
        made: functions that Spark has besides its own, in lower case.

    Raises:
        SqlExtError: FUNC-001 and FUNC-004 with close matches.
    """
    for node in query.walk():
        # A function with a database is one of Spark's catalog.
        if not isinstance(node, (Call, TableFunction)) or "." in node.name or node.name.lower() in made:
            continue
        if not functions.is_known_to_spark(node.name):
            code, kind = ("FUNC-001", "function") if isinstance(node, Call) else ("FUNC-004", "table function")
            hint = did_you_mean(node.name, functions.all_names()) or "a session with Spark knows its functions too"
            raise SqlExtError(code, f"Spark has no {kind} `{node.name}`", span=node.span, hint=hint)


def concerns_us(query: Query, env: Environment) -> bool:
    """Whether a query uses a table of the catalog or syntax of ours; any other goes to Spark as it is."""
    for node in query.walk():
        if isinstance(node, MatchRecognize) or (isinstance(node, Select) and node.emit is not None):
            return True
        if isinstance(node, TableFunction) and (
            node.function in WINDOW_FUNCTIONS or env.functions.find("table", node.name) is not None
        ):
            return True
        if isinstance(node, Call) and env.functions.find("scalar", node.name) is not None:
            return True
        if isinstance(node, TableRef) and (
            node.system_time is not None
            or env.catalog.lookup(node.parts) is not None
            # Unqualified, a name such as `tables` may well be a table of Spark's.
            or (len(node.parts) > 1 and env.system_view(node.parts[-1]) is not None)
        ):
            return True
    return False


def is_ours(statement: ast.Statement, env: Environment) -> bool:
    """Whether a statement has syntax of ours or is about our tables, where Spark's own catalog comes first.

    For ``sqlext.install``: databases, USE, SHOW TABLES and a plain CREATE TABLE stay Spark's there.
    """
    match statement:
        case ast.Explain():
            return is_ours(statement.statement, env)
        case ast.SelectStatement():
            return concerns_us(statement.query, env)
        case ast.Insert():
            return _knows(statement.name, env) or concerns_us(statement.query, env)
        case ast.CreateTable():
            return _has_clauses_of_ours(statement) or (
                statement.query is not None and concerns_us(statement.query, env)
            )
        case ast.CreateView():
            return statement.materialized or concerns_us(statement.query, env)
        case ast.Drop():
            return statement.kind in ("QUERY", "MATERIALIZED VIEW") or _knows(statement.name, env)
        case ast.Show():
            return statement.what in _OF_JOBS or (statement.what in _OF_A_TABLE and _knows(statement.name, env))
        case ast.AlterTable() | ast.AlterView() | ast.Describe():
            return _knows(statement.name, env)
        # SET alone lists settings, and a user of spark.sql expects Spark's.
        case ast.SetOption() | ast.ResetOption():
            return statement.key is not None
        # Without a language the class is one of Java, which Spark can load.
        case ast.CreateFunction():
            return bool(statement.language)
    return isinstance(statement, _OURS)


def _knows(name: tuple[str, ...], env: Environment) -> bool:
    return 0 < len(name) <= 3 and env.catalog.lookup(name) is not None


def _has_clauses_of_ours(statement: ast.CreateTable) -> bool:
    columns = any(c.expression is not None or c.metadata for c in statement.columns)
    return bool(statement.watermarks or statement.options or statement.primary_keys or columns or statement.like)

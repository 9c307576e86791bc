"""Choose a statement's parser by its first words; what is Spark's goes there as written."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.dialect.ast.statements import (
    Explain,
    ExplainWhy,
    SelectStatement,
    Statement,
    UnparsedQuery,
)
from sqlext.dialect.cursor import Cursor, check_height, too_deep
from sqlext.dialect.keywords import unsupported
from sqlext.dialect.queries.whole import after_query, parse_query
from sqlext.dialect.statements.alter_table import parse_alter_table
from sqlext.dialect.statements.analyze import parse_analyze
from sqlext.dialect.statements.create_table import CreateFlags, is_spark_table, parse_create_table
from sqlext.dialect.statements.databases import (
    parse_alter_catalog,
    parse_alter_database,
    parse_create_catalog,
    parse_create_database,
    parse_drop,
    parse_use,
)
from sqlext.dialect.statements.deploy import parse_deploy
from sqlext.dialect.statements.explain_row import parse_explain_row
from sqlext.dialect.statements.functions import parse_alter_function, parse_create_function
from sqlext.dialect.statements.insert import at_statement_set, parse_insert, parse_statement_set
from sqlext.dialect.statements.jobs import parse_query_name, parse_stop
from sqlext.dialect.statements.materialized import parse_alter_materialized, parse_create_materialized
from sqlext.dialect.statements.replay import parse_replay
from sqlext.dialect.statements.settings import parse_reset, parse_set
from sqlext.dialect.statements.show import parse_describe, parse_show
from sqlext.dialect.statements.spark import is_sparks_verb, parse_spark
from sqlext.dialect.statements.views import parse_alter_view, parse_create_view
from sqlext.dialect.tokens import Token, TokenKind, words
from sqlext.errors import SqlExtError

#: First words of what only reads or inserts, and the refusals that may mean nothing but another grammar.
_QUERIES = frozenset(words("SELECT WITH VALUES TABLE INSERT"))
_NOT_OURS = frozenset(words("PARSE-002 PARSE-004 PARSE-006 PARSE-007 PARSE-008"))

_EXPLAIN_DETAILS = words(
    "JSON MERMAID TEXT FORMATTED EXTENDED CODEGEN COST ESTIMATED_COST CHANGELOG_MODE JSON_EXECUTION_PLAN PLAN_ADVICE"
)


def parse_statement(cursor: Cursor, *, unparsed: bool = False) -> Statement:
    """Read one statement, up to its semicolon, which stays in front of the cursor.

    Args:
        cursor: before the statement.
        unparsed: give a query that cannot be read as ``UnparsedQuery``, in spark mode: it may be one for Spark.

    Raises:
        SqlExtError: PARSE-0xx with the place of the fault.
    """
    index = cursor.index
    try:
        return _parsed(cursor)
    except SqlExtError as error:
        first = cursor.tokens[index]
        # In flink mode no query is Spark's, so the refusal is the answer.
        is_query = first.upper in _QUERIES or first.text == "("
        if not unparsed or not is_query or cursor.mode != "spark" or error.code not in _NOT_OURS:
            raise
        cursor.index = index
        return _unparsed(cursor, error)


def _unparsed(cursor: Cursor, error: SqlExtError) -> UnparsedQuery:
    start, index = cursor.token.start, cursor.index
    while not cursor.at_statement_end:
        cursor.advance()
    # Every word counts as a name: in a text that cannot be read nobody knows which is one.
    named = (t.text for t in cursor.tokens[index : cursor.index] if t.kind in (TokenKind.WORD, TokenKind.QUOTED))
    return UnparsedQuery(cursor.span_from(start), frozenset(n.strip("`").replace("``", "`") for n in named), error)


def _parsed(cursor: Cursor) -> Statement:
    first = cursor.token
    # A refusal skips `leave`: what was entered before it must not count here.
    cursor.depth, cursor.strained = 0, False
    try:
        statement = _statement(cursor)
    # MAX_DEPTH cannot count the frames of whoever calls this.
    except RecursionError:
        raise too_deep(cursor.source.span(first.start, first.end)) from None
    if not cursor.at_statement_end:
        raise after_query(cursor, "the statement")
    if cursor.strained:
        check_height(statement)
    return statement


def _statement(cursor: Cursor) -> Statement:
    index = cursor.index
    token = cursor.token
    parse = _STATEMENTS.get(token.upper)
    if parse is None and cursor.at_symbol("("):
        parse = _select
    statement = parse(cursor) if parse else None
    if statement is not None:
        return statement
    # None says that the statement is Spark's: back to its first word.
    cursor.index = index
    return parse_spark(cursor, _STATEMENTS)


def _select(cursor: Cursor) -> Statement:
    start = cursor.token.start
    query = parse_query(cursor)
    return SelectStatement(cursor.span_from(start), query)


def _create(cursor: Cursor) -> Statement | None:
    start = cursor.advance().start
    replace = cursor.accept_words("OR", "REPLACE")
    # A materialized table that is there goes on where it was, and another query of it is refused: nothing is altered.
    if cursor.at_words("OR", "ALTER", "MATERIALIZED", "TABLE"):
        cursor.accept_words("OR", "ALTER")
    temporary = bool(cursor.accept_any("TEMPORARY", "TEMP"))
    materialized = cursor.accept_words("MATERIALIZED")
    if materialized and cursor.accept_words("TABLE"):
        return parse_create_materialized(cursor, CreateFlags(start, replace, temporary, materialized))
    return _created(cursor, CreateFlags(start, replace, temporary, materialized))


def _created(cursor: Cursor, flags: CreateFlags) -> Statement | None:
    kind = cursor.token.upper
    cursor.advance()
    if kind == "TABLE":
        return None if is_spark_table(cursor) else parse_create_table(cursor, flags)
    if kind == "VIEW":
        return parse_create_view(cursor, flags)
    if kind in ("DATABASE", "SCHEMA"):
        return parse_create_database(cursor, flags)
    if kind == "FUNCTION" or (kind == "SYSTEM" and cursor.accept_words("FUNCTION")):
        return parse_create_function(cursor, flags)
    return parse_create_catalog(cursor, flags) if kind == "CATALOG" else None


def _replace(cursor: Cursor) -> Statement | None:
    """``REPLACE TABLE t ... AS query``."""
    start = cursor.advance().start
    return _created(cursor, CreateFlags(start, or_replace=True)) if cursor.at_words("TABLE") else None


def _alter(cursor: Cursor) -> Statement | None:
    start = cursor.advance().start
    if cursor.accept_words("TABLE"):
        return parse_alter_table(cursor, start)
    if cursor.accept_words("MATERIALIZED", "TABLE"):
        return parse_alter_materialized(cursor, start)
    if cursor.accept_words("VIEW"):
        return parse_alter_view(cursor, start)
    if cursor.accept_words("CATALOG"):
        return parse_alter_catalog(cursor, start)
    if cursor.accept_words("FUNCTION"):
        return parse_alter_function(cursor, start)
    return parse_alter_database(cursor, start) if cursor.accept_any("DATABASE", "SCHEMA") else None


def _execute(cursor: Cursor) -> Statement | None:
    if at_statement_set(cursor):
        return parse_statement_set(cursor)
    return parse_insert(cursor) if cursor.peek().upper == "INSERT" else None


def _begin(cursor: Cursor) -> Statement | None:
    if at_statement_set(cursor):
        return parse_statement_set(cursor)
    raise unsupported(cursor, "a BEGIN ... END block", "write its statements one after the other")


def _explain(cursor: Cursor) -> Statement:
    """``EXPLAIN [details | PLAN FOR] statement``, ``EXPLAIN WHY query`` or ``EXPLAIN ROW FROM sink WHERE x``."""
    start = cursor.advance().start
    if cursor.at_words("ROW", "FROM") or cursor.at_words("WHY", "NOT", "FROM"):
        return parse_explain_row(cursor, start)
    if cursor.accept_words("WHY"):
        name, name_span = parse_query_name(cursor)
        return ExplainWhy(cursor.span_from(start), name, name_span)
    details: list[str] = []
    while detail := cursor.accept_any(*_EXPLAIN_DETAILS):
        details.append(detail)
        # Flink separates details by commas, Spark has one.
        if cursor.accept_symbol(",") and not cursor.at_any(*_EXPLAIN_DETAILS):
            raise cursor.unexpected("another detail", hint=f"the details are {', '.join(_EXPLAIN_DETAILS)}")
    cursor.accept_words("PLAN", "FOR")
    if cursor.at_any("EXPLAIN") or cursor.at_statement_end:
        raise cursor.unexpected("the statement to explain")
    statement = _statement(cursor)
    return Explain(cursor.span_from(start), statement, tuple(details))


_STATEMENTS: dict[str, Callable[[Cursor], Statement | None]] = {
    **dict.fromkeys(("SELECT", "WITH", "VALUES", "TABLE"), _select),
    "CREATE": _create,
    "REPLACE": _replace,
    "ALTER": _alter,
    "DROP": parse_drop,
    "USE": parse_use,
    "SHOW": parse_show,
    "DESCRIBE": parse_describe,
    "DESC": parse_describe,
    "EXPLAIN": _explain,
    "ANALYZE": parse_analyze,
    "SET": parse_set,
    "RESET": parse_reset,
    "INSERT": parse_insert,
    "EXECUTE": _execute,
    "STATEMENT": _execute,
    "BEGIN": _begin,
    "STOP": parse_stop,
    "REPLAY": parse_replay,
    "DEPLOY": lambda cursor: parse_deploy(cursor, _statement),
}
#: The first words of statements.
FIRST_WORDS = tuple(_STATEMENTS)


def is_sparks_alone(token: Token) -> bool:
    """Whether no statement of ours begins with a word, and one of Spark's does."""
    return token.upper not in _STATEMENTS and is_sparks_verb(token.upper)

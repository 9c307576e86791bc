"""Parse SHOW and DESCRIBE.

SHOW TABLES | VIEWS | MATERIALIZED TABLES | COLUMNS | DATABASES | ... [FROM | IN name] [[NOT] LIKE | ILIKE 'pattern']
SHOW WATERMARKS [FOR QUERY name] [[NOT] LIKE | ILIKE 'pattern']
SHOW CREATE TABLE | MATERIALIZED TABLE | VIEW | CATALOG name
SHOW CURRENT CATALOG | DATABASE      SHOW FULL MODULES
DESCRIBE | DESC [EXTENDED] [TABLE] name
DESCRIBE | DESC CATALOG [EXTENDED] name
"""

from __future__ import annotations

from sqlext.dialect.ast.statements import Describe, DescribeCatalog, Name, Show
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.queries.relations import parse_name
from sqlext.dialect.statements.jobs import parse_query_name
from sqlext.dialect.tokens import TokenKind, words
from sqlext.source import Span

_SHOWN = "TABLES VIEWS COLUMNS DATABASES CATALOGS FUNCTIONS JARS MODULES MODELS JOBS QUERIES PROCEDURES WATERMARKS"
_LISTS = {
    **{word: word for word in words(_SHOWN)},
    "SCHEMAS": "DATABASES",
}
_PAIRS = {
    ("CREATE", "TABLE"): "CREATE TABLE",
    ("CREATE", "VIEW"): "CREATE VIEW",
    ("CREATE", "CATALOG"): "CREATE CATALOG",
    ("CURRENT", "CATALOG"): "CURRENT CATALOG",
    ("CURRENT", "DATABASE"): "CURRENT DATABASE",
    ("CURRENT", "SCHEMA"): "CURRENT DATABASE",
}
_DESCRIBE_SPARK = ("FUNCTION", "DATABASE", "SCHEMA", "QUERY", "DETAIL", "HISTORY", "JOB", "NAMESPACE")


def parse_show(cursor: Cursor) -> Show | None:
    """Read SHOW; None for what only Spark shows (partitions, table properties, ...)."""
    start = cursor.expect_words("SHOW").start
    pair = _PAIRS.get((cursor.token.upper, cursor.peek().upper))
    if pair is not None:
        cursor.index += 2
        name, span = parse_name(cursor) if pair.startswith("CREATE") else ((), None)
        return Show(cursor.span_from(start), pair, name, span)
    if cursor.accept_words("CREATE", "MATERIALIZED", "TABLE"):
        name, span = parse_name(cursor)
        return Show(cursor.span_from(start), "CREATE MATERIALIZED TABLE", name, span)
    if cursor.accept_words("MATERIALIZED", "TABLES"):
        what = "MATERIALIZED TABLES"
    elif cursor.accept_words("FULL", "MODULES"):
        what = "FULL MODULES"
    elif cursor.token.upper in _LISTS:
        what = _LISTS[cursor.advance().upper]
    else:
        return None
    name, name_span = _of_query(cursor) if what == "WATERMARKS" else _of(cursor)
    negated = cursor.accept_words("NOT")
    like_op = cursor.accept_any("LIKE", "ILIKE")
    if (negated and not like_op) or cursor.token.kind in (TokenKind.WORD, TokenKind.QUOTED):
        raise cursor.unexpected("LIKE, ILIKE or the end of the statement")
    like = cursor.expect_string("a pattern").value if like_op or cursor.token.kind is TokenKind.STRING else None
    if what == "COLUMNS" and not name:
        raise cursor.unexpected("FROM and a table's name")
    return Show(cursor.span_from(start), what, name, name_span, like, like_op or "LIKE", negated)


def _of(cursor: Cursor) -> tuple[Name, Span | None]:
    if cursor.accept_any("FROM", "IN"):
        return parse_name(cursor, "a name")
    return (), None


def _of_query(cursor: Cursor) -> tuple[Name, Span | None]:
    return parse_query_name(cursor) if cursor.accept_words("FOR", "QUERY") else ((), None)


def parse_describe(cursor: Cursor) -> Describe | DescribeCatalog | None:
    """Read DESCRIBE; None for what only Spark describes (functions, history, ...)."""
    start = cursor.advance().start
    if cursor.at_words("CATALOG") and cursor.peek().kind in (TokenKind.WORD, TokenKind.QUOTED):
        return _describe_catalog(cursor, start)
    if cursor.token.upper in _DESCRIBE_SPARK and cursor.peek().kind in (TokenKind.WORD, TokenKind.QUOTED):
        return None
    named = cursor.peek().kind in (TokenKind.WORD, TokenKind.QUOTED)
    # A table may be called `extended`: the word counts only before a name.
    extended = named and bool(cursor.accept_any("EXTENDED", "FORMATTED"))
    if cursor.peek().kind in (TokenKind.WORD, TokenKind.QUOTED):
        cursor.accept_words("TABLE")
    name, name_span = parse_name(cursor)
    if not cursor.at_statement_end:  # DESCRIBE t PARTITION (..), DESCRIBE t column
        return None
    return Describe(cursor.span_from(start), name, name_span, extended)


def _describe_catalog(cursor: Cursor, start: int) -> DescribeCatalog:
    cursor.expect_words("CATALOG")
    extended = cursor.peek().kind in (TokenKind.WORD, TokenKind.QUOTED) and cursor.accept_words("EXTENDED")
    token = cursor.expect_identifier("a catalog's name")
    name_span = cursor.source.span(token.start, token.end)
    return DescribeCatalog(cursor.span_from(start), token.value, name_span, extended)

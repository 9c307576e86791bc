"""Parse statements on databases and catalogs, USE and DROP.

CREATE DATABASE | SCHEMA [IF NOT EXISTS] d [COMMENT '..'] [WITH (options)]
CREATE CATALOG [IF NOT EXISTS] c [COMMENT '..'] [WITH (options)]
ALTER DATABASE | SCHEMA d SET (options)
ALTER CATALOG c SET (options) | RESET (keys) | COMMENT '..'
USE [CATALOG | DATABASE | SCHEMA] name
DROP [TEMPORARY] [MATERIALIZED] TABLE | [MATERIALIZED] VIEW | DATABASE | SCHEMA | CATALOG | QUERY | [SYSTEM] FUNCTION
[IF EXISTS] x [CASCADE | RESTRICT]
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.dialect.ast.statements import AlterCatalog, AlterDatabase, CreateCatalog, CreateDatabase, Drop, Use
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.queries.relations import parse_name
from sqlext.dialect.statements.clauses import parse_comment, parse_if_exists, parse_keys, parse_options
from sqlext.dialect.statements.create_table import CreateFlags
from sqlext.dialect.tokens import TokenKind

_KINDS = {
    "TABLE": "TABLE",
    "VIEW": "VIEW",
    "DATABASE": "DATABASE",
    "SCHEMA": "DATABASE",
    "CATALOG": "CATALOG",
    "QUERY": "QUERY",
    "FUNCTION": "FUNCTION",
}


def parse_create_database(cursor: Cursor, flags: CreateFlags) -> CreateDatabase | None:
    """Read a CREATE DATABASE from its name on; None if it is Spark's (LOCATION, WITH DBPROPERTIES)."""
    if_not_exists = cursor.accept_words("IF", "NOT", "EXISTS")
    name, name_span = parse_name(cursor, "a database's name")
    comment = parse_comment(cursor)
    if cursor.at_any("LOCATION", "MANAGED") or cursor.at_words("WITH", "DBPROPERTIES"):
        return None
    options = parse_options(cursor) if cursor.accept_words("WITH") else ()
    return CreateDatabase(cursor.span_from(flags.start), name, name_span, if_not_exists, comment, options)


def parse_create_catalog(cursor: Cursor, flags: CreateFlags) -> CreateCatalog:
    """Read a CREATE CATALOG from its name on."""
    if_not_exists = cursor.accept_words("IF", "NOT", "EXISTS")
    name, name_span = parse_name(cursor, "a catalog's name")
    comment = parse_comment(cursor)
    options = parse_options(cursor) if cursor.accept_words("WITH") else ()
    return CreateCatalog(cursor.span_from(flags.start), name, name_span, if_not_exists, comment, options)


def parse_alter_database(cursor: Cursor, start: int) -> AlterDatabase | None:
    """Read an ALTER DATABASE from its name on; None if it is Spark's (DBPROPERTIES, LOCATION, ...)."""
    name, name_span = parse_name(cursor, "a database's name")
    if not cursor.accept_words("SET") or not cursor.at_symbol("("):
        return None
    options = parse_options(cursor)
    return AlterDatabase(cursor.span_from(start), name, name_span, options)


def parse_alter_catalog(cursor: Cursor, start: int) -> AlterCatalog:
    """Read an ALTER CATALOG from its name on."""
    token = cursor.expect_identifier("a catalog's name")
    span = cursor.source.span(token.start, token.end)
    made = AlterCatalog(span, token.value, span)
    if cursor.at_words("COMMENT"):
        made = replace(made, comment=parse_comment(cursor))
    elif cursor.accept_words("SET"):
        made = replace(made, options=parse_options(cursor))
    elif cursor.accept_words("RESET"):
        made = replace(made, keys=parse_keys(cursor))
    else:
        raise cursor.unexpected("SET, RESET or COMMENT")
    return replace(made, span=cursor.span_from(start))


def parse_use(cursor: Cursor) -> Use | None:
    """Read USE; None for Flink's USE MODULES."""
    start = cursor.expect_words("USE").start
    kind = "DATABASE"
    if cursor.peek().kind in (TokenKind.WORD, TokenKind.QUOTED):
        # `USE catalog` alone enters a database of that name.
        word = cursor.accept_any("CATALOG", "DATABASE", "SCHEMA", "NAMESPACE")
        if not word:
            return None
        kind = "CATALOG" if word == "CATALOG" else "DATABASE"
    name, name_span = parse_name(cursor, f"a {kind.lower()}'s name")
    return Use(cursor.span_from(start), kind, name, name_span)


def parse_drop(cursor: Cursor) -> Drop | None:
    """Read DROP; None for what is Spark's (PURGE, temporary variables)."""
    start = cursor.expect_words("DROP").start
    temporary = bool(cursor.accept_any("TEMPORARY", "TEMP"))
    either = cursor.at_words("MATERIALIZED", "VIEW") or cursor.at_words("MATERIALIZED", "TABLE")
    materialized = either and cursor.accept_words("MATERIALIZED")
    if cursor.at_words("SYSTEM", "FUNCTION"):
        cursor.advance()
    kind = "MATERIALIZED VIEW" if materialized else _KINDS.get(cursor.token.upper)
    if kind is None:
        return None
    cursor.advance()
    if_exists = parse_if_exists(cursor)
    name, name_span = parse_name(cursor, f"a {kind.lower()}'s name")
    behaviour = cursor.accept_any("CASCADE", "RESTRICT") if kind in ("DATABASE", "CATALOG") else ""
    if cursor.at_words("PURGE"):
        return None
    return Drop(cursor.span_from(start), kind, name, name_span, if_exists, temporary, behaviour == "CASCADE")

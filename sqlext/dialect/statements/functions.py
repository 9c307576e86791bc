"""Parse CREATE FUNCTION and ALTER FUNCTION of a class; one of an expression is Spark's.

CREATE [OR REPLACE] [TEMPORARY] [SYSTEM] FUNCTION [IF NOT EXISTS] name AS 'module.Class'
    [LANGUAGE JAVA | SCALA | PYTHON] [USING JAR 'path' {, JAR 'path'}]
ALTER FUNCTION [IF EXISTS] name AS 'module.Class' [LANGUAGE JAVA | SCALA | PYTHON]
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.dialect.ast.statements import CreateFunction
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.queries.relations import parse_name
from sqlext.dialect.statements.clauses import parse_if_exists
from sqlext.dialect.statements.create_table import CreateFlags
from sqlext.dialect.tokens import TokenKind
from sqlext.source import Span

_LANGUAGES = ("JAVA", "SCALA", "PYTHON")


def parse_create_function(cursor: Cursor, flags: CreateFlags) -> CreateFunction | None:
    """Read a CREATE FUNCTION from behind FUNCTION on; None if it names no class."""
    if_not_exists = cursor.accept_words("IF", "NOT", "EXISTS")
    if cursor.token.kind not in (TokenKind.WORD, TokenKind.QUOTED):
        return None
    name, name_span = parse_name(cursor, "a function's name")
    if not cursor.accept_words("AS") or cursor.peek(0).kind is not TokenKind.STRING:
        return None
    path, path_span = _path(cursor)
    language = _language(cursor)
    if cursor.accept_words("USING"):
        _parse_resource(cursor)
        while cursor.accept_symbol(","):
            _parse_resource(cursor)
    span = cursor.span_from(flags.start)
    return CreateFunction(span, name, name_span, path, path_span, if_not_exists, flags.or_replace, language)


def parse_alter_function(cursor: Cursor, start: int) -> CreateFunction:
    """Read an ALTER FUNCTION from behind FUNCTION on."""
    if_exists = parse_if_exists(cursor)
    name, name_span = parse_name(cursor, "a function's name")
    cursor.expect_words("AS")
    path, path_span = _path(cursor)
    made = CreateFunction(name_span, name, name_span, path, path_span, or_replace=True, language=_language(cursor))
    return replace(made, span=cursor.span_from(start), altered=True, if_exists=if_exists)


def _path(cursor: Cursor) -> tuple[str, Span]:
    path = cursor.expect_string("the path of a class")
    return path.value, cursor.source.span(path.start, path.end)


def _language(cursor: Cursor) -> str:
    if not cursor.accept_words("LANGUAGE"):
        return ""
    language = cursor.accept_any(*_LANGUAGES)
    if not language:
        raise cursor.unexpected(" or ".join(_LANGUAGES))
    return language


def _parse_resource(cursor: Cursor) -> None:
    # Spark also takes files and archives.
    if not cursor.accept_any("JAR", "FILE", "ARCHIVE"):
        raise cursor.unexpected("JAR")
    cursor.expect_string("the path of a JAR")

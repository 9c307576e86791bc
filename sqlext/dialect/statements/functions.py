"""Parse CREATE FUNCTION of a class; one of an expression is Spark's.

CREATE [OR REPLACE] [TEMPORARY] [SYSTEM] FUNCTION [IF NOT EXISTS] name AS 'module.Class'
    [LANGUAGE JAVA | SCALA | PYTHON] [USING JAR 'path' {, JAR 'path'}]
"""

from __future__ import annotations

from sqlext.dialect.ast.statements import CreateFunction
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.queries.relations import parse_name
from sqlext.dialect.statements.create_table import CreateFlags
from sqlext.dialect.tokens import TokenKind

_LANGUAGES = ("JAVA", "SCALA", "PYTHON")


def parse_create_function(cursor: Cursor, flags: CreateFlags) -> CreateFunction | None:
    """Read a CREATE FUNCTION from behind FUNCTION on; None if it names no class."""
    if_not_exists = cursor.accept_words("IF", "NOT", "EXISTS")
    if cursor.token.kind not in (TokenKind.WORD, TokenKind.QUOTED):
        return None
    name, name_span = parse_name(cursor, "a function's name")
    if not cursor.accept_words("AS") or cursor.peek(0).kind is not TokenKind.STRING:
        return None
    path = cursor.expect_string("the path of a class")
    path_span = cursor.source.span(path.start, path.end)
    language = ""
    if cursor.accept_words("LANGUAGE"):
        language = cursor.accept_any(*_LANGUAGES)
        if not language:
            raise cursor.unexpected(" or ".join(_LANGUAGES))
    if cursor.accept_words("USING"):
        _parse_resource(cursor)
        while cursor.accept_symbol(","):
            _parse_resource(cursor)
    span = cursor.span_from(flags.start)
    return CreateFunction(span, name, name_span, path.value, path_span, if_not_exists, flags.or_replace, language)


def _parse_resource(cursor: Cursor) -> None:
    # Spark also takes files and archives.
    if not cursor.accept_any("JAR", "FILE", "ARCHIVE"):
        raise cursor.unexpected("JAR")
    cursor.expect_string("the path of a JAR")

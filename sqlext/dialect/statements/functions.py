"""Parse CREATE FUNCTION of a Python class; any other CREATE FUNCTION is Spark's.

CREATE [OR REPLACE] [TEMPORARY] [SYSTEM] FUNCTION [IF NOT EXISTS] name AS 'module.Class' LANGUAGE PYTHON
"""

from __future__ import annotations

from sqlext.dialect.ast.statements import CreateFunction
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.queries.relations import parse_name
from sqlext.dialect.statements.create_table import CreateFlags
from sqlext.dialect.tokens import TokenKind


def parse_create_function(cursor: Cursor, flags: CreateFlags) -> CreateFunction | None:
    """Read a CREATE FUNCTION from behind FUNCTION on; None if its code is no Python."""
    if_not_exists = cursor.accept_words("IF", "NOT", "EXISTS")
    if cursor.token.kind not in (TokenKind.WORD, TokenKind.QUOTED):
        return None
    name, name_span = parse_name(cursor, "a function's name")
    if not cursor.accept_words("AS") or cursor.peek(0).kind is not TokenKind.STRING:
        return None
    path = cursor.expect_string("the path of a class")
    path_span = cursor.source.span(path.start, path.end)
    if not cursor.accept_words("LANGUAGE", "PYTHON"):
        return None
    span = cursor.span_from(flags.start)
    return CreateFunction(span, name, name_span, path.value, path_span, if_not_exists, flags.or_replace)

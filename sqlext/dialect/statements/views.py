"""Parse CREATE VIEW and ALTER VIEW.

CREATE [OR REPLACE] [TEMPORARY] VIEW [IF NOT EXISTS] v [(c [COMMENT '..'], ...)] [COMMENT '..'] AS query
CREATE [OR REPLACE] MATERIALIZED VIEW [IF NOT EXISTS] v [(c, ...)] [COMMENT '..'] [WITH (options)] AS query
ALTER VIEW v RENAME TO w | AS query
"""

from __future__ import annotations

from sqlext.dialect.ast.statements import AlterView, CreateView
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.queries.relations import parse_name
from sqlext.dialect.queries.whole import parse_query
from sqlext.dialect.statements.clauses import parse_comment, parse_options
from sqlext.dialect.statements.create_table import CreateFlags


def parse_create_view(cursor: Cursor, flags: CreateFlags) -> CreateView | None:
    """Read a CREATE VIEW from its name on; None if it is Spark's (USING, TBLPROPERTIES)."""
    if_not_exists = cursor.accept_words("IF", "NOT", "EXISTS")
    name, name_span = parse_name(cursor, "a view's name")
    columns = _columns(cursor) if cursor.at_symbol("(") else ()
    comment = parse_comment(cursor)
    if cursor.at_any("USING", "TBLPROPERTIES"):
        return None
    options = parse_options(cursor) if flags.materialized and cursor.accept_words("WITH") else ()
    cursor.expect_words("AS")
    query = parse_query(cursor)
    return CreateView(
        cursor.span_from(flags.start),
        name,
        name_span,
        query,
        columns,
        comment,
        flags.temporary,
        if_not_exists,
        flags.or_replace,
        flags.materialized,
        options,
    )


def _columns(cursor: Cursor) -> tuple[str, ...]:
    cursor.expect_symbol("(")
    names: list[str] = []
    while True:
        names.append(cursor.expect_identifier("a column's name").value)
        # Read and dropped: the catalog keeps the names of a view's columns alone.
        parse_comment(cursor)
        if not cursor.accept_symbol(","):
            break
    cursor.expect_symbol(")")
    return tuple(names)


def parse_alter_view(cursor: Cursor, start: int) -> AlterView | None:
    """Read an ALTER VIEW from its name on; None if it is Spark's."""
    name, name_span = parse_name(cursor, "a view's name")
    if cursor.accept_words("RENAME"):
        cursor.expect_words("TO")
        new_name, _ = parse_name(cursor, "a view's name")
        return AlterView(cursor.span_from(start), name, name_span, new_name)
    if not cursor.accept_words("AS"):
        return None
    query = parse_query(cursor)
    return AlterView(cursor.span_from(start), name, name_span, query=query)

"""Parse ANALYZE WATERMARK.

ANALYZE WATERMARK FOR table [BY column | FROM QUERIES] [WITH ('key' = 'value', ...)]
"""

from __future__ import annotations

from sqlext.dialect.ast.statements import AnalyzeWatermark
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.queries.relations import parse_name
from sqlext.dialect.statements.clauses import parse_options


def parse_analyze(cursor: Cursor) -> AnalyzeWatermark | None:
    """Read ANALYZE WATERMARK; None for what Spark analyzes."""
    start = cursor.expect_words("ANALYZE").start
    if not cursor.accept_words("WATERMARK"):
        return None
    cursor.expect_words("FOR")
    name, name_span = parse_name(cursor)
    by, by_span, seen = None, None, None
    if cursor.at_words("FROM"):
        begin = cursor.expect_words("FROM").start
        cursor.expect_words("QUERIES")
        seen = cursor.span_from(begin)
    elif cursor.accept_words("BY"):
        token = cursor.expect_identifier("a column's name")
        by, by_span = token.value, cursor.source.span(token.start, token.end)
    options = parse_options(cursor) if cursor.accept_words("WITH") else ()
    if not cursor.at_statement_end:
        raise cursor.unexpected("WITH or the end of the statement" if options == () else "the end of the statement")
    return AnalyzeWatermark(cursor.span_from(start), name, name_span, by, by_span, options, seen)

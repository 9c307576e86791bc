"""Parse EXPLAIN ROW, and EXPLAIN WHY NOT, by which people ask for a row that is not there.

EXPLAIN ROW FROM table [WHERE condition]
EXPLAIN WHY NOT FROM table [WHERE condition]
"""

from __future__ import annotations

from sqlext.dialect.ast.expressions import Star
from sqlext.dialect.ast.queries import Hint, Query, Select, SelectItem, TableRef
from sqlext.dialect.ast.statements import ExplainRow
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions.operations import parse_expression
from sqlext.dialect.queries.relations import parse_name


def parse_explain_row(cursor: Cursor, start: int) -> ExplainRow:
    """Read it from ROW or WHY NOT on; ``start`` is where the statement begins."""
    while not cursor.accept_words("FROM"):
        cursor.advance()
    name, name_span = parse_name(cursor)
    where = parse_expression(cursor) if cursor.accept_words("WHERE") else None
    if not cursor.at_statement_end:
        raise cursor.unexpected("WHERE or the end of the statement" if where is None else "the end of the statement")
    span = cursor.span_from(start)
    # A result that grows is read as it is now.
    now = Hint("OPTIONS", (("scan.mode", "snapshot"),))
    table = TableRef(name_span, name, name_span, hints=(now,))
    select = Select(span, (SelectItem(name_span, Star(name_span)),), from_=table, where=where)
    return ExplainRow(span, name, name_span, Query(span, select), where)

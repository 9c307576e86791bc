"""Say of an unknown column what its name means elsewhere: in the SELECT list, or as an aggregate function."""

from __future__ import annotations

from collections.abc import Iterator

from sqlext.analysis import functions
from sqlext.dialect.ast.expressions import Node
from sqlext.dialect.ast.queries import Select
from sqlext.errors import SqlExtError
from sqlext.source import Span


def meant_otherwise(error: SqlExtError, select: Select) -> SqlExtError:
    """Return an error of a SELECT with a hint of what the name means, where it is one of an unknown column."""
    if error.code != "NAME-003" or error.span is None:
        return error
    name = error.span.text
    for clause in _clauses(select):
        if not _holds(clause.span, error.span):
            continue
        for item in select.items:
            if item.alias is not None and item.alias.lower() == name.strip("`").lower() and item is not clause:
                hint = f"`{item.alias}` is a name that this SELECT gives: write {item.expr.span.one_line} here"
                return SqlExtError(error.code, error.message, span=error.span, hint=hint)
        if functions.is_spark_aggregate(name):
            function = name.upper()
            hint = f"{function} is a function: {function}({'*' if function == 'COUNT' else 'x'})"
            return SqlExtError(error.code, error.message, span=error.span, hint=hint)
    return error


def _clauses(select: Select) -> Iterator[Node]:
    """Yield the parts of a SELECT that see the columns of its FROM."""
    yield from select.items
    yield from (c for c in (select.where, select.group_by, select.having, select.qualify) if c is not None)


def _holds(around: Span, span: Span) -> bool:
    return around.source is span.source and around.start <= span.start and span.end <= around.end

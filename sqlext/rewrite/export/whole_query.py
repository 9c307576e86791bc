"""Write a query as one statement, with its sources and steps as WITH clauses."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.analysis.inserts.bound import LATE_ROWS
from sqlext.connectors.options import BAD_ROWS_OPTION
from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import ReadSpec
from sqlext.rewrite.export.layout import layout
from sqlext.rewrite.script.model import OperatorView, RowsView, SourceView, SparkScript, SqlView

#: Returns the raw relation of a source as it stands behind FROM: ``STREAM shop.orders``.
RawRelation = Callable[[SourceView, ReadSpec], str]


def whole_query(script: SparkScript, zone: str, raw: RawRelation) -> str:
    """Return the text of a query that SQL alone can say (``beyond_sql`` finds nothing in it)."""
    parts = []
    for source in script.sources:
        spec = connector_of(source.table).read_spec(source.table, zone)
        parts.append((source.view, spec.select(raw(source, spec))))
    parts += [(step.view, step.sql) for step in script.steps if isinstance(step, SqlView)]
    # ``dict``: a table that is read twice has one view, and WITH refuses a name twice.
    clauses = ",\n".join(f"{view} AS (\n{layout(sql)}\n)" for view, sql in dict(parts).items())
    return f"WITH {clauses}\n{layout(script.query)}" if clauses else layout(script.query)


def beyond_sql(script: SparkScript) -> list[str]:
    """Return what of a query no SQL text can say, in words, each once."""
    found = [f"the table function `{function.name}`" for function in script.table_functions]
    found += [f"the Python function `{name}`" for name in script.python_functions]
    for step in script.steps:
        if isinstance(step, OperatorView):
            found.append(f"the stateful function `{step.function}`")
        elif isinstance(step, RowsView):
            found.append("the information schema")
        elif not isinstance(step, SqlView):
            found.append("a column marked as event time")
    if script.keeps(LATE_ROWS):
        found.append("a table of late rows")
    if script.judges:
        found.append(f"'{BAD_ROWS_OPTION}'")
    return list(dict.fromkeys(found))

"""Write a query as a batch file for a bare spark-sql session: no STREAM, no WATERMARK, nothing of ours."""

from __future__ import annotations

from dataclasses import replace

from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import ReadSpec
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier, string
from sqlext.rewrite.export.layout import layout
from sqlext.rewrite.export.printed import one_line
from sqlext.rewrite.export.whole_query import beyond_sql
from sqlext.rewrite.script.model import Compiled, SqlView
from sqlext.secrets import holds_secret


def portable_script(compiled: Compiled, zone: str) -> str:
    """Return the statements that answer a query in plain Spark SQL: settings, a view a source, the SELECT.

    Raises:
        SqlExtError: DDL-041 for a query that needs a function of ours or of the user, or the information schema.
    """
    script = compiled.script
    needs = beyond_sql(replace(script, sides=()))  # a batch has no late rows
    if needs:
        message = f"this query has no plain batch form: it needs {', '.join(needs)}"
        hint = "run it by sqlext, or write a pipeline with --target pipelines"
        raise SqlExtError("DDL-041", message, span=compiled.statement.span, hint=hint)
    # What sessions of ours set too (`spark.settings_scope`): the text means the same under these settings alone.
    lines = [f"SET spark.sql.session.timeZone={zone};", "SET spark.sql.ansi.enabled=true;"]
    lines.append("SET spark.sql.caseSensitive=true;")
    for source in script.sources:
        spec = connector_of(source.table).read_spec(source.table, zone)
        lines += _views(source.view, spec)
    for step in script.steps:
        if isinstance(step, SqlView):
            lines += [f"CREATE OR REPLACE TEMPORARY VIEW {step.view} AS", f"{layout(step.sql)};"]
    if compiled.insert is not None:
        lines.append(one_line(f"-- rows of {compiled.insert.table.name.plain}"))
    return "\n".join([*lines, f"{layout(script.query)};"])


def _views(view: str, spec: ReadSpec) -> list[str]:
    if spec.batch_relation is not None:
        return [f"CREATE OR REPLACE TEMPORARY VIEW {view} AS {spec.select(spec.batch_relation)};"]
    if spec.table is not None:
        return [f"CREATE OR REPLACE TEMPORARY VIEW {view} AS {spec.select(spec.table)};"]
    # Written to a file that others may read.
    options = [(k, v) for k, v in (*spec.options, *spec.batch_options) if not holds_secret(k, v)]
    if spec.path is not None:
        options.append(("path", spec.path))
    columns = ", ".join(f"{identifier(n)} {t}" for n, t in spec.schema)
    # Such formats (kafka, rate) refuse a schema from outside.
    schema = f" ({columns})" if columns and not spec.fixed_schema else ""
    pairs = ", ".join(f"{string(k)} {string(v)}" for k, v in options)
    raw = f"CREATE OR REPLACE TEMPORARY VIEW {view}_raw{schema} USING {spec.format} OPTIONS ({pairs});"
    return [raw, f"CREATE OR REPLACE TEMPORARY VIEW {view} AS {spec.select(view + '_raw')};"]

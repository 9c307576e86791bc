"""Print a rewritten query for people: the Spark SQL, with its sources and its sink in comments."""

from __future__ import annotations

from sqlext.connectors.registry import connector_of
from sqlext.rewrite.export.layout import layout
from sqlext.rewrite.script.model import (
    HEARTBEAT_VIEW,
    ArrowView,
    Compiled,
    ObservedView,
    OperatorView,
    RowsView,
    SideScript,
    SourceView,
    SqlView,
    Step,
    TagView,
    WatermarkView,
)
from sqlext.rewrite.script.side_rows import FAULT, faults_view
from sqlext.secrets import redact


def printed_script(compiled: Compiled, zone: str) -> str:
    """Return the Spark SQL of a query; what SQL cannot say (sources, tags, operators) is a comment above it."""
    script = compiled.script
    lines = [line for source in script.sources for line in _source(source, zone)]
    if script.heartbeat:
        lines.append(f"-- view {HEARTBEAT_VIEW}: streaming text file, the row that ends the bounded input")
    if script.at_once:
        lines.append("-- one batch: all that there is is read at once, and no state is kept")
    lines += [
        f"-- view {k.view}: streaming text files, heartbeats of input {k.input.name}" for k in script.kept if k.view
    ]
    lines += [
        f"-- view {r.view}: streaming text files, dead letters that come back to {r.table.name.plain}"
        for r in script.replays
    ]
    lines += [f"-- table function {f.view}: {f.implementation}" for f in script.table_functions]
    lines += [f"-- Python function {name}" for name in script.python_functions]
    for step in script.steps:
        lines += _step(step)
    lines = [one_line(line) if line.startswith("--") else line for line in lines]
    lines += [_beside(side) for side in script.sides]
    return "\n".join([*lines, _sink(compiled), f"{layout(script.query)};"])


def _beside(side: SideScript) -> str:
    what = "dead letters" if side.letters else {"late": "late rows", "bad": "rows that cannot be decoded"}[side.side]
    table = side.table
    return one_line(f"-- {what}, where {side.condition}: into {table.name.plain} ({table.option('connector')})")


def _source(source: SourceView, zone: str) -> list[str]:
    spec = connector_of(source.table).read_spec(source.table, zone)
    kind = "readStream" if source.streaming else "read"
    extra = spec.stream_options if source.streaming else spec.batch_options
    options = ", ".join(f"{k}={v!r}" for k, v in redact(spec.options + extra))
    where = f" {spec.path or spec.table}" if spec.path or spec.table else ""
    columns = ", ".join(f"{c.name} {c.type}" for c in spec.columns)
    lines = [
        f"-- view {source.view}: {kind} {spec.format}{where}{' (' + options + ')' if options else ''}",
        f"--   columns {columns}",
    ]
    if spec.faults is not None:
        judged = faults_view(source.view)
        lines.append(f"--   view {judged}: all rows, with {FAULT} in those that cannot be decoded")
    return lines


def _step(step: Step) -> list[str]:
    if isinstance(step, SqlView):
        return [f"CREATE OR REPLACE TEMPORARY VIEW {step.view} AS", f"{layout(step.sql)};"]
    if isinstance(step, TagView):
        return [f"-- view {step.view}: {step.input} with column {step.column} marked as event time"]
    if isinstance(step, WatermarkView):
        return [f"-- view {step.view}: {step.input} behind a watermark {step.delay} ms below {step.column}"]
    if isinstance(step, ObservedView):
        return [f"-- view {step.view}: {step.input}, the largest {step.column} observed as input {step.name}"]
    if isinstance(step, ArrowView):
        return [f"-- view {step.view}: of {step.table.name.name} {step.what}"]
    if isinstance(step, OperatorView):
        return [f"-- view {step.view}: stateful function {step.function} over {step.input}"]
    assert isinstance(step, RowsView)
    return [f"-- view {step.view}: {len(step.rows)} rows of the information schema"]


def one_line(comment: str) -> str:
    """Return a comment that ends where it should, whatever stands in a path or an option."""
    # A line end in a path would end the comment, and the rest of the path would be SQL.
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in comment)


def _sink(compiled: Compiled) -> str:
    insert = compiled.insert
    if insert is None:
        return "-- shown"
    how = {"append": "appended", "upsert": "merged by key", "final-state": "final rows written at the end"}
    mode = "update" if compiled.script.updating else "append"
    sink = f"{insert.table.name.plain} ({insert.table.option('connector')})"
    return one_line(f"-- {mode} mode, {how[insert.mode]} into {sink}")

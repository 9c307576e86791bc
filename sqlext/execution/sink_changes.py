"""Rows of a changelog as the messages of a format of changes, in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlext.connectors.changelog_formats import ChangelogFormat
from sqlext.connectors.changelog_messages import written_message
from sqlext.connectors.json_format import writer_options
from sqlext.connectors.spec import WriteColumn
from sqlext.execution.sink_encoding import encode_column
from sqlext.execution.sinks import SinkContext
from sqlext.rewrite.quoting import identifier, string
from sqlext.udfs.core.row_kinds import DELETE, UPDATE_BEFORE


def message_fields(
    form: ChangelogFormat, columns: Iterable[WriteColumn], options: Mapping[str, str], context: SinkContext
) -> dict[str, str]:
    """Return field -> SQL of the message for a row; a row without a kind is an INSERT."""
    json_options = form.json_options(options)
    values = (f"{string(c.name)}, {encode_column(c, 'json', json_options, context.zone)}" for c in columns)
    taken_back = f"{identifier(context.kind)} IN ({UPDATE_BEFORE}, {DELETE})" if context.kind else "false"
    return dict(written_message(form, f"named_struct({', '.join(values)})", taken_back))


def message_options(form: ChangelogFormat, options: Mapping[str, str]) -> dict[str, str]:
    """Return the options of Spark's json writer."""
    return dict(writer_options(form.json_options(options)))

"""Rows of a changelog as the messages of a format of changes, in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlext.connectors.formats.changelog import ChangelogFormat
from sqlext.connectors.formats.changelog_messages import written_message
from sqlext.connectors.formats.json import writer_options
from sqlext.connectors.spec import WriteColumn
from sqlext.quoting import identifier, string
from sqlext.sinks.base import SinkContext
from sqlext.sinks.encoding import encode_column
from sqlext_udfs.kernel.row_kinds import DELETE, UPDATE_BEFORE


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

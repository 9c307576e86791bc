"""Encode rows as Flink's formats write them, in SQL.

Recorded on Flink 2.3.0: times as ``2024-01-01 08:00:30.5`` (fraction without trailing zeros, Z and UTC for
TIMESTAMP_LTZ), BYTES in base64, arrays in csv joined with ``;``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlext.connectors.formats.avro import encoded_value
from sqlext.connectors.formats.changelog import ChangelogFormat
from sqlext.connectors.formats.changelog_messages import written_message
from sqlext.connectors.formats.conversions import as_text, convert
from sqlext.connectors.formats.json import writer_options, writes_iso
from sqlext.connectors.options import unescape
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier, string
from sqlext.sinks.base import SinkContext
from sqlext.types import LogicalType
from sqlext_udfs.kernel.row_kinds import DELETE, UPDATE_BEFORE


def encoded(spec: WriteSpec, zone: str, *, options: dict[str, str] | None = None) -> dict[str, str]:
    """Return column -> SQL of what the file or message holds, for the columns of a sink."""
    settings = dict(spec.options) if options is None else options
    return {c.name: encode_column(c, spec.format or "", settings, zone) for c in spec.columns}


def encode_column(column: WriteColumn, file_format: str, options: dict[str, str], zone: str) -> str:
    """Return the SQL of one column as a format holds it."""
    raw = identifier(column.name)
    if file_format == "csv":
        return _csv(column.name, column.type, raw, unescape(options.get("csv.array-element-delimiter", ";")), zone)
    if file_format == "json":
        iso = writes_iso(options)
        return convert(column.type, raw, lambda t, e: as_text(t, e, zone, iso=iso))
    if file_format == "raw":
        return f"CAST({raw} AS STRING)"
    if file_format == "avro":
        return encoded_value(column.type, raw, options, zone)
    # Columnar formats hold values under their own types.
    return raw


def partition_text(column: WriteColumn, zone: str) -> str:
    """Return the SQL of a partition column's value in a folder name."""
    return f"CAST({as_text(column.type, identifier(column.name), zone)} AS STRING)"


def message_fields(
    form: ChangelogFormat, columns: Iterable[WriteColumn], options: Mapping[str, str], context: SinkContext
) -> dict[str, str]:
    """Return field -> SQL of the message of changes for a row; a row without a kind is an INSERT.

    Args:
        options: of the format, with its prefix; of one of Avro by the names of the format avro.
    """
    held, own = ("avro", dict(options)) if form.avro else ("json", form.json_options(options))
    values = (f"{string(c.name)}, {encode_column(c, held, own, context.zone)}" for c in columns)
    taken_back = f"{identifier(context.kind)} IN ({UPDATE_BEFORE}, {DELETE})" if context.kind else "false"
    return dict(written_message(form, f"named_struct({', '.join(values)})", taken_back))


def message_options(form: ChangelogFormat, options: Mapping[str, str]) -> dict[str, str]:
    """Return the options of Spark's json writer."""
    return dict(writer_options(form.json_options(options)))


def _csv(name: str, declared: LogicalType, expression: str, delimiter: str, zone: str) -> str:
    if declared.root == "ARRAY":
        element = _csv(name, declared.children[0], "e", delimiter, zone)
        texts = f"transform({expression}, e -> CAST({element} AS STRING))"
        return f"array_join({texts}, {string(delimiter)})"
    if declared.root == "ROW":
        # concat_ws leaves NULLs out, which would move the fields behind them.
        fields = (
            f"coalesce(CAST({_csv(name, f.type, f'{expression}.{identifier(f.name)}', delimiter, zone)} AS STRING), '')"
            for f in declared.fields
        )
        return f"IF({expression} IS NULL, NULL, concat_ws({string(delimiter)}, {', '.join(fields)}))"
    if declared.root in ("MAP", "MULTISET"):
        raise SqlExtError("SINK-093", f"format 'csv' cannot hold column `{name}` of type {declared}")
    if declared.root in ("BINARY", "VARBINARY"):
        return f"base64({expression})"
    return as_text(declared, expression, zone)

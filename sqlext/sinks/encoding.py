"""Values as Flink's formats write them, in SQL.

Recorded on Flink 2.3.0: times as ``2024-01-01 08:00:30.5`` (fraction without trailing zeros, Z and UTC for
TIMESTAMP_LTZ), BYTES in base64, arrays in csv joined with ``;``.
"""

from __future__ import annotations

from sqlext.connectors.formats.avro import encoded_value
from sqlext.connectors.formats.conversions import as_text, convert
from sqlext.connectors.formats.json import writes_iso
from sqlext.connectors.options import unescape
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier, string
from sqlext.types import LogicalType


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
    if file_format == "avro":
        return encoded_value(column.type, raw, options, zone)
    return raw


def partition_text(column: WriteColumn, zone: str) -> str:
    """Return the SQL of a partition column's value in a folder name."""
    return f"CAST({as_text(column.type, identifier(column.name), zone)} AS STRING)"


def _csv(name: str, declared: LogicalType, expression: str, delimiter: str, zone: str) -> str:
    if declared.root == "ARRAY":
        element = _csv(name, declared.children[0], "e", delimiter, zone)
        texts = f"transform({expression}, e -> CAST({element} AS STRING))"
        return f"array_join({texts}, {string(delimiter)})"
    if declared.root == "ROW":
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

"""Describe Avro by the rules of Flink's avro format: columns give the schema, a value has no header.

A column that can be NULL is the union of null and its type, NULL first, as Flink 2 derives it (AvroSchemaConverter); a
NOT NULL column is its type alone. By default TIMESTAMP(p) is timestamp-millis (its wall clock taken as UTC) and there
is no TIMESTAMP_LTZ, which is Flink's legacy mapping; with ``avro.timestamp_mapping.legacy`` = false TIMESTAMP is
local-timestamp-millis or -micros, TIMESTAMP_LTZ timestamp-millis or -micros.

Values are read and written by Spark's ``from_avro`` and ``to_avro``, which need its package spark-avro.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from sqlext.capabilities import TIME_MILLIS, require
from sqlext.connectors.formats.base import NO_REST, Decoded, Message, ReadField, Ref, parse_call
from sqlext.connectors.formats.conversions import any_wrong, convert, instant_to_wall, wall_to_instant
from sqlext.connectors.formats.reasons import misfits, when
from sqlext.connectors.options import OptionError, Rules, boolean, one_of
from sqlext.quoting import string
from sqlext.types import LogicalType

#: Name of the record, and of what stands around it where values are judged.
_RECORD, _NAMESPACE, _WRAPPED = "record", "org.apache.flink.avro.generated", "row"
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_MAPPING = "timestamp_mapping.legacy"
_LEGACY, _LENIENT = f"avro.{_MAPPING}", "avro.ignore-parse-errors"
_PLAIN = {
    "BOOLEAN": "boolean",
    "TINYINT": "int",
    "SMALLINT": "int",
    "INT": "int",
    "BIGINT": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "CHAR": "string",
    "VARCHAR": "string",
    "BINARY": "bytes",
    "VARBINARY": "bytes",
}
_DAY = 24 * 60 * 60 * 1000


class AvroFormat:
    """``'format' = 'avro'``, of messages: a value is a record without the header of a file."""

    name = "avro"
    binary = True
    rules = Rules(
        {
            "avro.encoding": one_of("binary"),
            _LEGACY: boolean,
            # Flink's avro has no such option; a table that has it expects what it would not get.
            _LENIENT: one_of("false"),
        }
    )

    def plain(self, options: Mapping[str, str]) -> Mapping[str, str]:
        """Return options of the format under the names that ``'format' = 'avro'`` has for them."""
        return options

    def decode(self, fields: tuple[ReadField, ...], options: Mapping[str, str], zone: str, ref: Ref) -> Decoded:
        """Return the values of the fields."""
        return Decoded(tuple((f.name, _value(f, self.plain(options), zone, ref(f.name))) for f in fields))

    def struct(self, message: Message) -> str:
        """Return SQL of the struct that a value is parsed to.

        One that is judged is parsed inside of another record, which adds no byte: where it cannot be decoded Spark
        gives a struct of NULLs, so that only the inner one tells it from a row of NULLs.
        """
        options = self.plain(message.options)
        record = _schema(message.fields, options)
        if not _is_lenient(options):
            return parse_call("from_avro", message.content, _text(record), (("mode", "FAILFAST"),))
        around = _record("message", [{"name": _WRAPPED, "type": record}])
        return f"{parse_call('from_avro', message.content, _text(around), (('mode', 'PERMISSIVE'),))}.{_WRAPPED}"

    def fault(self, message: Message) -> str:
        """Return why a value is no record of the fields, or has numbers beyond their types."""
        wrong = {f.name: any_wrong(f.type, message.part(f.name), _out_of_range) for f in message.fields}
        return when([(f"{message.struct} IS NULL", "'it is no Avro record of its columns'"), *misfits(wrong)])

    def rest(self, message: Message) -> str:
        """Return that there is nothing: a row is the whole message."""
        return NO_REST


def require_avro_columns(
    owner: str, form: AvroFormat, fields: tuple[ReadField, ...], options: Mapping[str, str]
) -> None:
    """Refuse options and columns that the format does not take.

    Args:
        form: avro, or one that holds values as it does.
        fields: the columns, by the names that they have in the record.
        options: of the format, with its prefix.

    Raises:
        OptionError: OPT-005 an option's value, OPT-008 a name or type that Avro has not.
    """
    form.rules.check(owner, {k: v for k, v in options.items() if k.startswith(f"{form.name}.")})
    for field in fields:
        why = _why_not(field.name, field.type, is_legacy(form.plain(options)), form.name)
        if why is not None:
            reason, hint = why
            raise OptionError("OPT-008", f"format '{form.name}' cannot hold column `{field.name}`: {reason}", hint=hint)


def avro_schema(fields: tuple[ReadField, ...], options: Mapping[str, str]) -> str:
    """Return the schema of a record of these fields, in JSON.

    Raises:
        SqlExtError: ENV-014 for a TIME where Spark cannot tell its milliseconds.
    """
    return _text(_schema(fields, options))


def written_as(declared: LogicalType, options: Mapping[str, str]) -> tuple[str, str]:
    """Return how a type is written, as its Avro type and logical type (empty: none), without the union with null."""
    schema = _not_null(declared, _RECORD, is_legacy(options))
    return (schema, "") if isinstance(schema, str) else (schema["type"], schema.get("logicalType", ""))


def encoded_record(struct: str, schema: str) -> str:
    """Return SQL of the bytes of a record; ``struct`` is SQL of its values, each as ``encoded_value`` gives it."""
    return f"to_avro({struct}, {string(schema)})"


def encoded_value(declared: LogicalType, expression: str, options: Mapping[str, str], zone: str) -> str:
    """Return SQL of a value as ``to_avro`` takes it."""
    legacy = is_legacy(options)

    def leaf(kind: LogicalType, value: str) -> str:
        if kind.root == "TIMESTAMP" and legacy:
            return wall_to_instant(value, zone)
        return f"CAST(time_to_millis({value}) AS INT)" if kind.root == "TIME" else value

    return convert(declared, expression, leaf)


def is_legacy(options: Mapping[str, str]) -> bool:
    """Return whether TIMESTAMP is Avro's timestamp, as in Flink before 1.19 and by default."""
    return options.get(_LEGACY, "true").strip().lower() == "true"


def _is_lenient(options: Mapping[str, str]) -> bool:
    return options.get(_LENIENT) == "true"


# The schema


def _text(schema: Any) -> str:
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)


def _schema(fields: tuple[ReadField, ...], options: Mapping[str, str]) -> Any:
    legacy = is_legacy(options)
    return _record(_RECORD, [_field(f.name, f.type, f"{_RECORD}_{f.name}", legacy) for f in fields])


def _record(name: str, fields: list[Any]) -> Any:
    return {"type": "record", "name": name, "namespace": _NAMESPACE, "fields": fields}


def _field(name: str, declared: LogicalType, record: str, legacy: bool) -> Any:
    field = {"name": name, "type": _avro(declared, record, legacy)}
    # As Flink derives it (AvroSchemaConverter): a nullable field has the default NULL.
    return {**field, "default": None} if declared.nullable else field


def _avro(declared: LogicalType, record: str, legacy: bool) -> Any:
    """Return the schema of a type; ``record`` is what a ROW in it is called."""
    found = _not_null(declared, record, legacy)
    # NULL stands first: Avro wants a default to be of the union's first type.
    return ["null", found] if declared.nullable else found


def _not_null(declared: LogicalType, record: str, legacy: bool) -> Any:
    if declared.root in _PLAIN:
        return _PLAIN[declared.root]
    if declared.root == "DECIMAL":
        return {"type": "bytes", "logicalType": "decimal", "precision": declared.precision, "scale": declared.scale}
    if declared.root == "DATE":
        return {"type": "int", "logicalType": "date"}
    if declared.root == "TIME":
        require(TIME_MILLIS)
        return {"type": "int", "logicalType": "time-millis"}
    if declared.is_timestamp:
        local = "local-" if declared.root == "TIMESTAMP" and not legacy else ""
        unit = "millis" if (declared.precision or 0) <= 3 else "micros"
        return {"type": "long", "logicalType": f"{local}timestamp-{unit}"}
    if declared.root == "ARRAY":
        return {"type": "array", "items": _avro(declared.children[0], record, legacy)}
    if declared.root == "MULTISET":
        # How often each element is there, as Flink writes a MULTISET.
        return {"type": "map", "values": ["null", "int"]}
    if declared.root == "MAP":
        return {"type": "map", "values": _avro(declared.children[1], record, legacy)}
    # Avro wants each record of a schema under a name of its own, so names grow by their path.
    return _record(record, [_field(f.name, f.type, f"{record}_{f.name}", legacy) for f in declared.fields])


def _why_not(name: str, declared: LogicalType, legacy: bool, form: str) -> tuple[str, str | None] | None:
    """Return why Avro has no field of this name and type, and what to do; None if it has."""
    if not _NAME.fullmatch(name):
        return f"`{name}` is no name of Avro's", "letters of ASCII, digits and _, and no digit at the beginning"
    if declared.root in ("ARRAY", "MAP", "MULTISET", "ROW"):
        if declared.root in ("MAP", "MULTISET") and not declared.children[0].is_text:
            return f"the keys of a map are texts, not {declared.children[0].flink()}", None
        parts = [(name, t) for t in declared.children] + [(f.name, f.type) for f in declared.fields]
        return next((why for part in parts if (why := _why_not(*part, legacy, form)) is not None), None)
    precision = declared.precision or 0
    if declared.root == "TIME" and precision > 3:
        return f"it has times of milliseconds, not {declared.flink()}", "declare TIME(3)"
    if declared.root == "TIMESTAMP_LTZ" and legacy:
        return f"{declared.flink()} is none of its types", f"'{form}.{_MAPPING}' = 'false' makes it Avro's timestamp"
    if declared.is_timestamp and precision > (3 if legacy else 6):
        more = f", or '{form}.{_MAPPING}' = 'false' for up to 6" if legacy else " or 6"
        hint = f"declare a precision of 3{more}"
        return f"{declared.flink()} has more digits than it holds", hint
    known = declared.root in _PLAIN or declared.is_timestamp or declared.root in ("DECIMAL", "DATE", "TIME")
    return None if known else (f"{declared.flink()} is none of its types", None)


# Its values in Spark


def _value(field: ReadField, options: Mapping[str, str], zone: str, raw: str) -> str:
    legacy, cast = is_legacy(options), "try_cast" if _is_lenient(options) else "CAST"
    if field.instant:
        return raw if legacy else wall_to_instant(raw, zone)

    def leaf(declared: LogicalType, expression: str) -> str:
        # Avro's smallest integer has 32 bits.
        if declared.root in ("TINYINT", "SMALLINT"):
            return f"{cast}({expression} AS {declared.spark()})"
        if declared.root == "TIME":
            # ``from_avro`` gives a time-millis as the INT that it is.
            right = f"IF({_out_of_range(declared, expression)}, NULL, {expression})"
            return f"CAST(time_from_millis({right if cast == 'try_cast' else expression}) AS {declared.spark()})"
        return instant_to_wall(expression, zone) if declared.root == "TIMESTAMP" and legacy else expression

    return convert(field.type, raw, leaf)


def _out_of_range(declared: LogicalType, expression: str) -> str | None:
    if declared.root == "TIME":
        return f"{expression} NOT BETWEEN 0 AND {_DAY - 1}"
    if declared.root in ("TINYINT", "SMALLINT"):
        return f"({expression} IS NOT NULL AND try_cast({expression} AS {declared.spark()}) IS NULL)"
    return None

"""Describe JSON by the rules of Flink's json format.

Recorded on Flink 2.3.0: a row that is no JSON, or has a value that does not fit its column, fails the job; with
json.ignore-parse-errors the first is skipped, the second is NULL. Both time formats are read whatever
json.timestamp-format.standard says (Spark's parser knows both; Flink refuses the other one); it decides what is
written. Text without a zone is UTC. Spark's reader refuses numbers in quotes, which Flink converts.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.connectors.formats.base import NO_REST, Decoded, Message, ReadField, Ref, columns_text, parse_call
from sqlext.connectors.formats.conversions import (
    any_wrong,
    convert,
    stored_type,
    time_as_text,
    time_from_text,
    try_time_from_text,
)
from sqlext.connectors.formats.reasons import misfit, misfits, not_blank, when
from sqlext.connectors.options import OptionError, Rules, any_text, boolean, one_of
from sqlext.quoting import string
from sqlext.types import LogicalType
from sqlext_catalog.model import Options

_CORRUPT = "__sqlext_row"
_NO_LIMITS = tuple((name, str((1 << 31) - 1)) for name in ("maxStringLen", "maxNumLen", "maxNestingDepth"))
#: A byte order mark.
_MARK = string("\ufeff")
#: What is told of a message with several values.
_MORE = "there is more behind its first object, which alone is a row"


class JsonFormat:
    """``'format' = 'json'``, one object per line."""

    name = "json"
    binary = False
    rules = Rules(
        {
            "json.ignore-parse-errors": boolean,
            "json.fail-on-missing-field": boolean,
            "json.timestamp-format.standard": one_of("SQL", "ISO-8601"),
            "json.map-null-key.mode": one_of("FAIL", "DROP", "LITERAL"),
            "json.map-null-key.literal": any_text,
            "json.encode.decimal-as-plain-number": boolean,
            "json.encode.ignore-null-fields": boolean,
            # Which of two parsers Flink takes: the rows are the same.
            "json.decode.json-parser.enabled": boolean,
        }
    )

    def validate(self, owner: str, options: Mapping[str, str]) -> None:
        """Refuse to ignore errors and to fail on missing fields at once, as Flink does."""
        if ignores_errors(options) and fails_on_missing(options):
            message = "json.fail-on-missing-field and json.ignore-parse-errors shouldn't both be true"
            raise OptionError("OPT-005", f"{owner}: {message}", option="json.fail-on-missing-field")

    def raw_schema(self, fields: tuple[ReadField, ...], options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Return the fields under their own types: Spark's reader parses them."""
        columns = [(f.name, "TIMESTAMP" if f.instant else stored_type(f.type, time_as_text)) for f in fields]
        return tuple([*columns, (_CORRUPT, "STRING")] if ignores_errors(options) else columns)

    def reader_options(self, options: Mapping[str, str]) -> Options:
        """Return the options of Spark's json reader."""
        if ignores_errors(options):
            return (("mode", "PERMISSIVE"), ("timeZone", "UTC"), ("columnNameOfCorruptRecord", _CORRUPT))
        return (("mode", "FAILFAST"), ("timeZone", "UTC"))

    def decode(self, fields: tuple[ReadField, ...], options: Mapping[str, str], zone: str, ref: Ref) -> Decoded:
        """Return the parsed columns; with ignore-parse-errors only of rows that are JSON."""
        time = try_time_from_text if ignores_errors(options) else time_from_text
        values = tuple((f.name, convert(f.type, ref(f.name), time)) for f in fields)
        return Decoded(values, (_is_json(fields, ref),) if ignores_errors(options) else ())

    def struct(self, message: Message) -> str:
        """Return the call that parses a message."""
        schema = columns_text(self.raw_schema(message.fields, message.options))
        return parse_call("from_json", message.content, schema, self.reader_options(message.options))

    def message(self, line: str) -> str:
        """Return the line without a byte order mark, which parsers of bytes leave out."""
        return f"trim(LEADING {_MARK} FROM {line})"

    def is_row(self, line: str, options: Mapping[str, str]) -> tuple[str, ...]:
        """Return that it is not blank."""
        return (not_blank(line),)

    def fault(self, message: Message) -> str:
        """Return why a message is no object with values of the fields' types, or lacks one that must be there."""
        text, fields, struct = message.content, message.fields, message.struct
        keys, corrupt = f"json_object_keys({text})", message.part(_CORRUPT)
        values = {f.name: message.part(f.name) for f in fields}
        # Spark's parser does not say which value does not fit: it is among those that are there and came out NULL.
        empty = ", ".join(f"IF({value} IS NULL, {string(name)}, NULL)" for name, value in values.items())
        suspects = f"array_join(array_intersect({keys}, array_compact(array({empty}))), ', ')" if fields else "''"
        cases = [
            (f"{struct} IS NULL OR ({corrupt} IS NOT NULL AND {keys} IS NULL)", "'it is no JSON object'"),
            (f"{corrupt} IS NOT NULL", misfit(suspects)),
        ]
        if fails_on_missing(message.options):
            missing = _missing_fields(text, fields)
            cases.append((f"size({missing}) > 0", f"concat('it has no field ', array_join({missing}, ', '))"))
        wrong = {f.name: any_wrong(f.type, values[f.name], _is_no_time) for f in fields}
        return when([*cases, *misfits(wrong)])

    def rest(self, message: Message) -> str:
        """Return that there is more behind the first value of a message, which alone is read.

        Spark's parsers stop there, too. In an array with a value behind it, that one is the second only if nothing
        stands between. It is the message's digest, which no message has in it.
        """
        text, last = message.content, f"md5({message.content})"
        array = parse_call("from_json", f"""concat('[', {text}, ',"', {last}, '"]')""", "ARRAY<STRING>", _NO_LIMITS)
        # Most lines have one object without others in it.
        is_whole = f"locate('}}', {text}) = length(rtrim({text}))"
        return when([(is_whole, NO_REST), (f"NOT (get({array}, 1) <=> {last})", string(_MORE))])


def _missing_fields(text: str, fields: tuple[ReadField, ...]) -> str:
    """Return SQL of the array of fields that the JSON object ``text`` lacks."""
    wanted = ", ".join(string(f.name) for f in fields)
    return f"array_except(array({wanted}), json_object_keys({text}))"


def missing_field_check(text: str, fields: tuple[ReadField, ...]) -> str:
    """Return a predicate that fails the job where the JSON object ``text`` lacks a field."""
    missing = _missing_fields(text, fields)
    message = f"concat('json.fail-on-missing-field: the row has no field ', array_join({missing}, ', '))"
    return f"IF(size({missing}) = 0, true, CAST(raise_error({message}) AS BOOLEAN))"


def _is_no_time(declared: LogicalType, expression: str) -> str | None:
    # TIME is read as text and cast later, so Spark's parser does not see what is wrong with it.
    value = try_time_from_text(declared, expression)
    return None if value == expression else f"({expression} IS NOT NULL AND {value} IS NULL)"


def _is_json(fields: tuple[ReadField, ...], ref: Ref) -> str:
    corrupt = ref(_CORRUPT)
    # Spark refuses a scan of the corrupt-record column alone, which COUNT(*) would leave.
    anchor = f" AND (hash({ref(fields[0].name)}) & 0) = 0" if fields else ""
    return f"({corrupt} IS NULL OR try_parse_json({corrupt}) IS NOT NULL){anchor}"


def read_guards(options: Mapping[str, str]) -> Options:
    """Return options of Spark's reader that take its limits away, as ours has none.

    It refuses texts of 20,000,000 characters, numbers of 1,000 digits, and what is nested 1,000 times.
    """
    return _NO_LIMITS


def writer_options(options: Mapping[str, str]) -> Options:
    """Return the options of Spark's json writer."""
    # Spark leaves NULL fields out by default, Flink writes them.
    return (("ignoreNullFields", str(_is_true(options, "json.encode.ignore-null-fields")).lower()),)


def writes_iso(options: Mapping[str, str]) -> bool:
    """Return whether times are written with a T."""
    return options.get("json.timestamp-format.standard", "SQL").strip().upper() == "ISO-8601"


def ignores_errors(options: Mapping[str, str]) -> bool:
    """Return whether broken rows are skipped."""
    return _is_true(options, "json.ignore-parse-errors")


def fails_on_missing(options: Mapping[str, str]) -> bool:
    """Return whether an absent key fails the job."""
    return _is_true(options, "json.fail-on-missing-field")


def _is_true(options: Mapping[str, str], key: str) -> bool:
    return options.get(key, "false").strip().lower() == "true"

"""Describe CSV by the rules of Flink's csv format.

Every field is read as text and converted in SQL: Flink's rules for blanks, empty fields and NULL literals differ
from Spark's reader, and it is faster (1,000,000 rows of 4 columns: 1.3 s against 1.7 s, measured).
Recorded on Flink 2.3.0: an empty field is '' (no number: the job fails) unless csv.null-literal is ''; numbers
are trimmed, texts are not; a row of the wrong length fails. With csv.ignore-parse-errors a field that cannot be
parsed and a missing one are NULL, a row that is too long is skipped.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.connectors.formats.base import NO_REST, Decoded, Message, ReadField, Ref, columns_text, parse_call
from sqlext.connectors.formats.conversions import either, text_to_value
from sqlext.connectors.formats.reasons import misfits, not_blank, when
from sqlext.connectors.options import Rules, any_text, boolean, one_character, unescape
from sqlext.quoting import string
from sqlext.types import LogicalType
from sqlext_catalog.model import Options

_CORRUPT = "__sqlext_row"


class CsvFormat:
    """``'format' = 'csv'``."""

    name = "csv"
    binary = False
    rules = Rules(
        {
            "csv.field-delimiter": one_character,
            "csv.quote-character": one_character,
            "csv.disable-quote-character": boolean,
            "csv.escape-character": one_character,
            "csv.null-literal": any_text,
            "csv.allow-comments": boolean,
            "csv.ignore-parse-errors": boolean,
            "csv.array-element-delimiter": any_text,
            "csv.write-bigdecimal-in-scientific-notation": boolean,
        }
    )

    def validate(self, owner: str, options: Mapping[str, str]) -> None:
        """Accept: no option contradicts another."""

    def raw_schema(self, fields: tuple[ReadField, ...], options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Return every field as text, in order; one more shows rows of the wrong length where errors are ignored."""
        columns = [(f.name, "STRING") for f in fields]
        if _ignores_errors(options):
            columns.append((_CORRUPT, "STRING"))
        return tuple(columns)

    def reader_options(self, options: Mapping[str, str]) -> Options:
        """Return the options of Spark's csv reader."""
        found = [("mode", "FAILFAST"), *_separators(options)]
        if _is_true(options, "csv.allow-comments"):
            found.append(("comment", "#"))
        if _ignores_errors(options):
            found[0] = ("mode", "PERMISSIVE")
            found.append(("columnNameOfCorruptRecord", _CORRUPT))
        return tuple(found)

    def decode(self, fields: tuple[ReadField, ...], options: Mapping[str, str], zone: str, ref: Ref) -> Decoded:
        """Return the values that the texts stand for."""
        lenient = _ignores_errors(options)
        texts = {f.name: _text(ref(f.name), options, ref(_CORRUPT) if lenient else None) for f in fields}
        delimiter = unescape(options.get("csv.array-element-delimiter", ";"))
        values = tuple(
            (f.name, _value(f.type, texts[f.name], zone, delimiter, instant=f.instant, lenient=lenient)) for f in fields
        )
        return Decoded(values, (_is_not_too_long(fields, options, ref),) if lenient and fields else ())

    def struct(self, message: Message) -> str:
        """Return the call that parses a message."""
        schema = columns_text(self.raw_schema(message.fields, message.options))
        return parse_call("from_csv", message.content, schema, self.reader_options(message.options))

    def message(self, line: str) -> str:
        """Return the line itself."""
        return line

    def is_row(self, line: str, options: Mapping[str, str]) -> tuple[str, ...]:
        """Return that it is neither blank nor a comment, where these are allowed."""
        comments = _is_true(options, "csv.allow-comments")
        return (not_blank(line), *((f"NOT startswith({line}, '#')",) if comments else ()))

    def fault(self, message: Message) -> str:
        """Return why a message has not as many fields as there are columns, or texts that are none of their values."""
        fields, options, corrupt = message.fields, message.options, message.part(_CORRUPT)
        delimiter = unescape(options.get("csv.array-element-delimiter", ";"))
        texts = {f.name: _text(message.part(f.name), options, corrupt) for f in fields}
        wrong = {f.name: _wrong(f.type, texts[f.name], message.zone, delimiter, instant=f.instant) for f in fields}
        length = (f"{message.struct} IS NULL OR {corrupt} IS NOT NULL", string(f"it has not {len(fields)} fields"))
        return when([length, *misfits(wrong)])

    def rest(self, message: Message) -> str:
        """Return that there is nothing: a row is the whole message."""
        return NO_REST


def _is_not_too_long(fields: tuple[ReadField, ...], options: Mapping[str, str], ref: Ref) -> str:
    """Return whether a row has no field beyond the last column. Spark shows a row whole if its length is wrong."""
    corrupt = ref(_CORRUPT)
    schema = ", ".join(f"c{i} STRING" for i in range(len(fields) + 1))
    settings = ", ".join(f"{string(k)}, {string(v)}" for k, v in _separators(options))
    beyond = f"from_csv({corrupt}, {string(schema)}, map({settings})).c{len(fields)}"
    # Spark refuses a scan of the corrupt-record column alone, which COUNT(*) would leave.
    anchor = f"(hash({ref(fields[0].name)}) & 0) = 0"
    return f"({corrupt} IS NULL OR {beyond} IS NULL) AND {anchor}"


def _separators(options: Mapping[str, str]) -> Options:
    quote = unescape(options.get("csv.quote-character", '"'))
    if _is_true(options, "csv.disable-quote-character"):
        quote = ""
    # Flink doubles a quote inside quotes unless told of an escape character.
    escape = unescape(options.get("csv.escape-character", "")) or quote
    found = [("sep", unescape(options.get("csv.field-delimiter", ","))), ("quote", quote)]
    return tuple(found + ([("escape", escape)] if escape else []))


def read_guards(options: Mapping[str, str]) -> Options:
    """Return options of Spark's reader that make it as strict as ours.

    It refuses a line of another length whatever a query reads of it, and a quote within a field in quotes. What
    escapes an escaped quote is a NUL if nothing says otherwise, and leaves the text.
    """
    if _ignores_errors(options):
        return ()
    separators = dict(_separators(options))
    keeps_nul = separators["quote"] and separators["quote"] == separators.get("escape")
    escapes = (("charToEscapeQuoteEscaping", separators["quote"]),) if keeps_nul else ()
    return (("columnPruning", "false"), ("unescapedQuoteHandling", "RAISE_ERROR"), *escapes)


def writer_options(options: Mapping[str, str]) -> Options:
    """Return the options of Spark's csv writer; NULL and '' are both empty fields, as Flink writes them."""
    null = options.get("csv.null-literal", "")
    return (*_separators(options), ("nullValue", null), ("emptyValue", ""), ("escapeQuotes", "true"))


def _text(raw: str, options: Mapping[str, str], corrupt: str | None) -> str:
    """Return the text of a field as Flink sees it. Spark's parser gives NULL for an empty one."""
    literal = options.get("csv.null-literal")
    if literal == "":
        return raw
    # In a row that is too short the missing fields are NULL, not ''.
    text = f"coalesce({raw}, '')" if corrupt is None else f"coalesce({raw}, IF({corrupt} IS NULL, '', NULL))"
    return text if literal is None else f"nullif({text}, {string(literal)})"


def _value(
    declared: LogicalType, text: str, zone: str, delimiter: str, *, instant: bool = False, lenient: bool = False
) -> str:
    parts = f"split({text}, {string(_literal_pattern(delimiter))})"
    if declared.root == "ARRAY":
        element = _value(declared.children[0], "e", zone, delimiter, lenient=lenient)
        array = parts if element == "e" else f"transform({parts}, e -> {element})"
        return f"IF({text} = '', array(), {array})"
    if declared.root == "ROW":
        fields = (
            # ``get``, as an index beyond the end would fail in ANSI mode.
            f"{string(f.name)}, {_value(f.type, f'get({parts}, {i})', zone, delimiter, lenient=lenient)}"
            for i, f in enumerate(declared.fields)
        )
        return f"IF({text} IS NULL, NULL, named_struct({', '.join(fields)}))"
    return text_to_value(declared, text, zone, instant=instant, lenient=lenient)


def _wrong(declared: LogicalType, text: str, zone: str, delimiter: str, *, instant: bool = False) -> str | None:
    """Return SQL that holds for a text that stands for no value of a type, as ``_value`` takes it apart; or None."""
    parts = f"split({text}, {string(_literal_pattern(delimiter))})"
    if declared.root == "ARRAY":
        element = _wrong(declared.children[0], "e", zone, delimiter)
        return None if element is None else f"({text} <> '' AND exists({parts}, e -> {element}))"
    if declared.root == "ROW":
        fields = enumerate(declared.fields)
        return either(_wrong(f.type, f"get({parts}, {i})", zone, delimiter) for i, f in fields)
    if declared.is_text or declared.root == "BOOLEAN":
        return None
    value = text_to_value(declared, text, zone, instant=instant, lenient=True)
    return f"({text} IS NOT NULL AND {value} IS NULL)"


def _literal_pattern(delimiter: str) -> str:
    return "".join(c if c.isalnum() or c in " ;,:" else f"\\{c}" for c in delimiter)


def _is_true(options: Mapping[str, str], key: str) -> bool:
    return options.get(key, "false").strip().lower() == "true"


def _ignores_errors(options: Mapping[str, str]) -> bool:
    return _is_true(options, "csv.ignore-parse-errors")


def csv_dialect(options: Mapping[str, str]) -> tuple[str, str | None, str | None] | None:
    """Return delimiter, quote and NULL literal of plain csv; None for options that go beyond these."""
    beyond = ("csv.escape-character", "csv.allow-comments", "csv.ignore-parse-errors", "csv.array-element-delimiter")
    delimiter = unescape(options.get("csv.field-delimiter", ","))
    quote = unescape(options.get("csv.quote-character", '"'))
    if any(key in options and options[key].strip().lower() != "false" for key in beyond):
        return None
    # Arrow takes one byte for each, and blocks are cut at line ends before it sees a quote.
    if not (delimiter.isascii() and quote.isascii()) or {delimiter, quote} & {"\n", "\r", " "}:
        return None
    shown = None if _is_true(options, "csv.disable-quote-character") else quote
    return delimiter, shown, options.get("csv.null-literal")

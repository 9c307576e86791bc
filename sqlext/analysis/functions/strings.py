"""List the string functions (Flink docs: System (Built-in) Functions, String Functions)."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlext import quoting
from sqlext.analysis.functions.model import CallTexts, CallTypes, fn
from sqlext.analysis.functions.rendering import as_written
from sqlext.analysis.functions.results import never_null, nullable, same_as, strict, unknown, varying, with_nulls
from sqlext.analysis.types.coercion import least_restrictive
from sqlext.types import BIGINT, BOOLEAN, BYTES, INT, STRING, LogicalType, array, map_of

_text = strict(STRING)
#: What Java takes for white space, as a regular expression.
_WHITE_SPACE = quoting.string(r"\p{javaWhitespace}")


def _overlay_type(call: CallTypes) -> LogicalType | None:
    base, new = call.type(0), call.type(1)
    if base is None or new is None:
        return None
    length = min((base.precision or 0) + (new.precision or 0), STRING.precision or 0)
    return LogicalType("VARCHAR", length, nullable=call.nullable)


def _elt_type(call: CallTypes) -> LogicalType | None:
    """The common type of the texts; beyond them it is NULL."""
    result = least_restrictive(call.types[1:])
    return result.as_nullable() if result else None


def _trim_type(call: CallTypes) -> LogicalType | None:
    source = call.types[-1]
    if source is None:
        return None
    nullable_ = any(t is None or t.nullable for t in call.types if t is not source and t is not None)
    return LogicalType("VARCHAR", source.precision, nullable=nullable_ or source.nullable)


def _split_index(call: CallTexts) -> str:
    """Counts from 0; beyond the last part it is NULL, and so is all behind an empty text."""
    text, _, index = call.args
    return f"get(split(nullif({text}, ''), {_separator(call, 1)}), {index})"


def _separator(call: CallTexts, index: int) -> str:
    """Return SPLIT_INDEX's separator as a regular expression: a text, or the code of a character from 1 to 255.

    An empty text separates at each white space, as in Commons Lang.
    """
    text = call.args[index]
    if call.type(index) is not None and call.root(index) not in ("CHAR", "VARCHAR", "NULL"):
        # NULL for other codes; chr would take them modulo 256.
        return _literally(call, index, f"CASE WHEN {call.atom(index)} BETWEEN 1 AND 255 THEN chr({text}) END")
    if call.literal(index) == "":
        return _WHITE_SPACE
    if call.literal(index) is not None:
        return _literally(call, index, text)
    return f"CASE WHEN {call.atom(index)} = '' THEN {_WHITE_SPACE} ELSE {_literally(call, index, text)} END"


def _literally(call: CallTexts, index: int, text: str) -> str:
    """Return a separator as a regular expression that matches it and nothing else."""
    literal = call.literal(index) if call.root(index) != "NULL" else None
    if literal is not None and text == call.args[index]:
        return quoting.string(re.sub(r"([\\.\[\]{}()*+?^$|])", r"\\\1", literal))
    return f"concat('\\\\Q', {text}, '\\\\E')"


def _split(call: CallTexts) -> str:
    """The separator is a string in Flink, a regular expression in Spark; an empty text has no parts."""
    text = call.args[0]
    if call.literal(1) == "":
        parts = f"split({text}, '')"
    else:
        parts = f"split({text}, {_literally(call, 1, call.args[1])})"
    return f"CASE WHEN {call.atom(0)} = '' THEN CAST(array() AS ARRAY<STRING>) ELSE {parts} END"


def _str_to_map(call: CallTexts) -> str:
    """Flink separates entries by ',' and keys by '='; Spark by ',' and ':'."""
    defaults = ("", "','", "'='")
    split = f"str_to_map({', '.join((*call.args, *defaults[call.count :]))})"
    # An empty text is an empty map in Flink; Spark gives it one empty key.
    return split if call.literal(0) else f"if({call.atom(0)} = '', CAST(map() AS MAP<STRING, STRING>), {split})"


def _trim(call: CallTexts) -> str:
    """``TRIM([BOTH | LEADING | TRAILING] [c FROM] x)`` is Spark's syntax too."""
    if call.count == 1:
        return f"trim({call.args[0]})"
    where, rest = call.args[0], call.args[1:]
    if len(rest) == 1:
        return f"trim({where} FROM {rest[0]})"
    return f"trim({where} {rest[0]} FROM {rest[1]})"


def _sided_trim(side: str, name: str) -> Callable[[CallTexts], str]:
    def render(call: CallTexts) -> str:
        if call.count == 1:
            return f"{name}({call.args[0]})"
        return f"trim({side} {call.args[1]} FROM {call.args[0]})"

    return render


def _substring(call: CallTexts) -> str:
    """A start before the text gives an empty text, a negative length NULL; Spark cuts what lies inside."""
    plain = f"substring({', '.join(call.args)})"
    cases = []
    if not call.args[1].isdigit():
        cases.append(f"WHEN {call.args[1]} < -length({call.args[0]}) THEN ''")
    if call.count > 2 and not call.args[2].isdigit():
        cases.insert(0, f"WHEN {call.args[2]} < 0 THEN NULL")
    return f"CASE {' '.join(cases)} ELSE {plain} END" if cases else plain


def _overlay(call: CallTexts) -> str:
    """A start beyond the end changes nothing in Flink; Spark would append. A length below 1 cuts off the rest."""
    text, new, start = call.args[:3]
    length = f" FOR {call.args[3]}" if call.count > 3 else ""
    replaced = f"overlay({text} PLACING {new} FROM {start}{length})"
    if length and not _is_positive(call.args[3]):
        cut = f"concat(left({text}, {call.atom(2)} - 1), {new})"
        replaced = f"CASE WHEN {call.atom(3)} < 1 THEN {cut} WHEN {call.atom(3)} > 0 THEN {replaced} END"
    return f"CASE WHEN {call.atom(2)} > 0 AND {call.atom(2)} <= length({text}) THEN {replaced} ELSE {call.atom(0)} END"


def _is_positive(text: str) -> bool:
    """Whether this is a literal integer above 0."""
    return text.isdigit() and int(text) > 0


def _instr(call: CallTexts) -> str:
    if call.count == 2:
        return f"instr({call.args[0]}, {call.args[1]})"
    if call.count == 3 and not call.args[2].startswith("-"):
        return f"locate({call.args[1]}, {call.args[0]}, {call.args[2]})"
    return _nth_instr(call)


def _nth_instr(call: CallTexts) -> str:
    """Return the n-th place from a position; a negative position searches backwards from the end.

    The places are listed once: every start at which the text goes on with the pattern.
    """
    text, pattern, position = call.args[:3]
    nth = call.args[3] if call.count > 3 else "1"
    places = (
        f"filter(sequence(1, greatest(length({text}), 1)), "
        f"i -> substring({text}, i, length({pattern})) = {call.atom(1)})"
    )
    forward = f"get(filter({places}, i -> i >= {position}), {nth} - 1)"
    backward = f"get(reverse(filter({places}, i -> i <= length({text}) + 1 + {position})), {nth} - 1)"
    return f"CASE WHEN {call.atom(0)} IS NOT NULL THEN coalesce(if({position} > 0, {forward}, {backward}), 0) END"


def _concat(call: CallTexts) -> str:
    return f"concat({', '.join(call.args)})"


def _locate(call: CallTexts) -> str:
    """A start below 1 is the first character in Flink; Spark finds nothing from there."""
    plain = f"locate({', '.join(call.args)})"
    if call.count == 2 or _is_positive(call.args[2]):
        return plain
    first = f"locate({call.args[0]}, {call.args[1]})"
    return f"CASE WHEN {call.atom(2)} < 1 THEN {first} WHEN {call.atom(2)} > 0 THEN {plain} END"


def _pad(name: str) -> Callable[[CallTexts], str]:
    """Return a rendering of LPAD / RPAD: a negative length or an empty padding gives NULL."""

    def render(call: CallTexts) -> str:
        plain = f"{name}({', '.join(call.args)})"
        if call.args[1].isdigit() and call.literal(2):
            return plain
        return f"CASE WHEN {call.args[1]} >= 0 AND {call.args[2]} <> '' THEN {plain} END"

    return render


def _printf(call: CallTexts) -> str:
    return f"format_string({', '.join(call.args)})"


def _matches_all(pattern: str) -> Callable[[CallTexts], str]:
    """Return a rendering: whether the whole text consists of such characters; NULL is false."""
    return lambda call: f"coalesce({call.atom(0)} RLIKE {quoting.string(pattern)}, false)"


def _upper_words(call: CallTexts) -> str:
    """Words are runs of ASCII letters and digits in Flink, what stands between blanks in Spark."""
    return f"array_join(transform(split(lower({call.args[0]}), '(?<=[^A-Za-z0-9])'), w -> initcap(w)), '')"


def _folded(name: str) -> Callable[[CallTexts], str]:
    """Return a rendering of UPPER / LOWER; a literal is a CHAR(n) and keeps n characters (STRASS of straße)."""

    def render(call: CallTexts) -> str:
        literal = call.literal(0)
        folded = literal is not None and getattr(literal, name)()
        plain = as_written(call)
        if not literal or not folded or len(folded) <= len(literal) or call.root(0) != "CHAR":
            return plain
        return f"left({plain}, {len(literal)})"

    return render


def _ascii(call: CallTexts) -> str:
    """The first byte of UTF-8, with a sign; Spark gives the code point."""
    literal = call.literal(0)
    if literal is not None and literal[:1].isascii():
        return as_written(call)
    code = f"ascii({call.args[0]})"
    return (
        f"CASE WHEN {code} < 128 THEN {code} WHEN {code} < 2048 THEN shiftright({code}, 6) - 64 "
        f"WHEN {code} < 65536 THEN shiftright({code}, 12) - 32 ELSE shiftright({code}, 18) - 16 END"
    )


def _replace(call: CallTexts) -> str:
    """An empty search text is found between all characters, as in Java; Spark finds it nowhere."""
    text, _, new = call.args
    plain = as_written(call)
    if call.literal(1):
        return plain
    literal = call.literal(2)
    if literal is None:
        new = f"replace(replace({new}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"
    elif "$" in literal or "\\" in literal:
        new = quoting.string(literal.replace("\\", "\\\\").replace("$", "\\$"))
    between = f"regexp_replace({text}, '', {new})"
    return between if call.literal(1) == "" else f"if({call.atom(1)} = '', {between}, {plain})"


def _decode(call: CallTexts) -> str:
    """What is no text in the charset becomes U+FFFD, as in Java; Spark fails (here it still does but for UTF-8)."""
    if (call.literal(1) or "").upper() in ("UTF-8", "UTF8"):
        return f"make_valid_utf8(CAST({call.args[0]} AS STRING))"
    return f"decode({call.args[0]}, {call.args[1]})"


def _parse_url(call: CallTexts) -> str:
    """A text without a protocol that Java knows is no URL; Spark would take it for a path."""
    known = f"{call.atom(0)} RLIKE '^(?i)(https?|ftp|file|jar|mailto):'"
    return f"CASE WHEN {known} THEN try_parse_url({', '.join(call.args)}) END"


def _inet_aton(call: CallTexts) -> str:
    """The number of an IPv4 address, NULL if the text is none."""
    text = call.args[0]
    number = f"aggregate(split({text}, '[.]'), 0L, (n, part) -> n * 256 + CAST(part AS BIGINT))"
    byte = "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
    return f"CASE WHEN {call.atom(0)} RLIKE '^{byte}([.]{byte}){{3}}$' THEN {number} END"


def _inet_ntoa(call: CallTexts) -> str:
    """The IPv4 address of a number, NULL beyond 32 bits."""
    number = f"CAST({call.args[0]} AS BIGINT)"
    parts = ", ".join(f"shiftright({number}, {bits}) & 255" for bits in (24, 16, 8, 0))
    return f"CASE WHEN {number} BETWEEN 0 AND 4294967295 THEN concat_ws('.', {parts}) END"


STRINGS = (
    fn("CHAR_LENGTH", "text", strict(INT), aliases=("CHARACTER_LENGTH",)),
    fn("UPPER", "text", same_as(0), _folded("upper"), spark=_text, aliases=("UCASE",)),
    fn("LOWER", "text", same_as(0), _folded("lower"), spark=_text, aliases=("LCASE",)),
    fn("INITCAP", "text", same_as(0), _upper_words, spark=_text),
    fn("POSITION", "text, text", strict(INT), "locate({0}, {1})"),
    fn("TRIM", "text | unit, text | unit, text, text", _trim_type, _trim, spark=_text),
    fn("LTRIM", "text, text?", varying(0), _sided_trim("LEADING", "ltrim"), spark=_text),
    fn("RTRIM", "text, text?", varying(0), _sided_trim("TRAILING", "rtrim"), spark=_text),
    fn("BTRIM", "text, text?", _text),
    fn("REPEAT", "text, integer", _text),
    fn("OVERLAY", "text, text, integer, integer?", _overlay_type, _overlay, spark=_text),
    fn("SUBSTRING", "text, integer, integer?", with_nulls(varying(0)), _substring, spark=unknown),
    fn("SUBSTR", "text, integer, integer?", with_nulls(varying(0)), _substring, spark=unknown),
    fn("REPLACE", "text, text, text", _text, _replace),
    fn("TRANSLATE", "text, text, text", _text, "translate({all})", aliases=("TRANSLATE3",)),
    fn("CONCAT", "text, text...", _text, _concat, spark=unknown),
    fn("CONCAT_WS", "text, text...", _text, spark=unknown),
    fn("LPAD", "text, integer, text", _text, _pad("lpad"), spark=unknown),
    fn("RPAD", "text, integer, text", _text, _pad("rpad"), spark=unknown),
    fn("FROM_BASE64", "text", _text, "CAST(unbase64({0}) AS STRING)"),
    # Spark may break base64 into lines of 76 characters; Flink does not.
    fn("TO_BASE64", "text/binary", _text, "replace(base64({0}), '\\r\\n', '')"),
    fn("ASCII", "text", strict(INT), _ascii),
    fn("CHR", "integer", nullable(STRING)),
    fn("DECODE", "binary, text", _text, _decode, spark=unknown),
    fn("ENCODE", "text, text", strict(BYTES)),
    fn("INSTR", "text, text, integer?, integer?", strict(INT), _instr, extends=lambda c: len(c.args) > 2),
    fn("LEFT", "text, integer", with_nulls(varying(0)), spark=_text),
    fn("RIGHT", "text, integer", with_nulls(varying(0)), spark=_text),
    fn("LOCATE", "text, text, integer?", strict(INT), _locate),
    fn("PARSE_URL", "text, text, text?", nullable(STRING), _parse_url),
    fn("INET_ATON", "text", nullable(BIGINT), _inet_aton),
    fn("INET_NTOA", "integer", nullable(STRING), _inet_ntoa),
    fn("URL_ENCODE", "text", nullable(STRING)),
    fn("URL_DECODE", "text", nullable(STRING), "try_url_decode({0})"),
    fn("REVERSE", "text", nullable(STRING), spark=unknown),
    fn("SPLIT", "text, text", strict(array(STRING)), _split),
    fn("SPLIT_INDEX", "text, text/integer, integer", nullable(STRING), _split_index),
    fn("STR_TO_MAP", "text, text?, text?", nullable(map_of(STRING, STRING)), _str_to_map),
    fn("STARTSWITH", "text, text | binary, binary", strict(BOOLEAN)),
    fn("ENDSWITH", "text, text | binary, binary", strict(BOOLEAN)),
    fn(
        "ELT",
        "integer, text/binary, text/binary...",
        _elt_type,
        "get(array({rest}), {0} - 1)",
        spark=unknown,
    ),
    fn("PRINTF", "text, any...", nullable(STRING), _printf),
    fn("IS_DIGIT", "any", never_null(BOOLEAN), _matches_all(r"^\p{Nd}+$")),
    fn("IS_ALPHA", "any", never_null(BOOLEAN), _matches_all(r"^\p{L}+$")),
    fn("IS_DECIMAL", "any", never_null(BOOLEAN), "(try_cast(CAST({0} AS STRING) AS DOUBLE) IS NOT NULL)"),
)

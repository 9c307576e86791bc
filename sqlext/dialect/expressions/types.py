"""Parse types, under Flink's and Spark's names, to LogicalType.

type ::= base {ARRAY | MULTISET} with [NOT] NULL after each
"""

from __future__ import annotations

from collections.abc import Callable

from sqlext import types
from sqlext.dialect.cursor import Cursor, enter, leave
from sqlext.dialect.tokens import Token, TokenKind, tokenize
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.secrets import redact_forms
from sqlext.source import SourceText
from sqlext.types import UNBOUNDED, Field, LogicalType

_PLAIN = {
    "BOOLEAN": types.BOOLEAN,
    "TINYINT": types.TINYINT,
    "BYTE": types.TINYINT,
    "SMALLINT": types.SMALLINT,
    "SHORT": types.SMALLINT,
    "INT": types.INT,
    "INTEGER": types.INT,
    "BIGINT": types.BIGINT,
    "LONG": types.BIGINT,
    "FLOAT": types.FLOAT,
    "REAL": types.FLOAT,
    "DOUBLE": types.DOUBLE,
    "STRING": types.STRING,
    "BYTES": types.BYTES,
    "DATE": types.DATE,
    "NULL": types.NULL,
    "VOID": types.NULL,
    "VARIANT": types.VARIANT,
}
#: That of Flink's texts. Ours hold any character, whatever it takes to store one.
_CHARACTER_SET = "UTF-16LE"
_DAY_TIME = ("DAY", "HOUR", "MINUTE", "SECOND")
_YEAR_MONTH = ("YEAR", "QUARTER", "MONTH")


def parse_type(cursor: Cursor) -> LogicalType:
    """Read a type and its nullability; PARSE-006 for bad parameters, PARSE-007 for an unknown name."""
    enter(cursor, 2)
    result = _nullability(cursor, _base(cursor))
    suffixes = 0
    while collection := cursor.accept_any("ARRAY", "MULTISET"):
        enter(cursor, 2)  # as deep as ARRAY<...>
        suffixes += 1
        result = _nullability(cursor, LogicalType(collection, children=(result,)))
    leave(cursor, 2 + 2 * suffixes)
    return result


def parse_type_text(text: str, mode: str = "flink") -> LogicalType:
    """Read a text that is one type, for instance one that DESCRIBE printed."""
    source = SourceText.of(text, "<type>")
    cursor = Cursor(source, tokenize(source, mode), mode)
    result = parse_type(cursor)
    if not cursor.at_end:
        raise cursor.unexpected("the end of the type")
    return result


def _nullability(cursor: Cursor, base: LogicalType) -> LogicalType:
    if cursor.accept_words("NOT", "NULL"):
        return base.not_null()
    if cursor.peek().upper != "ON":  # RETURNING INT NULL ON EMPTY
        cursor.accept_words("NULL")
    return base


def _base(cursor: Cursor) -> LogicalType:
    token = cursor.token
    reader = _READERS.get(token.upper)
    if reader is not None:
        cursor.advance()
        return reader(cursor, token)
    if token.upper not in _PLAIN:
        raise _unknown(cursor)
    cursor.advance()
    if token.upper == "DOUBLE":
        cursor.accept_words("PRECISION")
    return _PLAIN[token.upper]


def _unknown(cursor: Cursor) -> SqlExtError:
    token = cursor.token
    if token.kind not in (TokenKind.WORD, TokenKind.QUOTED):
        return cursor.unexpected("a type")
    hint = did_you_mean(token.value, [*_PLAIN, *_READERS])
    span = cursor.source.span(token.start, token.end)
    return SqlExtError("PARSE-007", f"`{token.value}` is not a type", span=span, hint=hint)


def _number(cursor: Cursor, name: str, low: int, high: int) -> int:
    token = cursor.token
    if token.kind is not TokenKind.NUMBER or not token.text.isdigit():
        raise cursor.unexpected(f"a whole number, the parameter of {name}")
    # The length guards int(): Python refuses to convert thousands of digits.
    if len(token.text) > 10 or not low <= int(token.text) <= high:
        raise _bad_parameter(cursor, token, f"the parameter of {name} must be between {low} and {high}")
    cursor.advance()
    return int(token.text)


def _bad_parameter(cursor: Cursor, token: Token, message: str) -> SqlExtError:
    return SqlExtError("PARSE-006", message, span=cursor.source.span(token.start, token.end))


def _parameter(cursor: Cursor, name: str, low: int, high: int, default: int) -> int:
    if not cursor.accept_symbol("("):
        return default
    value = _number(cursor, name, low, high)
    cursor.expect_symbol(")")
    return value


def _text(root: str) -> Callable[[Cursor, Token], LogicalType]:
    """Return the reader of CHAR [VARYING] [(n)], BINARY [VARYING] [(n)], VARCHAR [(n)] or VARBINARY [(n)].

    Without a length VARCHAR is STRING and VARBINARY is BYTES, CHAR and BINARY have one character or byte. Flink's
    documentation says one for all of them, and no length 0; Flink 2.3 itself, asked, does as here (an empty text is a
    CHAR(0)).
    """

    def read(cursor: Cursor, name: Token) -> LogicalType:
        varying = root.startswith("VAR") or cursor.accept_words("VARYING")
        actual = f"VAR{root.removeprefix('VAR')}" if varying else root
        # Spark's BINARY has no length: it is Flink's BYTES.
        if actual == "BINARY" and cursor.mode == "spark" and not cursor.at_symbol("("):
            return types.BYTES
        length = _parameter(cursor, name.upper, 0, UNBOUNDED, UNBOUNDED if varying else 1)
        if actual.endswith("CHAR"):
            _character_set(cursor)
        return LogicalType(actual, length)

    return read


def _character_set(cursor: Cursor) -> None:
    """Read ``CHARACTER SET name`` if it comes next: Flink takes the one that its texts have, and no other."""
    # In spark mode a CAST is copied, and Spark's types have no such clause.
    if not (cursor.mode == "flink" or cursor.declares) or not cursor.accept_words("CHARACTER", "SET"):
        return
    token = cursor.expect_identifier("a character set")
    if token.value.upper() != _CHARACTER_SET:
        hint = f"leave CHARACTER SET out, or write `{_CHARACTER_SET}`"
        span = cursor.source.span(token.start, token.end)
        raise SqlExtError("PARSE-006", f"a text cannot have the character set `{token.value}`", span=span, hint=hint)


def _decimal(cursor: Cursor, name: Token) -> LogicalType:
    if not cursor.accept_symbol("("):
        # Flink's default, and Spark's.
        return types.decimal(10, 0)
    precision, scale = _number(cursor, name.upper, 1, 38), 0
    if cursor.accept_symbol(","):
        scale = _number(cursor, f"{name.upper}'s scale", 0, precision)
    cursor.expect_symbol(")")
    return types.decimal(precision, scale)


def _time(cursor: Cursor, name: Token) -> LogicalType:
    # Flink's defaults: TIME(0), but TIMESTAMP(6) below.
    precision = _parameter(cursor, "TIME", 0, 9, 0)
    cursor.accept_words("WITHOUT", "TIME", "ZONE")
    return LogicalType("TIME", precision)


def _timestamp(cursor: Cursor, name: Token) -> LogicalType:
    precision = _parameter(cursor, name.upper, 0, 9, 6)
    if name.upper == "TIMESTAMP_LTZ" or cursor.accept_words("WITH", "LOCAL", "TIME", "ZONE"):
        return types.timestamp_ltz(precision)
    if cursor.at_words("WITH", "TIME", "ZONE"):
        cursor.fail("PARSE-004", "TIMESTAMP WITH TIME ZONE is not part of this dialect", "use TIMESTAMP_LTZ")
    cursor.accept_words("WITHOUT", "TIME", "ZONE")
    return types.timestamp(precision)


def _interval(cursor: Cursor, name: Token) -> LogicalType:
    first = _interval_unit(cursor)
    if not cursor.accept_words("TO"):
        return _interval_of(first)
    token = cursor.token
    last = _interval_unit(cursor)
    if _interval_of(first) != _interval_of(last):
        raise _bad_parameter(cursor, token, f"an interval cannot span {first} TO {last}")
    return _interval_of(first)


def _interval_unit(cursor: Cursor) -> str:
    unit = cursor.accept_any(*_DAY_TIME, *_YEAR_MONTH)
    if not unit:
        raise cursor.unexpected("a unit (YEAR, MONTH, DAY, HOUR, MINUTE or SECOND)")
    # Precisions are read and dropped: each unit belongs to one of two interval types.
    if cursor.accept_symbol("("):
        _number(cursor, unit, 0, 9)
        if cursor.accept_symbol(","):
            _number(cursor, unit, 0, 9)
        cursor.expect_symbol(")")
    return unit


def _interval_of(unit: str) -> LogicalType:
    return types.INTERVAL_DAY_TIME if unit in _DAY_TIME else types.INTERVAL_YEAR_MONTH


def _elements(count: int) -> Callable[[Cursor, Token], LogicalType]:
    """Return the reader of ``ARRAY<t>``, ``MULTISET<t>`` or ``MAP<k, v>``."""

    def read(cursor: Cursor, name: Token) -> LogicalType:
        cursor.expect_symbol("<")
        children = [parse_type(cursor)]
        while len(children) < count:
            cursor.expect_symbol(",")
            children.append(parse_type(cursor))
        cursor.expect_symbol(">")
        return LogicalType(name.upper, children=tuple(children))

    return read


def _row(cursor: Cursor, name: Token) -> LogicalType:
    """Read the fields of ``ROW<a INT 'comment', ...>``, ``ROW(...)`` or ``STRUCT<a: INT COMMENT '..'>``."""
    # The lexer reads `<>` as "not equal", so the empty ROW needs a case of its own.
    if cursor.accept_symbol("<>"):
        return types.row()
    close = ")" if cursor.accept_symbol("(") else ">"
    if close == ">":
        cursor.expect_symbol("<")
    fields: list[Field] = []
    # ROW() is allowed, a comma before the end is not.
    while not (cursor.at_symbol(close) and not fields):
        token = cursor.token
        fields.append(_field(cursor))
        if fields[-1].name in [f.name for f in fields[:-1]]:
            message = f"two fields of the {name.upper} have the name `{fields[-1].name}`"
            span = cursor.source.span(token.start, token.end)
            raise SqlExtError("NAME-006", message, span=span, hint="give each a name of its own")
        if not cursor.accept_symbol(","):
            break
    cursor.expect_symbol(close)
    return types.row(*fields)


def _field(cursor: Cursor) -> Field:
    name = cursor.expect_identifier("a field's name").value
    cursor.accept_symbol(":")
    field_type = parse_type(cursor)
    if cursor.accept_words("COMMENT") or cursor.token.kind is TokenKind.STRING:
        return Field(name, field_type, redact_forms(cursor.expect_string("a comment").value))
    return Field(name, field_type)


def _refuse(cursor: Cursor, name: Token) -> LogicalType:
    hint = "use a ROW, or BYTES for what only a Java class can read"
    span = cursor.source.span(name.start, name.end)
    raise SqlExtError("PARSE-004", f"the type {name.upper} is not part of this dialect", span=span, hint=hint)


_READERS: dict[str, Callable[[Cursor, Token], LogicalType]] = {
    "CHAR": _text("CHAR"),
    "CHARACTER": _text("CHAR"),
    "VARCHAR": _text("VARCHAR"),
    "BINARY": _text("BINARY"),
    "VARBINARY": _text("VARBINARY"),
    "DECIMAL": _decimal,
    "DEC": _decimal,
    "NUMERIC": _decimal,
    "TIME": _time,
    "TIMESTAMP": _timestamp,
    "TIMESTAMP_LTZ": _timestamp,
    "TIMESTAMP_NTZ": _timestamp,
    "INTERVAL": _interval,
    "ARRAY": _elements(1),
    "MULTISET": _elements(1),
    "MAP": _elements(2),
    "ROW": _row,
    "STRUCT": _row,
    "RAW": _refuse,
    "STRUCTURED": _refuse,
}

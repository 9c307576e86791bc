"""Parse the clauses that definitions share: elements in parentheses, WITH options, COMMENT, IF EXISTS.

element ::= column | WATERMARK FOR name AS expr | [CONSTRAINT name] PRIMARY KEY (names) NOT ENFORCED
column  ::= name type [METADATA [FROM 'key'] [VIRTUAL]] [PRIMARY KEY NOT ENFORCED] [COMMENT '..']
          | name AS expr [COMMENT '..']
options ::= '(' ['key' = 'value' {, 'key' = 'value'}] ')'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlext.dialect.ast.statements import ColumnDef, Option, PrimaryKeyDef, WatermarkDef
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions.operations import parse_expression
from sqlext.dialect.expressions.types import parse_type
from sqlext.dialect.keywords import expect_new_name
from sqlext.dialect.queries.relations import parse_name, parse_names
from sqlext.dialect.tokens import Token, TokenKind
from sqlext.errors import SqlExtError
from sqlext.secrets import redact_forms
from sqlext.source import Span


@dataclass
class TableElements:
    """The elements of one pair of parentheses.

    Attributes:
        columns: full definitions.
        positions: for each of ``columns`` FIRST, the name of the column before it, or None (ALTER TABLE).
        names: bare names, which only CREATE TABLE AS allows.
        watermarks, primary_keys: as written; whoever binds them refuses a second one.
    """

    columns: list[ColumnDef] = field(default_factory=list)
    positions: list[str | None] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    watermarks: list[WatermarkDef] = field(default_factory=list)
    primary_keys: list[PrimaryKeyDef] = field(default_factory=list)


def parse_elements(cursor: Cursor, positions: bool = False) -> TableElements:
    """Read ``(element, ...)``; with ``positions`` a column may end in FIRST or AFTER name."""
    elements = TableElements()
    cursor.expect_symbol("(")
    while True:
        parse_element(cursor, elements, positions)
        if not cursor.accept_symbol(","):
            break
    cursor.expect_symbol(")")
    return elements


def parse_element(cursor: Cursor, elements: TableElements, positions: bool = False) -> None:
    """Read one element into ``elements``."""
    if cursor.at_words("WATERMARK", "FOR") or (cursor.at_words("WATERMARK") and cursor.peek(2).upper == "AS"):
        elements.watermarks.append(_watermark(cursor))
    elif cursor.at_words("PRIMARY", "KEY") or cursor.at_words("CONSTRAINT"):
        elements.primary_keys.append(_primary_key(cursor))
    elif cursor.at_words("UNIQUE") and cursor.peek().text == "(":
        cursor.fail("PARSE-004", "UNIQUE is not part of this dialect", "declare a PRIMARY KEY ... NOT ENFORCED")
    else:
        token = cursor.token
        name = _column_name(cursor)
        if cursor.at_symbol(",", ")"):  # CREATE TABLE (a, b) AS query only reorders the columns of the query
            elements.names.append(name)
            return
        elements.columns.append(_column(cursor, name, token))
        elements.positions.append(_position(cursor) if positions else None)


def _column_name(cursor: Cursor) -> str:
    return expect_new_name(cursor, "a column's name").value


def _column(cursor: Cursor, name: str, start: Token) -> ColumnDef:
    if cursor.accept_words("AS"):
        expression = parse_expression(cursor)
        comment = parse_comment(cursor)
        return ColumnDef(cursor.span_from(start.start), name, expression=expression, comment=comment)
    type_start = cursor.token.start
    cursor.declares = True
    column_type = parse_type(cursor)
    cursor.declares = False
    type_span = cursor.span_from(type_start)
    metadata, key, virtual = _metadata(cursor, name)
    comment = parse_comment(cursor)
    inline_key = _inline_primary_key(cursor)
    # NOT NULL belongs to the type in Flink's grammar, but people write it behind the key too.
    if inline_key and cursor.accept_words("NOT", "NULL"):
        column_type = column_type.not_null()
    comment = comment if comment is not None else parse_comment(cursor)
    return ColumnDef(
        cursor.span_from(start.start), name, column_type, type_span, None, metadata, key, virtual, comment, inline_key
    )


def _metadata(cursor: Cursor, name: str) -> tuple[bool, str | None, bool]:
    """Read ``METADATA [FROM 'key'] [VIRTUAL]``; return whether it is one, the key, and VIRTUAL."""
    if not cursor.accept_words("METADATA"):
        return False, None, False
    key = cursor.expect_string("a metadata key").value if cursor.accept_words("FROM") else name
    return True, key, cursor.accept_words("VIRTUAL")


def _inline_primary_key(cursor: Cursor) -> bool:
    start = cursor.token
    if cursor.at_words("CONSTRAINT"):
        cursor.advance()
        cursor.expect_identifier("a constraint's name")
    if cursor.accept_words("PRIMARY", "KEY"):
        _not_enforced(cursor, start)
        return True
    if cursor.at_words("UNIQUE"):
        cursor.fail("PARSE-004", "UNIQUE is not part of this dialect", "declare a PRIMARY KEY ... NOT ENFORCED")
    return False


def _not_enforced(cursor: Cursor, start: Token) -> None:
    """Read NOT ENFORCED, which is required as in Flink: nobody checks the key."""
    if cursor.accept_words("NOT", "ENFORCED"):
        return
    end = cursor.token.end if cursor.at_words("ENFORCED") else cursor.span_from(start.start).end
    raise SqlExtError(
        "PARSE-009",
        "a PRIMARY KEY cannot be ENFORCED: the rows are not checked for duplicates",
        span=cursor.source.span(start.start, end),
        hint="add NOT ENFORCED",
    )


def _watermark(cursor: Cursor) -> WatermarkDef:
    start = cursor.expect_words("WATERMARK", "FOR").start
    column, _ = parse_name(cursor, "a column's name")
    cursor.expect_words("AS")
    expression = parse_expression(cursor)
    return WatermarkDef(cursor.span_from(start), column, expression)


def _primary_key(cursor: Cursor) -> PrimaryKeyDef:
    start = cursor.token
    name = cursor.expect_identifier("a constraint's name").value if cursor.accept_words("CONSTRAINT") else None
    if cursor.at_words("UNIQUE"):
        cursor.fail("PARSE-004", "UNIQUE is not part of this dialect", "declare a PRIMARY KEY ... NOT ENFORCED")
    cursor.expect_words("PRIMARY", "KEY")
    columns = parse_names(cursor)
    _not_enforced(cursor, start)
    return PrimaryKeyDef(cursor.span_from(start.start), columns, name)


def _position(cursor: Cursor) -> str | None:
    """Read ``FIRST`` or ``AFTER name``; FIRST unquoted is the position, a name is given as it is."""
    if cursor.accept_words("FIRST"):
        return "FIRST"
    if cursor.token.kind is TokenKind.WORD and cursor.accept_words("AFTER"):
        return cursor.expect_identifier("a column's name").value
    return None


def parse_options(cursor: Cursor) -> tuple[Option, ...]:
    """Read ``('key' = 'value', ...)``."""
    cursor.expect_symbol("(")
    options: list[Option] = []
    while not cursor.at_symbol(")") or options:
        options.append(_once(_option(cursor), options))
        if not cursor.accept_symbol(","):
            break
    cursor.expect_symbol(")")
    return tuple(options)


def _once(option: Option, before: Iterable[Option]) -> Option:
    """Return an option, unless its key has been given another value before: Flink takes the last one unasked."""
    if any(o.key == option.key and o.value != option.value for o in before):
        message = f"option '{option.key}' is given twice, with two values"
        raise SqlExtError("PARSE-012", message, span=option.key_span, hint="leave one of them out")
    return option


def _option(cursor: Cursor) -> Option:
    if cursor.token.kind in (TokenKind.WORD, TokenKind.QUOTED):
        raise cursor.unexpected("an option's key", hint="write keys and values in quotes: 'connector' = 'kafka'")
    key = cursor.expect_string("an option's key")
    cursor.expect_symbol("=")
    if cursor.token.kind in (TokenKind.WORD, TokenKind.NUMBER):
        raise cursor.unexpected("an option's value", hint=f"write the value in quotes: '{cursor.token.text}'")
    value = cursor.expect_string("an option's value")
    source = cursor.source
    return Option(key.value, value.value, source.span(key.start, key.end), source.span(value.start, value.end))


def parse_keys(cursor: Cursor) -> tuple[str, ...]:
    """Read ``('key', ...)``."""
    return tuple(key for key, _ in parse_placed_keys(cursor))


def parse_placed_keys(cursor: Cursor) -> tuple[tuple[str, Span], ...]:
    """Read ``('key', ...)``; return each key with its place."""
    cursor.expect_symbol("(")
    keys: list[tuple[str, Span]] = []
    while not keys or cursor.accept_symbol(","):
        token = cursor.expect_string("an option's key")
        keys.append((token.value, cursor.span_from(token.start)))
    cursor.expect_symbol(")")
    return tuple(keys)


def parse_comment(cursor: Cursor) -> str | None:
    """Read ``COMMENT 'text'`` if it comes next; what has the form of a secret in it is hidden."""
    return redact_forms(cursor.expect_string("a comment").value) if cursor.accept_words("COMMENT") else None


def parse_if_exists(cursor: Cursor) -> bool:
    """Read ``IF EXISTS`` if it comes next."""
    return cursor.accept_words("IF", "EXISTS")

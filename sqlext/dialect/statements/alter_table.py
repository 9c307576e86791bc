"""Parse ALTER TABLE.

ALTER TABLE [IF EXISTS] t ADD | MODIFY element | (elements)
                        | DROP name | (names) | PRIMARY KEY | CONSTRAINT name | WATERMARK
                        | RENAME [name] TO name | SET (options) | RESET (keys)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlext.dialect.ast.statements import AlterTable
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.keywords import unsupported
from sqlext.dialect.queries.relations import parse_name, parse_placed_names
from sqlext.dialect.statements.clauses import (
    TableElements,
    parse_element,
    parse_elements,
    parse_if_exists,
    parse_options,
    parse_placed_keys,
)
from sqlext.dialect.tokens import Token, TokenKind
from sqlext.source import Span

#: The word after the action that shows a statement of Spark's.
_SPARK_NEXT = {
    "ADD": ("COLUMN", "COLUMNS", "PARTITION", "IF"),
    "DROP": ("COLUMN", "COLUMNS", "PARTITION", "IF"),
    "RENAME": ("COLUMN",),
    "SET": ("TBLPROPERTIES", "LOCATION", "SERDE", "SERDEPROPERTIES"),
}


def parse_alter_table(cursor: Cursor, start: int) -> AlterTable | None:
    """Read an ALTER TABLE from its name on; None if it is Spark's."""
    if_exists = parse_if_exists(cursor)
    name, name_span = parse_name(cursor)
    word = cursor.token.upper
    parse = _ACTIONS.get(word)
    following = cursor.peek()
    # RENAME column TO x renames a column called `column`.
    if parse is None or (following.upper in _SPARK_NEXT.get(word, ()) and cursor.peek(2).upper != "TO"):
        return None
    # ADD CONSTRAINT name CHECK (...), and DROP FEATURE name, are Delta's.
    if (following.upper, cursor.peek(3).upper) == ("CONSTRAINT", "CHECK"):
        return None
    if (word, following.upper) == ("DROP", "FEATURE") and cursor.peek(2).kind in (TokenKind.WORD, TokenKind.STRING):
        return None
    cursor.advance()
    if word in ("ADD", "MODIFY", "DROP") and cursor.at_words("DISTRIBUTION"):
        raise unsupported(cursor, f"ALTER TABLE ... {word} DISTRIBUTION", "leave it out: no connector keeps buckets")
    base = AlterTable(name_span, name, name_span, word, if_exists)
    return replace(parse(cursor, base), span=cursor.span_from(start))


def _add(cursor: Cursor, base: AlterTable) -> AlterTable:
    elements = TableElements()
    if cursor.at_symbol("("):
        elements = parse_elements(cursor, positions=True)
    else:
        parse_element(cursor, elements, positions=True)
    if elements.names:
        raise cursor.unexpected("a type for every column")
    return replace(
        base,
        columns=tuple(elements.columns),
        positions=tuple(elements.positions),
        watermarks=tuple(elements.watermarks),
        primary_keys=tuple(elements.primary_keys),
    )


def _drop(cursor: Cursor, base: AlterTable) -> AlterTable:
    if cursor.at_symbol("("):
        return _named(base, *parse_placed_names(cursor))
    if cursor.accept_words("PRIMARY", "KEY"):
        return replace(base, action="DROP PRIMARY KEY")
    if cursor.at_words("CONSTRAINT") and cursor.peek().kind in (TokenKind.WORD, TokenKind.QUOTED):
        cursor.advance()
        return _named(replace(base, action="DROP CONSTRAINT"), _placed(cursor, cursor.advance()))
    token = cursor.expect_identifier("a column, PRIMARY KEY, CONSTRAINT or WATERMARK")
    # Quoted it is a column: `upper` is empty then.
    if token.upper == "WATERMARK":
        return replace(base, action="DROP WATERMARK")
    return _named(base, _placed(cursor, token))


def _rename(cursor: Cursor, base: AlterTable) -> AlterTable:
    if cursor.accept_words("TO"):
        return replace(base, new_name=parse_name(cursor)[0])
    old = _placed(cursor, cursor.expect_identifier("TO or a column's name"))
    cursor.expect_words("TO")
    new = _placed(cursor, cursor.expect_identifier("a column's name"))
    return _named(replace(base, action="RENAME COLUMN"), old, new)


def _set(cursor: Cursor, base: AlterTable) -> AlterTable:
    return replace(base, options=parse_options(cursor))


def _reset(cursor: Cursor, base: AlterTable) -> AlterTable:
    return _named(base, *parse_placed_keys(cursor))


def _placed(cursor: Cursor, token: Token) -> tuple[str, Span]:
    return token.value, cursor.span_from(token.start)


def _named(base: AlterTable, *placed: tuple[str, Span]) -> AlterTable:
    return replace(base, names=tuple(n for n, _ in placed), name_spans=tuple(s for _, s in placed))


_ACTIONS: dict[str, Callable[[Cursor, AlterTable], AlterTable]] = {
    "ADD": _add,
    "MODIFY": _add,
    "DROP": _drop,
    "RENAME": _rename,
    "SET": _set,
    "RESET": _reset,
}

"""Parse types from the text that ``LogicalType.flink`` prints, which other tools read in properties.

Not the parser of user's DDL (that one has positions and Flink's synonyms, and lives in the dialect).
"""

from __future__ import annotations

import re
from typing import NoReturn

from sqlext.errors import SqlExtError
from sqlext.types import (
    BYTES,
    INTEGERS,
    INTERVAL_DAY_TIME,
    INTERVAL_YEAR_MONTH,
    STRING,
    Field,
    LogicalType,
    array,
    map_of,
    multiset,
    row,
)

_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|'(?:[^']|'')*'|\w+|[<>(),])")
_ROOTS = frozenset(
    {*INTEGERS, "BOOLEAN", "FLOAT", "DOUBLE", "DECIMAL", "CHAR", "VARCHAR", "BINARY", "VARBINARY"}
    | {"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "NULL", "VARIANT"}
)


def parse_type(text: str) -> LogicalType:
    """Return the type printed as ``text``, for instance ``ROW<`a` INT NOT NULL, `b` DECIMAL(10, 2)>``."""
    reader = _Reader(text)
    found = reader.type()
    reader.expect("")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = 0

    def type(self) -> LogicalType:
        found = self._plain()
        if self._accept("NOT"):
            self.expect("NULL")
            return found.not_null()
        return found

    def expect(self, token: str) -> None:
        if not self._accept(token):
            self._refuse()

    def _refuse(self) -> NoReturn:
        raise SqlExtError("TYPE-090", f"{self._text!r} is not a type as Flink prints it")

    def _plain(self) -> LogicalType:
        root = self._take().upper()
        if root == "STRING":
            return STRING
        if root == "BYTES":
            return BYTES
        if root == "INTERVAL":
            return self._interval()
        if root in ("ARRAY", "MULTISET", "MAP", "ROW"):
            return self._nested(root)
        if root not in _ROOTS:
            self._refuse()
        precision, scale = self._numbers()
        return self._zone(LogicalType(root, precision, scale))

    def _zone(self, found: LogicalType) -> LogicalType:
        if not self._accept("WITH"):
            return found
        # Flink's LocalZonedTimestampType has two spellings, TIMESTAMP_LTZ(3) and TIMESTAMP(3) WITH LOCAL TIME ZONE.
        for word in ("LOCAL", "TIME", "ZONE"):
            self.expect(word)
        return LogicalType("TIMESTAMP_LTZ", found.precision)

    def _interval(self) -> LogicalType:
        unit = self._take().upper()
        self._numbers()
        return INTERVAL_YEAR_MONTH if unit in ("YEAR", "MONTH") else INTERVAL_DAY_TIME

    def _nested(self, root: str) -> LogicalType:
        self.expect("<")
        found = self._row() if root == "ROW" else self._collection(root)
        self.expect(">")
        return found

    def _collection(self, root: str) -> LogicalType:
        first = self.type()
        if root == "MAP":
            self.expect(",")
            return map_of(first, self.type())
        return array(first) if root == "ARRAY" else multiset(first)

    def _row(self) -> LogicalType:
        fields: list[Field] = []
        while self._peek() != ">":
            if fields:
                self.expect(",")
            name = _unquoted(self._take())
            kind = self.type()
            comment = _unquoted(self._take()) if self._peek().startswith("'") else None
            fields.append(Field(name, kind, comment))
        return row(*fields)

    def _numbers(self) -> tuple[int | None, int | None]:
        if not self._accept("("):
            return None, None
        first = self._number()
        second = self._number() if self._accept(",") else None
        self.expect(")")
        return first, second

    def _number(self) -> int:
        text = self._take()
        if not text.isdecimal():
            self._refuse()
        return int(text)

    def _peek(self) -> str:
        return self._tokens[self._next]

    def _take(self) -> str:
        token = self._peek()
        if not token:
            self._refuse()
        self._next += 1
        return token

    def _accept(self, token: str) -> bool:
        found = self._peek().upper() == token
        # The end is an empty token that is never passed, so `_peek` stays in the list.
        self._next += found and bool(token)
        return found


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while match := _TOKEN.match(text, at):
        tokens.append(match[1])
        at = match.end()
    # The rest, if it is not blank, is a token that nothing accepts.
    return [*tokens, *([text[at:]] if text[at:].strip() else []), ""]


def _unquoted(token: str) -> str:
    mark = token[0]
    return token[1:-1].replace(mark * 2, mark) if mark in "`'" else token

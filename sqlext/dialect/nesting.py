"""Limits of nesting: what is nested too deep is refused with a position, never by a RecursionError."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlext.dialect.ast.expressions import Node
from sqlext.dialect.tokens import Cursor
from sqlext.errors import SqlExtError
from sqlext.source import Span

#: Levels of recursion in the parsers; a level costs up to five Python frames of the usual 1,000.
MAX_DEPTH = 130
#: Height of a tree that later stages may walk recursively.
MAX_HEIGHT = 250
#: From this depth or length on the height of the finished tree is checked.
STRAIN = 40

_CHAIN = 16
_HINT = "split it: move parts into views or CTEs, or write long OR chains as IN lists"

T = TypeVar("T")


def enter(cursor: Cursor, levels: int = 1) -> None:
    """Go down; PARSE-003 at the limit. Every ``enter`` has its ``leave``, except on the way of an error."""
    cursor.depth += levels
    if cursor.depth > STRAIN:
        cursor.strained = True
        if cursor.depth > MAX_DEPTH:
            raise too_deep(cursor.source.span(cursor.token.start, cursor.token.end))


def leave(cursor: Cursor, levels: int = 1) -> None:
    """Come up again."""
    cursor.depth -= levels


def too_deep(span: Span) -> SqlExtError:
    """Return PARSE-003."""
    return SqlExtError("PARSE-003", "this is nested too deeply", span=span, hint=_HINT)


def check_height(node: Node) -> None:
    """Raise PARSE-003 if a finished tree is higher than later stages can walk."""
    level: list[Node] = [node]
    for _ in range(MAX_HEIGHT):
        level = [child for parent in level for child in parent.children()]
        if not level:
            return
    raise too_deep(level[0].span)


def balanced(items: Sequence[T], join: Callable[[T, T], T]) -> T:
    """Join the operands of an associative operator: left to right, or as a flat tree if there are many."""
    if len(items) > _CHAIN:
        middle = len(items) // 2
        return join(balanced(items[:middle], join), balanced(items[middle:], join))
    result = items[0]
    for item in items[1:]:
        result = join(result, item)
    return result

"""Parse one SELECT block.

select ::= SELECT [hints] [ALL | DISTINCT] item {, item} [FROM relations] [WHERE x] [GROUP BY groups] [HAVING x]
           [WINDOW name AS (..) {, ..}] [QUALIFY x] [emit]
"""

from __future__ import annotations

from sqlext.dialect.ast.expressions import Expr, Keyword
from sqlext.dialect.ast.queries import GroupBy, GroupingSets, NamedWindow, Select, SelectItem
from sqlext.dialect.cursor import Cursor, enter, leave
from sqlext.dialect.emit import clause
from sqlext.dialect.expressions import calls, operations
from sqlext.dialect.keywords import SPARK_ONLY, at_alias, expect_new_name, unsupported
from sqlext.dialect.queries import over, relations
from sqlext.dialect.tokens import TokenKind, did_you_mean_word
from sqlext.errors import SqlExtError

_CLAUSES = ("FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "UNION", "JOIN")


def parse_select(cursor: Cursor) -> Select:
    """Read one SELECT block."""
    start = cursor.expect_words("SELECT").start
    hints = relations.parse_hints(cursor)
    distinct = cursor.accept_any("DISTINCT", "ALL") == "DISTINCT"
    if cursor.at_words("TOP") and cursor.peek().kind is TokenKind.NUMBER:
        raise unsupported(cursor, "TOP", f"write LIMIT {cursor.peek().text} at the end")
    items = [_item(cursor)]
    while cursor.accept_symbol(","):
        items.append(_item(cursor))
    from_ = relations.parse_from(cursor) if cursor.accept_words("FROM") else None
    where = _condition(cursor, "WHERE")
    group_by = _group_by(cursor)
    having = _condition(cursor, "HAVING")
    windows = _windows(cursor)
    qualify = _condition(cursor, "QUALIFY")
    if not windows:  # WINDOW may stand on either side of QUALIFY
        windows = _windows(cursor)
    emit = clause.parse_emit(cursor) if cursor.at_any("EMIT") else None
    refuse_spark_clauses(cursor)
    span = cursor.span_from(start)
    return Select(span, tuple(items), distinct, hints, from_, where, group_by, having, windows, qualify, emit)


def refuse_spark_clauses(cursor: Cursor) -> None:
    """Raise PARSE-004 at a clause that only Spark has."""
    what, hint = SPARK_ONLY.get(cursor.token.upper, ("", None))
    # SORT, CLUSTER and DISTRIBUTE are names unless BY follows.
    if what and (not what.endswith(" BY") or cursor.peek().upper == "BY"):
        raise unsupported(cursor, f"Spark's {what}", hint)


def misspelled_clause(word: str) -> str | None:
    """Return a hint if a word looks like a clause's."""
    return did_you_mean_word(word, *_CLAUSES)


def _condition(cursor: Cursor, word: str) -> Expr | None:
    return operations.parse_expression(cursor) if cursor.accept_words(word) else None


def _item(cursor: Cursor) -> SelectItem:
    start = cursor.token.start
    expr = operations.parse_expression(cursor)
    alias = None
    if cursor.accept_words("AS") or at_alias(cursor):
        alias = expect_new_name(cursor, "an alias").value
    return SelectItem(cursor.span_from(start), expr, alias)


def _group_by(cursor: Cursor) -> GroupBy | None:
    start = cursor.token.start
    if not cursor.accept_words("GROUP", "BY"):
        return None
    # Spark's GROUP BY ALL, unless ALL is a column.
    if cursor.at_words("ALL") and cursor.peek().text not in (".", ","):
        word: Keyword = calls.keyword(cursor)
        return GroupBy(cursor.span_from(start), (word,))
    distinct = cursor.index if cursor.at_words("DISTINCT") else None
    cursor.accept_words("DISTINCT")
    items = [_group(cursor)]
    while cursor.accept_symbol(","):
        items.append(_group(cursor))
    if cursor.at_any("WITH") and cursor.peek().upper in ("ROLLUP", "CUBE"):
        raise unsupported(cursor, f"WITH {cursor.peek().upper}", f"write GROUP BY {cursor.peek().upper} (a, b)")
    # Between plain expressions DISTINCT means nothing; of grouping sets it would drop those that come twice.
    if distinct is not None and any(isinstance(i, GroupingSets) for i in items):
        cursor.index = distinct
        raise unsupported(cursor, "GROUP BY DISTINCT of grouping sets", "write each grouping set once")
    return GroupBy(cursor.span_from(start), tuple(items))


def _group(cursor: Cursor) -> Expr | GroupingSets:
    """Read an expression, ``()``, ``ROLLUP (..)``, ``CUBE (..)`` or ``GROUPING SETS (..)``."""
    start = cursor.token.start
    if cursor.at_symbol("(") and cursor.peek().text == ")":
        cursor.index += 2
        return GroupingSets(cursor.span_from(start), "GROUPING SETS", ((),))
    if cursor.at_any("ROLLUP", "CUBE") and cursor.peek().text == "(":
        kind = cursor.advance().upper
    elif cursor.accept_words("GROUPING", "SETS"):
        kind = "GROUPING SETS"
    else:
        return operations.parse_expression(cursor)
    cursor.expect_symbol("(")
    sets = [_set(cursor)]
    while cursor.accept_symbol(","):
        sets.append(_set(cursor))
    cursor.expect_symbol(")")
    return GroupingSets(cursor.span_from(start), kind, tuple(sets))


def _set(cursor: Cursor) -> tuple[Expr | GroupingSets, ...]:
    enter(cursor, 2)
    item = _group(cursor)
    leave(cursor, 2)
    if isinstance(item, GroupingSets):
        # () within GROUPING SETS is the empty set, no set of sets.
        return () if item.sets == ((),) else (item,)
    return operations.row_items(item)


def _windows(cursor: Cursor) -> tuple[NamedWindow, ...]:
    # WINDOW is a name too; a window's name must follow.
    if not cursor.at_words("WINDOW") or cursor.peek().kind not in (TokenKind.WORD, TokenKind.QUOTED):
        return ()
    cursor.advance()
    windows = [_window(cursor)]
    while cursor.accept_symbol(","):
        windows.append(_window(cursor))
        if windows[-1].name.lower() in [w.name.lower() for w in windows[:-1]]:
            message = f"two windows have the name `{windows[-1].name}`"
            raise SqlExtError("NAME-006", message, span=windows[-1].span, hint="give each a name of its own")
    return tuple(windows)


def _window(cursor: Cursor) -> NamedWindow:
    name = expect_new_name(cursor, "a window's name")
    cursor.expect_words("AS")
    window = over.parse_window(cursor, cursor.token.start)
    return NamedWindow(cursor.span_from(name.start), name.value, window)

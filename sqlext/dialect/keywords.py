"""Which words mean something where: nothing is reserved that the grammar can tell apart."""

from __future__ import annotations

from sqlext.dialect.tokens import Cursor, Kind, words
from sqlext.errors import SqlExtError

#: Words that cannot begin an expression unless quoted: a forgotten operand shows at its place.
NOT_AN_OPERAND = frozenset(
    words(
        "SELECT FROM WHERE GROUP HAVING QUALIFY ORDER LIMIT UNION INTERSECT EXCEPT ON USING JOIN CROSS INNER NATURAL "
        "WHEN THEN ELSE AS AND OR IN IS LIKE BETWEEN INTO DISTINCT"
    )
)

#: Words that end a select item or an expression and so are no alias without AS.
_CLAUSES = frozenset(
    words(
        "SELECT FROM WHERE GROUP HAVING QUALIFY ORDER LIMIT OFFSET UNION INTERSECT EXCEPT MINUS INTO ON AS AND OR "
        "WHEN THEN ELSE"
    )
)
#: The same for a relation.
_RELATION_CLAUSES = _CLAUSES | frozenset(
    words(
        "JOIN INNER LEFT RIGHT FULL CROSS NATURAL SEMI ANTI USING LATERAL TABLESAMPLE PIVOT UNPIVOT "
        "MATCH_RECOGNIZE SET WATERMARK"
    )
)
#: Words that end both only before one of certain words.
_CLAUSE_PAIRS = {
    "FETCH": ("FIRST", "NEXT"),
    "FOR": ("SYSTEM_TIME", "VERSION", "TIMESTAMP", "SYSTEM_VERSION"),
    "VERSION": ("AS",),
    "TIMESTAMP": ("AS",),
    "WITH": ("ORDINALITY", "("),
    "SORT": ("BY",),
    "CLUSTER": ("BY",),
    "DISTRIBUTE": ("BY",),
}

#: What Spark has and this dialect has not, by the word that shows it, and what to write instead.
SPARK_ONLY: dict[str, tuple[str, str | None]] = {
    "TABLESAMPLE": ("TABLESAMPLE", None),
    "PIVOT": ("PIVOT", "write one aggregate with FILTER (WHERE ..) per column"),
    "UNPIVOT": ("UNPIVOT", None),
    "SORT": ("SORT BY", "write ORDER BY"),
    "CLUSTER": ("CLUSTER BY", None),
    "DISTRIBUTE": ("DISTRIBUTE BY", None),
    "LATERAL": ("LATERAL VIEW", "write CROSS JOIN UNNEST(x) AS t (a)"),
    "WATERMARK": ("WATERMARK in FROM", "declare it with the table: WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"),
}

_EMIT_NEXT = frozenset(
    words(
        "STREAM CHANGELOG CHANGES FINAL DEFAULT CONTINUE AFTER EVERY PERIODIC WITH WITHOUT TIMEOUT LAST PER NEVER "
        "REPEAT ONCE ALL ANY EACH WHEN CASE ACCUMULATING DISCARDING RETRACTING ALLOW GRACE KEEP EVICT DROP PANE LATE "
        "OPTIONS"
    )
)


def at_emit(cursor: Cursor) -> bool:
    """Whether an EMIT clause begins here: EMIT is a name unless a word of the clause follows."""
    if cursor.token.upper != "EMIT":
        return False
    following = cursor.peek()
    if following.upper == "ON":
        after = cursor.peek(2).upper
        return after in ("UPDATE", "TIME") or (after == "WINDOW" and cursor.peek(3).upper == "CLOSE")
    if following.upper == "USING":
        return cursor.peek(2).upper == "TRIGGER"
    return following.upper in _EMIT_NEXT or (following.kind is Kind.SYMBOL and following.text == "(")


def at_alias(cursor: Cursor, relation: bool = False) -> bool:
    """Whether the next word is an alias written without AS."""
    token = cursor.token
    if token.kind is not Kind.WORD:
        return token.kind is Kind.QUOTED
    word = token.upper
    if word in (_RELATION_CLAUSES if relation else _CLAUSES):
        return False
    if word in _CLAUSE_PAIRS:
        following = cursor.peek()
        return (following.upper or following.text) not in _CLAUSE_PAIRS[word]
    if word == "WINDOW":
        return not (cursor.peek().kind in (Kind.WORD, Kind.QUOTED) and cursor.peek(2).upper == "AS")
    return not at_emit(cursor)


def at_query(cursor: Cursor, ahead: int = 0) -> bool:
    """Whether a query begins here, parentheses aside."""
    token, following = cursor.peek(ahead), cursor.peek(ahead + 1)
    if token.upper == "SELECT":
        return True
    if token.upper == "WITH":
        return following.kind in (Kind.WORD, Kind.QUOTED)
    if token.upper == "VALUES":
        return following.kind is not Kind.SYMBOL or following.text in ("(", "-", "+", "[")
    return token.upper == "TABLE" and following.kind in (Kind.WORD, Kind.QUOTED)


def unsupported(cursor: Cursor, what: str, hint: str | None = None) -> SqlExtError:
    """Return PARSE-004: a construct of Spark or Flink that this dialect does not have."""
    span = cursor.source.span(cursor.token.start, cursor.token.end)
    return SqlExtError("PARSE-004", f"{what} is not part of this dialect", span=span, hint=hint)

"""Parse the PATTERN (...) of MATCH_RECOGNIZE.

choice     ::= sequence {'|' sequence}
sequence   ::= quantified {quantified}
quantified ::= primary [('*' | '+' | '?' | '{' n '}' | '{' n ',' [m] '}' | '{' ',' m '}') ['?']]
primary    ::= name | '(' choice ')' | '{-' choice '-}' | PERMUTE '(' choice {',' choice} ')' | '^' | '$'
"""

from __future__ import annotations

from sqlext.dialect.ast.matching import (
    Pattern,
    PatternAnchor,
    PatternChoice,
    PatternExclusion,
    PatternPermutation,
    PatternQuantified,
    PatternSequence,
    PatternVariable,
)
from sqlext.dialect.cursor import Cursor, enter, leave
from sqlext.dialect.tokens import TokenKind
from sqlext.errors import SqlExtError

_PLAIN: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def parse_pattern(cursor: Cursor) -> Pattern:
    """Read ``( ... )`` behind PATTERN; the span is that of what stands in the parentheses.

    Raises:
        SqlExtError: MATCH-002 for a quantifier that no number of rows fulfils, MATCH-003 for an empty pattern.
    """
    cursor.expect_symbol("(")
    enter(cursor)
    pattern = _choice(cursor)
    leave(cursor)
    cursor.expect_symbol(")")
    return pattern


def _choice(cursor: Cursor) -> Pattern:
    start = cursor.token.start
    items = [_sequence(cursor)]
    while cursor.accept_symbol("|"):
        items.append(_sequence(cursor))
    return items[0] if len(items) == 1 else PatternChoice(cursor.span_from(start), tuple(items))


def _sequence(cursor: Cursor) -> Pattern:
    start = cursor.token.start
    items: list[Pattern] = []
    # The comma separates the parts of PERMUTE.
    while not cursor.at_symbol(")", "|", ",") and not _at_exclusion_end(cursor) and not cursor.at_statement_end:
        item = _quantified(cursor)
        # (A B) C is A B C: parentheses without a quantifier mean nothing.
        items += item.items if isinstance(item, PatternSequence) else (item,)
    if not items:
        raise SqlExtError(
            "MATCH-003",
            "a pattern needs a variable here",
            span=cursor.source.span(cursor.token.start, cursor.token.end),
            hint="write for instance PATTERN (A B+ C)",
        )
    return items[0] if len(items) == 1 else PatternSequence(cursor.span_from(start), tuple(items))


def _quantified(cursor: Cursor) -> Pattern:
    start = cursor.token.start
    of = _primary(cursor)
    bounds = _quantifier(cursor)
    if bounds is None:
        return of
    reluctant = cursor.accept_symbol("?")
    return PatternQuantified(cursor.span_from(start), of, *bounds, reluctant)


def _primary(cursor: Cursor) -> Pattern:
    token = cursor.token
    if cursor.accept_symbol("("):
        enter(cursor)
        inner = _choice(cursor)
        leave(cursor)
        cursor.expect_symbol(")")
        return inner
    # The lexer gives `{-` and `-}` as two tokens each.
    if cursor.at_symbol("{") and cursor.peek().text == "-":
        cursor.index += 2
        inner = _choice(cursor)
        cursor.expect_symbol("-")
        cursor.expect_symbol("}")
        return PatternExclusion(cursor.span_from(token.start), inner)
    if token.text in ("^", "$"):
        cursor.advance()
        return PatternAnchor(cursor.span_from(token.start), token.text)
    if token.upper == "PERMUTE" and cursor.peek().text == "(":
        return _permutation(cursor)
    name = cursor.expect_identifier("a pattern variable").value
    return PatternVariable(cursor.span_from(token.start), name)


def _permutation(cursor: Cursor) -> Pattern:
    start = cursor.advance().start
    cursor.expect_symbol("(")
    items = [_choice(cursor)]
    while cursor.accept_symbol(","):
        items.append(_choice(cursor))
    cursor.expect_symbol(")")
    return PatternPermutation(cursor.span_from(start), tuple(items))


def _quantifier(cursor: Cursor) -> tuple[int, int | None] | None:
    """Read a quantifier; return the least and the largest number of times, None if none comes next."""
    token = cursor.token
    if token.kind is TokenKind.SYMBOL and token.text in _PLAIN:
        cursor.advance()
        return _PLAIN[token.text]
    # In A {- B -} the brace begins an exclusion, no quantifier.
    if not cursor.at_symbol("{") or cursor.peek().text == "-":
        return None
    cursor.advance()
    least = _number(cursor)
    most = least
    if cursor.accept_symbol(","):
        most = _number(cursor)
        if least is None and most is None:
            raise cursor.unexpected("a number")
    elif least is None:
        raise cursor.unexpected("a number")
    cursor.expect_symbol("}")
    if most is not None and (most < (least or 0) or most == 0):
        span = cursor.span_from(token.start)
        raise SqlExtError("MATCH-002", f"{span.text} is no number of rows", span=span, hint="write {least,most}")
    return least or 0, most


def _number(cursor: Cursor) -> int | None:
    if cursor.token.kind is not TokenKind.NUMBER or not cursor.token.text.isdigit():
        return None
    return int(cursor.advance().text)


def _at_exclusion_end(cursor: Cursor) -> bool:
    return cursor.at_symbol("-") and cursor.peek().text == "}"

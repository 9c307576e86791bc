"""Parse functions with a syntax of their own; ``Call`` tells how their arguments are kept."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.dialect.ast.expressions import Cast, Expr, Keyword, Node
from sqlext.dialect.cursor import Cursor, enter, leave
from sqlext.dialect.expressions import calls, operations
from sqlext.dialect.expressions.literals import SINGULAR_UNITS, UNITS
from sqlext.dialect.expressions.types import parse_type
from sqlext.dialect.tokens import Token, TokenKind, did_you_mean_word


def _open(cursor: Cursor) -> Token:
    """Move past ``name (`` and return the name."""
    name = cursor.advance()
    cursor.expect_symbol("(")
    enter(cursor)
    return name


def _close(cursor: Cursor, name: Token, *args: Node) -> Expr:
    leave(cursor)
    return calls.finish_call(cursor, name.text, name.start, args)


def _cast(cursor: Cursor) -> Expr:
    """``CAST(x AS type)``, ``TRY_CAST(x AS type)``."""
    name = _open(cursor)
    operand = operations.parse_expression(cursor)
    cursor.expect_words("AS")
    start = cursor.token.start
    to = parse_type(cursor)
    type_span = cursor.span_from(start)
    cursor.expect_symbol(")")
    leave(cursor)
    return Cast(cursor.span_from(name.start), operand, to, type_span, try_=name.upper != "CAST")


#: What EXTRACT takes in Flink beside units of time.
_FIELDS = frozenset(UNITS) | {"DOW", "DOY", "EPOCH", "ISODOW", "ISOYEAR"}


#: Spark's other names of fields.
_SPARKS_FIELDS = _FIELDS | frozenset(
    "Y YR YRS YEAROFWEEK QTR MON MONS W D DAYOFWEEK DAYOFWEEK_ISO DOW_ISO H HR HRS M MIN MINS S SEC SECS".split()
)


def _extract(cursor: Cursor) -> Expr:
    """``EXTRACT(YEAR FROM x)``."""
    name = _open(cursor)
    known = _SPARKS_FIELDS if cursor.mode == "spark" else _FIELDS
    if cursor.token.kind is not TokenKind.WORD or cursor.token.upper not in known:
        hint = did_you_mean_word(cursor.token.upper, *SINGULAR_UNITS)
        raise cursor.unexpected("a time unit (YEAR, MONTH, DAY, ...)", hint=hint)
    unit = calls.keyword(cursor)
    cursor.expect_words("FROM")
    return _close(cursor, name, unit, operations.parse_expression(cursor))


def _round(cursor: Cursor) -> Expr:
    """``FLOOR(x TO HOUR)``, or an ordinary call."""
    name = _open(cursor)
    args: tuple[Node, ...] = () if cursor.at_symbol(")") else calls.parse_arguments(cursor)
    if len(args) == 1 and cursor.accept_words("TO"):
        if cursor.token.upper not in UNITS:
            raise cursor.unexpected("a time unit (YEAR, MONTH, DAY, HOUR, ...)")
        args = (args[0], calls.keyword(cursor))
    return _close(cursor, name, *args)


def _trim(cursor: Cursor) -> Expr:
    """``TRIM([BOTH | LEADING | TRAILING] [what] FROM x)``, or an ordinary call."""
    name = _open(cursor)
    # BOTH may be a column: TRIM(both), TRIM(both, x).
    if cursor.at_any("BOTH", "LEADING", "TRAILING") and cursor.peek().text not in (",", ")", "."):
        side = calls.keyword(cursor)
    else:
        args = calls.parse_arguments(cursor)
        if len(args) != 1 or not cursor.accept_words("FROM"):
            return _close(cursor, name, *args)
        # Nobody wrote BOTH, so its span is empty.
        both = Keyword(cursor.source.span(args[0].span.start, args[0].span.start), "BOTH")
        return _close(cursor, name, both, args[0], operations.parse_expression(cursor))
    what = [] if cursor.at_words("FROM") else [operations.parse_expression(cursor)]
    if cursor.accept_words("FROM"):
        what.append(operations.parse_expression(cursor))
    return _close(cursor, name, side, *what)


def _position(cursor: Cursor) -> Expr:
    """``POSITION(a IN b [FROM n])``, or an ordinary call."""
    name = _open(cursor)
    # Binds tighter than IN, which is no predicate here.
    first = operations.parse_expression(cursor, operations.BIT_OR)
    if cursor.accept_words("IN"):
        args = [first, operations.parse_expression(cursor)]
        if cursor.accept_words("FROM"):
            args.append(operations.parse_expression(cursor))
        return _close(cursor, name, *args)
    rest = calls.parse_arguments(cursor) if cursor.accept_symbol(",") else ()
    return _close(cursor, name, first, *rest)


def _substring(cursor: Cursor) -> Expr:
    """``SUBSTRING(x FROM a [FOR b])``, ``OVERLAY(x PLACING y FROM a [FOR b])``, or an ordinary call."""
    name = _open(cursor)
    args = [*calls.parse_arguments(cursor)]
    while cursor.accept_any("PLACING", "FROM", "FOR"):
        args.append(operations.parse_expression(cursor))
    return _close(cursor, name, *args)


#: The others may count days, and have no unit then.
_NEEDS_UNIT = frozenset({"TIMESTAMPADD", "TIMESTAMPDIFF"})


def _with_unit(cursor: Cursor) -> Expr:
    """``TIMESTAMPDIFF(DAY, a, b)``, ``DATEADD(DAY, 1, a)``, or an ordinary call."""
    name, unit = cursor.peek(0), cursor.peek(2)
    if (
        name.upper in _NEEDS_UNIT
        and unit.kind is TokenKind.WORD
        and unit.upper not in UNITS
        and cursor.peek(3).text == ","
    ):
        cursor.advance()
        cursor.advance()
        hint = did_you_mean_word(unit.upper, *SINGULAR_UNITS) or f"the units are {', '.join(SINGULAR_UNITS)}"
        raise cursor.unexpected("a time unit", hint=hint)
    # A column may be called `day`: only a comma behind it makes it the unit.
    if cursor.peek(2).upper not in UNITS or cursor.peek(3).text != ",":
        cursor.advance()
        return calls.parse_call(cursor, name.text, name.start)
    _open(cursor)
    word = calls.keyword(cursor)
    cursor.expect_symbol(",")
    return _close(cursor, name, word, *calls.parse_arguments(cursor))


SPECIAL: dict[str, Callable[[Cursor], Expr]] = {
    "CAST": _cast,
    "TRY_CAST": _cast,
    "SAFE_CAST": _cast,
    "EXTRACT": _extract,
    "FLOOR": _round,
    "CEIL": _round,
    "CEILING": _round,
    "TRIM": _trim,
    "POSITION": _position,
    "SUBSTRING": _substring,
    "SUBSTR": _substring,
    "OVERLAY": _substring,
    **dict.fromkeys(
        ("TIMESTAMPADD", "TIMESTAMPDIFF", "DATEADD", "DATEDIFF", "DATE_ADD", "DATE_DIFF", "TIMEDIFF"), _with_unit
    ),
}

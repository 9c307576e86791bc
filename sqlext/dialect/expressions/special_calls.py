"""Parse functions with a syntax of their own; ``Call`` tells how their arguments are kept."""

from __future__ import annotations

from collections.abc import Callable, Collection

from sqlext.dialect.ast.expressions import Cast, Expr, Keyword, Node
from sqlext.dialect.cursor import Cursor, enter, leave
from sqlext.dialect.expressions import calls, operations
from sqlext.dialect.expressions.literals import SINGULAR_UNITS, UNITS
from sqlext.dialect.expressions.types import parse_type
from sqlext.dialect.tokens import Token, TokenKind, did_you_mean_word, words


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
_OTHER_FIELDS = frozenset(words("DOW DOY EPOCH ISODOW ISOYEAR"))
#: Units have no plural there, other than those of an INTERVAL.
_FIELDS = _OTHER_FIELDS | frozenset(SINGULAR_UNITS)

#: Spark's fields, beside Flink's in the singular: of units in the plural it has not all.
_SPARKS_FIELDS = _OTHER_FIELDS | frozenset(
    words(
        "Y YEARS YR YRS YEAROFWEEK QTR MON MONS MONTHS W WEEKS D DAYS DAYOFWEEK DAYOFWEEK_ISO DOW_ISO H HOURS HR HRS "
        "M MIN MINS MINUTES S SEC SECS SECONDS"
    )
    + SINGULAR_UNITS
)


#: Names of functions that are taken for units, and the units, the best first.
_FUNCTIONS_OF_FIELDS = {"DAYOFYEAR": ("DOY", "DAY"), "DAYOFMONTH": ("DAY",), "WEEKOFYEAR": ("WEEK",)}


def _unit_meant(word: str, likely: Collection[str], taken: Collection[str]) -> str | None:
    """Return a hint which unit was meant, None if none is close."""
    named = next((unit for unit in _FUNCTIONS_OF_FIELDS.get(word, ()) if unit in taken), None)
    return did_you_mean_word(word, *likely) if named is None else f"did you mean {named}?"


def _extract(cursor: Cursor) -> Expr:
    """``EXTRACT(YEAR FROM x)``."""
    name = _open(cursor)
    known = _SPARKS_FIELDS if cursor.mode == "spark" else _FIELDS
    if cursor.token.kind is not TokenKind.WORD or cursor.token.upper not in known:
        hint = _unit_meant(cursor.token.upper, SINGULAR_UNITS, known)
        raise cursor.unexpected("a time unit (YEAR, MONTH, DAY, ...)", hint=hint)
    unit = calls.keyword(cursor)
    cursor.expect_words("FROM")
    return _close(cursor, name, unit, operations.parse_expression(cursor))


def _round(cursor: Cursor) -> Expr:
    """``FLOOR(x TO HOUR)``, or an ordinary call."""
    name = _open(cursor)
    args: tuple[Node, ...] = () if cursor.at_symbol(")") else calls.parse_arguments(cursor)
    if len(args) == 1 and cursor.accept_words("TO"):
        known = SINGULAR_UNITS if cursor.mode == "flink" else UNITS
        if cursor.token.upper not in known:
            hint = _unit_meant(cursor.token.upper, SINGULAR_UNITS, known)
            raise cursor.unexpected("a time unit (YEAR, MONTH, DAY, HOUR, ...)", hint=hint)
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
    """``POSITION(a IN b [FROM n])``, or Spark's ordinary call."""
    name = _open(cursor)
    # Binds tighter than IN, which is no predicate here.
    first = operations.parse_expression(cursor, operations.BIT_OR)
    if cursor.accept_words("IN"):
        args = [first, operations.parse_expression(cursor)]
        if cursor.accept_words("FROM"):
            args.append(operations.parse_expression(cursor))
        return _close(cursor, name, *args)
    if cursor.mode == "flink":
        raise cursor.unexpected("IN", hint="write POSITION(a IN b), or LOCATE(a, b)")
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
#: Spark's units: it has no plural here, and no name of a difference for the days of a year.
_SPARKS_UNITS = words("YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND")
_SPARKS_ADDED = (*_SPARKS_UNITS, "DAYOFYEAR")
_ADDS = frozenset({"TIMESTAMPADD", "DATEADD", "DATE_ADD"})


def _units_taken(cursor: Cursor, function: str) -> Collection[str]:
    if cursor.mode == "flink":
        return SINGULAR_UNITS
    return _SPARKS_ADDED if function in _ADDS else _SPARKS_UNITS


def _with_unit(cursor: Cursor) -> Expr:
    """``TIMESTAMPDIFF(DAY, a, b)``, ``DATEADD(DAY, 1, a)``, or an ordinary call."""
    name, unit = cursor.peek(0), cursor.peek(2)
    units = _units_taken(cursor, name.upper)
    if (
        name.upper in _NEEDS_UNIT
        and unit.kind in (TokenKind.WORD, TokenKind.STRING)
        and unit.upper not in units
        and cursor.peek(3).text == ","
    ):
        cursor.advance()
        cursor.advance()
        listed = SINGULAR_UNITS if cursor.mode == "flink" else units
        meant = unit.value.upper() if unit.kind is TokenKind.STRING else unit.upper
        bare = f"write {meant} without quotes" if meant in listed else _unit_meant(meant, listed, units)
        hint = bare or f"the units are {', '.join(listed)}"
        raise cursor.unexpected("a time unit", hint=hint)
    # A column may be called `day`: only a comma behind it makes it the unit.
    if unit.upper not in units or cursor.peek(3).text != ",":
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

"""Parse an EMIT clause as a whole: its output, its trigger, its options, and what may follow it."""

from __future__ import annotations

from typing import Any

from sqlext.dialect.cursor import Cursor
from sqlext.dialect.emit import aliases, checks, nodes, options, primaries, triggers
from sqlext.dialect.emit.reading import at_clause_end, found, refusal
from sqlext.dialect.keywords import SPARK_ONLY, at_emit
from sqlext.dialect.tokens import Token, TokenKind, did_you_mean_word
from sqlext.errors import SqlExtError
from sqlext.source import SourceText, Span

_EARLIER = ("GROUP", "ORDER", "HAVING", "WHERE", "QUALIFY", "FROM", "WINDOW")
_NOTHING = "a trigger, a mode or an option"


def parse_emit(cursor: Cursor) -> nodes.EmitClause:
    """Read an EMIT clause; the cursor stands at the word EMIT.

    Raises:
        SqlExtError: EMIT-001 to EMIT-028, and what sub-expressions raise.
    """
    if not at_emit(cursor):
        raise no_clause(cursor.source, cursor.token, cursor.peek())
    start = cursor.advance().start
    places: dict[str, Span] = {}
    output = _word(cursor, "output", places, "STREAM", "CHANGELOG")
    if output:
        _check_body(cursor, output)
    once = bool(_word(cursor, "once", places, "ONCE"))
    meaning = aliases.Meaning(triggers.parse_trigger(cursor)) if once else _body(cursor)
    fields = options.parse_options(cursor)
    clause = _clause(cursor.span_from(start), meaning, output or None, once, places, fields)
    # Before `checks`: a misspelled ALLOW LATENESS is told, not the lateness that is missing.
    _check_following(cursor)
    checks.check(clause)
    return clause


def _word(cursor: Cursor, field: str, places: dict[str, Span], *choices: str) -> str:
    token = cursor.token
    word = cursor.accept_any(*choices)
    if word:
        places[field] = cursor.source.span(token.start, token.end)
    return word


def _body(cursor: Cursor) -> aliases.Meaning:
    """Read what says when panes come out; nothing does if an option comes first, or CHANGELOG stands alone."""
    token = cursor.token
    if cursor.accept_words("CONTINUE"):
        return aliases.Meaning(nodes.ContinueTrigger(cursor.span_from(token.start)))
    if cursor.accept_words("DEFAULT"):
        return aliases.Meaning(nodes.DefaultTrigger(cursor.span_from(token.start)))
    # Before the aliases: FINAL PANE and ON TIME begin like FINAL and ON UPDATE.
    if options.at_option(cursor) or at_clause_end(cursor):
        return aliases.Meaning(nodes.DefaultTrigger(cursor.source.span(token.start, token.start)))
    return aliases.parse_alias(cursor) or aliases.Meaning(triggers.parse_trigger(cursor))


def _clause(
    span: Span,
    meaning: aliases.Meaning,
    output: str | None,
    once: bool,
    places: dict[str, Span],
    fields: dict[str, Any],
) -> nodes.EmitClause:
    """Put the clause together: what the alias says, and the options."""
    if meaning.evictor is not None:
        if "evictor" in fields:
            place = dict(fields["places"])["evictor"]
            raise SqlExtError("EMIT-019", "KEEP / EVICT is given twice", span=place)
        fields["evictor"] = meaning.evictor
        places["evictor"] = meaning.evictor.span
    if meaning.mode is not None:
        # A mode that was written wins over the alias's.
        fields.setdefault("mode", meaning.mode)
        places["mode"] = meaning.trigger.span
    places.update(fields.pop("places"))
    return nodes.EmitClause(span, meaning.trigger, output, once, places=tuple(places.items()), **fields)


def no_clause(source: SourceText, emit: Token, following: Token) -> SqlExtError:
    """Return EMIT-001: the word EMIT, with something behind it that begins no clause."""
    word = following.upper
    if word:
        message = f"EMIT cannot be followed by {word} (quote it as `emit` if it is a name)"
    else:
        message = f"EMIT must be followed by {_NOTHING} (or quote it as `emit` if it is an alias)"
    hint = did_you_mean_word(word, *_first_words(), "AFTER", "EVERY")
    if word in ("EARLY", "LATE"):
        hint = f"{word} stands behind AFTER WATERMARK: EMIT AFTER WATERMARK {word} EVERY 100 ROWS"
    return SqlExtError("EMIT-001", message, span=source.span(emit.start, emit.end), hint=hint)


def _first_words() -> tuple[str, ...]:
    return ("ONCE", "DEFAULT", "CONTINUE", *aliases.ALIAS_WORDS, *options.OPTION_WORDS)


def _check_body(cursor: Cursor, output: str) -> None:
    """Raise EMIT-001 at what cannot follow STREAM or CHANGELOG; CHANGELOG may stand alone."""
    word = cursor.token.upper
    if word in _first_words() or primaries.at_operand(cursor) or (output == "CHANGELOG" and at_clause_end(cursor)):
        return
    if word and not at_clause_end(cursor):
        hint = did_you_mean_word(word, *_first_words(), "AFTER", "EVERY")
        cursor.fail("EMIT-001", f"EMIT {output} cannot be followed by {word}", hint)
    cursor.fail("EMIT-001", f"EMIT {output} must be followed by {_NOTHING}")


def _check_following(cursor: Cursor) -> None:
    """Raise at a word that neither belongs to the clause nor may follow it."""
    word, following = cursor.token.upper, cursor.peek().upper
    if at_emit(cursor):
        cursor.fail("EMIT-024", "a SELECT has at most one EMIT clause")
    if word in _EARLIER and (word not in ("GROUP", "ORDER") or following == "BY"):
        what = f"{word} BY" if following == "BY" else word
        cursor.fail(
            "EMIT-023",
            f"{what} comes after EMIT; EMIT must be the last clause of its SELECT (only LIMIT may follow)",
        )
    if word == "SETTINGS":
        message = "SETTINGS is not part of this dialect; use OPTIONS (...) in EMIT or WITH (...) on the table"
        cursor.fail("EMIT-026", message)
    if cursor.token.kind in (TokenKind.SYMBOL, TokenKind.END) or at_clause_end(cursor) or word in SPARK_ONLY:
        return  # for the query to judge
    message = f"expected an option of EMIT or the end of the clause, found {found(cursor)}"
    raise refusal(cursor, message, (*options.OPTION_WORDS, "AND", "OR", "THEN", "UNTIL", "TIMEOUT", "PURGING", "LIMIT"))

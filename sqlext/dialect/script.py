"""Read scripts: split statements, parse one after the other.

Reading is lazy because a SET may change how the rest is read: after ``SET 'sqlext.expressions' = 'flink'``
a backslash in a string is a character like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from sqlext.dialect.ast.statements import ResetOption, SetOption, Statement
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.statements.choice import parse_statement
from sqlext.dialect.tokens import Token, tokenize
from sqlext.errors import SqlExtError
from sqlext.source import SourceText, Span

MODES = ("spark", "flink")
MODE_KEY = "sqlext.expressions"

# For splitting, 'a''b' may count as two strings. In Spark's r'..' a backslash does not escape,
# and the r begins the word: bar'x' is no raw string.
QUOTED = {
    "flink": r"""'[^']*'|"[^"]*"|`[^`]*`""",
    "spark": r"""(?<!\w)[rR](?:'[^']*'|"[^"]*")|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`""",
}
# Earlier alternatives win at a place, so a semicolon in quotes or in a comment is never seen as an end.
_SKIP = {
    mode: re.compile(rf"{quoted}|--[^\n]*|(?P<comment>/\*)|(?P<end>;)", re.DOTALL) for mode, quoted in QUOTED.items()
}
#: What cannot be missing from a statement set, and from a statement that changes how the rest is read.
_MAY_BE_A_SET = re.compile(r"\bSTATEMENT\b", re.IGNORECASE)
_MAY_SET_THE_MODE = re.compile(rf"{re.escape(MODE_KEY)}|\bRESET\b", re.IGNORECASE)
_COMMENT = re.compile(r"/\*|\*/")


def parse_script(
    source: SourceText,
    mode: str = "spark",
    *,
    unparsed: bool = False,
    on_error: Callable[[SqlExtError, Span], None] | None = None,
) -> Iterator[Statement]:
    """Yield the statements of a script, each parsed when it is asked for.

    Args:
        source: the script.
        mode: ``'spark'`` or ``'flink'``, until the script itself sets ``sqlext.expressions``.
        unparsed: as in ``parse_statement``.
        on_error: told what is wrong with a statement, and which it is; reading goes on behind it. Without it that
            is raised.
    """
    at = 0
    while at < len(source.text):
        start = at
        try:
            cursor, at = _next_statement(source, mode, start)
            if cursor.at_end:
                continue
            statement = parse_statement(cursor, unparsed=unparsed)
        except SqlExtError as error:
            if on_error is None:
                raise
            # A string that is never closed fails before `at` has moved: without this the loop would not end.
            at = max(at, _statement_end(source.text, start, mode)[0])
            on_error(error, source.span(start, at))
            continue
        yield statement
        mode = _mode_after(statement, mode)


def split_script(text: str, mode: str = "spark") -> Iterator[tuple[int, int]]:
    """Yield where each statement of a script begins and ends, its semicolon and the comments before it included.

    The ranges are those that ``parse_script`` reads; they are found without parsing, so that is quick.
    """
    source, at = SourceText.of(text), 0
    while at < len(text):
        start, end = at, _statement_end(text, at, mode)[0]
        if _MAY_BE_A_SET.search(text, start, end):
            # An unclosed string is found where the statement is parsed.
            with suppress(SqlExtError):
                end = _next_statement(source, mode, start)[1]
        yield start, end
        at = end
        if _MAY_SET_THE_MODE.search(text, start, end):
            for statement in parse_script(SourceText.of(text[start:end]), mode, on_error=lambda error, span: None):
                mode = _mode_after(statement, mode)


def statement_start(text: str, start: int, end: int, mode: str = "spark") -> int:
    """Return where a statement begins behind the blanks and comments at ``start``; ``end`` where there is none."""
    at = start
    while at < end:
        if text.startswith("--", at):
            at = end if (stop := text.find("\n", at, end)) < 0 else stop
        elif text.startswith("/*", at) and not text.startswith("/*+", at):
            at = min(end, comment_end(text, at + 2, nested=mode == "spark"))
        elif text[at].isspace():
            at += 1
        else:
            break
    return at


def is_complete(text: str, mode: str = "spark") -> bool:
    """Whether a text ends where a statement ends: not within one, a string, a comment or a statement set."""
    source, at = SourceText.of(text), 0
    while at < len(text):
        _, closed = _statement_end(text, at, mode)
        try:
            cursor, at = _next_statement(source, mode, at)
        except SqlExtError:
            return False  # a string, a quoted name or a comment is still open
        if _opens_statement_set(cursor):
            # The semicolons of a statement set close its INSERTs; only END closes the set.
            closed = _ends_statement_set(cursor.tokens)
        if not closed and not cursor.at_end:
            return False
    return True


def _next_statement(source: SourceText, mode: str, at: int) -> tuple[Cursor, int]:
    """Return a cursor over the next statement and where the one after it begins."""
    end, _ = _statement_end(source.text, at, mode)
    cursor = Cursor(source, tokenize(source, mode, at, end), mode)
    if _opens_statement_set(cursor):
        end = _statement_set_end(source, mode, end)
        cursor = Cursor(source, tokenize(source, mode, at, end), mode)
    while cursor.accept_symbol(";"):
        pass
    return cursor, end


def _statement_end(text: str, at: int, mode: str) -> tuple[int, bool]:
    """Return the offset after the next semicolon that is not in a string, a quoted name or a comment.

    Without one it is the end of the text, and False.
    """
    while match := _SKIP[mode].search(text, at):
        at = match.end()
        if match.lastgroup == "end":
            return at, True
        if match.lastgroup == "comment":
            # Spark nests bracketed comments (BRACKETED_COMMENT of SqlBaseLexer.g4), Flink does not.
            at = comment_end(text, at, nested=mode == "spark")
    return len(text), False


def comment_end(text: str, at: int, nested: bool) -> int:
    """Return the offset after a comment that began before ``at``."""
    depth = 1
    while depth and (match := _COMMENT.search(text, at)):
        at = match.end()
        depth += -1 if match.group() == "*/" else int(nested)
    return len(text) if depth else at


def _opens_statement_set(cursor: Cursor) -> bool:
    if not cursor.at_any("EXECUTE", "BEGIN", "STATEMENT", "EXPLAIN"):
        return False
    # Some tokens ahead, because EXPLAIN may have details before it.
    words = [cursor.peek(i).upper for i in range(12)]
    return ("STATEMENT", "SET") in pairwise(words)


def _statement_set_end(source: SourceText, mode: str, at: int) -> int:
    """Return the offset after the END of the statement set whose first INSERT ends at ``at``."""
    while at < len(source.text):
        # A statement set holds semicolons of its own; it ends with the statement END.
        start, (at, _) = at, _statement_end(source.text, at, mode)
        if Cursor(source, tokenize(source, mode, start, at), mode).at_words("END"):
            break
    return at


def _ends_statement_set(tokens: Sequence[Token]) -> bool:
    """Whether the last statement is END with its semicolon."""
    return [t.upper or t.text for t in tokens[-4:-1]] == [";", "END", ";"]


def _mode_after(statement: Statement, mode: str) -> str:
    """Return how the rest is read after a statement."""
    if isinstance(statement, SetOption) and statement.key == MODE_KEY and statement.value in MODES:
        return str(statement.value)
    if isinstance(statement, ResetOption) and statement.key in (None, MODE_KEY):
        return "spark"
    return mode

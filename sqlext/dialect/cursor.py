"""Walk tokens: the cursor that every parser takes, and the limits of nesting.

What is nested too deep is refused with a position (PARSE-003), never by a RecursionError.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from sqlext.dialect.ast.expressions import Node
from sqlext.dialect.tokens import Token, TokenKind, did_you_mean_word, tokenize, words
from sqlext.errors import SqlExtError
from sqlext.source import SourceText, Span

#: Levels of recursion in the parsers; a level costs up to five Python frames of the usual 1,000.
MAX_DEPTH = 130
#: Height of a tree that later stages may walk recursively.
MAX_HEIGHT = 250
#: From this depth or length on the height of the finished tree is checked.
STRAIN = 40

# Shorter chains keep the tree that was written; only longer ones are worth a balanced tree.
_CHAIN = 16
_HINT = "split it: move parts into views or CTEs, or write long OR chains as IN lists"

_OPERANDS = (TokenKind.WORD, TokenKind.QUOTED, TokenKind.STRING, TokenKind.NUMBER)
_BEGINS_STATEMENT = frozenset(
    words("SELECT INSERT CREATE DROP ALTER SET RESET SHOW DESCRIBE EXPLAIN EXECUTE BEGIN USE")
)
#: What is expected, if it is a keyword.
_ONE_WORD = re.compile("[A-Z]+")
#: How long, and what of: an INTERVAL without that word.
_LENGTH = re.compile(r"\d+(\.\d+)?")
_UNITS_OF_TIME = frozenset(words("SECOND MINUTE HOUR DAY WEEK MONTH YEAR"))
#: What people write where another separator belongs.
_SEPARATORS = frozenset(",;=:")
_BEGINS_CLAUSE = frozenset(words("FROM WHERE GROUP HAVING ORDER LIMIT UNION INTERSECT EXCEPT EMIT"))

T = TypeVar("T")


class Cursor:
    """Walks a list of tokens; every ``parse_...`` function of this package takes one.

    ``accept_...`` methods move on and return True only if they match, ``expect_...`` methods raise.
    """

    def __init__(self, source: SourceText, tokens: Sequence[Token], mode: str = "spark") -> None:
        self.source = source
        self.tokens = tokens
        self.mode = mode
        self.index = 0
        self.depth = 0
        self.strained = False  # something was nested or chained so long that the tree's height must be checked
        self.declares = False  # a type that comes next is one of a table's column
        self.reserves = True  # Flink's reserved words are no names, under its expressions
        self.parameters: frozenset[str] = frozenset()  # those of the lambdas around, in lower case

    @classmethod
    def over(cls, span: Span, mode: str = "spark") -> Cursor:
        """Return a cursor over the text of a span; offsets stay those of its source."""
        return cls(span.source, tokenize(span.source, mode, span.start, span.end), mode)

    @property
    def token(self) -> Token:
        """The token in front of the cursor."""
        return self.tokens[self.index]

    def peek(self, ahead: int = 1) -> Token:
        """Return the token ``ahead`` places further on (the END token past the end)."""
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)]

    @property
    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.token.kind is TokenKind.END

    @property
    def at_statement_end(self) -> bool:
        """Whether nothing is left of this statement."""
        token = self.token
        return token.kind is TokenKind.END or (token.kind is TokenKind.SYMBOL and token.text == ";")

    def advance(self) -> Token:
        """Return the token in front and move past it."""
        token = self.token
        if token.kind is not TokenKind.END:
            self.index += 1
        return token

    def at_words(self, *words: str) -> bool:
        """Whether the next tokens are these unquoted words (given in upper case)."""
        if self.token.upper != words[0]:
            return False
        return all(self.peek(i).upper == w for i, w in enumerate(words) if i)

    def at_any(self, *words: str) -> bool:
        """Whether the next token is one of these unquoted words."""
        return self.token.upper in words

    def at_symbol(self, *symbols: str) -> bool:
        """Whether the next token is one of these symbols."""
        return self.token.kind is TokenKind.SYMBOL and self.token.text in symbols

    def accept_words(self, *words: str) -> bool:
        """Move past these words if they come next, all of them."""
        if not self.at_words(*words):
            return False
        self.index += len(words)
        return True

    def accept_any(self, *words: str) -> str:
        """Move past one of these words; return it in upper case, or an empty string."""
        return self.advance().upper if self.at_any(*words) else ""

    def accept_symbol(self, symbol: str) -> bool:
        """Move past this symbol if it comes next."""
        if not self.at_symbol(symbol):
            return False
        self.index += 1
        return True

    def expect_words(self, *words: str) -> Token:
        """Move past these words and return the first of them; PARSE-002 otherwise."""
        first = self.token
        for word in words:
            if not self.accept_words(word):
                raise self.unexpected(word, hint=did_you_mean_word(self.token.upper, word))
        return first

    def expect_symbol(self, symbol: str) -> Token:
        """Move past this symbol and return it; PARSE-002 otherwise."""
        token = self.token
        if not self.accept_symbol(symbol):
            raise self.unexpected(symbol)
        return token

    def expect_identifier(self, what: str = "a name") -> Token:
        """Move past a word or quoted name and return it; PARSE-002 otherwise."""
        if self.token.kind not in (TokenKind.WORD, TokenKind.QUOTED):
            raise self.unexpected(what)
        return self.advance()

    def expect_string(self, what: str = "a string") -> Token:
        """Move past a string literal and return it; PARSE-002 otherwise."""
        if self.token.kind is not TokenKind.STRING:
            raise self.unexpected(what)
        return self.advance()

    def span_from(self, start: int) -> Span:
        """Return the span from an offset to the end of the token last passed."""
        # If nothing was read since `start`, the last token ends before it: the span is empty then.
        end = self.tokens[self.index - 1].end if self.index else start
        return self.source.span(start, max(start, end))

    def unexpected(self, expected: str, hint: str | None = None) -> SqlExtError:
        """Return PARSE-002: something else stands where ``expected`` should."""
        token = self.token
        found = "the end of the statement" if self.at_end or token.text == ";" else f"`{token.text}`"
        span = self.source.span(token.start, token.end)
        if hint is None:
            hint = self._missing(expected)
        return SqlExtError("PARSE-002", f"expected {expected}, found {found}", span=span, hint=hint)

    @property
    def begins_statement(self) -> bool:
        """Whether the token in front is a word that begins statements."""
        return self.token.upper in _BEGINS_STATEMENT

    def _missing(self, expected: str) -> str:
        """Return what may be missing before the token in front, by what stands there."""
        token = self.token
        if self.at_end or token.text == ";":
            return "something is missing before this"
        ended = expected.startswith("the end of")
        if ended and self.begins_statement:
            return "end the statement before this with `;`"
        if expected == ")" and token.upper in _BEGINS_CLAUSE:
            return "a `)` is missing before this"
        before = self.tokens[self.index - 1] if self.index else token
        length = before.text.strip("'") if before.kind in (TokenKind.NUMBER, TokenKind.STRING) else ""
        if _LENGTH.fullmatch(length) and token.upper.removesuffix("S") in _UNITS_OF_TIME:
            return f"write INTERVAL '{length}' {token.upper.removesuffix('S')}"
        # Two operands in a row: nothing else can stand between them.
        if (ended or expected == ")") and token.kind in _OPERANDS and before.kind in _OPERANDS:
            return "is a comma or an operator missing before this?"
        # A name behind an operand, and arguments: it would be an alias without its comma.
        behind = self.tokens[max(0, self.index - 2)]
        called = ended and token.text == "(" and before.kind is TokenKind.WORD
        if called and (behind.kind in _OPERANDS or behind.text == ")"):
            return f"is a comma missing before `{before.text}`?"
        if before.text == "," and token.text == ")":
            return "remove the comma before this"
        if _ONE_WORD.fullmatch(expected) or expected in ("=", "(", ","):
            return (
                f"write {expected} in its place" if token.text in _SEPARATORS else f"{expected} is missing before this"
            )
        return "look at this word and at the one before it"

    def fail(self, code: str, message: str, hint: str | None = None) -> NoReturn:
        """Raise an error at the token in front."""
        span = self.source.span(self.token.start, self.token.end)
        raise SqlExtError(code, message, span=span, hint=hint)


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
    # Level by level: recursion would fail on the very trees that are to be refused.
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

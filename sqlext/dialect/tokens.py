"""Tokens with exact source offsets, and the cursor that every parser here walks them with.

sqlglot's tokenizer does the lexing, set up so that every word stays a plain word: our clauses are
recognised by the parsers, and nothing is reserved that the user did not reserve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NoReturn

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokens import Tokenizer, TokenType

from sqlext.errors import SqlExtError
from sqlext.source import SourceText, Span


class Kind(Enum):
    """What a token is."""

    WORD = "word"  # unquoted identifier or keyword
    QUOTED = "quoted identifier"  # `...`
    STRING = "string"  # '...', "...", U&'...', X'...'
    NUMBER = "number"
    SYMBOL = "symbol"  # operators and punctuation
    HINT = "hint"  # /*+ ... */, value is the text between
    END = "end of statement"


@dataclass(frozen=True, slots=True)
class Token:
    """A token; ``text`` is as written, ``value`` is unquoted (words keep their case)."""

    kind: Kind
    text: str
    value: str
    start: int
    end: int

    @property
    def upper(self) -> str:
        """The word in upper case, empty for anything but an unquoted word."""
        return self.text.upper() if self.kind is Kind.WORD else ""


class _FlinkTokenizer(Tokenizer):
    """Standard SQL strings: a backslash is a character like any other (Calcite's Lex.JAVA)."""

    QUOTES: ClassVar = ["'", '"']
    IDENTIFIERS: ClassVar = ["`"]
    IDENTIFIER_ESCAPES: ClassVar = ["`"]
    STRING_ESCAPES: ClassVar = ["'"]
    UNICODE_STRINGS: ClassVar = [("U&'", "'"), ("u&'", "'")]
    HEX_STRINGS: ClassVar = [("x'", "'"), ("X'", "'")]
    COMMENTS: ClassVar = ["--", ("/*", "*/")]
    NESTED_COMMENTS = False
    VAR_SINGLE_TOKENS: ClassVar = {"$"}
    NUMERIC_LITERALS: ClassVar = {}
    KEYWORDS: ClassVar = {
        "||": TokenType.DPIPE,
        "<=": TokenType.LTE,
        ">=": TokenType.GTE,
        "<>": TokenType.NEQ,
        "!=": TokenType.NEQ,
        "==": TokenType.EQ,
        "<=>": TokenType.NULLSAFE_EQ,
        "=>": TokenType.FARROW,
        "->": TokenType.ARROW,
        "::": TokenType.DCOLON,
    }


class _SparkTokenizer(_FlinkTokenizer):
    """Spark's strings: a backslash escapes, and r'...' is raw."""

    STRING_ESCAPES: ClassVar = ["'", "\\"]
    RAW_STRINGS: ClassVar = [("r'", "'"), ("R'", "'")]
    STRING_ESCAPES_ALLOWED_IN_RAW_STRINGS = False
    NESTED_COMMENTS = True


class _FlinkDialect(Dialect):
    Tokenizer = _FlinkTokenizer


class _SparkDialect(Dialect):
    Tokenizer = _SparkTokenizer


_STRINGS = {
    TokenType.STRING,
    TokenType.RAW_STRING,
    TokenType.UNICODE_STRING,
    TokenType.HEX_STRING,
    TokenType.NATIONAL_STRING,
    TokenType.HEREDOC_STRING,
    TokenType.BYTE_STRING,
    TokenType.BIT_STRING,
}

_DIALECTS = {"flink": _FlinkDialect(), "spark": _SparkDialect()}


def tokenize(source: SourceText, mode: str = "spark") -> list[Token]:
    """Return the tokens of a whole source, with a final END token.

    Args:
        source: the text; offsets are into ``source.text``.
        mode: ``'spark'`` (a backslash escapes in strings) or ``'flink'`` (it does not).

    Raises:
        SqlExtError: PARSE-001 for an unterminated string, quoted name or comment.
    """
    text = source.text
    try:
        raw = _DIALECTS[mode].tokenize(text)
    except TokenError:
        raise _unterminated(source, mode) from None
    tokens: list[Token] = []
    position = 0
    for t in raw:
        tokens += _hints(text, position, t.start)
        position = t.end + 1
        tokens.append(Token(_kind(t.token_type), text[t.start : position], t.text, t.start, position))
    tokens += _hints(text, position, len(text))
    tokens.append(Token(Kind.END, "", "", len(text), len(text)))
    return tokens


def _kind(token_type: TokenType) -> Kind:
    if token_type is TokenType.VAR:
        return Kind.WORD
    if token_type is TokenType.IDENTIFIER:
        return Kind.QUOTED
    if token_type is TokenType.NUMBER:
        return Kind.NUMBER
    return Kind.STRING if token_type in _STRINGS else Kind.SYMBOL


def _hints(text: str, start: int, end: int) -> list[Token]:
    """Return the ``/*+ ... */`` between two tokens: sqlglot takes them for comments."""
    found: list[Token] = []
    at = start
    while "/*+" in text[at:end]:
        if text.startswith("--", at):
            line_end = text.find("\n", at, end)
            at = end if line_end < 0 else line_end
        elif text.startswith("/*", at):
            close = text.index("*/", at) + 2
            if text.startswith("/*+", at):
                found.append(Token(Kind.HINT, text[at:close], text[at + 3 : close - 2], at, close))
            at = close
        else:
            at += 1
    return found


def _unterminated(source: SourceText, mode: str) -> SqlExtError:
    """Return the error for what sqlglot could not end, at the place where it begins."""
    text, at = source.text, 0
    while at < len(text):
        opener, close, what = _opener(text, at)
        if not opener:
            at += 1
            continue
        end = _find_close(text, at + len(opener), close, mode)
        if end < 0 and close != "\n":
            return SqlExtError(
                "PARSE-001",
                f"this {what} is never closed",
                span=source.span(at, len(text)),
                hint=f"close it with {close}",
            )
        at = len(text) if end < 0 else end + len(close)
    return SqlExtError("PARSE-001", "this text cannot be read", span=source.span(0, len(text)))


def _opener(text: str, at: int) -> tuple[str, str, str]:
    for opener, close, what in (
        ("--", "\n", "comment"),
        ("/*", "*/", "comment"),
        ("'", "'", "string"),
        ('"', '"', "string"),
        ("`", "`", "quoted name"),
    ):
        if text.startswith(opener, at):
            return opener, close, what
    return "", "", ""


def _find_close(text: str, at: int, close: str, mode: str) -> int:
    while at < len(text):
        if mode == "spark" and close in "'\"" and text[at] == "\\":
            at += 2
        elif text.startswith(close, at):
            if close in "'\"`" and text.startswith(close * 2, at):
                at += 2
                continue
            return at
        else:
            at += 1
    return -1


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
        return self.token.kind is Kind.END

    def advance(self) -> Token:
        """Return the token in front and move past it."""
        token = self.token
        if token.kind is not Kind.END:
            self.index += 1
        return token

    def at_words(self, *words: str) -> bool:
        """Whether the next tokens are these unquoted words (given in upper case)."""
        return all(self.peek(i).upper == w for i, w in enumerate(words))

    def at_any(self, *words: str) -> bool:
        """Whether the next token is one of these unquoted words."""
        return self.token.upper in words and self.token.kind is Kind.WORD

    def at_symbol(self, *symbols: str) -> bool:
        """Whether the next token is one of these symbols."""
        return self.token.kind is Kind.SYMBOL and self.token.text in symbols

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
                raise self.unexpected(word)
        return first

    def expect_symbol(self, symbol: str) -> Token:
        """Move past this symbol and return it; PARSE-002 otherwise."""
        token = self.token
        if not self.accept_symbol(symbol):
            raise self.unexpected(symbol)
        return token

    def expect_identifier(self, what: str = "a name") -> Token:
        """Move past a word or quoted name and return it; PARSE-002 otherwise."""
        if self.token.kind not in (Kind.WORD, Kind.QUOTED):
            raise self.unexpected(what)
        return self.advance()

    def expect_string(self, what: str = "a string") -> Token:
        """Move past a string literal and return it; PARSE-002 otherwise."""
        if self.token.kind is not Kind.STRING:
            raise self.unexpected(what)
        return self.advance()

    def span_from(self, start: int) -> Span:
        """Return the span from an offset to the end of the token last passed."""
        end = self.tokens[self.index - 1].end if self.index else start
        return self.source.span(start, max(start, end))

    def unexpected(self, expected: str, hint: str | None = None) -> SqlExtError:
        """Return PARSE-002: something else stands where ``expected`` should."""
        token = self.token
        found = "the end of the statement" if self.at_end or token.text == ";" else f"`{token.text}`"
        span = self.source.span(token.start, token.end)
        return SqlExtError("PARSE-002", f"expected {expected}, found {found}", span=span, hint=hint)

    def fail(self, code: str, message: str, hint: str | None = None) -> NoReturn:
        """Raise an error at the token in front."""
        span = self.source.span(self.token.start, self.token.end)
        raise SqlExtError(code, message, span=span, hint=hint)

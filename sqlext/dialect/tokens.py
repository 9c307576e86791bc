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
from sqlglot.tokenizer_core import Token as RawToken
from sqlglot.tokenizer_core import TokenType
from sqlglot.tokens import Tokenizer

from sqlext.dialect.strings import unquote
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.source import SourceText, Span


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text: word lists are easier to read without quotes and commas."""
    return tuple(text.split())


class Kind(Enum):
    """What a token is."""

    WORD = "word"  # unquoted identifier or keyword
    QUOTED = "quoted identifier"  # `...`
    STRING = "string"  # '...', "...", U&'...', r'...'
    NUMBER = "number"
    SYMBOL = "symbol"  # operators and punctuation
    HINT = "hint"  # /*+ ... */, value is the text between
    END = "end of statement"


@dataclass(frozen=True, slots=True)
class Token:
    """A token; ``text`` is as written, ``value`` is unquoted (words keep their case).

    ``upper`` is the word in upper case, empty for anything but an unquoted word.
    """

    kind: Kind
    text: str
    value: str
    start: int
    end: int
    upper: str = ""


class _FlinkTokenizer(Tokenizer):
    """Standard SQL strings: a backslash is a character like any other (Calcite's Lex.JAVA)."""

    QUOTES: ClassVar = ["'", '"']
    IDENTIFIERS: ClassVar = ["`"]
    IDENTIFIER_ESCAPES: ClassVar = ["`"]
    STRING_ESCAPES: ClassVar = ["'"]
    UNICODE_STRINGS: ClassVar = [("U&'", "'"), ("u&'", "'")]
    HEX_STRINGS: ClassVar = []  # X'1F' is a word and a string: sqlglot refuses a bad one without a position
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


def tokenize(source: SourceText, mode: str = "spark", start: int = 0, end: int | None = None) -> list[Token]:
    """Return the tokens of a source, or of its characters [start, end), with a final END token.

    Args:
        source: the text; offsets are into ``source.text``.
        mode: ``'spark'`` (a backslash escapes in strings) or ``'flink'`` (it does not).
        start, end: the part to read.

    Raises:
        SqlExtError: PARSE-001 for an unterminated string, quoted name or comment.
    """
    end = len(source.text) if end is None else end
    text = source.text[start:end]
    try:
        raw = _DIALECTS[mode].tokenize(text)
    except TokenError:
        raise _unterminated(source, mode, start, end) from None
    tokens: list[Token] = []
    position = 0
    for t in raw:
        if "/*+" in text[position : t.start]:
            tokens += _hints(text, position, t.start, start)
        position = t.end + 1
        tokens.append(_token(t, text[t.start : position], start, mode))
        if len(tokens) > 1 and tokens[-1].text[0] == '"':
            _join_doubled(tokens)
    tokens += _hints(text, position, len(text), start)
    tokens.append(Token(Kind.END, "", "", end, end))
    return tokens


def _token(raw: RawToken, text: str, shift: int, mode: str) -> Token:
    kind = _kind(raw.token_type)
    begin, stop = raw.start + shift, raw.end + 1 + shift
    if kind is Kind.WORD:
        return Token(kind, text, text, begin, stop, text.upper())
    value = unquote(text, mode) if kind is Kind.STRING else raw.text
    return Token(kind, text, value, begin, stop)


def _join_doubled(tokens: list[Token]) -> None:
    """Make one token of ``"a""b"``, which sqlglot reads as two strings."""
    left, right = tokens[-2:]
    if left.end == right.start and left.text[0] == '"' and left.text[-1] == '"':
        text, value = left.text + right.text, f'{left.value}"{right.value}'
        tokens[-2:] = [Token(Kind.STRING, text, value, left.start, right.end)]


def _kind(token_type: TokenType) -> Kind:
    if token_type is TokenType.VAR:
        return Kind.WORD
    if token_type is TokenType.IDENTIFIER:
        return Kind.QUOTED
    if token_type is TokenType.NUMBER:
        return Kind.NUMBER
    return Kind.STRING if token_type in _STRINGS else Kind.SYMBOL


def _hints(text: str, start: int, end: int, shift: int) -> list[Token]:
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
                hint = text[at:close]
                found.append(Token(Kind.HINT, hint, hint[3:-2], at + shift, close + shift))
            at = close
        else:
            at += 1
    return found


def _unterminated(source: SourceText, mode: str, start: int, stop: int) -> SqlExtError:
    """Return the error for what sqlglot could not end, at the place where it begins."""
    text, at = source.text[:stop], start
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
    return SqlExtError("PARSE-001", "this text cannot be read", span=source.span(start, stop))


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


def did_you_mean_word(written: str, *words: str) -> str | None:
    """Return a hint if an unquoted word is nearly one of these keywords, not if it is none of them."""
    hint = did_you_mean(written, words) if len(written) > 2 and written not in words else None
    return hint.replace("`", "") if hint else None


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
        return self.token.kind is Kind.END

    @property
    def at_statement_end(self) -> bool:
        """Whether nothing is left of this statement."""
        token = self.token
        return token.kind is Kind.END or (token.kind is Kind.SYMBOL and token.text == ";")

    def advance(self) -> Token:
        """Return the token in front and move past it."""
        token = self.token
        if token.kind is not Kind.END:
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

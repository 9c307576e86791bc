"""Split a text into tokens with exact source offsets.

sqlglot's tokenizer does the lexing. It is set up so that every word stays a plain word: the parsers recognise the
clauses, and a word is a keyword only where the grammar wants one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token as RawToken
from sqlglot.tokenizer_core import TokenType
from sqlglot.tokens import Tokenizer

from sqlext.errors import SqlExtError, did_you_mean
from sqlext.source import SourceText


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text: word lists are easier to read without quotes and commas."""
    return tuple(text.split())


class TokenKind(Enum):
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

    kind: TokenKind
    text: str
    value: str
    start: int
    end: int
    upper: str = ""


class _FlinkTokenizer(Tokenizer):
    """Standard SQL strings: a backslash is a character like any other (Calcite's Lex.JAVA)."""

    # Calcite's Lex.JAVA knows no "..": it is read all the same, so that PARSE-011 can name it.
    QUOTES: ClassVar = ["'", '"']
    IDENTIFIERS: ClassVar = ["`"]
    IDENTIFIER_ESCAPES: ClassVar = ["`"]
    STRING_ESCAPES: ClassVar = ["'"]
    UNICODE_STRINGS: ClassVar = [("U&'", "'"), ("u&'", "'")]
    HEX_STRINGS: ClassVar = []  # X'1F' is a word and a string: sqlglot refuses a bad one without a position
    COMMENTS: ClassVar = ["--", ("/*", "*/")]
    NESTED_COMMENTS = False
    # A name may hold $ (LETTER of Calcite's lexer), and PATTERN has it alone.
    VAR_SINGLE_TOKENS: ClassVar = {"$"}
    # Of a suffix sqlglot would make a cast: 5L would be three tokens.
    NUMERIC_LITERALS: ClassVar = {}
    # Symbols alone, so that every word stays a word. `>>` is missing because nested types end in it.
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
    # As in SqlBaseLexer.g4: r'..' ends at the next quote, whatever stands before it.
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
        # sqlglot's error has no offset, so the place is looked for again.
        raise _unterminated(source, mode, start, end) from None
    tokens: list[Token] = []
    position = 0
    for t in raw:
        # Hints are rare, so most gaps between tokens are never walked through.
        if "/*+" in text[position : t.start]:
            tokens += _hints(text, position, t.start, start)
        position = t.end + 1
        tokens.append(_token(t, text[t.start : position], start, mode))
        if len(tokens) > 1 and tokens[-1].text[0] == '"':
            _join_doubled(tokens)
    tokens += _hints(text, position, len(text), start)
    tokens.append(Token(TokenKind.END, "", "", end, end))
    return tokens


def _token(raw: RawToken, text: str, shift: int, mode: str) -> Token:
    kind = _kind(raw.token_type)
    # sqlglot's `end` is the last character, ours is the one behind it.
    begin, stop = raw.start + shift, raw.end + 1 + shift
    if kind is TokenKind.WORD:
        return Token(kind, text, text, begin, stop, text.upper())
    value = unquote(text, mode) if kind is TokenKind.STRING else raw.text
    return Token(kind, text, value, begin, stop)


def _join_doubled(tokens: list[Token]) -> None:
    """Make one token of ``"a""b"``, which sqlglot reads as two strings."""
    left, right = tokens[-2:]
    if left.end == right.start and left.text[0] == '"' and left.text[-1] == '"':
        text, value = left.text + right.text, f'{left.value}"{right.value}'
        tokens[-2:] = [Token(TokenKind.STRING, text, value, left.start, right.end)]


def _kind(token_type: TokenType) -> TokenKind:
    if token_type is TokenType.VAR:
        return TokenKind.WORD
    if token_type is TokenType.IDENTIFIER:
        return TokenKind.QUOTED
    if token_type is TokenType.NUMBER:
        return TokenKind.NUMBER
    return TokenKind.STRING if token_type in _STRINGS else TokenKind.SYMBOL


def _hints(text: str, start: int, end: int, shift: int) -> list[Token]:
    """Return the ``/*+ ... */`` between two tokens: sqlglot takes them for comments."""
    found: list[Token] = []
    at = start
    while "/*+" in text[at:end]:
        # A line comment may hold /*+, which is no hint then.
        if text.startswith("--", at):
            line_end = text.find("\n", at, end)
            at = end if line_end < 0 else line_end
        elif text.startswith("/*", at):
            close = text.index("*/", at) + 2
            if text.startswith("/*+", at):
                hint = text[at:close]
                found.append(Token(TokenKind.HINT, hint, hint[3:-2], at + shift, close + shift))
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
    # Words of one or two letters are close to too many keywords.
    hint = did_you_mean(written, words) if len(written) > 2 and written not in words else None
    return hint.replace("`", "") if hint else None


_PREFIX = re.compile(r"([uU]&|[rRnN])?(['\"])")
#: An escape of ``U&'...'`` behind its character: the character itself, four digits, or + and six of a code point.
_UNICODE = r"({escape}|([0-9a-fA-F]{{4}})|\+((?:0[0-9a-fA-F]|10)[0-9a-fA-F]{{4}}))"
# As Spark's unescapeSQLString reads them.
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)
_SINGLE = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


def unquote(text: str, mode: str) -> str:
    """Return the value of a string literal as written, prefix and quotes included.

    In mode ``'spark'`` a backslash escapes as in Spark's parser; in ``'flink'`` only the doubled quote does.
    """
    match = _PREFIX.match(text)
    if match is None:
        return text
    prefix, quote = (match.group(1) or "").upper(), match.group(2)
    inner = text[match.end() : -1]
    if prefix == "R":
        return inner
    if prefix == "U&":
        return unescaped(inner.replace(quote * 2, quote))
    if mode == "flink" or "\\" not in inner:
        return inner.replace(quote * 2, quote)
    # Doubled quotes and escapes are read in one pass: the quote of \' does not pair with the next.
    pattern = re.compile(_ESCAPE.pattern + f"|({quote}{quote})", re.DOTALL)
    return pattern.sub(lambda m: quote if m.group(5) else _spark_escape(m), inner)


def unescaped(text: str, escape: str = "\\") -> str:
    """Return what stands in ``U&'...'`` with its escapes read; a wrong one stays as it was written."""
    mark = re.escape(escape)
    escapes = re.compile(mark + _UNICODE.format(escape=mark))
    return escapes.sub(lambda m: chr(int(digits, 16)) if (digits := m.group(2) or m.group(3)) else escape, text)


def wrong_escape(text: str, escape: str) -> int | None:
    """Return where in ``U&'...'`` an escape begins that is none, or None."""
    mark = re.escape(escape)
    found = re.search(f"^(?:[^{mark}]|{mark}{_UNICODE.format(escape=mark)})*", text, re.DOTALL)
    end = found.end() if found else 0
    return end if end < len(text) else None


def _spark_escape(match: re.Match[str]) -> str:
    """Return what Spark makes of one escape; ``\\%`` and ``\\_`` stay, for LIKE."""
    short, long, octal, single = match.group(1, 2, 3, 4)
    if octal:
        return chr(int(octal, 8))
    if short or long:
        code = int(short or long, 16)
        return chr(code) if code < 0x110000 else match.group(0)
    if single in "%_":
        return match.group(0)
    return _SINGLE.get(single, single)

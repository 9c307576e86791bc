"""What a string literal stands for: quotes and escapes removed."""

from __future__ import annotations

import re

_PREFIX = re.compile(r"([uU]&|[rRnN])?(['\"])")
_UNICODE = re.compile(r"\\(?:\\|([0-9a-fA-F]{4})|\+([0-9a-fA-F]{6}))")
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
        return _UNICODE.sub(_code_point, inner.replace(quote * 2, quote))
    if mode == "flink" or "\\" not in inner:
        return inner.replace(quote * 2, quote)
    # Doubled quotes and escapes are read in one pass: the quote of \' does not pair with the next.
    pattern = re.compile(_ESCAPE.pattern + f"|({quote}{quote})", re.DOTALL)
    return pattern.sub(lambda m: quote if m.group(5) else _spark_escape(m), inner)


def _code_point(match: re.Match[str]) -> str:
    digits = match.group(1) or match.group(2)
    if not digits:
        return "\\"
    return chr(int(digits, 16)) if int(digits, 16) < 0x110000 else match.group(0)


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

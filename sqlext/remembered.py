"""Find secrets by their value: as it is, and as URLs, JSON, SQL, HTML and base64 write it."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from urllib.parse import quote, quote_plus

Range = tuple[int, int]
#: Shorter secrets are not looked for by their value: they would be found in words.
SHORTEST = 4
#: From this length on a secret is looked for within words, and within base64.
_TELLING = 8
#: A word or a number: within longer words it says nothing.
_WORD = re.compile(r"[^\W\d]+|\d+")
#: A text in which something is written as in a URL, perhaps several times over.
_PERCENT = re.compile(r"[^\s\"'<>%]*(?:%[0-9A-Fa-f]{2}[^\s\"'<>%]*)+")
_ESCAPE = re.compile(r"%(?:25)*([0-9A-Fa-f]{2})", re.IGNORECASE)
_BASE64 = re.compile(r"[\w+/=-]*")
_remembered: set[str] = set()


def remember(secret: str) -> None:
    """Look for a secret from now on in whatever is shown; one of less than four characters is left out.

    Of a text of several lines, such as a private key, each long line is one as well.
    """
    lines = (line for line in secret.splitlines() if len(line) >= 2 * _TELLING and not line.startswith("-----"))
    found = {s for s in (secret, secret.strip(), *lines) if len(s.strip()) >= SHORTEST} - _remembered
    if found:
        _remembered.update(found)
        _written.cache_clear()


def value_ranges(text: str) -> Iterator[Range]:
    """Yield where secrets that were remembered stand in a text: half-open ranges, in any order."""
    if not _remembered:
        return
    pattern, coded = _written()
    yield from (m.span() for m in pattern.finditer(text))
    if coded is not None:
        yield from (_around(text, *m.span()) for m in coded.finditer(text))
    if "%" in text:
        for token in _PERCENT.finditer(text):
            plain, places = _unquoted(text, *token.span())
            yield from ((places[m.start()], places[m.end()]) for m in pattern.finditer(plain))


@cache
def _written() -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    """Return what finds secrets as texts write them, and what finds them in base64."""
    words = {form for s in _remembered if _is_word(s) for form in _forms(s)}
    others = {form for s in _remembered if not _is_word(s) for form in _forms(s)}
    coded = {core for s in _remembered if len(s) >= _TELLING for core in _cores(s.encode())}
    found = [rf"(?<!\w)(?:{_any(words)})(?!\w)"] if words else []
    pattern = re.compile("|".join([_any(others), *found] if others else found))
    return pattern, re.compile(_any(coded)) if coded else None


def _is_word(secret: str) -> bool:
    return len(secret) < _TELLING or _WORD.fullmatch(secret) is not None


def _any(texts: set[str]) -> str:
    return "|".join(map(re.escape, sorted(texts, key=lambda t: (-len(t), t))))


def _forms(secret: str) -> set[str]:
    escaped = json.dumps(secret)[1:-1]
    in_html = html.escape(secret)
    return {
        *(secret, escaped, json.dumps(secret, ensure_ascii=False)[1:-1], escaped.replace("/", "\\/")),
        *(quote(secret, safe=""), quote_plus(secret)),
        *(secret.replace("'", "''"), secret.replace('"', '""'), repr(secret)[1:-1], secret.replace("'", "\\'")),
        *(in_html, html.escape(secret, quote=False), in_html.replace("&#x27;", "&#39;")),
        # As a URL within the percent signs of another one: those of texts that are unquoted once.
        secret.encode().decode("latin-1"),
    }


def _cores(secret: bytes) -> Iterator[str]:
    """Yield what base64 writes of a secret wherever it begins in what is written: behind 0, 1 or 2 bytes of three."""
    for before in range(3):
        whole = b64encode(b"\0" * before + secret).decode().rstrip("=")
        # Characters that hold bits of what stands before and behind are not the secret's own.
        first, last = -(-before * 8 // 6), (before + len(secret)) * 8 // 6
        core = whole[first:last]
        yield from (core, core.replace("+", "-").replace("/", "_"))


def _around(text: str, start: int, end: int) -> Range:
    """Return the whole of a text in base64: the rest of it tells the secret's ends."""
    begin = start
    while begin > 0 and _is_base64(text[begin - 1]):
        begin -= 1
    match = _BASE64.match(text, end)
    return begin, match.end() if match is not None else end


def _is_base64(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character in "+/_-")


def _unquoted(text: str, start: int, end: int) -> tuple[str, list[int]]:
    """Return a part of a text without percent signs, and where each of its characters and its end stand."""
    parts, places, at = [], [], start
    for escape in _ESCAPE.finditer(text, start, end):
        parts += [text[at : escape.start()], chr(int(escape[1], 16))]
        places += [*range(at, escape.start()), escape.start()]
        at = escape.end()
    parts.append(text[at:end])
    return "".join(parts), [*places, *range(at, end + 1)]

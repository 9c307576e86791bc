"""Scan a line of JSON as Jackson does, which Spark's reader asks: for lines that Python's parser does not take.

Jackson is set to take more than JSON has: quotes of one stroke, numbers that are none (``NaN``, ``+INF``), any depth.
What it keeps, and Python's parser does not, is the text of an object or array: a STRING holds that text.
"""

from __future__ import annotations

import codecs
import re
from typing import Any

#: What may stand between tokens.
BLANKS = " \t\r\n"

_BLANK = re.compile(r"[ \t\r\n]*")
_WORDS = {"true": True, "false": False, "null": None}
_WORD = re.compile("|".join(_WORDS))
_NUMBER = re.compile(
    r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|NaN|[+-]?Infinity|[+-]INF",
)
_STRINGS = {
    quote: re.compile(rf"{quote}([^{quote}\\\x00-\x1f]*(?:\\[^\x00-\x1f][^{quote}\\\x00-\x1f]*)*){quote}")
    for quote in "\"'"
}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", **{c: c for c in "\"'/\\"}}
_SURROGATE = re.compile("[\ud800-\udfff]")
#: Bytes that are no UTF-8, as ``surrogateescape`` keeps them.
_NO_UTF8 = re.compile("[\udc80-\udcff]")
#: A file that begins so has another encoding; by its first bytes, as Jackson tells it.
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class WrittenNumber(str):
    """A number as it stands in the text: a float would round long integers, and a STRING shows it as it is."""

    __slots__ = ()


class WrittenObject(dict[str, Any]):
    """An object, and its text."""

    text = ""


class WrittenArray(list[Any]):
    """An array, and its text."""

    text = ""


def decoded(line: bytes) -> str:
    """Return a line as text; bytes that are no UTF-8 come as half surrogate pairs (``surrogateescape``)."""
    for mark, encoding in _MARKS.items():
        if line.startswith(mark):
            return line.decode(encoding)
    if 0 in line[:2] and len(line) > 1:
        return line.decode("utf-16-be" if line[0] == 0 else "utf-16-le")
    return line.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


def scanned(text: str) -> Any:
    """Return the first value of a text; what stands behind it is not looked at.

    Raises:
        ValueError: for what Jackson refuses.
    """
    scanner = _Scanner(text)
    value = scanner.value()
    if _NO_UTF8.search(text, 0, scanner.at):
        raise ValueError("it is no UTF-8")
    return value


class _Scanner:
    """Scans one text, without recursion: Spark's reader is told of no limit of depth.

    Attributes:
        at: how far.
    """

    def __init__(self, text: str) -> None:
        self.at = 0
        self._text = text
        #: Those that are open, with where they begin and the key that waits for its value.
        self._open: list[tuple[WrittenObject | WrittenArray, int]] = []
        self._keys: list[str] = []

    def value(self) -> Any:
        """Return the value that begins here."""
        while True:
            found, opened = self._begun()
            if opened:
                continue
            while self._open:
                container, begin = self._open[-1]
                if isinstance(container, WrittenObject):
                    container[self._keys.pop()] = found
                else:
                    container.append(found)
                if self._is_next(","):
                    self._key_of(container)
                    break
                self._expect("}" if isinstance(container, WrittenObject) else "]")
                found = self._closed(begin)
            else:
                return found

    def _begun(self) -> tuple[Any, bool]:
        """Return a value that is whole; or that an object or an array has been opened."""
        self._skip()
        begin = self.at
        container = WrittenObject() if self._is_next("{") else WrittenArray() if self._is_next("[") else None
        if container is None:
            return self._scalar(), False
        self._open.append((container, begin))
        if self._is_next("}" if isinstance(container, WrittenObject) else "]"):
            return self._closed(begin), False
        self._key_of(container)
        return None, True

    def _closed(self, begin: int) -> WrittenObject | WrittenArray:
        container, _ = self._open.pop()
        container.text = self._text[begin : self.at]
        return container

    def _key_of(self, container: WrittenObject | WrittenArray) -> None:
        """Take the key of the next value, where there is one."""
        if isinstance(container, WrittenArray):
            return
        self._skip()
        key = self._string()
        if key is None or _SURROGATE.search(key):
            raise self._refused()
        self._expect(":")
        self._keys.append(key)

    def _scalar(self) -> Any:
        text = self._string()
        if text is not None:
            return text
        for pattern in (_WORD, _NUMBER):
            found = pattern.match(self._text, self.at)
            if found is not None:
                self.at = found.end()
                return _WORDS[found[0]] if pattern is _WORD else WrittenNumber(found[0])
        raise self._refused()

    def _string(self) -> str | None:
        pattern = _STRINGS.get(self._text[self.at : self.at + 1])
        if pattern is None:
            return None
        found = pattern.match(self._text, self.at)
        if found is None:
            raise self._refused()
        self.at = found.end()
        if "\\" not in found[1]:
            return found[1]
        # Halves of a pair come one by one.
        halves = _ESCAPE.sub(_unescaped, found[1])
        return halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")

    def _skip(self) -> None:
        blank = _BLANK.match(self._text, self.at)
        self.at = blank.end() if blank else self.at

    def _is_next(self, token: str) -> bool:
        self._skip()
        found = self._text.startswith(token, self.at)
        self.at += found
        return found

    def _expect(self, token: str) -> None:
        if not self._is_next(token):
            raise self._refused()

    def _refused(self) -> ValueError:
        return ValueError(f"it is no JSON from character {self.at + 1} on")


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    if escape[2] not in _ESCAPED:
        raise ValueError(f"it is no JSON: {escape[0]}")
    return _ESCAPED[escape[2]]

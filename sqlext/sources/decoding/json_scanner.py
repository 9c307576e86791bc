"""Scan a line of JSON as Jackson does, which Spark's reader asks: for lines that Python's parser does not take.

Jackson is set to take more than JSON has: quotes of one stroke, numbers that are none (``NaN``, ``+INF``), any depth.
What it keeps, and Python's parser does not, is the text of an object or array: a STRING holds that text.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from sqlext.sources.java_numbers import java_double

#: What nests deeper is no row that somebody wrote, and would take gigabytes.
_DEPTH = 100_000
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
#: An escape, or bytes that are no UTF-8, as ``surrogateescape`` keeps them.
_ODD = re.compile("\\\\(?:u([0-9a-fA-F]{4})|(.))|([\udc80-\udcff]+)")
#: How the first of so many bytes begins: a mask, and what it leaves.
_LEADS = {2: (0xE0, 0xC0), 3: (0xF0, 0xE0), 4: (0xF8, 0xF0)}
_SPELLED = {"+INF": "inf", "-INF": "-inf"}
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", **{c: c for c in "\"'/\\"}}
_SURROGATE = re.compile("[\ud800-\udfff]")
#: A file that begins so has another encoding; by its first bytes, as Jackson tells it.
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class WrittenNumber(str):
    """A number as it stands in the text: a float would round long integers, and a STRING shows it as it is."""

    __slots__ = ()


class _Written:
    """What stands in a text; it is cut out when somebody asks: each of a thousand arrays in one another has all."""

    #: The text, and where it begins and ends in it.
    place: tuple[str, int, int] = ("", 0, 0)

    @property
    def text(self) -> str:
        """The text of it alone."""
        whole, begin, end = self.place
        return whole[begin:end]

    @text.setter
    def text(self, text: str) -> None:
        self.place = text, 0, len(text)


class WrittenObject(_Written, dict[str, Any]):
    """An object, and its text."""


class WrittenArray(_Written, list[Any]):
    """An array, and its text."""


class HalfInBytes:
    """A text with half of a surrogate pair in three bytes: it is refused where it is read, and else skipped."""


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
    return _Scanner(text).value()


def compact(value: Any) -> Any:
    """Return a scanned value with the texts of objects and arrays as Flink shows them in a STRING: without blanks.

    Numbers with a point or an exponent are a DOUBLE in them; the values themselves stay as they are.
    """
    if isinstance(value, WrittenObject):
        made = WrittenObject({key: compact(own) for key, own in value.items()})
        made.text = "{" + ",".join(f"{_quoted(key)}:{_shown(own)}" for key, own in made.items()) + "}"
        return made
    if isinstance(value, WrittenArray):
        array = WrittenArray(compact(own) for own in value)
        array.text = "[" + ",".join(map(_shown, array)) + "]"
        return array
    return value


def _shown(value: Any) -> str:
    if isinstance(value, (WrittenObject, WrittenArray)):
        return value.text
    if isinstance(value, WrittenNumber):
        return str(value) if value.lstrip("-").isdigit() else java_double(float(_SPELLED.get(value, value)))
    return _quoted(value)


def _quoted(value: Any) -> str:
    # Half of a surrogate pair is no character: Java shows it so.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()


class _Scanner:
    """Scans one text, without recursion: Spark's reader is told of no limit of depth that rows reach.

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
        if len(self._open) == _DEPTH:
            raise ValueError("it is nested deeply")
        self._open.append((container, begin))
        if self._is_next("}" if isinstance(container, WrittenObject) else "]"):
            return self._closed(begin), False
        self._key_of(container)
        return None, True

    def _closed(self, begin: int) -> WrittenObject | WrittenArray:
        container, _ = self._open.pop()
        container.place = self._text, begin, self.at
        return container

    def _key_of(self, container: WrittenObject | WrittenArray) -> None:
        """Take the key of the next value, where there is one."""
        if isinstance(container, WrittenArray):
            return
        self._skip()
        begin = self.at
        key = self._string()
        # Halves of bytes are the name of no column; escaped ones are refused.
        if not isinstance(key, str) or (_SURROGATE.search(key) and "\\" in self._text[begin : self.at]):
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

    def _string(self) -> str | HalfInBytes | None:
        pattern = _STRINGS.get(self._text[self.at : self.at + 1])
        if pattern is None:
            return None
        found = pattern.match(self._text, self.at)
        if found is None:
            raise self._refused()
        self.at = found.end()
        if found[1].isascii() and "\\" not in found[1]:
            return found[1]
        try:
            # Halves of a pair come one by one.
            halves = _ODD.sub(_meant, found[1])
        except _HalfError:
            return HalfInBytes()
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


class _HalfError(Exception):
    """Three bytes say half of a surrogate pair."""


def _meant(odd: re.Match[str]) -> str:
    if odd[1]:
        return chr(int(odd[1], 16))
    if odd[3]:
        return "".join(_spelled(odd[3].encode("ascii", "surrogateescape")))
    if odd[2] not in _ESCAPED:
        raise ValueError(f"it is no JSON: {odd[0]}")
    return _ESCAPED[odd[2]]


def _spelled(data: bytes) -> Iterator[str]:
    """Yield what bytes say that are no UTF-8, though they look like some: Jackson takes longer forms than needed."""
    place = 0
    while place < len(data):
        length = next((n for n, (mask, lead) in _LEADS.items() if data[place] & mask == lead), 0)
        rest = data[place + 1 : place + length]
        if not length or len(rest) < length - 1 or any(byte & 0xC0 != 0x80 for byte in rest):
            raise ValueError("it is no UTF-8")
        code = data[place] & ~_LEADS[length][0] & 0xFF
        for byte in rest:
            code = code << 6 | byte & 0x3F
        yield _character(code, length)
        place += length


def _character(code: int, length: int) -> str:
    """Return the character of a number; four bytes are a pair in Java, whatever they say."""
    if length == max(_LEADS):
        beyond = code - 0x10000
        return chr((0xD800 | beyond >> 10) & 0xFFFF) + chr(0xDC00 | beyond & 0x3FF)
    if 0xD800 <= code <= 0xDFFF:
        raise _HalfError
    return chr(code)

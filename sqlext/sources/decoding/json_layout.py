"""Say how JSON lines look that one program has written: texts that are the same in each, and values between them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlext.sources.decoding.json_texts import Unlike

#: The keys that lead to a value: its object's, before its own.
Path = tuple[str, ...]

_KEY = re.compile(rb' *"([^"\\]*)" *: *')
_VALUE = re.compile(rb'(?:"[^"\\]*"|[^,"{}\[\]\s]+)(?= *[,}])')
_COMMA, _CLOSE = re.compile(rb" *,"), re.compile(rb" *}")
#: A parser reads lines of more values, and what is nested deeper: what a layout costs grows with the square of both.
_VALUES, _DEPTH = 1_000, 32


@dataclass(frozen=True, slots=True)
class Value:
    """Where a value stands in a line.

    Attributes:
        path: its keys.
        quoted: whether it stands in quotes.
        before: the text between the value before (or the line's begin) and this one.
        keys: how many keys are in that text.
    """

    path: Path
    quoted: bool
    before: bytes
    keys: int

    @property
    def opening(self) -> int:
        """How far in ``before`` the first quote is."""
        return self.before.index(b'"')

    @property
    def behind_key(self) -> int:
        """How far a value without quotes is from the quote that ends its key."""
        return len(self.before) - self.before.rindex(b'"')


@dataclass(frozen=True, slots=True)
class Layout:
    """How lines look.

    Attributes:
        values: in their order.
        end: the text behind the last value, with the line end.
    """

    values: tuple[Value, ...]
    end: bytes

    @property
    def quotes(self) -> int:
        """How many quotes a line has."""
        return 2 * sum(v.keys + v.quoted for v in self.values)

    @property
    def shortest(self) -> int:
        """How many bytes a line has without its values and its end."""
        return sum(len(value.before) for value in self.values) + len(self.end) - 1


def layout_of(line: bytes) -> Layout:
    """Return the layout of a line, without its end.

    Raises:
        Unlike: for one that is no object of values and of such objects, has a key twice, or is none for a layout.
    """
    if not line.startswith(b"{"):
        raise Unlike
    values: list[Value] = []
    seen: set[Path] = set()
    path: Path = ()
    place, end, keys = 1, 0, 0
    while True:
        key = _KEY.match(line, place)
        if key is None or (own := (*path, key[1].decode())) in seen:
            raise Unlike
        if len(own) > _DEPTH or len(values) == _VALUES:
            raise Unlike
        seen.add(own)
        keys += 1
        if line.startswith(b"{", key.end()):
            path, place = own, key.end() + 1
            continue
        value = _VALUE.match(line, key.end())
        if value is None:
            raise Unlike
        quoted = value[0].startswith(b'"')
        values.append(Value(own, quoted, line[end : value.start() + quoted], keys))
        end, place, keys = value.end() - quoted, value.end(), 0
        while close := _CLOSE.match(line, place):
            place = close.end()
            if not path:
                if line[place:].strip(b" "):
                    raise Unlike
                return Layout(tuple(values), line[end:] + b"\n")
            path = path[:-1]
        comma = _COMMA.match(line, place)
        if comma is None:
            raise Unlike
        place = comma.end()

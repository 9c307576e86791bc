"""Files of a table with some of their bytes changed, from a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence

from sqlext.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP3,
    TIMESTAMP_LTZ3,
    LogicalType,
    decimal,
)
from sqlext.types import Field as RowField

_ROW = LogicalType("ROW", fields=(RowField("a", INT), RowField("b", STRING)))
COLUMNS: dict[str, LogicalType] = {
    "id": BIGINT,
    "s": STRING,
    "n": INT,
    "d": DOUBLE,
    "f": FLOAT,
    "c": decimal(6, 2),
    "b": BOOLEAN,
    "day": DATE,
    "w": TIMESTAMP3,
    "at": TIMESTAMP_LTZ3,
}
#: Of json, where a row may be a value.
NESTED = COLUMNS | {"r": _ROW}

LINES: dict[str, tuple[str, ...]] = {
    "json": (
        '{"id":1,"s":"a","n":1,"d":1.5,"f":0.5,"c":1.25,"b":true,"at":"2024-03-10 02:30:00Z","r":{"a":1,"b":"x"}}',
        '{"id": 2, "s": "ä€","n":-5, "d": 1e3, "day":"2024-02-29","c":"1.5", "w": "2024-03-10T02:30:00.123", "r":null}',
        '{"id":3,"s":"q\\"\\u00e4\\n","d":"NaN","r":{}}',
    ),
    "csv": (
        "1,a,1,1.5,0.5,1.25,true,2024-02-29,2024-03-10 02:30:00,2024-03-10 02:30:00Z",
        '2,"q ""x"", y",-5,1e3,NaN,-1,false,1969-12-31,2024-03-10T02:30:00.123,2024-03-10 02:30:00',
        "3,ä€, 7 ,0,0,0,x,2024-01-01,2024-01-01,2024-01-01",
    ),
}
_ANY = (
    "\n",
    "\r",
    "\r\n",
    "\t",
    " ",
    "é",
    "9999999999999999999",
    "1e400",
    "Z",
    "+02:00",
    ".123456789",
    "NaN",
    "-",
    "0",
)
_ODD = ("\ufeff", "\x0b", "\x1f", "\u2028", "\u00a0", "\x85", "2024-01-01", "true", "null", "NULL", "'", "\\", '"', ",")
_NUMBERS = (
    "-0",
    "-0.0",
    "00012",
    "0x1F",
    "-1e400",
    "1e-400",
    "5.",
    ".5",
    "+5",
    "1_000",
    "1d",
    "\u0661",
    "1E+2",
    "127",
    "128",
)
_TIMES = (
    *(
        "+14:00",
        "-00:00",
        "+18:01",
        "z",
        " UTC",
        " Europe/Berlin",
        "[Europe/Berlin]",
        "+0530",
        "+5",
        "GMT+2",
        " 24:00:00",
    ),
    *("T24:00:00", "2024-02-30", "2024-13-01", ":60", "2024-03-10 02:30", "20240310", "2024-3-1 2:3:4", " \u00a0"),
)
PIECES: dict[str, tuple[str, ...]] = {
    "json": (
        *(
            *_NUMBERS,
            *_TIMES,
            '"l":[1,{"x":[2,null]}],',
            '"m":{"x":{"y":[]}},',
            '{"s":1}{"s":2}',
            "},{",
            "} {",
            "]}",
            '"s":["a",',
        ),
        *('"r":{"a":"1"},', '"r":[{"a":1}],', '"r":{"a":1e0,"b":{"c":[1]}},', "\r\r\n", "\n\n", '{"id":8}\n{"id":9}'),
        *(*_ANY, *_ODD, "{", "}", "[", "]", ":", "{}", '{"id":9}', "[]", '"x"', "Infinity", "+INF", "\\ud800", "\\x"),
        *("\\ud834\\udd1e", "\\u0000", "00", "/*c*/", "#", '"id":7,', "\\/", "\x00", "\x01", "[[[[", '{"a":{"a":1}}'),
    ),
    "csv": (
        *_NUMBERS,
        *_TIMES,
        '"a\nb"',
        '"a\r\nb"',
        '"\n',
        "\r\r\n",
        '"",""',
        "\t,",
        *_ANY,
        *_ODD,
        '""',
        '\\"',
        ",,",
        "#",
        "inf",
        "0x1F",
        "+",
        "e",
        "TRUE",
        ' x "',
        "d",
        "\x01",
    ),
}
#: No UTF-8. Overlong forms and halves of pairs in three bytes are left out of json: Jackson takes some of them.
_BYTES = (b"\xff", b"\xc3", b"\xf0\x9f", b"\xef\xbb\xbf", b"\xfe\xff", b"\x80", b"\xe2\x28\xa1")


#: How many of the files have lines of different ends.
_MIXED = 0.3


def columns_of(form: str, chance: random.Random) -> dict[str, LogicalType]:
    """Return what a table declares: in json some of the keys."""
    if form == "csv":
        return COLUMNS
    return dict(chance.sample(list(NESTED.items()), chance.choice((1, 2, 3, 4))))


def text_file(form: str, chance: random.Random) -> bytes:
    """Return a file with one line whose bytes are changed, alone or between good ones, with any ends of lines."""
    lines = [line.encode() for line in LINES[form]]
    bad = mutated(chance.choice(lines), chance, PIECES[form])
    ends = (b"\n", b"\r\n", b"\r", b"\n\n")
    around = chance.choice(([bad], [bad, b""], [lines[0], bad, lines[1]], [lines[0], bad, b""]))
    if chance.random() < _MIXED:  # each line ends as it likes, and the last one, too
        around = [line + chance.choice(ends) for line in (*around, chance.choice(lines))]
        return chance.choice((b"", b"\xef\xbb\xbf")) + b"".join(around)
    return chance.choice(ends).join(around)


def mutated(data: bytes, chance: random.Random, pieces: Sequence[str] = ()) -> bytes:
    """Return bytes with one to three changes: something put in, taken out, cut off, doubled, or another byte."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        data = _changed(data, chance, pieces)
    return data


def _changed(data: bytes, chance: random.Random, pieces: Sequence[str]) -> bytes:
    place = chance.randrange(len(data) + 1)
    piece = chance.choice(pieces).encode() if pieces and chance.random() < 0.85 else chance.choice(_BYTES)
    kind = chance.choice(("in", "in", "in", "over", "over", "out", "cut", "twice", "byte", "nest", "again"))
    if kind == "nest":
        opened, closed = chance.choice(((b"[", b"]"), (b'{"x":', b"}"), (b'"', b'"')))
        end = chance.randrange(place, len(data) + 1)
        return data[:place] + opened + data[place:end] + closed + data[end:]
    if kind == "again":
        return data + chance.choice((b"", b" ", b",")) + data[: chance.choice((len(data), place))]
    if kind == "in":
        return data[:place] + piece + data[place:]
    if kind == "over":
        return data[:place] + piece + data[place + chance.choice((1, 2, len(piece))) :]
    if kind == "out":
        return data[:place] + data[place + chance.choice((1, 1, 2, 5)) :]
    if kind == "cut":
        return data[:place]
    if kind == "twice":
        return data[:place] + data[chance.randrange(place + 1) :]
    return data[:place] + bytes([chance.randrange(1, 128)]) + data[place + 1 :]

"""Events of the Nexmark model: of fifty one is a person, three are auctions, the others are bids.

Each event has a time of its own, ten ms apart, so no two bids are equally early; they are written up to three seconds
out of order. Made by columns, because benchmarks want millions: an event needs nothing of others but how many of each
kind came before it, which its number says.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_START = np.datetime64("2024-03-01T05:55:00.000", "ms")
_STEP_MS = 10
_DISORDER = 300  # events
_CYCLE, _PEOPLE, _AUCTIONS = 50, 1, 3
_PIECE = 250_000  # events that are made at once
_NAMES = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Finn")
_CITIES = (("Portland", "OR"), ("Boise", "ID"), ("Fresno", "CA"), ("Austin", "TX"), ("Miami", "FL"))
_CHANNELS = ("Google", "Facebook", "Baidu", "Apple", *(f"channel-{i}" for i in range(40)))
_EXTRAS = tuple("".join(letters) for letters in ("", "a", "c", "bc", "cac", "abba", "ccbca"))
_FIRST = 1000

Numbers: TypeAlias = npt.NDArray[np.int64]


def write_events(folder: Path, count: int, files: int = 4) -> None:
    """Write events as JSON lines in arrival order, files in turns; and the table that q13 looks things up in."""
    (folder / "nexmark").mkdir(parents=True)
    rng = np.random.default_rng(22)
    for n in range(files):
        events = np.arange(n, count, files)
        with (folder / "nexmark" / f"{n}.json").open("wb") as file:
            for start in range(0, len(events), _PIECE):
                file.write(_lines(events[start : start + _PIECE], rng))
    (folder / "side_input").mkdir()
    (folder / "side_input" / "side.csv").write_text("".join(f"{i},side {i}\n" for i in range(0, 100, 3)))


def _lines(events: Numbers, rng: np.random.Generator) -> bytes:
    """Return the text of some events, in the order in which they arrive."""
    place = events % _CYCLE
    kinds = [place < _PEOPLE, (place >= _PEOPLE) & (place < _PEOPLE + _AUCTIONS), place >= _PEOPLE + _AUCTIONS]
    texts = [make(events[is_kind], rng) for make, is_kind in zip((_people, _auctions, _bids), kinds, strict=True)]
    numbers = np.concatenate([events[is_kind] for is_kind in kinds])
    order = np.argsort(numbers + rng.random(len(numbers)) * _DISORDER)
    return "".join(pa.concat_arrays(texts).take(pa.array(order)).to_pylist()).encode()


def _people_before(events: Numbers) -> Numbers:
    return events // _CYCLE * _PEOPLE + np.minimum(events % _CYCLE, _PEOPLE)


def _auctions_before(events: Numbers) -> Numbers:
    return events // _CYCLE * _AUCTIONS + np.clip(events % _CYCLE - _PEOPLE, 0, _AUCTIONS)


def _people(events: Numbers, rng: np.random.Generator) -> pa.Array:
    number = _FIRST + _people_before(events)
    city = rng.integers(len(_CITIES), size=len(events))
    fields = {
        "id": _text(number),
        "name": _quoted(_picked(_NAMES, rng.integers(len(_NAMES), size=len(events))), " ", _text(number)),
        "emailAddress": _quoted(_text(number), "@example.com"),
        "creditCard": _quoted(pc.utf8_lpad(_text(number), 16, "0")),
        "city": _quoted(_picked([c for c, _ in _CITIES], city)),
        "state": _quoted(_picked([s for _, s in _CITIES], city)),
        "dateTime": _time(events),
        "extra": _quoted(_picked(("", "p", "pp", "ppp"), rng.integers(4, size=len(events)))),
    }
    return _objects(0, "person", fields)


def _auctions(events: Numbers, rng: np.random.Generator) -> pa.Array:
    number, size = _FIRST + _auctions_before(events), len(events)
    fields = {
        "id": _text(number),
        "itemName": _quoted("item ", _text(number)),
        "description": _picked(('"as new"',), np.zeros(size, int)),
        "initialBid": _text(rng.integers(1, 100, size)),
        "reserve": _text(rng.integers(100, 1000, size)),
        "dateTime": _time(events),
        "expires": _time(events, rng.integers(5, 60, size) * 1000),
        "seller": _text(_FIRST + rng.integers(_people_before(events))),
        "category": _text(rng.integers(10, 15, size)),
        "extra": _picked(('"x"',), np.zeros(size, int)),
    }
    return _objects(1, "auction", fields)


def _bids(events: Numbers, rng: np.random.Generator) -> pa.Array:
    size, auctions = len(events), _auctions_before(events)
    recent = np.minimum(auctions, np.where(rng.random(size) < 0.8, 20, 200))
    named = np.where(rng.random(size) < 0.5, rng.integers(4, size=size), rng.integers(4, len(_CHANNELS), size))
    digits = [_text(rng.integers(5, size=size)) for _ in "abc"]
    of = pc.binary_join_element_wise("&channel_id=", _text(rng.integers(9999, size=size)), "")
    path = ["https://www.nexmark.com/a", digits[0], "/b", digits[1], "/c", digits[2], "/item.htm?query=1"]
    fields = {
        "auction": _text(_FIRST + auctions - 1 - rng.integers(recent)),
        "bidder": _text(_FIRST + rng.integers(_people_before(events))),
        "price": _text((100 * 10 ** (rng.random(size) * 6)).astype(np.int64)),
        "channel": _quoted(_picked(_CHANNELS, named)),
        "url": _quoted(*path, pc.if_else(pa.array(rng.random(size) < 0.7), of, "")),
        "dateTime": _time(events),
        "extra": _quoted(_picked(_EXTRAS, rng.integers(len(_EXTRAS), size=size))),
    }
    return _objects(2, "bid", fields)


def _objects(kind: int, name: str, fields: Mapping[str, pa.Array]) -> pa.Array:
    """Return a line of JSON for each event, from the texts of its fields' values."""
    parts: list[pa.Array | str] = [f'{{"event_type": {kind}, "{name}": {{']
    for number, (field, values) in enumerate(fields.items()):
        parts += [f'{", " if number else ""}"{field}": ', values]
    return pc.binary_join_element_wise(*parts, "}}\n", "")


def _text(numbers: Numbers) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def _quoted(*parts: pa.Array | str) -> pa.Array:
    return pc.binary_join_element_wise('"', *parts, '"', "")


def _picked(values: tuple[str, ...] | list[str], places: Numbers) -> pa.Array:
    return pa.array(values).take(pa.array(places))


def _time(events: Numbers, later_ms: Numbers | int = 0) -> pa.Array:
    return _quoted(pa.array(_START + (events * _STEP_MS + later_ms).astype("timedelta64[ms]")).cast(pa.string()))

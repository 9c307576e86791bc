"""Events of the Nexmark model: of fifty one is a person, three are auctions, the others are bids.

Each event has a time of its own, ten ms apart, so no two bids are equally early; they are written up to three seconds
out of order.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

_START = datetime(2024, 3, 1, 5, 55)
_STEP = timedelta(milliseconds=10)
_DISORDER = 300  # events
_CYCLE, _PEOPLE, _AUCTIONS = 50, 1, 3
_NAMES = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Finn")
_CITIES = (("Portland", "OR"), ("Boise", "ID"), ("Fresno", "CA"), ("Austin", "TX"), ("Miami", "FL"))
_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
_FIRST = 1000


def write_events(folder: Path, count: int, files: int = 4) -> None:
    """Write events as JSON lines in arrival order, and the table that q13 looks things up in."""
    rng = random.Random(22)
    events = list(_events(count, rng))
    order = sorted(range(count), key=lambda i: i + rng.random() * _DISORDER)
    (folder / "nexmark").mkdir(parents=True)
    share = -(-count // files)
    for n in range(files):
        lines = (json.dumps(events[i]) + "\n" for i in order[n * share : (n + 1) * share])
        (folder / "nexmark" / f"{n}.json").write_text("".join(lines))
    (folder / "side_input").mkdir()
    (folder / "side_input" / "side.csv").write_text("".join(f"{i},side {i}\n" for i in range(0, 100, 3)))


def _events(count: int, rng: random.Random) -> Iterator[dict[str, Any]]:
    people = auctions = 0
    for i in range(count):
        time, place = _START + i * _STEP, i % _CYCLE
        if place < _PEOPLE:
            yield {"event_type": 0, "person": _person(_FIRST + people, time, rng)}
            people += 1
        elif place < _PEOPLE + _AUCTIONS:
            yield {"event_type": 1, "auction": _auction(_FIRST + auctions, _FIRST + rng.randrange(people), time, rng)}
            auctions += 1
        else:
            recent = min(auctions, 20 if rng.random() < 0.8 else 200)
            auction = _FIRST + auctions - 1 - rng.randrange(recent)
            yield {"event_type": 2, "bid": _bid(auction, _FIRST + rng.randrange(people), time, rng)}


def _person(number: int, time: datetime, rng: random.Random) -> dict[str, Any]:
    city, state = rng.choice(_CITIES)
    return {
        "id": number,
        "name": f"{rng.choice(_NAMES)} {number}",
        "emailAddress": f"{number}@example.com",
        "creditCard": f"{number:016d}",
        "city": city,
        "state": state,
        "dateTime": _text(time),
        "extra": "p" * rng.randrange(4),
    }


def _auction(number: int, seller: int, time: datetime, rng: random.Random) -> dict[str, Any]:
    return {
        "id": number,
        "itemName": f"item {number}",
        "description": "as new",
        "initialBid": rng.randrange(1, 100),
        "reserve": rng.randrange(100, 1000),
        "dateTime": _text(time),
        "expires": _text(time + timedelta(seconds=rng.randrange(5, 60))),
        "seller": seller,
        "category": 10 + rng.randrange(5),
        "extra": "x",
    }


def _bid(auction: int, bidder: int, time: datetime, rng: random.Random) -> dict[str, Any]:
    named = rng.random() < 0.5
    channel = rng.choice(_CHANNELS) if named else f"channel-{rng.randrange(40)}"
    of = f"&channel_id={rng.randrange(9999)}" if rng.random() < 0.7 else ""
    path = "/".join(f"{letter}{rng.randrange(5)}" for letter in "abc")
    return {
        "auction": auction,
        "bidder": bidder,
        "price": int(100 * 10 ** (rng.random() * 6)),
        "channel": channel,
        "url": f"https://www.nexmark.com/{path}/item.htm?query=1{of}",
        "dateTime": _text(time),
        "extra": "".join(rng.choice("abc") for _ in range(rng.randrange(6))),
    }


def _text(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]

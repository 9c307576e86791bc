"""Tell a page each second what is new, as server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable

#: Seconds between two looks, and those after which a silent connection is kept open by a comment.
LOOK_SECONDS, _SILENCE = 1.0, 15.0

#: Gives the events of now: their names and what they say.
News = Callable[[], Awaitable[dict[str, object]]]


async def events(news: News, is_over: Callable[[], Awaitable[bool]]) -> AsyncIterator[str]:
    """Yield events as a browser's EventSource reads them, each when it says something new.

    Args:
        is_over: whether nobody listens any more.
    """
    told: dict[str, str] = {}
    spoke = time.monotonic()
    yield "retry: 1000\n\n"
    while not await is_over():
        found = await news()
        told = {name: text for name, text in told.items() if name in found}  # what comes again is news
        for name, value in found.items():
            text = json.dumps(value, separators=(",", ":"))
            if told.get(name) != text:
                told[name], spoke = text, time.monotonic()
                yield f"event: {name}\ndata: {text}\n\n"
        if time.monotonic() - spoke > _SILENCE:
            spoke = time.monotonic()
            yield ": nothing new\n\n"
        await asyncio.sleep(LOOK_SECONDS)

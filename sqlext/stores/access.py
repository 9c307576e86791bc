"""Know by which settings object stores are reached: those of the Spark session that works here.

What opens a store while a statement is compiled or started asks here. Settings hold credentials. So they are looked up
when a URL is opened, handed on in memory, and written nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

Settings = Mapping[str, str]


@dataclass(frozen=True)
class _Reach:
    settings: Callable[[], Settings]
    #: What is known of URLs; it goes with the statement.
    sizes: dict[str, int] = field(default_factory=dict)


_REACHED: ContextVar[_Reach | None] = ContextVar("how object stores are reached", default=None)


@contextmanager
def reached_by(settings: Callable[[], Settings] | None) -> Iterator[None]:
    """Let the block reach object stores by settings.

    Args:
        settings: returns Spark's, or Hadoop's; None: no URL is looked at.
    """
    token = _REACHED.set(_Reach(settings) if settings is not None else None)
    try:
        yield
    finally:
        _REACHED.reset(token)


def are_reached() -> bool:
    """Return whether somebody has said by which settings object stores are reached."""
    return _REACHED.get() is not None


def object_settings() -> dict[str, str]:
    """Return the settings of object stores; none where nobody has said any, and then the environment counts alone."""
    reach = _REACHED.get()
    return dict(reach.settings()) if reach is not None else {}


def remembered(url: str, size: Callable[[], int]) -> int:
    """Return the size of a URL in bytes, asked once in a block that reaches object stores."""
    reach = _REACHED.get()
    if reach is None:
        return size()
    if url not in reach.sizes:
        reach.sizes[url] = size()
    return reach.sizes[url]

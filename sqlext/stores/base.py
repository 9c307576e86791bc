"""Say what a store can do; every kind of store does it alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

_KEY = re.compile(r"(?!\.)[A-Za-z0-9._-]+(?:/(?!\.)[A-Za-z0-9._-]+)*")


@dataclass(frozen=True, slots=True)
class KeptBytes:
    """What a store keeps under a key.

    Attributes:
        data: the bytes.
        stamp: tells these bytes from others that were kept under the key; ``replace`` asks for it.
    """

    data: bytes
    stamp: object


class ByteStore(Protocol):
    """A place that keeps bytes under keys, such as ``lease/1.json``: parts of letters, digits, ``.``, ``_``, ``-``.

    Each write is whole: whoever reads gets all of the old bytes or all of the new ones.
    What one owner has written, every other reads from then on, and finds in ``keys``.
    """

    def read(self, key: str) -> KeptBytes | None:
        """Return what is kept under a key, None if nothing is."""

    def write(self, key: str, data: bytes) -> None:
        """Keep bytes under a key, in place of what was there."""

    def create(self, key: str, data: bytes) -> object | None:
        """Keep bytes under a key if nothing is there; return their stamp, None if something was.

        One of several who try wins. After a failure of the network the winner too may get None.
        """

    def replace(self, key: str, data: bytes, stamp: object) -> object | None:
        """Keep bytes in place of those with this stamp; return the new stamp, None if they are not there any more.

        One of several who try wins. After a failure of the network the winner too may get None.
        """

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Yield the keys that begin with the parts of ``prefix`` (all keys if it is empty), in any order."""

    def delete(self, key: str) -> None:
        """Keep nothing under a key any more; it may be free already."""

    def make(self) -> None:
        """Let Spark find the place also while nothing lies there."""

    def remove(self, prefix: str) -> None:
        """Keep nothing any more under a key, nor under those that begin with its parts."""

    def move(self, source: str, target: str, last: str) -> None:
        """Keep what begins with ``source`` below ``target`` instead, in place of what is there; there may be nothing.

        A folder does so in one step. An object store copies all, then deletes all: stopped in between, it leaves the
        source whole, or the target whole. The key ``last`` tells which: it is copied last, and deleted first. Where
        the source has no such key, nobody can tell; then what lies below the target stays, too.

        Args:
            last: below ``source``; the rest of its name, such as ``done.txt``.
        """

    def leave(self) -> None:
        """Let the place itself go, if nothing is left there."""


def checked_key(key: str) -> str:
    """Return a key; raises ValueError if it is none, so that no key leaves its store."""
    if _KEY.fullmatch(key) is None:
        raise ValueError(f"{key!r} is no key of a store")
    return key

"""Say what a store can do; every kind of store does it alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class Store(Protocol):
    """A place that keeps bytes under keys, such as ``lease/1.json``: parts of letters, digits, ``.``, ``_``, ``-``.

    Each write is whole: whoever reads gets all of the old bytes or all of the new ones.
    What one owner has written, every other reads from then on, and finds in ``keys``.
    """

    def read(self, key: str) -> bytes | None:
        """Return what is kept under a key, None if nothing is."""

    def write(self, key: str, data: bytes) -> None:
        """Keep bytes under a key, in place of what was there."""

    def create(self, key: str, data: bytes) -> bool:
        """Keep bytes under a key if nothing is there; return whether it was so. One of several owners wins."""

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Yield the keys that begin with the parts of ``prefix`` (all keys if it is empty), in any order."""

    def delete(self, key: str) -> None:
        """Keep nothing under a key any more; it may be free already."""

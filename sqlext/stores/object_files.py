"""Keep files as objects of an object store: under any names, of any size, beside small texts under keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlext.stores.objects import ObjectStore


class ObjectFiles(ObjectStore):
    """An ``ObjectStore`` whose objects also have names that are no keys, such as ``day=1%2F2/part 1.csv``."""

    def sizes(self, below: str = "") -> Iterator[tuple[str, int]]:
        """Yield names and sizes of the objects below a name, in any order."""
        pages = self._checked(lambda: self._package.list(self._objects, below or None))
        while (page := self._checked(lambda: next(pages, None))) is not None:
            for found in page:
                yield found["path"], found["size"]

    def put(self, name: str, data: bytes) -> None:
        """Keep bytes under a name, in place of what was there."""
        self._checked(lambda: self._package.put(self._objects, name, data))

    def get(self, name: str) -> bytes:
        """Return the bytes under a name; raises FileNotFoundError if there are none."""
        return bytes(self._checked(lambda: self._package.get(self._objects, name).bytes()))

    def copy(self, name: str, to: str) -> bool:
        """Give the bytes of an object to another name too, in one step; return whether there is such an object."""
        try:
            self._checked(lambda: self._package.copy(self._objects, name, to))
        except FileNotFoundError:
            return False
        return True

    def discard(self, names: Sequence[str]) -> None:
        """Remove objects, and nothing below them; they may be gone already."""
        for name in names:
            try:
                self._checked(lambda name=name: self._package.delete(self._objects, name))  # type: ignore[misc]
            except FileNotFoundError:
                continue

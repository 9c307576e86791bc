"""Name a folder of this machine, or one at a URL, and keep small texts there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from sqlext.locations import PathOrText, for_spark, local_path
from sqlext.stores.base import ByteStore
from sqlext.stores.opening import open_store

#: Spark's settings, by name; empty where none are known.
StoreSettings: TypeAlias = "Mapping[str, str]"


@dataclass(frozen=True)
class Location:
    """A folder, wherever it is; a plain value that can be pickled.

    Every method but ``below`` raises SqlExtError (ENV-011, RUN-015) where ``open_store`` or its store does.

    Attributes:
        place: an absolute path, or a URL.
        settings: Spark's, for URLs. They may hold credentials, so nothing shows them.
    """

    place: str
    settings: StoreSettings = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def of(place: PathOrText, settings: StoreSettings | None = None) -> Location:
        """Return the location of what a user has named."""
        path = local_path(place)
        return Location(str(place).rstrip("/") if path is None else str(Path(path).absolute()), settings or {})

    @property
    def path(self) -> Path | None:
        """The folder, where it is one of this machine."""
        path = local_path(self.place)
        return None if path is None else Path(path)

    @property
    def for_spark(self) -> str:
        """What Spark calls it."""
        return for_spark(self.place)

    def below(self, name: str) -> Location:
        """Return a folder in it."""
        return Location(f"{self.place}/{name}", self.settings)

    @cached_property
    def store(self) -> ByteStore:
        """What reads and writes there."""
        return open_store(self.place, self.settings)

    def made(self) -> str:
        """Make it, so that Spark finds it also while nothing lies there; return what Spark calls it."""
        self.store.make()
        return self.for_spark

    def text(self, key: str) -> str | None:
        """Return a text that is kept there, None if there is none; what is no UTF-8 in a damaged one is U+FFFD."""
        found = self.store.read(key)
        return found.data.decode("utf-8", "replace") if found is not None else None

    def json(self, key: str) -> Any:
        """Return what a text holds, None if there is none; raises ValueError for one that is no JSON."""
        text = self.text(key)
        return json.loads(text) if text is not None else None

    def put(self, key: str, text: str) -> None:
        """Keep a text, whole and also after a power cut."""
        self.store.write(key, text.encode("utf-8"))

    def names(self, prefix: str = "") -> Iterator[str]:
        """Yield the names of what lies below a folder in it, as paths below that, in any order."""
        for key in self.store.keys(prefix):
            yield key[len(prefix) + 1 :] if prefix else key

    def __reduce__(self) -> tuple[type[Location], tuple[str, StoreSettings]]:
        """Leave an open store out."""
        return Location, (self.place, self.settings)

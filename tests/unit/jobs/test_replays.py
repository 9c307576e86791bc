"""What is fed back is decided by one file: once, whoever asks, and how often."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlext.jobs.progress import begins_anew
from sqlext.jobs.replays import Corrected, Staged, stage
from sqlext.stores.location import Location


@pytest.fixture
def folder(tmp_path: Path) -> Location:
    return Location(str(tmp_path))


def letter(name: str, row: str = "{}") -> Corrected:
    return Corrected(name, "RUN-046", row)


def lines(folder: Location) -> list[tuple[str, str]]:
    """Return number and name of all that is fed back."""
    texts = [folder.text(name) or "" for name in sorted(folder.names())]
    found = [json.loads(line) for text in texts for line in text.splitlines()]
    return [(line["replay"], line["letter"]) for line in found]


def test_each_letter_once(folder: Location) -> None:
    assert stage(folder, [letter("a"), letter("b", '{"v":"\\n"}')]) == Staged(1, 2, 0)
    assert stage(folder, [letter("b"), letter("c")]) == Staged(2, 1, 1)
    assert stage(folder, [letter("a"), letter("c")]) == Staged(None, 0, 2)
    assert stage(folder, []) == Staged(None, 0, 0)
    assert lines(folder) == [("1", "a"), ("1", "b"), ("2", "c")]


def test_a_name_that_comes_twice(folder: Location) -> None:
    """A table may have the row of a dead letter twice: by a copy, or as its sink writes at least once."""
    again = [letter("b"), letter("a", '{"v":1}'), letter("b"), letter("a", '{"v":2}')]
    assert stage(folder, again) == Staged(1, 2, 0)
    assert lines(folder) == [("1", "b"), ("1", "a")]
    assert stage(folder, again) == Staged(None, 0, 2)


class Overtaken:
    """A store in which another REPLAY puts its file between the look and the file of this one."""

    def __init__(self, folder: Location) -> None:
        self._folder, self._store = folder, folder.store
        self._met = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def create(self, key: str, data: bytes) -> object | None:
        """Let the other one be first, once."""
        if not self._met:
            self._met = True
            stage(Location(self._folder.place), [letter("a"), letter("b")])
        return self._store.create(key, data)


def test_two_at_once(folder: Location) -> None:
    overtaken = Location(folder.place)
    vars(overtaken)["store"] = Overtaken(folder)
    assert stage(overtaken, [letter("b"), letter("c")]) == Staged(2, 1, 1)
    assert lines(folder) == [("1", "a"), ("1", "b"), ("2", "c")]


def test_a_new_checkpoint_takes_their_place_over() -> None:
    own, back = ("/catalog/queries/q",), "/catalog/queries/q/replays"
    said = {name: f"FileStreamSource[file:/catalog/queries/q/{name}]" for name in ("heartbeat", "replays/t-1")}
    assert begins_anew(said["heartbeat"], own, back)
    assert not begins_anew(said["replays/t-1"], own, back)
    assert not begins_anew("FileStreamSource[file:/in]", own, back)

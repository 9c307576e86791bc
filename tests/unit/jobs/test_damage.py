"""A checkpoint that lacks a part is known before Spark reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext.jobs.damage import damage_of
from sqlext.stores.location import Location

WHOLE = {
    "offsets/0": 'v1\n{}\n{"logOffset":0}\n-\n{"files": 2}',
    "offsets/1": 'v1\n{}\n{"logOffset":1}\n-\n{"files": 2}',
    "commits/0": "v1\n{}",
    "sources/0/1": "v1",
}


@pytest.fixture
def place(tmp_path: Path) -> Location:
    """A query whose second micro-batch is begun."""
    place = Location(str(tmp_path))
    for name, text in WHOLE.items():
        place.put(f"checkpoint/{name}", text)
    return place


def test_whole(place: Location, tmp_path: Path) -> None:
    assert damage_of(place, "checkpoint") is None
    place.put("checkpoint/sources/0/1.compact", "v1")
    place.store.delete("checkpoint/sources/0/1")
    assert damage_of(place, "checkpoint") is None
    assert damage_of(Location(str(tmp_path / "nothing")), "checkpoint") is None


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("offsets", None, "micro-batch 0 is done, and `checkpoint/offsets` does not have it"),
        ("commits/2", "v1", "micro-batch 2 is done, and `checkpoint/offsets` does not have it"),
        ("offsets/1", "", "`checkpoint/offsets/1` is cut off"),
        ("offsets/1", "v1\n", "`checkpoint/offsets/1` is cut off"),
        ("sources", None, "nothing lies at `checkpoint/sources/0`"),
    ],
)
def test_damaged(place: Location, name: str, text: str | None, said: str) -> None:
    if text is None:
        place.store.remove(f"checkpoint/{name}")
    else:
        place.put(f"checkpoint/{name}", text)
    assert damage_of(place, "checkpoint") == said


def test_no_source_has_a_log(place: Location) -> None:
    """Readers of ours keep theirs elsewhere, and a source of files that has read nothing has none."""
    place.store.remove("checkpoint/sources")
    place.put("checkpoint/offsets/1", 'v1\n{}\n{"logOffset":-1}\n-\n{"files": 2}\n7')
    assert damage_of(place, "checkpoint") is None


def test_a_source_that_two_branches_read_has_one_log(place: Location) -> None:
    place.put("checkpoint/offsets/1", 'v1\n{}\n{"logOffset":1}\n{"files": 2}\n{"logOffset":1}\n{"files": 2}')
    assert damage_of(place, "checkpoint") is None
    place.put("checkpoint/offsets/1", 'v1\n{}\n{"logOffset":1}\n{"files": 2}\n{"logOffset":3}')
    assert damage_of(place, "checkpoint") == "nothing lies at `checkpoint/sources/2`"

"""A checkpoint that lacks a part is known before Spark reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext.jobs.damage import damage_of, unreadable_file
from sqlext.stores.location import Location

WHOLE = {
    "offsets/0": 'v1\n{}\n{"logOffset":0}\n-\n{"files": 2}',
    "offsets/1": 'v1\n{}\n{"logOffset":1}\n-\n{"files": 2}',
    "commits/0": "v1\n{}",
    "sources/0/0": "v1",
    "sources/0/1": "v1",
}

_BLOCK = b"LZ4Block\x15" + (5).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"sum " + b"\x00\x02v2\x00"
#: Files of state as Spark 4.2 writes them.
STATE = {
    "state/0/0/1.changelog": _BLOCK * 2 + b"LZ4Block\x15" + bytes(12),
    "state/0/0/1.delta": _BLOCK + b"LZ4Block\x15" + bytes(12),
    "state/0/0/_metadata/schema": b'\x00\x02v2\x00\x00\x00\x01\x00\x07{"a":1}\x00\x07{"b":1}',
    "state/0/0/SSTs/000008-1dd096a1.sst": b"rows" * 9 + bytes.fromhex("f7cff485b741e288"),
    "state/0/_stateSchema/default/0_3455538f": b'\x00\x02v3\x00\x00\x00\x01\x00\x07{"a":1}\x00\x06{    }',
}


@pytest.fixture
def place(tmp_path: Path) -> Location:
    """A query whose second micro-batch is begun."""
    place = Location(str(tmp_path))
    for name, text in WHOLE.items():
        place.put(f"checkpoint/{name}", text)
    place.put("sources/events/00000000000000000000.json", "[1]")
    place.put("sources/events/00000000000000000001.json", "[2]")
    return place


def test_whole(place: Location, tmp_path: Path) -> None:
    assert damage_of(place, "checkpoint") is None
    place.put("checkpoint/sources/0/1.compact", "v1")
    place.store.delete("checkpoint/sources/0/1")
    place.store.delete("checkpoint/sources/0/0")
    assert damage_of(place, "checkpoint") is None
    assert damage_of(Location(str(tmp_path / "nothing")), "checkpoint") is None


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("offsets", None, "micro-batch 0 is done, and `{}/offsets/0` is not there"),
        ("commits/2", "v1", "micro-batch 2 is done, and `{}/offsets/2` is not there"),
        ("offsets/1", "", "`{}/offsets/1` is cut off"),
        ("offsets/1", "v1\n", "`{}/offsets/1` is cut off"),
        ("sources", None, "nothing lies at `{}/sources/0`"),
        # Spark would take it for one without files.
        ("sources/0/0", None, "`{}/sources/0/0` is not there"),
        ("sources/0/1", None, "`{}/sources/0/1` is not there"),
    ],
)
def test_damaged(place: Location, name: str, text: str | None, said: str) -> None:
    if text is None:
        place.store.remove(f"checkpoint/{name}")
    else:
        place.put(f"checkpoint/{name}", text)
    assert damage_of(place, "checkpoint") == said.format(f"{place.place}/checkpoint")


def test_a_log_of_a_reader_of_ours_that_was_merged(place: Location) -> None:
    """One entry has all files; one that has not gone yet says nothing else."""
    place.put("sources/events/00000000000000000000.json", "[1, 2]")
    assert damage_of(place, "checkpoint") is None
    place.store.delete("sources/events/00000000000000000001.json")
    assert damage_of(place, "checkpoint") is None


def test_no_source_has_a_log(place: Location) -> None:
    """Readers of ours keep theirs elsewhere, and a source of files that has read nothing has none."""
    place.store.remove("checkpoint/sources")
    place.put("checkpoint/offsets/1", 'v1\n{}\n{"logOffset":-1}\n-\n{"files": 2}\n7')
    assert damage_of(place, "checkpoint") is None


def test_a_reader_of_ours_lost_the_end_of_its_log(place: Location) -> None:
    """The files of that entry may come back in another order, and would have other numbers."""
    place.store.delete("sources/events/00000000000000000001.json")
    said = f"`{place.place}/sources/events/{1:020}.json` is not there, and the query has read 2 files"
    assert damage_of(place, "checkpoint") == said
    place.store.remove("sources")
    assert damage_of(place, "checkpoint") == f"nothing lies at `{place.place}/sources`, and the query has read 2 files"
    place.put("sources/events/00000000000000000000.json", "damaged")  # who reads it says so
    assert damage_of(place, "checkpoint") is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("metadata", '{"id": '),
        ("offsets/1", "v1\n{}\n{"),
        ("commits/0", "1\n{}"),
        ("sources/0/1", ""),
        ("state/0/_metadata/v2/0", "?"),
        ("state/0/_metadata/v2/0", "v2\n{"),
        ("state/0/0/1.zip", "PK"),
    ],
)
def test_a_file_that_spark_did_not_write_so(place: Location, tmp_path: Path, name: str, text: str) -> None:
    place.put("checkpoint/metadata", '{"id": "x"}')
    place.put("checkpoint/state/0/_metadata/v2/0", "v2\n{}")
    for other, whole in STATE.items():
        (tmp_path / "checkpoint" / other).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkpoint" / other).write_bytes(whole)
    assert unreadable_file(tmp_path / "checkpoint") is None
    place.put(f"checkpoint/{name}", text)
    assert unreadable_file(tmp_path / "checkpoint") == f"`{tmp_path}/checkpoint/{name}` is damaged"


@pytest.mark.parametrize("name", STATE)
def test_state_that_is_cut_off_or_garbled(tmp_path: Path, name: str) -> None:
    """Spark says that it cannot load state, and not which file is damaged."""
    path = tmp_path / "checkpoint" / name
    path.parent.mkdir(parents=True)
    whole = STATE[name]
    for damaged in (whole[: len(whole) // 2], whole[:-1], bytes(byte ^ 0x5A for byte in whole), whole + b"x", b""):
        path.write_bytes(damaged)
        assert unreadable_file(tmp_path / "checkpoint") == f"`{path}` is damaged"
    path.write_bytes(whole)
    assert unreadable_file(tmp_path / "checkpoint") is None


def test_what_sources_of_spark_keep(place: Location, tmp_path: Path) -> None:
    """Spark's source of topics begins with a zero byte; what others keep is known by its checksum alone."""
    place.put("checkpoint/sources/0/0", '\0v1\n{"topic":{"0":17}}')
    place.put("checkpoint/sources/1/0", "as it likes")
    assert unreadable_file(tmp_path / "checkpoint") == f"`{tmp_path}/checkpoint/sources/1/0` is damaged"
    (tmp_path / "checkpoint/sources/1/.0.crc").write_bytes(b"")
    assert unreadable_file(tmp_path / "checkpoint") is None
    place.put("checkpoint/sources/0/0", '\0v1\n{"topic":')
    assert unreadable_file(tmp_path / "checkpoint") == f"`{tmp_path}/checkpoint/sources/0/0` is damaged"


def test_changes_of_another_compression_are_taken_for_whole(tmp_path: Path) -> None:
    path = tmp_path / "state/0/0/1.changelog"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\x28\xb5\x2f\xfd...")
    assert unreadable_file(tmp_path) is None


def test_a_source_that_two_branches_read_has_one_log(place: Location) -> None:
    place.put("checkpoint/offsets/1", 'v1\n{}\n{"logOffset":1}\n{"files": 2}\n{"logOffset":1}\n{"files": 2}')
    assert damage_of(place, "checkpoint") is None
    place.put("checkpoint/offsets/1", 'v1\n{}\n{"logOffset":1}\n{"files": 2}\n{"logOffset":3}')
    assert damage_of(place, "checkpoint") == f"nothing lies at `{place.place}/checkpoint/sources/2`"

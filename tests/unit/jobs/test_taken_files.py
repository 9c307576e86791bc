"""Which micro-batch took which file, as Spark's logs and ours say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlext.connectors.delta.reader.tables import READER as DELTA_READER
from sqlext.connectors.delta.reader.versions import DeltaPosition
from sqlext.connectors.kafka.reader.tables import READER as TOPIC_READER
from sqlext.jobs.taken_files import Taken, TakenFiles, taken_files
from sqlext.stores.location import Location


def _offsets(place: Location, first: int, ends: list[str], other: bool = True) -> None:
    for number, end in enumerate(ends, first):
        settings = json.dumps({"batchWatermarkMs": 1000 * number})
        lines = ["v1", settings, end, *(['{"logOffset": 9}'] if other else ())]
        place.put(f"checkpoint/offsets/{number}", "\n".join(lines))
    place.put("checkpoint/sqlext-own-sources", "[1]")


def test_files_that_we_number(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    _offsets(place, 0, ['{"files": 2}', '{"files": 2}', '{"files": 3}'])
    place.put("sources/view/00000000000000000000.json", '[["/in/a", 1, 1], ["/in/b", 1, 1]]')
    place.put("sources/view/00000000000000000002.json", '[["/in/c", 1, 1], ["/in/d", 1, 1]]')
    assert taken_files(place, 1000).by_path == {
        "/in/a": Taken(0, None),
        "/in/b": Taken(0, None),
        "/in/c": Taken(2, 1000),
    }


def test_files_that_spark_numbers(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    _offsets(place, 5, ['{"logOffset": 3}', '{"logOffset": 5}'])
    for number in (2, 4, 5):
        entry = json.dumps({"path": f"file:///in/{number}", "timestamp": 1, "batchId": number})
        place.put(f"checkpoint/sources/0/{number}", f"v1\n{entry}")
    # The batch of the first file is forgotten.
    assert taken_files(place, 1000).by_path == {"/in/4": Taken(6, 5000), "/in/5": Taken(6, 5000)}


def test_nothing_is_known_of_two_tables_or_of_another_log(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    assert taken_files(place, 1000) == TakenFiles()
    _offsets(place, 0, ['{"files": 2}'])
    place.put("checkpoint/sqlext-own-sources", "[]")
    assert taken_files(place, 1000) == TakenFiles()
    place.put("checkpoint/sqlext-own-sources", "[1]")
    place.put("checkpoint/offsets/0", "v9")
    assert taken_files(place, 1000) == TakenFiles()


TOPICS = [('{"t-0": 2, "t-1": 0}', "-"), ('{"t": {"0": 2, "1": 0}}', "-")]


@pytest.mark.parametrize(("first", "none"), TOPICS, ids=["ours", "Spark's"])
def test_offsets_of_a_topic(tmp_path: Path, first: str, none: str) -> None:
    place = Location(str(tmp_path))
    _offsets(place, 0, [none, first, first.replace("2", "3").replace(": 0", ": 4")])
    found = taken_files(place, 1000, TOPIC_READER.reached)
    taken = [(s, n, found.of_position(s, n, n + 1)) for s, n in (("t-0", 0), ("t-0", 1), ("t-0", 2), ("t-1", 3))]
    assert taken == [
        ("t-0", 0, Taken(1, None)),
        ("t-0", 1, Taken(1, None)),
        ("t-0", 2, Taken(2, 1000)),
        ("t-1", 3, Taken(2, 1000)),
    ]
    assert found.of_position("t-0", 3, 4) is None
    assert found.of_position("t-2", 0, 1) is None
    assert found.watermark == 2000


def test_offsets_before_those_that_are_kept(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    _offsets(place, 7, ['{"t-0": 2}', '{"t-0": 5}'])
    found = taken_files(place, 1000, TOPIC_READER.reached)
    assert found.of_position("t-0", 1, 2) is None
    assert found.of_position("t-0", 2, 3) == Taken(8, 7000)


def _spark(version: int, index: int, first: bool = False) -> str:
    offset = {"reservoirId": "i", "reservoirVersion": version, "index": index, "isStartingVersion": first}
    return json.dumps(offset)


def _ours(version: int, index: int, first: bool = False) -> str:
    return json.dumps({"versions": DeltaPosition(version, not first, max(index + 1, 0)).number})


def _version(number: int) -> tuple[str, int, int]:
    begin, end = (DeltaPosition(v, is_commit=True, files=0).number for v in (number, number + 1))
    return "versions", begin, end


@pytest.mark.parametrize("written", [_ours, _spark])
def test_versions_of_a_delta_table(tmp_path: Path, written: Callable[..., str]) -> None:
    place = Location(str(tmp_path))
    # What is there at the beginning, version 4 in two parts, and two versions at once.
    ends = [written(4, -100), written(4, 0), written(5, -100), written(7, -100)]
    _offsets(place, 0, ends)
    found = taken_files(place, 1000, DELTA_READER.reached)
    taken = {number: found.of_position(*_version(number)) for number in range(8)}
    assert taken == {
        **dict.fromkeys(range(4), Taken(0, None)),
        4: None,
        5: Taken(3, 2000),
        6: Taken(3, 2000),
        7: None,
    }


@pytest.mark.parametrize("written", [_ours, _spark])
def test_of_a_delta_table_that_was_begun_in_parts_nothing_is_known(tmp_path: Path, written: Callable[..., str]) -> None:
    place = Location(str(tmp_path))
    _offsets(place, 0, [written(4, 0, first=True), written(5, -100)])
    found = taken_files(place, 1000, DELTA_READER.reached)
    assert found.of_position(*_version(4)) is None
    assert found.watermark == 1000


def test_what_one_batch_has_read_whole(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    place.put("local/0", "")
    found = taken_files(place, 1000)
    assert found.of("/in/any", 1000) == found.of("/in/any", None) == Taken(0, None)
    assert found.of("/in/later", 1001) is None

"""Which micro-batch took which file, as Spark's logs and ours say."""

from __future__ import annotations

import json
from pathlib import Path

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


def test_what_one_batch_has_read_whole(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    place.put("local/0", "")
    found = taken_files(place, 1000)
    assert found.of("/in/any", 1000) == found.of("/in/any", None) == Taken(0, None)
    assert found.of("/in/later", 1001) is None

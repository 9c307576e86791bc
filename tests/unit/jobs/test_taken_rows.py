"""Which micro-batch took which file, as Spark's logs and ours say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sqlext.connectors.delta.reader.tables import READER as DELTA_READER
from sqlext.connectors.delta.reader.versions import DeltaPosition
from sqlext.connectors.kafka.reader.tables import READER as TOPIC_READER
from sqlext.jobs.taken.history import TableRead, query_history
from sqlext.jobs.taken.model import END, BatchTime, QueryHistory, Taken, TakenRows
from sqlext.stores.location import Location

Reached = Callable[[Mapping[str, object]], Mapping[str, int]]


def taken_rows(place: Location, began: int, reached: Reached | None = None) -> TakenRows:
    """Return what a query over one table took."""
    (found,) = query_history(place, began, [TableRead("t", reached)], at_once=False).tables
    return found


def _offsets(place: Location, first: int, ends: list[str], other: bool = True) -> None:
    for number, end in enumerate(ends, first):
        settings = json.dumps({"batchWatermarkMs": 1000 * number})
        lines = ["v1", settings, end, *(['{"logOffset": 9}'] if other else ())]
        place.put(f"checkpoint/offsets/{number}", "\n".join(lines))
    place.put("checkpoint/sqlext-own-sources", "[1]")


def test_files_that_we_number(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    _offsets(place, 0, ['{"files": 2}', '{"files": 2}', '{"files": 3}'])
    place.put("sources/sqlext_t/00000000000000000000.json", '[["/in/a", 1, 1], ["/in/b", 1, 1]]')
    place.put("sources/sqlext_t/00000000000000000002.json", '[["/in/c", 1, 1], ["/in/d", 1, 1]]')
    assert taken_rows(place, 1000).by_path == {
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
    assert taken_rows(place, 1000).by_path == {"/in/4": Taken(6, 5000), "/in/5": Taken(6, 5000)}


def test_nothing_is_known_of_two_tables_or_of_another_log(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    assert taken_rows(place, 1000) == TakenRows()
    _offsets(place, 0, ['{"files": 2}'])
    place.put("checkpoint/sqlext-own-sources", "[]")
    assert taken_rows(place, 1000) == TakenRows()
    place.put("checkpoint/sqlext-own-sources", "[1]")
    place.put("checkpoint/offsets/0", "v9")
    assert taken_rows(place, 1000) == TakenRows()


TOPICS = [('{"t-0": 2, "t-1": 0}', "-"), ('{"t": {"0": 2, "1": 0}}', "-")]


@pytest.mark.parametrize(("first", "none"), TOPICS, ids=["ours", "Spark's"])
def test_offsets_of_a_topic(tmp_path: Path, first: str, none: str) -> None:
    place = Location(str(tmp_path))
    _offsets(place, 0, [none, first, first.replace("2", "3").replace(": 0", ": 4")])
    found = taken_rows(place, 1000, TOPIC_READER.reached)
    taken = [(s, n, found.of_position(s, n, n + 1)) for s, n in (("t-0", 0), ("t-0", 1), ("t-0", 2), ("t-1", 3))]
    assert taken == [
        ("t-0", 0, Taken(1, None)),
        ("t-0", 1, Taken(1, None)),
        ("t-0", 2, Taken(2, 1000)),
        ("t-1", 3, Taken(2, 1000)),
    ]
    assert found.of_position("t-0", 3, 4) is None
    assert found.of_position("t-2", 0, 1) is None


def test_offsets_before_those_that_are_kept(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    _offsets(place, 7, ['{"t-0": 2}', '{"t-0": 5}'])
    found = taken_rows(place, 1000, TOPIC_READER.reached)
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
    found = taken_rows(place, 1000, DELTA_READER.reached)
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
    found = taken_rows(place, 1000, DELTA_READER.reached)
    assert found.of_position(*_version(4)) is None


def test_what_one_batch_has_read_whole(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    place.put("local/0", "")
    found = taken_rows(place, 1000)
    assert found.of("/in/any", 1000) == found.of("/in/any", None) == Taken(0, None)
    assert found.of("/in/later", 1001) is None


def _plan(place: Location, lines: list[tuple[int, int, list[str]]], own: list[int]) -> None:
    """Write micro-batches, each with its watermark and its time, as Spark does; all of them are done."""
    for number, (watermark, at, ends) in enumerate(lines):
        settings = json.dumps({"batchWatermarkMs": watermark, "batchTimestampMs": at})
        place.put(f"checkpoint/offsets/{number}", "\n".join(["v1", settings, *ends]))
        place.put(f"checkpoint/commits/{number}", "v1")
    place.put("checkpoint/sqlext-own-sources", json.dumps(own))


def test_each_of_several_tables_has_its_own_source(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    lines = [
        (0, 10, ['{"files": 1}', '{"logOffset": 9}', '{"t-0": 5}']),
        (7000, 20, ['{"files": 1}', '{"logOffset": 9}', '{"t-0": 9}']),
        (8000, 30, ['{"files": 2}', '{"logOffset": 9}', '{"t-0": 9}']),
    ]
    _plan(place, lines, [1])
    place.put("sources/sqlext_a/00000000000000000000.json", '[["/in/1", 1, 1], ["/in/2", 1, 1]]')
    reads = [TableRead("a"), TableRead("t", TOPIC_READER.reached)]
    found = query_history(place, 1, reads, at_once=False)
    files, topic = found.tables
    assert (files.of("/in/1", None), files.of("/in/2", None)) == (Taken(0, None), Taken(2, 7000))
    assert [topic.of_position("t-0", n, n + 1) for n in (4, 5)] == [Taken(0, None), Taken(1, None)]
    assert found.watermark == 8000
    assert found.times == [BatchTime(0, None, None, 10), BatchTime(1, 7000, None, 20), BatchTime(2, 8000, 7000, 30)]


def test_files_whose_entries_were_merged(tmp_path: Path) -> None:
    """Also where entries that another one holds have not gone yet."""
    place = Location(str(tmp_path))
    _plan(place, [(0, 10, ['{"files": 1}']), (7000, 20, ['{"files": 3}'])], [])
    place.put(f"sources/sqlext_a/{0:020}.json", '[["/in/1", 1, 1], ["/in/2", 1, 1], ["/in/3", 1, 1]]')
    place.put(f"sources/sqlext_a/{1:020}.json", '[["/in/2", 1, 1]]')
    (files,) = query_history(place, 1, [TableRead("a")], at_once=False).tables
    assert [files.of(f"/in/{n}", None) for n in (1, 2, 3)] == [Taken(0, None), Taken(1, None), Taken(1, None)]


def test_a_table_that_is_read_twice_is_one_source_or_two(tmp_path: Path) -> None:
    one, two = Location(str(tmp_path / "1")), Location(str(tmp_path / "2"))
    _plan(one, [(0, 1, ['{"files": 1}'])], [])
    one.put("sources/sqlext_a/00000000000000000000.json", '[["/in/1", 1, 1]]')
    _plan(two, [(0, 1, ['{"files": 1}', '{"files": 1}'])], [])
    two.put("sources/sqlext_a/00000000000000000000.json", '[["/in/1", 1, 1]]')
    two.put("sources/sqlext_a_2/00000000000000000000.json", '[["/in/1", 1, 1]]')
    for place in (one, two):
        found = query_history(place, 1, [TableRead("a"), TableRead("a")], at_once=False)
        assert [table.of("/in/1", None) for table in found.tables] == [Taken(0, None)] * 2
    # Three reads of two sources: nobody knows which is which.
    found = query_history(two, 1, [TableRead("a")] * 3, at_once=False)
    assert found.tables == [TakenRows()] * 3


def test_processing_time_is_that_of_ticks(tmp_path: Path) -> None:
    """Of a clock of files, of the tick at the start, and of Spark's rate source; heartbeats are none."""
    place, clock = Location(str(tmp_path / "q")), tmp_path / "clock"
    clock.mkdir()
    (clock / "1").write_text("4000\n")
    _plan(place, [(0, 10, ["-", '{"logOffset":0}', "-"]), (0, 20, ["-", '{"logOffset":1}', "-"])], [0, 1, 2])
    place.put("ticks/start.txt", "1000\n")
    for number, path in enumerate((f"{place.for_spark}/ticks/start.txt", f"file://{clock}/1")):
        entry = json.dumps({"path": path, "timestamp": 1, "batchId": number})
        place.put(f"checkpoint/sources/1/{number}", f"v1\n{entry}")
    assert [time.clock for time in query_history(place, 1, [], at_once=False).times] == [1000, 4000]
    rate = Location(str(tmp_path / "rate"))
    _plan(rate, [(0, 10, ["0"]), (0, 20, ["3"])], [0])
    rate.put("checkpoint/sources/0/0", "v1\n50000")
    assert [time.clock for time in query_history(rate, 1, [], at_once=False).times] == [10, 52_000]


def test_the_end_of_the_input(tmp_path: Path) -> None:
    beat, tick, once = (Location(str(tmp_path / name)) for name in ("beat", "tick", "once"))
    _plan(beat, [(0, 10, []), (253_370_764_790_000, 20, [])], [])
    _plan(tick, [(0, 10, ["-"]), (0, 20, ['{"logOffset":0}'])], [0])
    tick.put("ticks/end.txt", f"{END}\n")
    entry = json.dumps({"path": f"{tick.for_spark}/ticks/end.txt", "timestamp": 1, "batchId": 0})
    tick.put("checkpoint/sources/0/0", f"v1\n{entry}")
    for place in (beat, tick):
        assert query_history(place, 1, [], at_once=False).times == [
            BatchTime(0, None, None, 10),
            BatchTime(1, END, None, 20),
        ]
    _plan(once, [(0, 10, ["{}"])], [])
    found = query_history(once, 1, [TableRead("a")], at_once=True)
    assert found.times == [BatchTime(0, END, None, 10)]
    assert found.tables == [TakenRows(whole=Taken(0, None), until=1)]


def test_a_micro_batch_that_is_not_done_has_fired_nothing(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    _plan(place, [(0, 10, ['{"t-0": 1}']), (5, 20, ['{"t-0": 2}'])], [])
    place.store.delete("checkpoint/commits/1")
    found = query_history(place, 1, [TableRead("t", TOPIC_READER.reached)], at_once=False)
    assert [time.batch for time in found.times] == [0]
    assert found.tables[0].of_position("t-0", 1, 2) == Taken(1, None)


def test_how_far_a_topic_was_read_without_spark(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    place.put("local/0", json.dumps({"at": 7, "ends": {"t": {"t-0": 2}}}))
    found = query_history(place, 1, [TableRead("t", TOPIC_READER.reached)], at_once=False)
    assert found.times == [BatchTime(0, END, None, 7)]
    (topic,) = found.tables
    assert [topic.of_position("t-0", n, n + 1) for n in (1, 2)] == [Taken(0, None), None]
    assert topic.of_position("t-1", 0, 1) is None
    place.put("local/0", "no JSON")
    assert query_history(place, 1, [], at_once=False) == QueryHistory([BatchTime(0, END, None, None)], [])

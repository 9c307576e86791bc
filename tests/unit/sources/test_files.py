"""Files as one split: a log that survives, the order and the choice of files, slices that miss no line."""

from __future__ import annotations

import io
import json
import os
import random
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from sqlext.connectors.filesystem.reader.folder import SPLIT, FolderReader, listed
from sqlext.connectors.moments import CLOCK, Ticks, TimeWithRows
from sqlext.connectors.splits import Limit
from sqlext.errors import SqlExtError
from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.csv_decoder import CsvDecoder
from sqlext.sources.decoding.line_blocks import blocks, first_line
from sqlext.sources.file_log import FileLog, FoundFile
from sqlext.sources.file_slices import Range
from sqlext.sources.stream import HoldsPlace, SplitStream, holds_key
from sqlext.stores.folder import FolderStore
from sqlext.stores.location import Location

_DECODER = CsvDecoder((ArrowField("id", pa.int64()),), ("id",))


def _reader(folder: Path, **changes: object) -> FolderReader:
    (folder / "in").mkdir(exist_ok=True)
    return FolderReader(str(folder / "in"), Location.of(folder / "log"), _DECODER, **changes)  # type: ignore[arg-type]


def _put(folder: Path, name: str, text: str, modified: int) -> None:
    place = folder / "in" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    os.utime(place, (modified, modified))


def _read(reader: FolderReader, start: int, end: int) -> list[int]:
    pieces = reader.slices({SPLIT: start}, {SPLIT: end})
    return [v for p in pieces for b in reader.read(p) for v in b.column(0).to_pylist()]


def test_a_folder_that_comes_later(tmp_path: Path) -> None:
    place = str(tmp_path / "later")
    reader = FolderReader(place, Location.of(tmp_path / "log"), _DECODER, may_be_missing=True)
    assert reader.latest(reader.initial(), None) == reader.initial()
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a").write_text("7\n")
    end = reader.latest(reader.initial(), None)[SPLIT]
    assert _read(reader, 0, end) == [7]
    with pytest.raises(FileNotFoundError):
        listed(str(tmp_path / "never"), None)


def test_files_come_by_age_and_stay_in_that_order(tmp_path: Path) -> None:
    reader = _reader(tmp_path)
    _put(tmp_path, "b", "2\n", 200)
    _put(tmp_path, "sub/a", "1\n", 100)
    for hidden in (".a", "_a", "c._COPYING_"):
        _put(tmp_path, hidden, "nonsense\n", 50)
    assert reader.latest({SPLIT: 0}, None) == {SPLIT: 2}
    _put(tmp_path, "older", "3\n", 10)
    again = _reader(tmp_path)  # after a restart
    assert again.latest({SPLIT: 2}, None) == {SPLIT: 3}
    assert _read(again, 0, 2) == [1, 2]
    assert _read(again, 2, 3) == [3]


def test_a_changed_file_is_not_read_again(tmp_path: Path) -> None:
    reader = _reader(tmp_path)
    _put(tmp_path, "a", "1\n", 100)
    assert reader.latest({SPLIT: 0}, None) == {SPLIT: 1}
    _put(tmp_path, "a", "1\n2\n", 300)
    assert reader.latest({SPLIT: 1}, None) == {SPLIT: 1}


@pytest.mark.parametrize("text", ["1\n2\n", "1\n2", "", "1\n22\n3"])
def test_a_file_that_became_shorter_is_told(text: str, tmp_path: Path) -> None:
    """What it had is gone, so to leave it out would lose rows without a word; a number that is cut is another one."""
    _put(tmp_path, "a", "1\n22\n333\n", 100)
    reader = _reader(tmp_path)
    end = reader.latest(reader.initial(), None)[SPLIT]
    _put(tmp_path, "a", text, 100)
    with pytest.raises(SqlExtError, match="has become shorter since it was found") as failed:
        _read(reader, 0, end)
    assert failed.value.code == "RUN-094"
    assert str(tmp_path / "in" / "a") in failed.value.message
    _put(tmp_path, "a", "1\n22\n333\n", 100)
    assert _read(reader, 0, end) == [1, 22, 333]


def test_a_file_that_grew_has_the_rows_that_had_begun(tmp_path: Path) -> None:
    _put(tmp_path, "a", "1\n22\n33", 100)
    reader = _reader(tmp_path)
    end = reader.latest(reader.initial(), None)[SPLIT]
    _put(tmp_path, "a", "1\n22\n333\n4\n", 200)
    assert _read(reader, 0, end) == [1, 22, 333]


def test_a_line_of_many_megabytes_is_read_in_few_pieces() -> None:
    class Counted(io.BytesIO):
        reads = 0

        def read(self, size: int | None = -1, /) -> bytes:
            self.reads += 1
            return super().read(size)

    line = b"x" * 30_000_000
    file = Counted(line + b"\nnext\n")
    assert first_line(file, 1) == len(line) + 1
    assert file.reads < 20


def test_limits_take_at_least_one_file(tmp_path: Path) -> None:
    reader = _reader(tmp_path)
    for i in range(5):
        _put(tmp_path, str(i), f"{i}\n" * 10, i)
    assert reader.latest({SPLIT: 0}, Limit("files", 2)) == {SPLIT: 2}
    assert reader.latest({SPLIT: 2}, Limit("files", 9)) == {SPLIT: 5}
    assert reader.latest({SPLIT: 0}, Limit("bytes", 1)) == {SPLIT: 1}
    assert reader.latest({SPLIT: 1}, Limit("bytes", 45)) == {SPLIT: 3}


def test_a_pattern_matches_whole_paths(tmp_path: Path) -> None:
    _reader(tmp_path)
    _put(tmp_path, "a.csv", "1\n", 1)
    _put(tmp_path, "a.csv.bak", "1\n", 1)
    assert [Path(f.path).name for f in listed(str(tmp_path / "in"), r".*\.csv")] == ["a.csv"]


def test_the_log_is_small_files(tmp_path: Path) -> None:
    log = FileLog(Location.of(tmp_path))
    log.append([FoundFile(f"/{i}", i, 1) for i in range(3)])
    log.append([])
    log.append([FoundFile("/x", 5, 1)])
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"{0:020}.json", f"{3:020}.json"]
    again = FileLog(Location.of(tmp_path))
    assert len(again) == 4
    assert [f.path for f in again.between(2, 4)] == ["/2", "/x"]
    with pytest.raises(SqlExtError, match=rf"{4:020}.json` is not there: the query has read 5 files") as raised:
        list(again.between(0, 5))
    assert raised.value.code == "RUN-063"


def test_a_log_stays_small(tmp_path: Path) -> None:
    """Its entries are at most nine for each digit of the number of files, and say what they said."""
    log = FileLog(Location.of(tmp_path))
    sizes = [1] * 1_500 + [7, 1, 120, 1, 3] * 20
    for number, size in enumerate(sizes):
        done = len(log)
        log.append([FoundFile(f"/{number}/{n}", number, n) for n in range(size)])
        log.merge(done)
        entries = len(list(tmp_path.iterdir()))
        assert entries <= 9 * len(str(len(log))) + 1
    paths = [f"/{number}/{n}" for number, size in enumerate(sizes) for n in range(size)]
    for again in (log, FileLog(Location.of(tmp_path))):
        assert [f.path for f in again.between(0, len(again))] == paths
        assert [f.path for f in again.between(995, 1_501)] == paths[995:1_501]


def test_only_files_that_were_taken_are_merged(tmp_path: Path) -> None:
    log = FileLog(Location.of(tmp_path))
    for number in range(25):
        log.append([FoundFile(f"/{number}", number, 1)])
    for taken, entries in ((9, 25), (10, 16), (19, 16), (20, 7), (25, 7)):
        log.merge(taken)
        assert len(list(tmp_path.iterdir())) == entries


def test_a_log_of_the_form_before_entries_were_merged(tmp_path: Path) -> None:
    place = Location.of(tmp_path)
    for number in range(30):
        place.put(f"{number:020}.json", f'[["/{number}", {number}, 1]]')
    log = FileLog(place)
    log.merge(30)
    assert len(list(tmp_path.iterdir())) == 1
    assert [f.path for f in FileLog(place).between(0, 30)] == [f"/{n}" for n in range(30)]


def test_who_reads_a_log_while_it_is_merged(tmp_path: Path) -> None:
    log, reader = FileLog(Location.of(tmp_path)), FileLog(Location.of(tmp_path))
    for number in range(20):
        log.append([FoundFile(f"/{number}", number, 1)])
    reading = reader.between(0, 20)
    begun = [next(reading).path for _ in range(5)]
    log.merge(20)
    assert [*begun, *(f.path for f in reading)] == [f"/{n}" for n in range(20)]
    assert [f.path for f in reader.between(13, 17)] == [f"/{n}" for n in range(13, 17)]


def test_who_lost_a_log_merges_nothing(tmp_path: Path) -> None:
    """A driver that was taken for dead knows fewer entries than there are."""
    old, new = FileLog(Location.of(tmp_path)), FileLog(Location.of(tmp_path))
    for number in range(10):
        old.append([FoundFile(f"/{number}", number, 1)])
    assert len(new) == 10
    for number in range(10, 100):
        new.append([FoundFile(f"/{number}", number, 1)])
    new.merge(100)
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    old.merge(10)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


class _Dying(FolderStore):
    """A folder whose process is killed instead of its n-th change, or just after it."""

    def __init__(self, folder: Path, changes: int, *, after: bool) -> None:
        super().__init__(folder)
        self._left, self._after = changes, after

    def write(self, key: str, data: bytes) -> None:
        self._change(lambda: super(_Dying, self).write(key, data))

    def replace(self, key: str, data: bytes, stamp: object) -> object | None:
        return self._change(lambda: super(_Dying, self).replace(key, data, stamp))

    def delete(self, key: str) -> None:
        self._change(lambda: super(_Dying, self).delete(key))

    def _change(self, change: Callable[[], object]) -> object:
        self._left -= 1
        result = change() if self._left or self._after else None
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)
        return result


def _admit(place: Location, count: int) -> None:
    log = FileLog(place)
    for number in range(len(log), count):
        log.merge(number)
        log.append([FoundFile(f"/{number}", number, 1)])
    log.merge(count)


@pytest.mark.parametrize("after", [False, True])
def test_killed_at_each_write_of_the_log(tmp_path: Path, after: bool) -> None:
    """Whoever goes on has each file once, in its order; nothing is left of what was merged."""
    whole, files = tmp_path / "whole", 30
    _admit(Location.of(whole), files)
    expected = sorted(path.name for path in whole.iterdir())
    deaths = 0
    for changes in range(1, 1_000):
        place = Location.of(tmp_path / str(changes))
        child = os.fork()
        if child == 0:
            vars(place)["store"] = _Dying(tmp_path / str(changes), changes, after=after)
            _admit(place, files)
            os._exit(0)
        died = os.waitpid(child, 0)[1] != 0
        deaths += died
        log = FileLog(Location.of(place.place))
        assert [f.path for f in log.between(0, len(log))] == [f"/{n}" for n in range(len(log))]
        _admit(place := Location.of(place.place), files)
        assert sorted(path.name for path in Path(place.place).iterdir()) == expected
        assert [f.path for f in FileLog(place).between(0, files)] == [f"/{n}" for n in range(files)]
        if not died:
            break
    # Each file is written once, each ten of them once more; nine go each time.
    assert deaths == files + 3 + 27


@pytest.mark.parametrize("text", [None, "", "[", "7", "[[1]]"])
def test_a_damaged_entry_of_the_log_is_named(tmp_path: Path, text: str | None) -> None:
    """Its files would be taken for new ones, and their rows come a second time."""
    log = FileLog(Location.of(tmp_path))
    log.append([FoundFile("/a", 1, 1)])
    log.append([FoundFile("/b", 2, 1)])
    entry = tmp_path / f"{0:020}.json"
    if text is None:
        entry.unlink()
    else:
        entry.write_text(text)
    with pytest.raises(SqlExtError) as raised:
        len(FileLog(Location.of(tmp_path)))
    assert (raised.value.code, str(entry) in raised.value.message) == ("RUN-063", True)
    assert "DROP QUERY" in (raised.value.hint or "")


def test_every_cut_gives_every_line_once(tmp_path: Path) -> None:
    place = tmp_path / "f"
    lines = [b"x" * random.Random(i).randrange(30) + b"\n" for i in range(300)]
    place.write_bytes(b"".join(lines) + b"last")
    size = place.stat().st_size
    for seed in range(50):
        chosen = sorted(random.Random(seed).sample(range(1, size), 6))
        bounds = [0, *chosen, size]
        ranges = [Range(str(place), a, b) for a, b in pairwise(bounds)]
        assert b"".join(b for r in ranges for b in blocks(r)) == place.read_bytes()


def test_large_files_are_cut_and_small_ones_joined(tmp_path: Path) -> None:
    reader = _reader(tmp_path, tasks=2)
    _put(tmp_path, "large", "1234567\n" * (1 << 20), 1)
    for i in range(3):
        _put(tmp_path, f"small{i}", "1\n", 2)
    end = reader.latest({SPLIT: 0}, None)
    pieces = reader.slices({SPLIT: 0}, end)
    assert [len(p.ranges) for p in pieces] == [1, 4]
    assert sum(b.num_rows for p in pieces for b in reader.read(p)) == (1 << 20) + 3


def test_a_stream_stops_at_what_is_there(tmp_path: Path) -> None:
    reader = _reader(tmp_path)
    _put(tmp_path, "a", "1\n", 1)
    stream = SplitStream(reader)
    stream.stop_at_what_is_there()
    _put(tmp_path, "b", "2\n", 2)
    assert stream.latest({SPLIT: 0}, None) == {SPLIT: 1}
    assert stream.latest({SPLIT: 1}, None) == {SPLIT: 1}


def test_a_stream_tells_the_time_with_its_rows(tmp_path: Path) -> None:
    reader = _reader(tmp_path)
    _put(tmp_path, "a", "1\n", 1)
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock" / "1").write_text("7\n")
    time = TimeWithRows(Location.of(tmp_path), 0, Ticks(runs=True, folder=str(tmp_path / "clock")))
    stream = SplitStream(reader, time=time)
    end = stream.latest(stream.initial(), None)
    assert end == {SPLIT: 1, CLOCK: 7}
    assert stream.latest(end, None) == end, "nothing is new, so there is no micro-batch"
    (tmp_path / "clock" / "2").write_text("8\n")
    assert stream.latest(end, None) == {SPLIT: 1, CLOCK: 8}
    stream.stop_at_what_is_there()
    (tmp_path / "clock" / "3").write_text("9\n")
    assert stream.latest(end, None) == {SPLIT: 1, CLOCK: 8}


def test_who_is_held_is_told_the_time(tmp_path: Path) -> None:
    reader, holds = _reader(tmp_path), HoldsPlace(Location.of(tmp_path), 0)
    _put(tmp_path, "a", "1\n", 1)
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock" / "1").write_text("7\n")
    stream = SplitStream(reader, holds, TimeWithRows(Location.of(tmp_path), ticks=Ticks(True, str(tmp_path / "clock"))))
    holds.time.put(holds_key(0), json.dumps({"held": [""]}))
    assert stream.latest({SPLIT: 0}, None) == {SPLIT: 0, CLOCK: 7}


def test_a_split_that_is_held_stays_where_it_is(tmp_path: Path) -> None:
    reader, holds = _reader(tmp_path), HoldsPlace(Location.of(tmp_path), 0)
    _put(tmp_path, "a", "1\n", 1)
    stream = SplitStream(reader, holds)
    holds.time.put(holds_key(0), json.dumps({"held": [SPLIT]}))
    assert stream.latest({SPLIT: 0}, None) == {SPLIT: 0}
    holds.time.put(holds_key(0), json.dumps({"held": []}))
    assert stream.latest({SPLIT: 0}, None) == {SPLIT: 1}

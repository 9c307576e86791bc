"""Queries of a set without an end read a table once: each micro-batch, or each file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from sqlext.errors import SqlExtError
from sqlext.jobs.local import running
from sqlext.jobs.query import Query
from sqlext.local import shared_files, streams
from sqlext.local.shared_files import SharedFiles
from sqlext.local.shared_streams import SharedStream
from sqlext.sources.file_slices import FileSlice
from tests.local.streams.stream_desk import Desk

_TABLE = """
CREATE TABLE changes (k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'delta', 'path' = '{in}', 'source.monitor-interval' = '1 s'{more});
CREATE TABLE sums (k STRING, s BIGINT) WITH ('connector' = 'delta', 'path' = '{out}-sums');
CREATE TABLE large (v BIGINT) WITH ('connector' = 'delta', 'path' = '{out}-large');
CREATE TABLE twice (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '{out}-twice');
"""
_SET = """
EXECUTE STATEMENT SET BEGIN
INSERT INTO sums SELECT k, SUM(v) FROM TABLE(TUMBLE(TABLE changes, DESCRIPTOR(ts), INTERVAL '10' SECOND))
  GROUP BY k, window_start, window_end;
INSERT INTO large SELECT v FROM changes WHERE v > 2;
INSERT INTO twice SELECT a.k, a.v * b.v FROM changes AS a JOIN changes AS b
  ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' SECOND;
END;
"""
_NAMES = ("out-large", "out-sums", "out-twice")


@pytest.fixture
def set_of(desk: Desk) -> str:
    return script(desk)


def script(desk: Desk, queries: str = _SET, more: str = "") -> str:
    put(desk)
    table = _TABLE.replace("{in}", str(desk.root / "changes")).replace("{more}", more)
    return desk.script(table, queries, tables=())


def put(desk: Desk, *rows: tuple[str, int, int]) -> None:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    times = pa.array([datetime(2024, 1, 1, 0, 0, second) for second in columns[2]], pa.timestamp("us"))
    table = pa.table({"k": pa.array(columns[0], pa.string()), "v": pa.array(columns[1], pa.int64()), "ts": times})
    write_deltalake(str(desk.root / "changes"), table, mode="append")


def written(desk: Desk) -> dict[str, list[tuple[Any, ...]]]:
    return {name: desk.rows(name) for name in _NAMES}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Who reads: all together, or a query by itself."""
    found: list[str] = []
    read, alone = SharedStream._read, streams._TableStream._read

    def together(shared: SharedStream, pieces: Sequence[Any]) -> Any:
        found.append("together")
        return read(shared, pieces)

    def by_itself(table: Any, piece: Any) -> Any:
        found.append("by itself")
        return alone(table, piece)

    monkeypatch.setattr(SharedStream, "_read", together)
    monkeypatch.setattr(streams._TableStream, "_read", by_itself)
    return found


def test_each_micro_batch_is_read_once(desk: Desk, set_of: str, reads: list[str]) -> None:
    query = desk.start(set_of)
    query.process_available()  # all have begun
    for second in range(3):
        put(desk, ("a", second, second), ("b", 3 + second, second))
        query.process_available()
    put(desk, ("a", 0, 30))
    query.process_available()
    query.stop()
    assert reads == ["together"] * 4
    assert written(desk) == {
        "out-large": [(3,), (4,), (5,)],
        "out-sums": [("a", 3), ("b", 12)],
        "out-twice": sorted(
            [("a", a * b) for a, b in [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (0, 0)]]
            + [("b", a * b) for a, b in [(3, 3), (3, 4), (4, 4), (4, 5), (5, 5)]]
        ),
    }


def test_one_that_is_behind_reads_by_itself_until_it_is_with_the_others(
    desk: Desk, set_of: str, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    query = desk.start(set_of)
    put(desk, ("a", 1, 1))
    query.process_available()

    def dies(stream: running.LocalStream, *of: Any) -> None:
        if stream.part.name.endswith("large"):
            raise Killed
        commit(stream, *of)

    commit = running.LocalStream._batch
    monkeypatch.setattr(running.LocalStream, "_batch", dies)
    put(desk, ("a", 5, 2))
    with pytest.raises(SqlExtError):
        query.await_termination(60)
    monkeypatch.setattr(running.LocalStream, "_batch", commit)
    reads.clear()
    put(desk, ("a", 7, 3), ("a", 0, 40))
    query = desk.start(set_of)
    query.process_available()
    put(desk, ("a", 9, 41))
    query.process_available()
    query.stop()
    assert reads[-1] == "together"
    assert "by itself" in reads
    assert written(desk)["out-large"] == [(5,), (7,), (9,)]
    assert written(desk)["out-sums"] == [("a", 13)]


def test_what_cannot_be_read_is_told(desk: Desk, set_of: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(shared: SharedStream, pieces: Sequence[Any]) -> Any:
        raise SqlExtError("RUN-066", "a file is gone")

    query = desk.start(set_of)
    monkeypatch.setattr(SharedStream, "_read", fails)
    put(desk, ("a", 1, 1))
    with pytest.raises(SqlExtError, match="a file is gone"):
        query.await_termination(60)
    monkeypatch.undo()
    query = desk.start(set_of)
    query.process_available()
    query.stop()
    assert written(desk)["out-twice"] == [("a", 1)]


def test_rows_are_kept_for_few_micro_batches(desk: Desk, set_of: str, reads: list[str]) -> None:
    """A query that waits for its sink does not let the others keep all that they read."""
    query = desk.start(set_of)
    query.process_available()
    slow = next(stream for name, stream in query.running.items() if name.endswith("large"))
    assert isinstance(slow, running.LocalStream)
    (shared,) = slow._shared.values()
    with slow._writes:
        for number in range(6):
            put(desk, ("a", 3 + number, number))
            deadline = time.monotonic() + 30
            while reads.count("together") <= number:
                assert time.monotonic() < deadline
                time.sleep(0.01)
        assert len([cut for cut in shared._cuts if cut.rows is not None]) <= 2
    query.process_available()
    query.stop()
    assert "by itself" in reads
    assert written(desk)["out-large"] == [(3 + number,) for number in range(6)]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", "changes: each micro-batch is read and decoded once for sums, large, twice"),
        (
            ", 'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '1 min'",
            "changes: this query reads it by itself: it waits for others, where it is ahead",
        ),
    ],
)
def test_explain_says_what_is_shared(desk: Desk, more: str, told: str) -> None:
    text = script(desk, _SET.replace("EXECUTE", "EXPLAIN"), more)
    ((found,),) = desk.session().run(text)[-1].rows
    assert told in found


_FILES = """
CREATE TABLE one (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '{out}-one');
CREATE TABLE two (v BIGINT) WITH ('connector' = 'delta', 'path' = '{out}-two');
EXECUTE STATEMENT SET BEGIN
INSERT INTO one SELECT a.k, a.v * b.v FROM events AS a JOIN events AS b
  ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' SECOND;
INSERT INTO two SELECT v FROM events WHERE v > 2;
END;
"""


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files of which somebody reads a part."""
    found: list[str] = []
    read = SharedFiles._read

    def noted(shared: SharedFiles, piece: FileSlice) -> Any:
        found.extend(Path(part.path).name for part in piece.ranges)
        return read(shared, piece)

    monkeypatch.setattr(SharedFiles, "_read", noted)
    return found


def test_each_file_is_read_once(desk: Desk, parts: list[str]) -> None:
    """Also where queries find files in different micro-batches, and one reads the table twice."""
    desk.put("events", "0", [("a", 3, 0)])
    query = desk.start(desk.script(_FILES))
    query.process_available()
    desk.put("events", "1", [("a", 5, 0.5), ("b", 1, 0)])
    desk.put("events", "2", [("a", 0, 30)])
    query.process_available()
    (shared,) = _shared(query)
    assert not shared._parts
    query.stop()
    assert sorted(parts) == ["0", "1", "2"]
    assert desk.rows("out-two") == [(3,), (5,)]
    assert desk.rows("out-one") == [("a", 0), ("a", 9), ("a", 15), ("a", 25), ("b", 1)]


def test_rows_of_few_files_are_kept(desk: Desk, parts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that comes later reads by itself what was let go."""
    monkeypatch.setattr(shared_files, "_KEPT", 2 * shared_files._EACH + 200)
    query = desk.start(desk.script(_FILES))
    query.process_available()
    slow = next(stream for name, stream in query.running.items() if name.endswith("two"))
    (shared,) = _shared(query)
    with slow._writes:
        for number in range(5):
            desk.put("events", str(number), [("a", 3 + number, number)])
            deadline = time.monotonic() + 30
            while parts.count(str(number)) < 1:
                assert time.monotonic() < deadline
                time.sleep(0.01)
        assert len(shared._parts) <= 2
    query.process_available()
    query.stop()
    assert len(parts) > 5
    assert desk.rows("out-two") == [(3 + number,) for number in range(5)]


def test_a_file_that_cannot_be_read_fails_all(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(shared: SharedFiles, piece: FileSlice) -> Any:
        raise SqlExtError("RUN-066", "a file is gone")

    query = desk.start(desk.script(_FILES))
    monkeypatch.setattr(SharedFiles, "_read", fails)
    desk.put("events", "0", [("a", 3, 0)])
    with pytest.raises(SqlExtError, match="a file is gone"):
        query.await_termination(60)
    monkeypatch.undo()
    query = desk.start(desk.script(_FILES))
    query.process_available()
    query.stop()
    assert desk.rows("out-two") == [(3,)]


@pytest.mark.parametrize(
    "more", ["", ", 'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '1 min'"]
)
def test_explain_says_that_files_are_shared(desk: Desk, more: str) -> None:
    """Also where a table waits for others: each query still has its own places."""
    text = desk.script(_FILES.replace("EXECUTE", "EXPLAIN"), more=more)
    ((found,),) = desk.session().run(text)[-1].rows
    assert "events: each file is read and decoded once for one, two" in found


def _shared(query: Query) -> Sequence[SharedFiles]:
    streams_ = [stream for stream in query.running.values() if isinstance(stream, running.LocalStream)]
    tables = [table for stream in streams_ for table in stream._shared.values()]
    found = {id(table): table for table in tables if isinstance(table, SharedFiles)}
    return list(found.values())

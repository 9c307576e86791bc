"""Eight hours of a stream, four files a minute: what a query keeps of it is as much after eight hours as after one.

What a query writes for each micro-batch is run here without Spark, by a clock of its own: the reader of files, the
sink, the keeper of time, the record of how it goes. Its input is removed after a while. Its result may grow.
Spark removes heartbeats by itself.
"""

from __future__ import annotations

import gc
import os
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from sqlext.connectors.filesystem.reader.folder import SPLIT, FolderReader
from sqlext.connectors.moments import ProcessingClock
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.jobs.progress import InputCounts, InputsRead
from sqlext.jobs.timekeeping import Timekeeping
from sqlext.rewrite.script.model import KeptInput
from sqlext.sinks.base import SinkContext
from sqlext.sinks.local import LocalSink, local_sink
from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.json_decoder import JsonDecoder
from sqlext.sources.stream import SplitStream
from sqlext.stores.location import Location
from sqlext.types import BIGINT
from sqlext.watermarks.history import History, Sample
from sqlext.watermarks.inputs import Input

_HOURS, _HOUR = 8, 3_600
#: What Python and Arrow keep for themselves, and the paths of files that were read, in bytes.
_MARGIN = 48 << 20
_SCHEMA = pa.schema([("id", pa.int64())])
_FIRST = 1_700_000_000
_SHORT_LOG = (("delta.logRetentionDuration", "interval 30 minutes"), ("delta.checkpointInterval", "10"))
_IN_MEMORY = Path("/dev/shm")


@dataclass
class Stream:
    """A query that copies the rows of files into a sink; ``now`` is in seconds since 1970."""

    folder: Path
    sink: LocalSink
    number: int = 0
    now: int = _FIRST
    offset: dict[str, int] = field(default_factory=lambda: {SPLIT: 0})

    def __post_init__(self) -> None:
        self.place = Location.of(self.folder / "query")
        (self.folder / "in").mkdir(parents=True)
        self.place.below("progress").store.make()
        (self.folder / "clock").mkdir()
        self.sink.open()
        self.begin()

    def begin(self) -> None:
        """Start, or start again, where it was."""
        decoder = JsonDecoder((ArrowField("id", pa.int64()),))
        self.reader = FolderReader(str(self.folder / "in"), self.place.below("sources/t"), decoder)
        self.stream = SplitStream(self.reader)
        self.history = History(self.place.below("progress"))
        kept = KeptInput(Input("t"), "beats", "source")
        self.time = Timekeeping(self.place.below("time"), [kept], ProcessingClock(str(self.folder / "clock")))

    def step(self, seconds: int) -> None:
        """Let a file come, and a micro-batch take it."""
        self.now += seconds
        (self.folder / "clock" / "now").write_text(str(self.now * 1_000))
        file = self.folder / "in" / f"{self.number:05}.json"
        file.write_text(f'{{"id": {self.number}}}\n')
        os.utime(file, (self.now, self.now))
        end = self.stream.latest(self.offset, None)
        batches = [b for piece in self.reader.slices(self.offset, end) for b in self.reader.read(piece)]
        rows = pa.Table.from_batches(batches, _SCHEMA)
        assert rows["id"].to_pylist() == [self.number]
        self.sink.write(rows, self.number, repeated=False)
        self.reader.commit(end)
        self.offset, self.number = end, self.number + 1
        counts = InputCounts(largest=self.now * 1_000, rows=self.number, batches=self.number, last_rows=1)
        self.time.look(InputsRead({"t": {"": counts}}, [end]), resting=True)
        self.history.take(Sample(self.now * 1_000, None, {}, 0, self.number, self.number, 0, 0))

    def remove_input(self, seconds: int) -> None:
        """Remove files that came so long ago."""
        for file in (self.folder / "in").iterdir():
            if file.stat().st_mtime < self.now - seconds:
                file.unlink()


def hours(stream: Stream, seconds: int) -> Iterator[int]:
    """Let the hours pass, a file in so many seconds; the query starts anew in the middle of each."""
    for hour in range(1, _HOURS + 1):
        for step in range(_HOUR // seconds):
            if step == _HOUR // seconds // 2:
                stream.begin()
            stream.step(seconds)
        stream.remove_input(600)
        yield hour


def held() -> tuple[int, int]:
    """Return the open files and the threads of this process."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def files(*places: Path) -> int:
    return sum(path.is_file() for place in places for path in place.rglob("*"))


def sink_of(connector: str, path: Path, *options: tuple[str, str]) -> LocalSink:
    spec = WriteSpec(connector, (WriteColumn("id", BIGINT),), "t", "json", str(path), options=options)
    return local_sink(spec, SinkContext("q", "1"), _SCHEMA)


def join_files(table: Path) -> None:
    """Do what OPTIMIZE and VACUUM do."""
    DeltaTable(table).optimize.compact()
    DeltaTable(table).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where a machine has one: 30,000 writes wait for no disk there."""
    if not _IN_MEMORY.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as name:
        yield Path(name)


def test_into_files(folder: Path) -> None:
    out = folder / "out"
    stream = Stream(folder, sink_of("filesystem", out))
    kept, process, sizes = [], [], []
    for _ in hours(stream, 15):
        kept.append(files(folder / "query", out / "_sqlext"))
        process.append(held())
        sizes.append(memory())
    assert len(list(out.glob("part-*"))) == 1_920
    # The log of files has at most nine entries for each digit of their number; few other files are there.
    assert max(kept) <= 9 * len("1920") + 10
    assert len(set(process)) == 1
    assert max(sizes) < sizes[0] + _MARGIN


def test_into_a_delta_table(folder: Path) -> None:
    """Its log has the commits of the time that it is told to keep, and small files are joined; a file each minute."""
    table = folder / "out"
    log = table / "_delta_log"
    stream = Stream(folder, sink_of("delta", table, *_SHORT_LOG))
    kept, process, sizes = [], [], []
    for _ in hours(stream, 60):
        kept.append(files(folder / "query", table))
        process.append(held())
        sizes.append(memory())
        for path in log.iterdir():  # by the machine's clock, which Delta asks
            modified = path.stat().st_mtime - _HOUR
            os.utime(path, (modified, modified))
        join_files(table)
    stream.sink.write(pa.table({"id": [479]}, _SCHEMA), 479, repeated=True)
    assert sorted(DeltaTable(table).to_pyarrow_table()["id"].to_pylist()) == list(range(480))
    assert len(list(table.glob("*.parquet"))) == 1
    assert max(kept[2:]) <= kept[2] + 18
    assert len(set(process[1:])) == 1
    assert max(sizes) < sizes[0] + _MARGIN

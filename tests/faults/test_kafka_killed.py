"""kill -9 at random moments of a job from Kafka over windows into Delta that keeps its late rows: each row once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from confluent_kafka import Producer
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from tests.kafka_broker import make_topic

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

JOB = Path(__file__).with_name("kafka_job.py")
SCRIPT = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset');
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT, s BIGINT)
WITH ('connector' = 'delta', 'path' = '${{OUT}}/counts');
CREATE TABLE late (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${{OUT}}/late');
INSERT INTO counts SELECT k, window_start, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end
EMIT AFTER WATERMARK LATE DATA TO late;
"""
START = datetime(2024, 1, 1)
PARTITIONS, KEYS = 2, ("a", "b", "c")
#: How long it lives at most, in the time that it takes to start: a busy machine is slow at both.
LIVES = 2
PATIENCE = 300


class Killed:
    """The job in a process of its own, that is killed at random moments and started again.

    Attributes:
        kills: how often it still has to be killed.
    """

    def __init__(self, folder: Path, script: Path, kills: int, chance: random.Random) -> None:
        self._command = [sys.executable, str(JOB), str(folder), str(script)]
        self._log = folder / "job.log"
        self._chance = chance
        self.kills = kills
        self._start()

    def _start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self._dies: float | None = None
        self._began = time.monotonic()

    def live(self) -> None:
        """Let it go on for a moment; it dies when its time has come."""
        assert self._process.poll() is None, self._log.read_text()
        if self._dies is None:
            assert self._process.stdout is not None
            assert self._process.stdout.readline() == "running\n", self._log.read_text()
            now = time.monotonic()
            self._dies = now + self._chance.uniform(0, LIVES * (now - self._began))
        elif self.kills and time.monotonic() > self._dies:
            self.kills -= 1
            self._process.kill()
            self._process.wait()
            self._start()
        time.sleep(0.05)

    def until(self, condition: Callable[[], bool]) -> None:
        """Let it go on until something is so; one that is not killed has to get there."""
        while not condition():
            assert time.monotonic() < self._began + PATIENCE, self._log.read_text()
            self.live()

    def end(self) -> None:
        """Let it work off what there is, and end."""
        self._process.communicate("end\n", timeout=PATIENCE)
        assert self._process.returncode == 0, self._log.read_text()

    def close(self) -> None:
        """Let nothing of it be left."""
        self._process.kill()
        self._process.wait()


def rows_of(folder: Path) -> list[tuple[object, ...]]:
    """Return the rows of a Delta table, none if it is not there yet."""
    try:
        table = DeltaTable(str(folder)).to_pyarrow_table()
    except TableNotFoundError:
        return []
    return sorted(tuple(row.values()) for row in table.to_pylist())


def send(broker: str, topic: str, rows: Iterable[tuple[str, int, int]]) -> None:
    """Send rows (key, number, second), each key to a partition of its own."""
    producer = Producer({"bootstrap.servers": broker})
    for key, number, second in rows:
        text = f'{{"k": "{key}", "v": {number}, "ts": "{START + timedelta(seconds=second)}"}}'
        producer.produce(topic, text, partition=KEYS.index(key) % PARTITIONS)
    assert producer.flush(30) == 0


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.costly)])
def test_each_row_comes_once(broker: str, tmp_path: Path, kills: int) -> None:
    topic = make_topic(broker, f"killed-{kills}", PARTITIONS)
    script = tmp_path / "job.sql"
    script.write_text(SCRIPT.format(topic=topic, broker=broker))
    counts, late = tmp_path / "out" / "counts", tmp_path / "out" / "late"
    chance = random.Random(kills)
    windows: Counter[tuple[str, int]] = Counter()
    sums: Counter[tuple[str, int]] = Counter()
    missed: list[tuple[object, ...]] = []
    job = Killed(tmp_path, script, kills, chance)
    try:
        minute = 0
        while minute < 4 or job.kills:
            rows = [(k, chance.randrange(1000), 60 * minute + chance.randrange(60)) for k in KEYS for _ in range(20)]
            rows += [(k, 1000, 60 * minute + 59) for k in KEYS]
            for key, number, _ in rows:
                windows[key, minute] += 1
                sums[key, minute] += number
            tardy = [(k, chance.randrange(1000), 60 * minute - 100) for k in KEYS] if minute > 1 else []
            missed += [(key, number) for key, number, _ in tardy]
            send(broker, topic, [*rows, *tardy])
            if minute:  # its window is out: what comes for it from now on is late
                done = minute * len(KEYS)
                job.until(lambda n=done: len(rows_of(counts)) >= n)  # type: ignore[misc]
            minute += 1
        job.until(lambda: job.kills == 0)
        job.end()
    finally:
        job.close()
    closed = {at: n for at, n in windows.items() if at[1] < minute - 1}
    expected = sorted((k, START + timedelta(minutes=m), n, sums[k, m]) for (k, m), n in closed.items())
    assert rows_of(counts) == expected
    assert rows_of(late) == sorted(missed)

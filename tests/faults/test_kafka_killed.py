"""kill -9 at random moments of a job from Kafka over windows into Delta that keeps its late rows: each row once."""

from __future__ import annotations

import itertools
import math
import os
import random
import signal
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
from tests.workspace import short_lived

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
#: How long a job lives at most that need not get anywhere, in the time that its query takes to begin: a busy machine is
#: slow at both.
LIVES = 2
PATIENCE = 600
#: How often it is looked at, in seconds.
GLANCE = 0.2


class Driver:
    """The job in a process of its own, which has its Spark and waits to be told to go on."""

    def __init__(self, folder: Path, script: Path, own: Path) -> None:
        self._log = folder / "job.log"
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(JOB), str(folder), str(script), str(own)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=short_lived(),
                start_new_session=True,
            )

    def run(self) -> float:
        """Let it begin its query; return how long that took, in seconds."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        began = time.monotonic()
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "running\n", self.said()
        return time.monotonic() - began

    def kill(self, *, with_java: bool) -> None:
        """Kill it if it lives, by itself (its JVM ends when it finds that out), or with its JVM, as a machine dies."""
        if self.process.poll() is None:
            (os.killpg if with_java else os.kill)(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def said(self) -> str:
        """Return why it failed."""
        return self._log.read_text()


class Killed:
    """The job, killed at random moments and gone on with at once by a next driver, whose Spark was there already.

    Half of the drivers die soon, wherever they are; the others after they have written something, in what comes next.
    So some meet what a killed one has left half done, and the job gets on also where a start takes long.

    Attributes:
        kills: how often it still has to be killed.
    """

    def __init__(self, folder: Path, script: Path, kills: int, chance: random.Random) -> None:
        self._folder, self._script, self._chance = folder, script, chance
        self._numbers = itertools.count()
        self.kills = kills
        self._next = self._driver()
        self._go_on()

    def live(self) -> None:
        """Let it go on for a moment; it dies when its time has come."""
        assert self._running.process.poll() is None, self._running.said()
        left = self._dies - time.monotonic()
        if self.kills and left < GLANCE:
            time.sleep(max(left, 0))
            self.kills -= 1
            self._running.kill(with_java=self._chance.random() < 0.5)
            self._go_on()
        else:
            time.sleep(GLANCE)

    def until(self, condition: Callable[[], bool]) -> None:
        """Let it go on until it has written something; one that is not killed has to get there."""
        while not condition():
            assert time.monotonic() < self._began + PATIENCE, self._running.said()
            self.live()
        self._dies = min(self._dies, time.monotonic() + self._chance.uniform(0, self._took))

    def end(self) -> None:
        """Let it work off what there is, and end."""
        self._running.process.communicate("end\n", timeout=PATIENCE)
        assert self._running.process.returncode == 0, self._running.said()

    def close(self) -> None:
        """Let nothing of it be left."""
        for driver in (self._running, self._next):
            driver.kill(with_java=True)

    def _driver(self) -> Driver:
        return Driver(self._folder, self._script, self._folder / f"spark-{next(self._numbers)}")

    def _go_on(self) -> None:
        self._running = self._next
        self._took = self._running.run()
        if self.kills:
            self._next = self._driver()
        self._began = time.monotonic()
        soon = self._began + self._chance.uniform(0, LIVES * self._took)
        self._dies = soon if self._chance.random() < 0.5 else math.inf


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
        job.end()
    finally:
        job.close()
    closed = {at: n for at, n in windows.items() if at[1] < minute - 1}
    expected = sorted((k, START + timedelta(minutes=m), n, sums[k, m]) for (k, m), n in closed.items())
    assert rows_of(counts) == expected
    assert rows_of(late) == sorted(missed)

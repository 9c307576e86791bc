"""Kill real jobs (kill -9) at random moments, let the next driver go on, and compare what came out with plain Python.

    python -m tests.kills --kills 100 --seed 1        (or: make kills KILLS=100 SEED=1)

Each kind of job gets its share of the kills. A driver is killed at a random moment between its start and the time that
an undisturbed run takes: by itself, or with its JVM, as a machine dies. Between two kills more rows come. The seed
decides rows, files and moments; what a moment meets is up to the machine. A table of what was killed where is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.workspace import short_lived

START = datetime(2024, 1, 1)
KEYS = ("a", "b", "c")
#: Of a window, and how far apart two rows of the self-join may be, in seconds.
WINDOW, NEAR = 10, 2
#: The kinds of jobs; the last ones need no Spark.
SMALL = "files without Spark"
KINDS = ("files by Arrow", "files by Spark", "Delta", "Kafka", SMALL)
#: A job that hangs ends the trial.
PATIENCE = 600
_ROWS = "k STRING, id INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"
_SINKS = """
SET 'sqlext.bounded' = 'catch-up';
CREATE TABLE IF NOT EXISTS counts (k STRING, w TIMESTAMP(3), n BIGINT, s BIGINT)
WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
CREATE TABLE IF NOT EXISTS early (k STRING, w TIMESTAMP(3), n BIGINT, PRIMARY KEY (k, w) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/early');
CREATE TABLE IF NOT EXISTS totals (k STRING, s BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/totals');
CREATE TABLE IF NOT EXISTS pairs (k STRING, a INT, b INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/pairs', 'format' = 'json');
"""
_JOB = f"""
BEGIN STATEMENT SET;
INSERT INTO counts SELECT k, window_start, COUNT(*), SUM(CAST(v AS BIGINT))
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '{WINDOW}' SECOND)) GROUP BY k, window_start, window_end;
INSERT INTO early SELECT k, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '{WINDOW}' SECOND)) GROUP BY k, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY ROW;
INSERT INTO totals SELECT k, SUM(CAST(v AS BIGINT)) FROM events GROUP BY k;
INSERT INTO pairs SELECT x.k, x.id, y.id FROM events x JOIN events y
ON x.k = y.k AND y.ts BETWEEN x.ts AND x.ts + INTERVAL '{NEAR}' SECOND;
END;
"""
#: Runs a script when it is told to, and says when it has ended.
_DRIVER = """
import sys
from pathlib import Path
import sqlext
folder, script, own, engine, jars, variables = sys.argv[1:]
import json
if engine == "local":
    session = sqlext.connect(catalog=Path(folder, "catalog"), settings={"sqlext.engine": "local"})
else:
    from sqlext.spark.local import local_spark
    spark = local_spark(cores=1, folder=Path(own), settings={"spark.jars": jars} if jars else {})
    session = sqlext.connect(spark, catalog=Path(folder, "catalog"))
print("ready", flush=True)
if sys.stdin.readline():
    for result in session.run(Path(script), variables=json.loads(variables)):
        if result.query is not None:
            result.query.await_termination()
    print("ended", flush=True)
"""


@dataclass(frozen=True)
class Row:
    """A row of the input; ``second`` is its event time, since ``START``."""

    key: str
    id: int
    number: int
    second: int

    @property
    def time(self) -> datetime:
        return START + timedelta(seconds=self.second)

    @property
    def record(self) -> dict[str, Any]:
        return {"k": self.key, "id": self.id, "v": self.number, "ts": str(self.time)}


class Rows:
    """Rows in order of time, a few seconds at a time: none of them is late."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._second = 0
        self.all: list[Row] = []

    def more(self) -> list[Row]:
        """Return the rows of the next seconds."""
        found = []
        for _ in range(self._chance.randrange(1, 12)):
            self._second += self._chance.randrange(3)
            for key in self._chance.sample(KEYS, self._chance.randrange(1, 4)):
                found.append(Row(key, len(self.all) + len(found), self._chance.randrange(1000), self._second))
        self.all += found
        return found

    def last(self) -> list[Row]:
        """Return rows that close all windows before them."""
        self._second += 10 * WINDOW
        found = [Row(key, len(self.all) + n, 0, self._second) for n, key in enumerate(KEYS)]
        self.all += found
        return found


@dataclass
class Answer:
    """What the sinks must have, worked out in plain Python.

    Attributes:
        ends: whether the end of the rows closes all windows.
    """

    rows: Sequence[Row]
    ends: bool = False

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return the rows of each sink, sorted."""
        windows: Counter[tuple[str, int]] = Counter()
        sums: Counter[tuple[str, int]] = Counter()
        totals: Counter[str] = Counter()
        for row in self.rows:
            at = row.key, row.second // WINDOW
            windows[at] += 1
            sums[at] += row.number
            totals[row.key] += row.number
        open_ = max(row.second for row in self.rows) // WINDOW + self.ends
        begins = {at: START + timedelta(seconds=at[1] * WINDOW) for at in windows}
        pairs = [
            (x.key, x.id, y.id)
            for key in KEYS
            for x in self.rows
            if x.key == key
            for y in self.rows
            if y.key == key and 0 <= y.second - x.second <= NEAR
        ]
        return {
            "counts": sorted((k, begins[k, w], n, sums[k, w]) for (k, w), n in windows.items() if w < open_),
            "early": sorted((k, begins[k, w], n) for (k, w), n in windows.items()),
            "totals": sorted(totals.items()),
            "pairs": sorted(pairs),
        }


class Input:
    """Where rows come from."""

    #: CREATE TABLE, the jars that Spark needs for it, and the engine.
    table = ""
    jars = ""
    engine = "spark"

    def put(self, rows: Sequence[Row]) -> None:
        """Let rows come."""
        raise NotImplementedError


@dataclass
class Files(Input):
    """A folder of json files."""

    folder: Path
    reader: str
    _count: int = 0

    def __post_init__(self) -> None:
        self.table = (
            f"SET 'sqlext.source' = '{self.reader}';\nCREATE TABLE IF NOT EXISTS events ({_ROWS})\n"
            f"WITH ('connector' = 'filesystem', 'path' = '{self.folder}', 'format' = 'json');"
        )
        self.folder.mkdir()

    def put(self, rows: Sequence[Row]) -> None:
        """Write a file, in place in one step."""
        new = self.folder.with_name("new.json")
        new.write_text("".join(f"{json.dumps(row.record)}\n" for row in rows))
        self._count += 1
        os.utime(new, (1_700_000_000 + 60 * self._count,) * 2)
        new.replace(self.folder / f"{self._count:04}.json")


@dataclass
class Delta(Input):
    """A Delta table."""

    folder: Path

    def __post_init__(self) -> None:
        self.table = (
            f"CREATE TABLE IF NOT EXISTS events ({_ROWS})\nWITH ('connector' = 'delta', 'path' = '{self.folder}');"
        )

    def put(self, rows: Sequence[Row]) -> None:
        """Commit rows."""
        import pyarrow as pa
        from deltalake import write_deltalake

        types = pa.schema([("k", pa.string()), ("id", pa.int32()), ("v", pa.int32()), ("ts", pa.timestamp("us"))])
        found = pa.Table.from_pylist([{**row.record, "ts": row.time} for row in rows], schema=types)
        write_deltalake(str(self.folder), found, mode="append")


class Kafka(Input):
    """A topic of two partitions; one key is in one of them."""

    def __init__(self, broker: str, name: str) -> None:
        from tests.kafka_broker import fetch_spark_connector, make_topic

        self._broker = broker
        self._topic = make_topic(broker, name, 1)
        self.jars = ",".join(map(str, fetch_spark_connector()))
        self.table = (
            f"CREATE TABLE IF NOT EXISTS events ({_ROWS})\nWITH ('connector' = 'kafka', 'topic' = '{self._topic}', "
            f"'properties.bootstrap.servers' = '{broker}', 'format' = 'json', "
            "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');"
        )

    def put(self, rows: Sequence[Row]) -> None:
        """Send rows."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self._broker})
        for row in rows:
            producer.produce(self._topic, json.dumps(row.record))
        assert producer.flush(30) == 0


class Driver:
    """A job in a process of its own, which has started its engine and waits to be told to go on."""

    def __init__(self, folder: Path, script: Path, source: Input, number: int) -> None:
        self._log = folder / "job.log"
        variables = json.dumps({"OUT": str(folder / "out")})
        command = [_DRIVER, str(folder), str(script), str(folder / f"spark-{number}"), source.engine, source.jars]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", *command, variables],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=short_lived(),
                start_new_session=True,
            )

    def ready(self) -> None:
        """Wait until it can be told to go on."""
        assert self._line() == "ready", self.said()

    def go(self) -> None:
        """Let it run its script."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def end(self) -> float:
        """Wait until its script has run; return how long that took, in seconds."""
        began = time.monotonic()
        self.go()
        assert self._line() == "ended", self.said()
        took = time.monotonic() - began
        self.kill(with_java=True)
        return took

    def kill(self, *, with_java: bool) -> bool:
        """Kill it by itself (its JVM ends when it finds that out), or with its JVM; return whether it lived."""
        lived = self.process.poll() is None
        if lived:
            (os.killpg if with_java else os.kill)(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=PATIENCE)
        return lived

    def said(self) -> str:
        """Return why it failed."""
        return self._log.read_text()[-4000:]

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


@dataclass
class Trial:
    """One kind of job, and how often it is killed."""

    name: str
    source: Input
    folder: Path
    chance: random.Random
    met: Counter[str] = field(default_factory=Counter)
    rounds: int = 0

    def run(self, kills: int) -> None:
        """Kill it so often, let it come to its end, and compare.

        Raises:
            AssertionError: a row is missing, is there twice, or is another one.
        """
        script = self.folder / "job.sql"
        script.write_text(self.source.table + _SINKS + _JOB)
        rows = Rows(self.chance)
        self.source.put(rows.more())
        drivers = self._drivers(script)
        took = next(drivers).end()
        while kills:
            self.source.put(rows.more())
            driver = next(drivers)
            driver.go()
            time.sleep(self.chance.uniform(0, took))
            if driver.kill(with_java=self.chance.random() < 0.5):
                kills -= 1
                self.met[self._where()] += 1
        self.source.put(rows.last())
        next(drivers).end()
        drivers.close()
        self.compare(Answer(rows.all).tables())
        self.rounds = len(rows.all)

    def compare(self, wanted: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
        """Check that the sinks have these rows; raises AssertionError with those that differ."""
        for name, rows in wanted.items():
            found = self._rows(name)
            assert found == rows, f"{self.name}: {name}: {_differing(found, rows)}"

    def _drivers(self, script: Path) -> Iterator[Driver]:
        """Yield drivers that are ready; the next one starts meanwhile."""
        number = 0
        waiting = Driver(self.folder, script, self.source, number)
        try:
            while True:
                driver, number = waiting, number + 1
                driver.ready()
                waiting = Driver(self.folder, script, self.source, number)
                yield driver
        finally:
            waiting.kill(with_java=True)

    def _where(self) -> str:
        """Return how far the queries were when their driver died: batches that were begun, and not done."""
        begun = 0
        for checkpoint in (self.folder / "catalog" / "queries").glob("*/checkpoint"):
            numbers = [
                max((int(p.name) for p in (checkpoint / log).glob("[0-9]*")), default=-1)
                for log in ("offsets", "commits")
            ]
            begun += numbers[0] > numbers[1]
        return f"{begun} batches open" if begun != 1 else "1 batch open"

    def _rows(self, name: str) -> list[tuple[Any, ...]]:
        folder = self.folder / "out" / name
        if name == "pairs":
            lines = [line for file in folder.glob("part-*") for line in file.read_text().splitlines()]
            return sorted(tuple(json.loads(line).values()) for line in lines)
        from deltalake import DeltaTable

        return sorted(tuple(row.values()) for row in DeltaTable(str(folder)).to_pyarrow_table().to_pylist())


def _last(log: Path) -> int:
    return max((int(entry.name) for entry in log.glob("[0-9]*")), default=-1)


def _differing(found: Sequence[Any], wanted: Sequence[Any]) -> str:
    there, due = Counter(found), Counter(wanted)
    return f"too much: {list((there - due).elements())[:5]}, missing: {list((due - there).elements())[:5]}"


#: A job that runs without Spark: it comes to its end, and is begun anew for each trial.
_SMALL = f"""
BEGIN STATEMENT SET;
INSERT INTO counts SELECT k, window_start, COUNT(*), SUM(CAST(v AS BIGINT))
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '{WINDOW}' SECOND)) GROUP BY k, window_start, window_end;
INSERT INTO totals SELECT k, SUM(CAST(v AS BIGINT)) FROM events GROUP BY k;
INSERT INTO pairs SELECT k, id, v FROM events WHERE v >= 0;
END;
"""


@dataclass
class SmallTrial:
    """Jobs in a process without Spark, one after the other; each is killed up to three times."""

    folder: Path
    chance: random.Random
    met: Counter[str] = field(default_factory=Counter)
    rounds: int = 0

    def run(self, kills: int) -> None:
        """Kill them so often; raises as ``Trial.run``."""
        number, longest = 0, 0.0
        while kills:
            trial = Trial("without Spark", Files(self._made(number) / "in", "auto"), self._made(number), self.chance)
            trial.source.engine = "local"
            rows = Rows(self.chance)
            trial.source.put(rows.more())
            script = trial.folder / "job.sql"
            tables = self._tables(trial.source.table)
            script.write_text(tables + _SMALL)
            # The first one is not disturbed: it says how long such a job takes.
            for _ in range(min(kills, self.chance.randrange(1, 4)) if number else 0):
                driver = Driver(trial.folder, script, trial.source, 0)
                driver.ready()
                driver.go()
                time.sleep(self.chance.uniform(0, longest))
                driver.kill(with_java=False)
                if self._has_ended(trial.folder):
                    break
                kills -= 1
                self.met[self._steps(trial.folder)] += 1
            if not self._has_ended(trial.folder):
                driver = Driver(trial.folder, script, trial.source, 0)
                driver.ready()
                longest = max(longest, driver.end())
            self._compare(trial, rows.all)
            self.rounds += len(rows.all)
            number += 1

    @staticmethod
    def _compare(trial: Trial, rows: Sequence[Row]) -> None:
        answer = Answer(rows, ends=True).tables()
        wanted = {name: answer[name] for name in ("counts", "totals")}
        wanted["pairs"] = sorted((row.key, row.id, row.number) for row in rows)
        trial.compare(wanted)

    def _made(self, number: int) -> Path:
        folder = self.folder / str(number)
        folder.mkdir(exist_ok=True)
        return folder

    @staticmethod
    def _tables(events: str) -> str:
        sinks = _SINKS.replace("'sqlext.bounded' = 'catch-up'", "'sqlext.bounded' = 'finish'")
        return events + sinks

    @staticmethod
    def _has_ended(folder: Path) -> bool:
        runs = list((folder / "catalog" / "queries").glob("*/run.json"))
        return len(runs) == 3 and all(json.loads(run.read_text())["finished"] for run in runs)

    @staticmethod
    def _steps(folder: Path) -> str:
        """Return how many batches were begun when a driver died."""
        begun = len(list((folder / "catalog" / "queries").glob("*/local/0")))
        return f"{begun} batches begun" if begun != 1 else "1 batch begun"


@contextmanager
def _kinds(folder: Path, wanted: Sequence[str]) -> Iterator[Mapping[str, Callable[[Path], Input]]]:
    """Give what makes the input of each kind of job, in a folder of its own."""
    kinds: dict[str, Callable[[Path], Input]] = {
        "files by Arrow": lambda place: Files(place / "in", "arrow"),
        "files by Spark": lambda place: Files(place / "in", "spark"),
        "Delta": lambda place: Delta(place / "in"),
    }
    if "Kafka" not in wanted:
        yield kinds
        return
    from tests.kafka_broker import kafka_broker

    (folder / "broker").mkdir()
    with kafka_broker(folder / "broker") as broker:
        yield {**kinds, "Kafka": lambda place: Kafka(broker, f"kills-{place.name}")}


def main() -> None:
    """Kill jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", nargs="+", default=[*KINDS], choices=KINDS)
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="sqlext-kills-") as name, _kinds(Path(name), asked.jobs) as kinds:
        for number, kind in enumerate(asked.jobs):
            kills = asked.kills // len(asked.jobs) + (number < asked.kills % len(asked.jobs))
            folder = Path(name, str(number))
            folder.mkdir()
            chance = random.Random(f"{asked.seed} {kind}")
            small = kind == SMALL
            trial = SmallTrial(folder, chance) if small else Trial(kind, kinds[kind](folder), folder, chance)
            began = time.monotonic()
            trial.run(kills)
            met = ", ".join(f"{count} with {where}" for where, count in sorted(trial.met.items()))
            print(f"| {kind} | {kills} | {met} | {trial.rounds} | {time.monotonic() - began:.0f} s |", flush=True)


if __name__ == "__main__":
    main()

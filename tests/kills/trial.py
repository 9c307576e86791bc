"""A streaming job on Spark that is killed again and again, and what its sinks have in the end."""

from __future__ import annotations

import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kills.driver import Driver, open_batches
from tests.kills.inputs import Input
from tests.kills.rows import NEAR, WINDOW, Answer, Rows
from tests.kills.sinks import Sink

SINKS = """
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
#: What a job may ask; the first one and the second one also without Spark.
INSERTS = {
    "counts": f"""INSERT INTO counts SELECT k, window_start, COUNT(*), SUM(CAST(v AS BIGINT))
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '{WINDOW}' SECOND)) GROUP BY k, window_start, window_end;
""",
    "totals": "INSERT INTO totals SELECT k, SUM(CAST(v AS BIGINT)) FROM events GROUP BY k;\n",
    "early": f"""INSERT INTO early SELECT k, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '{WINDOW}' SECOND)) GROUP BY k, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY ROW;
""",
    "pairs": f"""INSERT INTO pairs SELECT x.k, x.id, y.id FROM events x JOIN events y
ON x.k = y.k AND y.ts BETWEEN x.ts AND x.ts + INTERVAL '{NEAR}' SECOND;
""",
}
#: How many of them a job asks, beside the one of its own sink.
_ASKED = 2


@dataclass
class Kills:
    """What was killed until now.

    Attributes:
        open: how many batches were open when a driver died, and how often; writes: at which of its writes.
        rows: how many rows were read by all queries together.
    """

    open: Counter[int] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    rows: int = 0

    def met(self, open_: int, write: str) -> None:
        """Note a death."""
        self.open[open_] += 1
        self.writes[write] += 1

    def __str__(self) -> str:
        """Return it for a table."""
        found = ", ".join(f"{n} in {times}" for n, times in sorted(self.open.items(), reverse=True))
        random_ = self.writes[MOMENT]
        places = len(set(self.writes) - {MOMENT})
        return f"{sum(self.open.values())} | {found} | {sum(self.writes.values()) - random_} at {places} | {self.rows}"


#: Where a driver died that died at no write.
MOMENT = "a moment"


@dataclass
class Trial:
    """One kind of job, and how often it is killed."""

    name: str
    source: Input
    sink: Sink
    folder: Path
    chance: random.Random
    kills: Kills = field(default_factory=Kills)
    _writes: Sequence[str] = ()

    def run(self, kills: int) -> None:
        """Kill it so often, let it come to its end, and compare.

        Raises:
            AssertionError: a row is missing, is there twice, or is another one.
        """
        asked = self.chance.sample(sorted(INSERTS), _ASKED)
        script = self.folder / "job.sql"
        inserts = "".join(INSERTS[name] for name in asked)
        job = f"BEGIN STATEMENT SET;\n{inserts}{self.sink.insert}END;\n"
        script.write_text(self.source.table + SINKS + self.sink.table + job)
        rows = Rows(self.chance)
        self.source.put(rows.more())
        drivers = self._drivers(script)
        try:
            took = self._whole(next(drivers))
            while sum(self.kills.open.values()) < kills:
                self._one(next(drivers), rows, took)
            self.source.put(rows.last())
            self._whole(next(drivers))
        finally:
            drivers.close()
        self.kills.rows = len(rows.all)
        answers = Answer(rows.all).tables()
        self.compare({name: answers[name] for name in asked} | {self.sink.name: self.sink.wanted(rows.all)})

    def compare(self, wanted: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
        """Check that the sinks have these rows; raises AssertionError with those that differ."""
        for name, rows in wanted.items():
            found = self.sink.found() if name == self.sink.name else stored(self.folder / "out" / name)
            assert found == rows, f"{self.name}: {name}: {differing(found, rows)}"

    def _one(self, driver: Driver, rows: Rows, took: float) -> None:
        """Let a driver run and die; it may come to its end before that."""
        self.source.put(rows.more())
        with_java = self.chance.random() < 0.5
        driver.go(write_of_a_batch(self._writes, self.chance), with_java=with_java)
        driver.until_open()
        if self.chance.random() < 0.5:
            self.source.disturb(self.chance)
            self.source.put(rows.more())
        if not driver.dies_at:
            time.sleep(self.chance.uniform(0, took / 4))
            driver.kill(with_java=with_java)
        if not driver.end():
            self.kills.met(open_batches(self.folder), driver.writes[driver.dies_at - 1] if driver.dies_at else MOMENT)

    def _whole(self, driver: Driver) -> float:
        """Let a driver come to its end; return how many seconds that took, and keep the names of its writes."""
        began = time.monotonic()
        driver.go()
        assert driver.end(), driver.said()
        self._writes = driver.writes
        return time.monotonic() - began

    def _drivers(self, script: Path) -> Iterator[Driver]:
        """Yield drivers that are ready; the next one starts meanwhile."""
        numbers = itertools.count()
        waiting = self._driver(script, next(numbers))
        try:
            while True:
                driver = waiting
                driver.ready()
                waiting = self._driver(script, next(numbers))
                yield driver
        finally:
            waiting.kill(with_java=True)

    def _driver(self, script: Path, number: int) -> Driver:
        return Driver(self.folder, script, self.source, number, self.sink.environment)


def write_of_a_batch(names: Sequence[str], chance: random.Random) -> int:
    """Choose a write behind the beginning of the first batch, or none (0), at which a driver is to die."""
    first = next(n for n, name in enumerate(names, 1) if "BatchWriter" in name or "batch begun" in name)
    return chance.choice((0, chance.randint(first, len(names))))


def stored(folder: Path) -> list[tuple[Any, ...]]:
    """Return the rows of a table, sorted."""
    if folder.name == "pairs":
        lines = [line for file in folder.glob("part-*") for line in file.read_text().splitlines()]
        return sorted(tuple(json.loads(line).values()) for line in lines)
    from deltalake import DeltaTable

    return sorted(tuple(row.values()) for row in DeltaTable(str(folder)).to_pyarrow_table().to_pylist())


def differing(found: Sequence[Any], wanted: Sequence[Any]) -> str:
    """Return the first rows in which they differ."""
    there, due = Counter(found), Counter(wanted)
    return f"too much: {list((there - due).elements())[:5]}, missing: {list((due - there).elements())[:5]}"

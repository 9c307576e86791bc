"""Jobs without Spark, one after the other: each comes to its end, and is begun anew for each trial."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.kills.driver import Driver, open_batches
from tests.kills.inputs import Files
from tests.kills.rows import Answer, Row, Rows
from tests.kills.trial import INSERTS, MOMENT, SINKS, Kills, differing, stored, write_of_a_batch

_PAIRS = "INSERT INTO pairs SELECT k, id, v FROM events WHERE v >= 0;\n"
_JOB = f"BEGIN STATEMENT SET;\n{INSERTS['counts']}{INSERTS['totals']}{_PAIRS}END;\n"
_QUERIES = 3
#: How often a job dies at most before it may come to its end.
_DEATHS = 3


@dataclass
class SmallTrial:
    """Each job is killed up to three times."""

    folder: Path
    chance: random.Random
    kills: Kills = field(default_factory=Kills)
    _writes: Sequence[str] = ()
    _took: float = 0.0

    def run(self, kills: int) -> None:
        """Kill them so often; raises as ``Trial.run``."""
        number = 0
        while sum(self.kills.open.values()) < kills:
            folder = self.folder / str(number)
            folder.mkdir()
            # The first one is not disturbed: it says what such a job writes.
            self._job(folder, min(kills - sum(self.kills.open.values()), _DEATHS) if number else 0)
            number += 1

    def _job(self, folder: Path, deaths: int) -> None:
        source = Files(folder / "in", "auto", "local")
        rows = Rows(self.chance)
        source.put(rows.more())
        script = folder / "job.sql"
        script.write_text(source.table + SINKS.replace("'catch-up'", "'finish'") + _JOB)
        for number in range(deaths):
            driver = Driver(folder, script, source, number, {})
            driver.ready()
            driver.go(write_of_a_batch(self._writes, self.chance), with_java=False)
            if not driver.dies_at:
                time.sleep(self.chance.uniform(0, self._took))
                driver.kill(with_java=False)
            if driver.end():
                break
            self.kills.met(open_batches(folder), driver.writes[driver.dies_at - 1] if driver.dies_at else MOMENT)
            if _has_ended(folder):
                break
        if not _has_ended(folder):
            driver = Driver(folder, script, source, deaths, {})
            driver.ready()
            began = time.monotonic()
            driver.go()
            assert driver.end(), driver.said()
            if not deaths:
                self._took, self._writes = time.monotonic() - began, driver.writes
        _compare(folder, rows.all)
        self.kills.rows += len(rows.all)


def _compare(folder: Path, rows: Sequence[Row]) -> None:
    answer = Answer(rows, ends=True).tables()
    wanted = {name: answer[name] for name in ("counts", "totals")}
    wanted["pairs"] = sorted((row.key, row.id, row.number) for row in rows)
    for name, due in wanted.items():
        found = stored(folder / "out" / name)
        assert found == due, f"without Spark: {name}: {differing(found, due)}"


def _has_ended(folder: Path) -> bool:
    runs = list((folder / "catalog" / "queries").glob("*/run.json"))
    return len(runs) == _QUERIES and all(json.loads(run.read_text())["finished"] for run in runs)

"""Foretold losses against counted ones: the flights of the demo, and Nexmark's events with made delays."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from nexmark.events import write_events

from sqlext.demo.files import prepare
from sqlext.session.api import Session

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

FLIGHTS = "sched_dep TIMESTAMP(3), origin STRING, WATERMARK FOR sched_dep AS sched_dep - {delay}"
NEXMARK = """event_type INT, person ROW<`dateTime` TIMESTAMP(3)>, auction ROW<`dateTime` TIMESTAMP(3)>,
  bid ROW<`dateTime` TIMESTAMP(3)>,
  ts AS CASE WHEN event_type = 0 THEN person.`dateTime` WHEN event_type = 1 THEN auction.`dateTime`
    ELSE bid.`dateTime` END,
  WATERMARK FOR ts AS ts - {delay}"""
# A window of a millisecond is as late as its row is. The delay is a millisecond less than the one that is asked for:
# a row at the watermark is late, and a window that ends there is not.
SCRIPT = """CREATE TABLE a ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json',
  'source.monitor-interval' = '1 s', 'maxFilesPerTrigger' = '1', 'sqlext.source' = 'arrow');
CREATE TABLE o (k STRING, w TIMESTAMP(3), n BIGINT, timing STRING) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT CAST({key} AS STRING), window_start, COUNT(*), PANE_TIMING()
FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR({time}), INTERVAL '0.001' SECOND))
GROUP BY {key}, window_start, window_end EMIT AFTER WATERMARK;
"""


@dataclass(frozen=True)
class Case:
    """A data set, and the delays (ms) that are judged."""

    columns: str
    key: str
    time: str
    delays: tuple[int, ...]

    def script(self, path: Path, delay: int) -> str:
        """Return a query with a delay."""
        seconds, rest = divmod(delay - 1, 1000)
        columns = self.columns.format(delay=f"INTERVAL '{seconds}.{rest:03}' SECOND")
        return SCRIPT.format(columns=columns, path=path, key=self.key, time=self.time)


HOUR = 3_600_000
CASES = {
    "flights": Case(FLIGHTS, "origin", "sched_dep", (HOUR // 2, HOUR, 2 * HOUR)),
    "nexmark": Case(NEXMARK, "event_type", "ts", (5000, 30_000, 120_000)),
}


def in_files(folder: Path, lines: list[str], files: int) -> Path:
    """Write lines as they come into files of equal size, one changed after the other."""
    folder.mkdir()
    for number in range(files):
        path = folder / f"{number:02}.json"
        path.write_text("".join(lines[number * len(lines) // files : (number + 1) * len(lines) // files]), "utf-8")
        os.utime(path, (1_709_272_500 + number,) * 2)
    return folder


def two_days_of_flights(folder: Path) -> Path:
    """Write 1,600 flights of the demo, by when they left, into 40 files; those of it are of a month each."""
    months = sorted((folder / "demo" / "flights").iterdir())
    lines = [line for month in months for line in month.read_text("utf-8").splitlines(keepends=True)]
    return in_files(folder / "flights", lines[174_000:175_600], 40)


def nexmark_with_delays(folder: Path, events: int = 40_000, files: int = 20) -> Path:
    """Write events of which every fifth comes late, by a minute on average."""
    write_events(folder / "made", events, files=1)
    lines = (folder / "made" / "nexmark" / "0.json").read_text("utf-8").splitlines(keepends=True)
    times = [datetime.fromisoformat(re.findall(r'"dateTime": "([^"]+)"', line)[0]).timestamp() for line in lines]
    chance = np.random.default_rng(3)
    late = np.where(chance.random(events) < 0.2, chance.exponential(60.0, events), 0.0)
    order = np.argsort(np.array(times) + late, kind="stable").tolist()
    return in_files(folder / "nexmark", [lines[n] for n in order], files)


def told(session: Session, options: str) -> dict[int, dict[str, Any]]:
    result = session.sql(f"ANALYZE WATERMARK FOR a {options}")
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    return {round(r["delay"].total_seconds() * 1000): r for r in rows if r["partition"] is None}


@pytest.fixture
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Case, Path]]:
    if request.param == "nexmark":
        yield CASES["nexmark"], nexmark_with_delays(tmp_path)
        return
    prepare(tmp_path / "demo")
    yield CASES["flights"], two_days_of_flights(tmp_path)


@pytest.mark.parametrize("data", CASES, indirect=True)
def test_foretold_and_counted(data: tuple[Case, Path], spark: SparkSession, tmp_path: Path) -> None:
    case, path = data
    counted: dict[int, int] = {}
    seen: dict[int, dict[str, Any]] = {}
    read: dict[int, dict[str, Any]] = {}
    for delay in case.delays:
        run = TimedRun(spark, tmp_path / str(delay), case.script(path, delay))
        run.start()
        run.settle()
        counted[delay] = run.query.progress["rows_dropped"]
        if delay == case.delays[1]:  # what one query has seen foretells the others
            seen = told(run.session, f"FROM QUERIES WITH ('delays' = '{', '.join(f'{d} ms' for d in case.delays)}')")
            less = ", ".join(f"{d - 1} ms" for d in case.delays)
            read = told(run.session, f"WITH ('delays' = '{less}', 'window' = '1 ms', 'rests' = 'false')")
        run.stop()
    print(path.name, counted, {d: (s["late at least"], s["late at most"], s["rows"]) for d, s in seen.items()})
    for delay in case.delays:
        least, most = seen[delay]["late at least"], seen[delay]["late at most"]
        assert read[delay - 1]["late rows"] == counted[delay] > 0
        assert least <= counted[delay] <= most
        assert most - least <= 0.2 * counted[delay], "a tenth of it to either side"

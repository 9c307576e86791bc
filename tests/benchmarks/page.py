"""What the live page costs: the sample that a query takes each second of a simulated day, and each answer of the page.

python -m tests.benchmarks.page
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import sqlext
from sqlext.stores.location import Location
from sqlext.watermarks.fit import misfit
from sqlext.watermarks.history import History, OperatorState, Sample
from tests.kept_queries import HOUR, MINUTE, SECOND, Kept, KeptQuery

_ROUNDS = 20
_DAY = 24 * HOUR


def sample(at: int, second: int) -> Sample:
    """Return what a query of one input with a window says in a second of the day."""
    rows = 100 * second
    read, parts = {"orders": rows}, {"addBatch": 70 * second, "walCommit": 10 * second, "queryPlanning": 9 * second}
    inputs: dict[str, tuple[int | None, str]] = {"orders": (at - 12_000, "active")}
    return Sample(
        at, at - 12_000, inputs, 40, rows, second, 0, 0, 0, 0, second, 50_000, 100 * second, 100, 100, parts, read,
        (OperatorState(40, rows, 50_000, 0),),
    )  # fmt: skip


def of_the_query(folder: Path, now: int) -> None:
    """Print the processor time of a sample a second, with the look at late rows, for a day."""
    history, costs = History(Location.of(folder)), []
    for second in range(_DAY // SECOND):
        taken = sample(now - _DAY + second * SECOND, second)
        begun = time.process_time_ns()
        history.take(taken)
        misfit(history.samples(), taken.at)
        costs.append((time.process_time_ns() - begun) / 1e6)
    size = sum(file.stat().st_size for file in folder.iterdir())
    most = statistics.quantiles(costs, n=1000)[-1]
    print(f"a sample: mean {statistics.mean(costs):.2f} ms of processor time, 999 of 1,000 below {most:.1f} ms")
    print(f"of a core: {statistics.mean(costs) / 10:.3f} %; the day's file: {size / 1e6:.1f} MB")


def of_the_page(folder: Path, now: int) -> None:
    """Print how long each answer takes behind a day, in the process of the page."""
    Kept(folder, now).add(KeptQuery("q", span=_DAY, every=MINUTE))
    monitor = sqlext.connect(catalog=folder).monitor
    answers: dict[str, Callable[[], object]] = {
        "queries": monitor.queries,
        "query": lambda: monitor.query("q"),
        "history of a day": lambda: monitor.history("q", now - _DAY),
    }
    for name, answer in answers.items():
        times = []
        for _ in range(_ROUNDS):
            begun = time.process_time_ns()
            answer()
            times.append((time.process_time_ns() - begun) / 1e6)
        print(f"{name}: {statistics.median(times):.1f} ms of processor time")


if __name__ == "__main__":
    moment = time.time_ns() // 1_000_000
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "progress").mkdir()
        of_the_query(Path(place) / "progress", moment)
        of_the_page(Path(place) / "catalog", moment)

"""Results do not depend on how rows are cut into micro-batches, nor on their order within the watermark."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from tests.stepped_queries import END_OF_TIME, TIMED, Move, SteppedQuery, run_together, text_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(10)
START = datetime(2024, 1, 1)
_ROWS, _SECONDS, _GAP = 24, 40, 4
Bounds = tuple[int, int]


@dataclass(frozen=True)
class Event:
    """A row; its time in seconds."""

    key: str
    value: int
    second: int


WINDOWS = {
    "tumble": "TUMBLE(TABLE input, DESCRIPTOR(ts), INTERVAL '10' SECOND)",
    "hop": "HOP(TABLE input, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
    "session": f"SESSION(TABLE input PARTITION BY key, DESCRIPTOR(ts), INTERVAL '{_GAP}' SECOND)",
}
EARLY = ("EVERY 2 ROWS", "EVERY ROW", "AFTER 3 ROWS THEN EVERY 2 ROWS")


def events(random_: random.Random) -> list[Event]:
    """Return rows of three keys."""
    return [Event(random_.choice("abc"), random_.randrange(5), random_.randrange(_SECONDS)) for _ in range(_ROWS)]


def cut(random_: random.Random, rows: Sequence[Event]) -> list[Sequence[Event]]:
    """Return rows in a few pieces."""
    places = [0, *sorted(random_.sample(range(1, len(rows)), random_.randint(1, 3))), len(rows)]
    return [rows[a:b] for a, b in pairwise(places)]


def moves(pieces: Sequence[Sequence[Event]]) -> list[Move]:
    """Return a move for each piece: the watermark goes almost as far as the rows that are still to come let it.

    At their very time it would close a session that they touch.
    """
    found = []
    for i, piece in enumerate(pieces):
        least = min((e.second for later in pieces[i + 1 :] for e in later), default=None)
        mark = END_OF_TIME if least is None else START + timedelta(seconds=least - 1)
        rows = [{"key": e.key, "value": e.value, "ts": text_of(START + timedelta(seconds=e.second))} for e in piece]
        found.append(Move(rows, watermark=mark))
    return [replace(found[0], clock=START), *found[1:]]


# What is right, by the definition


def windows_of(kind: str, rows: Sequence[Event]) -> Iterator[tuple[Bounds, list[Event]]]:
    """Yield the windows of one key's rows."""
    if kind == "session":
        yield from _sessions(sorted(rows, key=lambda e: e.second))
        return
    step = 5 if kind == "hop" else 10
    for start in range(-10, _SECONDS, step):
        inside = [e for e in rows if start <= e.second < start + 10]
        if inside:
            yield (start, start + 10), inside


def _sessions(rows: Sequence[Event]) -> Iterator[tuple[Bounds, list[Event]]]:
    session = [rows[0]]
    for event in rows[1:]:
        if event.second > session[-1].second + _GAP:
            yield (session[0].second, session[-1].second + _GAP), session
            session = []
        session.append(event)
    yield (session[0].second, session[-1].second + _GAP), session


def by_key(rows: Sequence[Event]) -> dict[str, list[Event]]:
    """Return the rows of each key, in their order."""
    found: dict[str, list[Event]] = defaultdict(list)
    for event in rows:
        found[event.key].append(event)
    return found


def final_panes(kind: str, rows: Sequence[Event]) -> dict[tuple[Any, ...], tuple[int, ...]]:
    """Return count, sum and number of values of each key and window."""
    return {
        (key, *(START + timedelta(seconds=bound) for bound in bounds)): (
            len(inside),
            sum(e.value for e in inside),
            len({e.value for e in inside}),
        )
        for key, own in by_key(rows).items()
        for bounds, inside in windows_of(kind, own)
    }


def counted_panes(rows: Sequence[Event], n: int, *, keeps: bool) -> dict[str, list[list[int]]]:
    """Return the values in each key's panes of n rows more."""
    return {
        key: [[e.value for e in own[0 if keeps else end - n : end]] for end in range(n, len(own) + 1, n)]
        for key, own in by_key(rows).items()
    }


# The runs


@dataclass(frozen=True)
class Run:
    """A query, and what it has to give."""

    query: SteppedQuery
    expected: Any

    def rows(self) -> list[tuple[Any, ...]]:
        """Return all rows in the order in which they came."""
        if self.query.failure is not None:
            raise self.query.failure
        return [row for outcome in self.query.outcomes for row in outcome.rows]


Runs = dict[tuple[str, int], Run]


@pytest.fixture(scope="module")
def runs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Run all of them, some at a time side by side."""
    folder = tmp_path_factory.mktemp("batching")
    found = {}
    for seed in SEEDS:
        for name, scripted in (("final", _final), ("counted", _counted)):
            script, steps, expected = scripted(seed)
            found[name, seed] = Run(SteppedQuery(spark, folder / f"{name}{seed}", script, steps), expected)
    run_together([run.query for run in found.values()])
    return found


def _final(seed: int) -> tuple[str, list[Move], Any]:
    chance = random.Random(seed)
    rows = events(chance)
    kind, early = list(WINDOWS)[seed % 3], EARLY[seed // 3 % 3]
    script = f"""{TIMED}SELECT key, window_start, window_end, COUNT(*), SUM(`value`), COUNT(DISTINCT `value`)
    FROM TABLE({WINDOWS[kind]}) WHERE key IS NOT NULL GROUP BY key, window_start, window_end
    EMIT AFTER WATERMARK EARLY ({early});"""
    return script, moves(cut(chance, rows)), final_panes(kind, rows)


def _counted(seed: int) -> tuple[str, list[Move], Any]:
    chance = random.Random(100 + seed)
    rows, n, keeps = events(chance), chance.randint(2, 4), seed % 2 == 0
    script = f"""{TIMED}SELECT key, COLLECT_LIST(`value`) FROM input WHERE key IS NOT NULL GROUP BY key
    EMIT EVERY {n} ROWS {"ACCUMULATING" if keeps else "DISCARDING"};"""
    return script, moves(cut(chance, rows)), counted_panes(rows, n, keeps=keeps)


@pytest.mark.parametrize("seed", SEEDS)
def test_final_panes(runs: Runs, seed: int) -> None:
    run = runs["final", seed]
    # The last pane of a window counts; a session that has grown or merged is another window.
    last = {row[:3]: row[3:] for row in run.rows()}
    missing = {window: pane for window, pane in run.expected.items() if last.get(window) != pane}
    assert missing == {}
    if "SESSION" not in run.query.script:
        assert last == run.expected
    assert run.query.outcomes[-1].state_rows == 0
    assert sum(outcome.dropped for outcome in run.query.outcomes) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_panes_of_n_rows(runs: Runs, seed: int) -> None:
    run = runs["counted", seed]
    found: dict[str, list[list[int]]] = defaultdict(list)
    for key, values in run.rows():
        found[key].append(list(values))
    assert found == {key: panes for key, panes in run.expected.items() if panes}

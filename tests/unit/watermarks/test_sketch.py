"""How late rows were, from counts alone: what is sure and what may be, against the rows themselves."""

from __future__ import annotations

import json
import random
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.watermarks.advice.seen import COLUMNS, SeenLateness
from sqlext.watermarks.inputs import Input
from sqlext.watermarks.keeper import TimeKeeper
from sqlext.watermarks.sketch import ALL, BOUNDS, Arrived, Sketch, Sketches, SplitTimes, between


def exact(*times: int) -> list[tuple[int, int, int]]:
    return [(t, t, 1) for t in sorted(times)]


def test_delays_that_people_write_are_told_apart() -> None:
    assert sorted(set(BOUNDS)) == list(BOUNDS)
    assert {0, 1000, 5000, 10_000, 30_000, 60_000, 300_000, 3_600_000, 86_400_000} <= set(BOUNDS)
    assert all(b <= 1.25 * a for a, b in pairwise(BOUNDS) if 1000 <= a < 3 * 86_400_000)


@given(
    st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**6), st.integers(1, 50)), max_size=30),
    st.integers(0, 2 * 10**7),
    st.integers(0, 10**7),
    st.randoms(use_true_random=False),
)
@settings(max_examples=150, deadline=None)
def test_the_counts_enclose_those_of_the_rows(
    spans: list[tuple[int, int, int]], reached: int, delay: int, chance: random.Random
) -> None:
    sketch = Sketch()
    points = [(first, first + width, rows) for first, width, rows in spans]
    sketch.take(points, reached, 0)
    times = [chance.randint(first, last) for first, last, rows in points for _ in range(rows)]
    for asked in (delay, *BOUNDS[::9]):
        least, most = sketch.late(asked)
        assert least <= sum(reached - t >= asked for t in times) <= most
    exactly = Sketch()
    exactly.take(exact(*times), reached, 0)
    for bound in BOUNDS:
        assert exactly.late(bound) == (sum(reached - t >= bound for t in times),) * 2


def test_it_goes_through_json_and_on() -> None:
    sketches = Sketches()
    sketches.take(Arrived(0, "a", 1000, None, [SplitTimes("0", exact(10, 20))]), 50)
    sketches.take(Arrived(1, "a", 4000, 100, [SplitTimes("0", exact(90)), SplitTimes("1", exact(9_000))]), 50)
    again = Sketches.from_json(json.loads(json.dumps(sketches.to_json())))
    assert again.to_json() == sketches.to_json()
    assert {name: s.rows for name, s in again.of.items()} == {ALL: 4, "0": 3, "1": 1}
    assert again.of[ALL].late(50) == (1, 1)  # 60 ms behind the 150 that the input had reached
    assert again.of[ALL].late(75) == (0, 0)
    assert (again.of["0"].gap, again.of["1"].ahead, again.of["0"].since) == (3000, (1, 1), 1000)
    again.take(Arrived(0, "a", 900_000, 100, [SplitTimes("0", exact(150))]), 50)
    assert again.of["0"].gap == 3000, "nobody has read meanwhile"


def test_of_smallest_and_largest_time_alone_little_is_sure() -> None:
    sketch = Sketch()
    sketch.take(list(between(1000, 9000, 10)), 11_000, 0)
    assert sketch.late(0) == (10, 10)
    assert sketch.late(5000) == (1, 9)
    assert sketch.late(10_000) == (1, 9)
    assert sketch.late(12_000) == (0, 0)
    assert [list(between(5, 9, n)) for n in (1, 2)] == [[(5, 5, 1)], [(5, 5, 1), (9, 9, 1)]]
    assert list(between(None, None, 0)) == []


def test_the_keeper_keeps_it_where_the_watermark_is_a_delay() -> None:
    keeper = TimeKeeper([Input("a", delay=1000), Input("b", measure="ts - f(k)")], 0)
    for name in "ab":
        keeper.arrived(Arrived(0, name, 0, 5000, [SplitTimes(ALL, exact(3000, 7000))]))
    kept = json.loads(json.dumps(keeper.to_json()))
    again = TimeKeeper([Input("a", delay=9000), Input("b")], 0, kept)
    assert again.known["a"].lateness.of[ALL].late(3000) == (1, 1), "the lag is one behind event times, not watermarks"
    assert again.known["b"].lateness.of == {}
    other = TimeKeeper([Input("a", measure="ts - f(k)")], 0, kept)
    assert other.known["a"].lateness.of == {}
    for known in kept.values():
        del known["lateness"]
    assert TimeKeeper([Input("a")], 0, kept).known["a"].lateness.of == {}, "an older file goes on"


def test_rows_of_the_statement() -> None:
    sketches = Sketches()
    points = [(t, t, 1) for t in range(0, 100_000, 1000)] + [(100_000, 100_000, 900)]
    sketches.take(Arrived(0, "a", 500_000, 90_000, [SplitTimes("0", points), SplitTimes("1", exact(300_000))]), 10_000)
    seen = SeenLateness("q", "a", 10_000, sketches)
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in seen.rows((30_000,), 1)]
    assert [(r["partition"], r["delay"].total_seconds(), r["late at most"]) for r in rows] == [
        (None, 10, 91), (None, 30, 71), ("0", 10, 91), ("0", 30, 71),
    ]  # fmt: skip
    assert {r["late at least"] - r["late at most"] for r in rows} == {0}
    assert [r["declared"] for r in rows] == [True, False] * 2
    assert seen.looked_at() == [0, 1, 10_000, 105_000]
    assert seen.summary() == (
        "`q` has read 1,001 rows of `a`. With the declared delay of 10 s 91 were late; "
        "with 105 s it would be at most 0."
    )
    curve = seen.curve()
    assert [low for _, low, _ in curve] == sorted((low for _, low, _ in curve), reverse=True)
    assert curve[-1][1:] == (0, 0)
    assert SeenLateness("q", "a", 0, Sketches()).curve() == []
    assert SeenLateness("q", "a", 0, Sketches()).summary() == "`q` has read no rows of `a` yet."

"""FILL: the windows that got no row, by an oracle and by cases worked out by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.errors import SqlExtError
from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.kernel.clock import BEFORE_ALL, Clock
from sqlext_udfs.windows.filling.grid import NEVER, WindowGrid
from sqlext_udfs.windows.filling.specification import Filling
from sqlext_udfs.windows.policy import Cumulate, Hop, Policy, Tumble
from sqlext_udfs.windows.triggers.tree import AfterWatermark, WindowClose
from tests.filled_runs import Expected, FilledRun, Pane, by_window
from tests.operator_runs import VALUE, Row, specification

CALLS = (AggregateCall("count", (), name="count()"), AggregateCall("sum", (VALUE,), name="sum(value)"))
TUMBLE = Policy(Tumble(10), AfterWatermark())


def run(length: int, policy: Policy = TUMBLE, **more: object) -> FilledRun:
    window = policy.window
    assert isinstance(window, Tumble | Hop | Cumulate)
    step = window.size if isinstance(window, Tumble) else window.slide if isinstance(window, Hop) else window.step
    fields = {"cumulates": isinstance(window, Cumulate), "carries": True, "offset": window.offset} | more
    return FilledRun(specification(policy, CALLS), Filling(length, window.size, step, **fields))  # type: ignore[arg-type]


def rows(*times: int, key: str = "a") -> list[Row]:
    return [Row(key, 1, t) for t in times]


def ends(panes: list[Pane], *, filled: bool = True) -> list[int]:
    return [p.window[1] for p in panes if p.filled is filled]


# Cases worked out by hand


def test_gap_between_rows() -> None:
    assert run(100).step(rows(5, 35), 40) == [
        Pane("a", (0, 10), (1, 1), False),
        Pane("a", (10, 20), (1, 1), True),
        Pane("a", (20, 30), (1, 1), True),
        Pane("a", (30, 40), (1, 1), False),
    ]


def test_window_comes_when_the_watermark_passes_its_end() -> None:
    operator = run(100)
    assert ends(operator.step(rows(5), 10), filled=False) == [10]
    assert operator.due() == 20
    assert operator.step(watermark=19) == []
    assert ends(operator.step(watermark=20)) == [20]
    assert ends(operator.step(watermark=45)) == [30, 40]
    assert operator.due() == 50


def test_key_is_forgotten() -> None:
    operator = run(20)
    operator.step(rows(5), 10)
    assert operator.keys == 1
    assert ends(operator.step(watermark=100)) == [20, 30]
    assert operator.keys == 0
    assert operator.due() is None
    # It begins anew with its next row.
    assert ends(operator.step(rows(205), 220)) == [220]


def test_end_of_input_fills_as_long_as_a_key_is_kept() -> None:
    operator = run(30)
    operator.step(rows(5))
    assert ends(operator.end()) == [20, 30, 40]


def test_each_key_by_itself() -> None:
    operator = run(30)
    panes = operator.step([*rows(5, key="a"), *rows(15, key="b")], 30)
    assert [(p.key, p.window[1]) for p in panes if p.filled] == [("a", 20), ("a", 30), ("b", 30)]


def test_null_is_a_key() -> None:
    panes = run(10).step([Row(None, 7, 5)], 20)
    assert panes[-1] == Pane(None, (10, 20), (1, 7), True)


def test_late_row_fills_nothing_twice() -> None:
    operator = run(100)
    assert ends(operator.step(rows(5), 30)) == [20, 30]
    # A row of a window that is over is dropped, filled or not.
    assert operator.step(rows(15), 30) == []
    assert operator.step(rows(25), 30) == []


def test_lateness_holds_windows_back() -> None:
    operator = run(100, Policy(Tumble(10), WindowClose(), lateness=15))
    operator.step(rows(5), 20)
    assert ends(operator.step(rows(15), 25), filled=False) == [10]
    panes = operator.step(watermark=45)
    assert ends(panes, filled=False) == [20]
    assert ends(panes) == [30]


def test_row_while_a_key_is_filled() -> None:
    operator = run(30)
    operator.step(rows(5), 20)
    panes = operator.step(rows(25), 60)
    assert [(p.window[1], p.filled) for p in panes] == [(30, False), (40, True), (50, True), (60, True)]
    assert operator.step(watermark=1000) == []


def test_last_value_is_that_of_the_last_window_with_rows() -> None:
    operator = run(100)
    panes = operator.step([Row("a", 4, 5), Row("a", None, 25)], 50)
    assert [p.results for p in panes] == [(1, 4), (1, 4), (1, None), (1, None), (1, None)]


def test_nothing_is_carried_unless_it_is_asked_for() -> None:
    panes = run(10, carries=False).step(rows(5), 20)
    assert panes[-1].results == (None, None)


def test_hop() -> None:
    panes = run(20, Policy(Hop(20, 10), AfterWatermark())).step(rows(5), 60)
    assert ends(panes, filled=False) == [10, 20]
    assert [p.window for p in panes if p.filled] == [(10, 30), (20, 40)]


def test_hop_with_gaps() -> None:
    panes = run(40, Policy(Hop(5, 20), AfterWatermark())).step(rows(2), 60)
    assert [p.window for p in panes if p.filled] == [(20, 25), (40, 45)]


def test_cumulate() -> None:
    panes = run(40, Policy(Cumulate(30, 10), AfterWatermark())).step(rows(15), 70)
    assert [p.window for p in panes] == [(0, 20), (0, 30), (30, 40), (30, 50), (30, 60), (60, 70)]
    assert [p.filled for p in panes] == [False, False, True, True, True, True]


def test_offset() -> None:
    panes = run(20, Policy(Tumble(10, 3), AfterWatermark())).step(rows(5), 40)
    assert [p.window for p in panes] == [(3, 13), (13, 23), (23, 33)]


def test_before_1970() -> None:
    panes = run(20).step(rows(-25), 10)
    assert [p.window for p in panes] == [(-30, -20), (-20, -10), (-10, 0)]


def test_joined_windows_wait_for_the_next_with_rows() -> None:
    operator = run(40, joins=True)
    assert ends(operator.step([Row("a", 10, 5)], 30)) == []
    assert operator.due() == 50
    panes = operator.step([Row("a", 40, 35)], 40)
    assert [(p.window[1], p.results) for p in panes if p.filled] == [
        (20, (1, 10, 1, 40, pytest.approx(1 / 3))),
        (30, (1, 10, 1, 40, pytest.approx(2 / 3))),
    ]


def test_joined_windows_have_nothing_next_where_a_key_ends() -> None:
    operator = run(20, joins=True)
    operator.step([Row("a", 10, 5), Row("a", 40, 45)], 30)
    panes = operator.step(watermark=100)
    assert [(p.window[1], p.results) for p in panes if p.filled] == [
        (60, (1, 40, None, None, 0.0)),
        (70, (1, 40, None, None, 0.0)),
    ]


@pytest.mark.parametrize(
    ("length", "times", "watermark", "expected"),
    [
        (10, [5], 9, []),
        (10, [5], 19, []),
        (10, [5], 20, [20]),
        (19, [5], 100, [20]),
        (20, [5], 100, [20, 30]),
        (10, [5, 15], 100, [30]),
        (10, [5, 25], 100, [20, 40]),
        (10, [5, 35], 100, [20, 50]),
        (30, [5, 45], 50, [20, 30, 40]),
        (30, [5, 45], 49, [20, 30, 40]),
        (30, [45, 5], 60, [20, 30, 40, 60]),
        (30, [0, 10, 20], 30, []),
        (30, [9, 10, 39], 40, [30]),
    ],
)
def test_which_windows_come(length: int, times: list[int], watermark: int, expected: list[int]) -> None:
    assert ends(run(length).step(rows(*times), watermark)) == expected


def test_results_are_found_by_name_where_another_aggregate_is_added() -> None:
    before = run(30)
    before.step([Row("a", 7, 5)], 10)
    after = FilledRun(
        specification(TUMBLE, (AggregateCall("max", (VALUE,), name="max(value)"), *CALLS)),
        Filling(30, 10, 10, carries=True),
    )
    after.saved, after.watermark = before.saved, 10
    assert after.step(watermark=20) == [Pane("a", (10, 20), (None, 1, 7), True)]


def test_a_jump_of_the_watermark_that_gives_too_many_is_refused() -> None:
    operator = run(100_000, limit=9)
    operator.step([*rows(5, key="a"), *rows(5, key="b")], 10)
    assert len(operator.step(watermark=50)) == 8
    with pytest.raises(SqlExtError, match=r"10 windows without rows at once, and 'sqlext.fill.limit' = 9") as refused:
        operator.step(watermark=100)
    assert refused.value.code == "RUN-088"


# Days of a zone

BERLIN = {"zone": "Europe/Berlin"}
HOUR = 3_600_000
DAY = 24 * HOUR


@pytest.mark.parametrize(
    ("first", "hours"),
    [(1711666800000, [24, 24, 23, 24]), (1729807200000, [24, 24, 25, 24])],  # 2024-03-29 and 2024-10-25, 00:00
)
def test_days_of_summer_time(first: int, hours: list[int]) -> None:
    grid = WindowGrid(Filling(30 * DAY, DAY, DAY, **BERLIN))  # type: ignore[arg-type]
    number = grid.last_until(first + 24 * HOUR)
    import numpy as np

    starts, closes = grid.bounds(np.arange(number, number + 4))
    assert starts[0] == first
    assert [int(d) // HOUR for d in closes - starts] == hours
    assert list(starts[1:]) == list(closes[:-1])
    assert [grid.last_until(int(e)) for e in closes] == list(range(number, number + 4))
    assert [grid.last_until(int(e) - 1) for e in closes] == list(range(number - 1, number + 3))


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_before_the_first_watermark_no_window_is_over(zone: str | None) -> None:
    grid = WindowGrid(Filling(10, 10, 10, zone=zone))
    for before in (BEFORE_ALL, Clock.BEGIN, Clock.BEGIN - 100_000):
        assert grid.last_until(before) == NEVER


def test_short_windows_of_a_zone_are_found_where_its_clock_is_put_on_or_back() -> None:
    around = {"Europe/Berlin": (1711846800000, 1729990800000), "Australia/Lord_Howe": (1712415600000, 1728142200000)}
    around |= {"America/Havana": (1710046800000, 1730610000000), "Pacific/Apia": (1325239200000,)}
    for zone, changes in around.items():
        grid = WindowGrid(Filling(HOUR, 900_000, 900_000, zone=zone))
        for until in (c + ms for c in changes for ms in range(-8 * 900_000, 8 * 900_000, 420_000)):
            number = grid.last_until(until)
            assert grid.end(number) <= until
            # Nor does a window end that comes within two days behind it.
            assert all(grid.end(n) > until for n in range(number + 1, number + 192))


# The oracle

TIMES = st.integers(-40, 200)
BATCHES = st.lists(
    st.tuples(st.lists(st.tuples(st.sampled_from(["a", "b", None]), TIMES), max_size=5), st.integers(0, 60)),
    max_size=6,
)
WINDOWS = st.sampled_from([(10, 10), (20, 10), (10, 20), (30, 10)])


@settings(max_examples=60)
@given(BATCHES, WINDOWS, st.integers(1, 6), st.integers(0, 15))
def test_the_oracle(
    batches: list[tuple[list[tuple[str | None, int]], int]], window: tuple[int, int], most: int, late: int
) -> None:
    size, step = window
    trigger = WindowClose() if late else AfterWatermark()
    policy = Policy(Hop(size, step), trigger, lateness=late)
    operator = run(most * step, policy)
    watermark, made = -50, []
    for came, ahead in batches:
        watermark += ahead
        before = operator.due()
        panes = operator.step([Row(k, 1, t) for k, t in came], watermark)
        # Who is not called before it wants to be misses nothing.
        assert came or before is None or before <= watermark or panes == []
        assert all(p.window[1] + late <= watermark for p in panes)
        # What is over has come out.
        assert (due := operator.due()) is None or due > watermark
        made += panes
    made += operator.end()
    assert operator.due() is None
    real, filled = [p for p in made if not p.filled], [p for p in made if p.filled]
    assert max(Counter((p.key, p.window) for p in made).values(), default=1) == 1
    assert by_window(filled) == Expected(size, step, most).filled(real)


@settings(max_examples=60)
@given(BATCHES, st.integers(1, 6), st.booleans())
def test_cuts_do_not_matter(batches: list[tuple[list[tuple[str | None, int]], int]], most: int, joins: bool) -> None:
    # Without a watermark between them no row is late: all at once is what batch mode does.
    steps, once = run(most * 10, joins=joins), run(most * 10, joins=joins)
    every = sorted((Row(k, 1, t) for came, _ in batches for k, t in came), key=lambda r: r.ts)
    made = []
    for at in range(0, len(every), 3):
        made += steps.step(every[at : at + 3], every[at].ts)
    made += steps.end()
    once.step(every)
    assert sorted(made, key=repr) == sorted(once.end(), key=repr)

"""Windows of keys with offsets of their own, in the operator: each comes out by its own end, for any order and cuts."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.windows.policy import Policy, Tumble
from sqlext_udfs.windows.triggers.tree import AfterCount, AfterWatermark
from tests.operator_runs import VALUE, Out, Row, Run, specification
from tests.row_offsets import Expected, Grid, Order, of_batch

GRIDS = [Grid(10, 10), Grid(12, 4), Grid(4, 10), Grid(10, 4), Grid(12, 3, cumulates=True)]
AGGREGATES = (AggregateCall("count", ()), AggregateCall("sum", (VALUE,)))
OFFSETS = st.dictionaries(st.sampled_from("abcd"), st.integers(-40, 40), min_size=1)
TIMES = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(-20, 60)), max_size=12)
MOVES = st.lists(st.tuples(TIMES, st.integers(0, 15)), min_size=1, max_size=6)


def orders(offsets: dict[str, int], times: Sequence[tuple[str, int]]) -> list[Order]:
    return [Order(key, offsets[key], time, time + 100) for key, time in times if key in offsets]


def rows_of(grid: Grid, of: Sequence[Order]) -> list[Row]:
    """Return rows with their windows, as SQL gives them."""
    return [Row(o.key, o.value, o.time, window=w) for o in of for w in grid.windows(o.time, o.offset)]


def shown(offsets: dict[str, int], panes: Sequence[Out]) -> list[tuple[object, ...]]:
    found = [(p.key, offsets[p.key or ""], *(p.window or ()), *p.results) for p in panes if p.timing == "ON_TIME"]
    return sorted(found, key=repr)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(GRIDS), OFFSETS, MOVES, st.booleans())
def test_each_window_comes_out_by_its_own_end(
    grid: Grid, offsets: dict[str, int], moves: list[tuple[list[tuple[str, int]], int]], early: bool
) -> None:
    """Whether the operator keeps one pane for each window or several."""
    trigger = AfterWatermark(early=AfterCount(10_000)) if early else AfterWatermark()
    run, expected, watermark = (
        Run(specification(Policy(Tumble(grid.size), trigger), AGGREGATES, given=True)),
        Expected(grid),
        -30,
    )
    for times, by in moves:
        rows, watermark = orders(offsets, times), watermark + by
        panes = run.step(rows_of(grid, rows)) + run.step(watermark=watermark)
        assert shown(offsets, panes) == sorted(expected.move(rows, watermark), key=repr)


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(GRIDS), OFFSETS, TIMES, st.data())
def test_order_does_not_matter(
    grid: Grid, offsets: dict[str, int], times: list[tuple[str, int]], data: st.DataObject
) -> None:
    rows = orders(offsets, times)
    run = Run(specification(Policy(Tumble(grid.size), AfterWatermark()), AGGREGATES, given=True))
    shuffled: list[Order] = data.draw(st.permutations(rows))
    cut = data.draw(st.integers(0, len(rows)))
    panes = run.step(rows_of(grid, shuffled[:cut])) + run.step(rows_of(grid, shuffled[cut:])) + run.step(watermark=1000)
    assert shown(offsets, panes) == sorted(of_batch(grid, rows), key=repr)


@given(st.sampled_from(GRIDS), st.integers(-99, 99), st.integers(-99, 99), st.integers(-3, 3))
def test_an_offset_counts_modulo_the_size(grid: Grid, time: int, offset: int, sizes: int) -> None:
    period = grid.size if grid.cumulates else grid.step
    assert list(grid.windows(time, offset)) == list(grid.windows(time, offset + sizes * period))

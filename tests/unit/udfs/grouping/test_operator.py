"""GROUP BY without a window, against groups that are computed anew."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.grouping.operator import GroupAggregate
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from sqlext_udfs.windows.policy import Global, Policy
from sqlext_udfs.windows.specification import WindowSpecification
from sqlext_udfs.windows.triggers.tree import EveryRow

TYPES = [pa.string(), pa.int64(), pa.int8()]
AGGREGATES = (
    AggregateCall("count"),
    AggregateCall("sum", (1,)),
    AggregateCall("max", (1,)),
    AggregateCall("count", (1,), distinct=True),
)
Row = tuple[str | None, int | None]


#: Of these no rows need to be kept.
NUMBERS = (AggregateCall("count"), AggregateCall("sum", (1,)), AggregateCall("count", (1,)))


def operator(
    aggregates: tuple[AggregateCall, ...] = AGGREGATES, *, kind: int | None = 2, ttl: int | None = None
) -> GroupAggregate:
    policy = Policy(Global(), EveryRow(), mode="RETRACTING")
    return GroupAggregate(WindowSpecification(1, policy, aggregates, kind=kind, ttl=ttl), TYPES)


def fed(
    op: GroupAggregate, batches: list[list[tuple[Any, ...]]], times: list[int] | None = None
) -> list[list[tuple[Any, ...]]]:
    """Return key, results and kind of the rows of each batch; ``times``: what the clock says in it."""
    state, out = op.empty(), []
    for i, batch in enumerate(batches):
        columns = [pa.array([r[i] for r in batch], t) for i, t in enumerate(TYPES)]
        rows = pa.table([*columns, pa.array([0] * len(batch), pa.int16())], ["c0", "c1", "c2", "bucket"])
        # As on its way: the net of parts, then the net of these.
        rows = op.partial(pa.concat_tables([op.partial(rows.slice(0, 2)), op.partial(rows.slice(2))]))
        now = times[i] if times is not None else None
        step = op.step(state, rows.drop_columns(["bucket"]) if batch else None, Clock(now=now))
        state = op.decode(op.encode(step.state))
        assert step.open_groups == state.groups.num_rows
        kinds = step.out.num_columns - 3
        out.append([(*list(r.values())[: kinds - 6], list(r.values())[kinds]) for r in step.out.to_pylist()])
    return out


def naive(rows: list[Row]) -> dict[Any, tuple[Any, ...]]:
    groups: dict[Any, list[int | None]] = {}
    for key, value in rows:
        groups.setdefault(key, []).append(value)
    made = {}
    for key, values in groups.items():
        known = [v for v in values if v is not None]
        made[key] = (len(values), sum(known) if known else None, max(known, default=None), len(set(known)))
    return made


rows_ = st.tuples(st.sampled_from(["a", "b", None]), st.none() | st.integers(-2, 3))


@settings(deadline=None)
@given(st.lists(st.lists(rows_, max_size=6), max_size=5), st.randoms(use_true_random=False))
def test_the_changelog_folds_to_the_groups_that_there_are(batches: list[list[Row]], random: Any) -> None:
    there: list[Row] = []
    feed: list[list[tuple[Any, ...]]] = []
    for batch in batches:
        there += batch
        rows = [(*r, random.choice([INSERT, UPDATE_AFTER])) for r in batch]
        for gone in random.sample(there, len(there) // 3):
            there.remove(gone)
            rows.append((*gone, random.choice([DELETE, UPDATE_BEFORE])))
        random.shuffle(rows)
        if rows:
            feed.append(rows)
    left: Counter[tuple[Any, ...]] = Counter()
    for out in fed(operator(), feed):
        for key, _, _, *results, kind in out:
            left[(key, *results)] += 1 if kind in (INSERT, UPDATE_AFTER) else -1
    assert {row[0]: row[1:] for row, n in left.items() if n == 1} == naive(there)
    assert set(left.values()) <= {0, 1}


def test_kinds() -> None:
    first, second, third, fourth = fed(
        operator(),
        [
            [("a", 1, INSERT), ("b", 1, INSERT)],
            [("a", 1, UPDATE_BEFORE), ("a", 2, UPDATE_AFTER)],
            [("b", 1, DELETE), ("b", 1, INSERT)],
            [("b", 1, DELETE)],
        ],
    )
    assert [(r[0], r[-1]) for r in first] == [("a", INSERT), ("b", INSERT)]
    assert [(r[0], r[4], r[-1]) for r in second] == [("a", 1, UPDATE_BEFORE), ("a", 2, UPDATE_AFTER)]
    assert third == []
    assert [(r[0], r[-1]) for r in fourth] == [("b", DELETE)]


def test_what_is_taken_back_must_have_come() -> None:
    assert fed(operator(), [[("a", 1, DELETE)], [("a", 1, INSERT)]])[1][0][-1] == INSERT


@settings(deadline=None)
@given(st.lists(st.lists(rows_, max_size=6), max_size=5))
def test_rows_that_only_come(batches: list[list[Row]]) -> None:
    """Every accumulator goes on from its partial result."""
    ordered = (*AGGREGATES, AggregateCall("first", (1,)), AggregateCall("last", (1,)))
    op = operator(ordered, kind=None)
    found: dict[Any, tuple[Any, ...]] = {}
    for out in fed(op, [[(*row, INSERT) for row in batch] for batch in batches if batch]):
        for row in out:
            key, _, _, *results, kind = row
            if kind in (INSERT, UPDATE_AFTER):
                found[key] = tuple(results)
    rows = [row for batch in batches for row in batch]
    assert {key: results[:4] for key, results in found.items()} == naive(rows)
    for key, results in found.items():
        known = [v for k, v in rows if k == key and v is not None]
        assert results[4:] == ((known[0], known[-1]) if known else (None, None))


def test_counts_and_sums_keep_no_rows() -> None:
    op, state = operator(NUMBERS), operator(NUMBERS).empty()
    for value in range(20):
        columns = [pa.array(["a"]), pa.array([value]), pa.array([INSERT], pa.int8())]
        state = op.step(state, op.partial(pa.table(columns, ["c0", "c1", "c2"])), Clock()).state
    assert state.rows.num_rows == 0
    assert state.groups.num_rows == 1


def test_groups_with_a_time_to_live() -> None:
    """A group is forgotten 1,000 ms after its last row, and with it the rows that are kept of it."""
    for aggregates in (NUMBERS, AGGREGATES):
        batches = [[("a", 1, INSERT), ("b", 1, INSERT)], [("a", 2, INSERT)], [], [("a", 3, INSERT), ("b", 3, INSERT)]]
        *_, last = fed(operator(aggregates, ttl=1000), batches, [0, 600, 1000, 1500])
        assert [(r[0], r[3], r[4], r[-1]) for r in last] == [
            ("a", 2, 3, UPDATE_BEFORE),
            ("a", 3, 6, UPDATE_AFTER),
            ("b", 1, 3, INSERT),
        ]


def test_the_clock_alone_forgets_groups() -> None:
    op = operator(NUMBERS, kind=None, ttl=1000)
    rows = pa.table([pa.array(["a"]), pa.array([1]), pa.array([INSERT], pa.int8())], ["c0", "c1", "c2"])
    state = op.step(op.empty(), rows, Clock(now=500)).state
    assert op.next_wakeup(state).processing == 1500
    assert op.step(state, None, Clock(now=1499)).state is state
    after = op.step(state, None, Clock(now=1500))
    assert after.state.groups.num_rows == 0
    assert after.out.num_rows == 0


def test_what_came_before_it_was_forgotten_is_not_there_to_be_taken_back() -> None:
    batches = [[("a", 1, INSERT)], [("a", 1, DELETE)], [("a", 5, INSERT)]]
    out = fed(operator(AGGREGATES, ttl=10), batches, [0, 20, 21])
    assert out[1] == []
    assert [(r[3], r[4], r[-1]) for r in out[2]] == [(1, 5, INSERT)]

"""GROUP BY of rows that change, against groups that are computed anew."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.udfs.core.accumulator import Aggregate
from sqlext.udfs.core.changelog_aggregate import ChangelogAggregate
from sqlext.udfs.core.operators import Clock
from sqlext.udfs.core.policy import Global, Policy
from sqlext.udfs.core.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from sqlext.udfs.core.trigger_tree import EveryRow
from sqlext.udfs.core.window_specification import WindowSpecification

TYPES = [pa.string(), pa.int64(), pa.int8()]
AGGREGATES = (
    Aggregate("count"),
    Aggregate("sum", (1,)),
    Aggregate("max", (1,)),
    Aggregate("count", (1,), distinct=True),
)
Row = tuple[str | None, int | None]


def operator(keys: int = 1) -> ChangelogAggregate:
    policy = Policy(Global(), EveryRow(), mode="RETRACTING")
    return ChangelogAggregate(WindowSpecification(keys, policy, AGGREGATES, kind=2), TYPES)


def fed(op: ChangelogAggregate, batches: list[list[tuple[Any, ...]]]) -> list[list[tuple[Any, ...]]]:
    """Return key, results and kind of the rows of each batch."""
    state, out = op.empty(), []
    for batch in batches:
        columns = [pa.array([r[i] for r in batch], t) for i, t in enumerate(TYPES)]
        rows = pa.table([*columns, pa.array([0] * len(batch), pa.int16())], ["c0", "c1", "c2", "bucket"])
        # As on its way: the net of parts, then the net of these.
        rows = op.partial(pa.concat_tables([op.partial(rows.slice(0, 2)), op.partial(rows.slice(2))]))
        step = op.step(state, rows.drop_columns(["bucket"]), Clock())
        state = op.decode(op.encode(step.state))
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

"""FILL FOR EACH KEY OF a table: by an oracle, and by cases worked out by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.errors import SqlExtError
from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.packing import pack
from sqlext_udfs.kernel.table_codec import decode_rows
from sqlext_udfs.windows.filling.specification import Filling
from sqlext_udfs.windows.filling.table_keys import FilledTableKeys
from sqlext_udfs.windows.operator import WindowOperator
from sqlext_udfs.windows.policy import Hop, Policy, Tumble
from sqlext_udfs.windows.specification import WindowSpecification
from sqlext_udfs.windows.triggers.tree import AfterWatermark
from tests.operator_runs import TYPES, VALUE, Row, specification, table

CALLS = (AggregateCall("count", (), name="count()"), AggregateCall("sum", (VALUE,), name="sum(value)"))
#: Key, start, end, count, sum, and whether the window had no rows; then the results are those of the last one.
Pane = tuple[str | None, int, int, int | None, int | None, bool]


class Run:
    """Runs the operator with its state through bytes; keys of the table come as rows.

    Args:
        size, step: of the windows.
        limit: how many windows without rows may come out at once.
        buckets: over how many the keys are spread.
    """

    def __init__(self, size: int = 10, step: int = 10, limit: int = 1000, buckets: int = 1) -> None:
        of = specification(Policy(Hop(size, step), AfterWatermark()), CALLS)
        types = [*TYPES, pa.bool_()]
        filling = Filling(0, size, step, carries=True, table=len(TYPES), limit=limit)
        self.operator = FilledTableKeys(WindowOperator(of, types), filling, of, types)
        self.saved = [self.operator.encode(self.operator.empty())] * buckets
        self.watermark: int | None = None
        self.open = 0

    def step(
        self, rows: list[Row] | None = None, watermark: int | None = None, keys: list[str | None] | None = None
    ) -> list[Pane]:
        """Do a micro-batch; the watermark stands where it is not given."""
        before, self.watermark = self.watermark, self.watermark if watermark is None else watermark
        came = self._packed([Row(k, None, 0) for k in keys or []], True) + self._packed(rows or [], False)
        panes, self.open = [], 0
        for bucket, saved in enumerate(self.saved):
            mine = [decode_rows(cell) for at, cell in came if at == bucket]
            gathered = self.operator.gathered(mine) if mine else None
            step = self.operator.step(self.operator.decode(saved), gathered, Clock(self.watermark, before, 0))
            self.saved[bucket] = self.operator.encode(step.state)
            self.open += step.open_groups
            panes += [self._pane(list(r.values())) for r in step.out.to_pylist()] if step.out.num_columns else []
        return panes

    def _packed(self, rows: list[Row], of_table: bool) -> list[tuple[int, bytes]]:
        """Return what a worker sends of rows: buckets with tables."""
        if not rows:
            return []
        came = table(rows)
        places = [0 if r.key is None else ord(r.key) % len(self.saved) for r in rows]
        columns = [*came.columns[:-1], pa.repeat(pa.scalar(of_table), len(rows)), pa.array(places, pa.int16())]
        batches = pa.table(columns, [f"c{i}" for i in range(len(columns))]).to_batches()
        made = pack(self.operator, range(len(self.saved)), batches)
        return [(cell["bucket"], cell["rows"]) for batch in made for cell in batch.to_pylist()]

    def end(self) -> list[Pane]:
        """Come to the end of the input."""
        return self.step(watermark=Clock.END)

    def due(self) -> int | None:
        """Return the watermark at which the operator wants to be called."""
        due = (self.operator.next_wakeup(self.operator.decode(saved)).event for saved in self.saved)
        return min((at for at in due if at is not None), default=None)

    def _pane(self, values: list[object]) -> Pane:
        key, start, end, count, total, _, _, timing = values[:8]
        return (key, start, end, count, total, timing == "FILLED")  # type: ignore[return-value]


def test_key_without_rows_has_each_window() -> None:
    run = Run()
    assert run.step([Row("a", 7, 5), Row("a", 8, 25)], keys=["a", "b", "b"]) == []
    assert sorted(run.end()) == [
        ("a", 0, 10, 1, 7, False),
        ("a", 10, 20, 1, 7, True),
        ("a", 20, 30, 1, 8, False),
        ("b", 0, 10, None, None, True),
        ("b", 10, 20, None, None, True),
        ("b", 20, 30, None, None, True),
    ]
    assert run.due() is None
    assert run.open == 0


def test_windows_come_as_the_watermark_passes_them() -> None:
    run = Run()
    run.step([Row("a", 7, 15)], keys=["b"])
    assert run.step(watermark=20) == [("a", 10, 20, 1, 7, False), ("b", 10, 20, None, None, True)]
    assert run.due() == 30
    assert run.step(watermark=29) == []
    assert run.step(watermark=45) == [("b", 20, 30, None, None, True), ("b", 30, 40, None, None, True)]
    # At the end nothing comes behind the last window with rows.
    assert run.end() == []


def test_nothing_is_filled_before_the_first_row() -> None:
    run = Run()
    assert run.step(keys=["a"], watermark=100) == []
    assert run.due() is None
    assert run.end() == []


def test_new_key_is_filled_from_the_next_window_on() -> None:
    run = Run()
    run.step([Row("a", 7, 5)])
    run.step(watermark=10)
    run.step(keys=["b"], watermark=12)
    assert run.step(watermark=20) == [("b", 10, 20, None, None, True)]


def test_keys_of_other_buckets_begin_with_the_first_row_of_any() -> None:
    run = Run(buckets=4)
    assert run.step([Row("a", 7, 5)], keys=["b", "c"]) == []
    assert sorted(run.step(watermark=20)) == [
        ("a", 0, 10, 1, 7, False),
        ("b", 0, 10, None, None, True),
        ("b", 10, 20, None, None, True),
        ("c", 0, 10, None, None, True),
        ("c", 10, 20, None, None, True),
    ]


def test_late_row_of_another_bucket_begins_nothing() -> None:
    run = Run(buckets=4)
    run.step(keys=["b"], watermark=20)
    assert run.step([Row("a", 7, 5), Row("a", 7, 45)], watermark=20) == []
    assert sorted(run.end()) == [("a", 40, 50, 1, 7, False), ("b", 40, 50, None, None, True)]


def test_new_key_of_a_bucket_without_keys_begins_with_the_next_window() -> None:
    run = Run(buckets=4)
    run.step([Row("a", 7, 5)], keys=["a"])
    run.step(watermark=30)
    run.step(keys=["b"], watermark=32)
    assert sorted(run.step(watermark=40)) == [("a", 30, 40, 1, 7, True), ("b", 30, 40, None, None, True)]


def test_what_is_told_of_windows_is_short() -> None:
    """However many rows there are, windows that stand side by side are two numbers."""
    operator = Run().operator
    rows = [Row("a", 1, t) for t in (*range(0, 500, 5), 700)]
    flagged = table(rows)
    flagged = flagged.add_column(flagged.num_columns - 1, "flag", pa.repeat(pa.scalar(False), len(rows)))
    assert operator.for_each(operator.partial(flagged)).to_pydict() == {
        "first window": [0, 70],
        "last window": [49, 70],
    }


def test_late_row_fills_nothing_twice() -> None:
    run = Run()
    run.step([Row("a", 7, 5)], keys=["a"])
    assert len(run.step(watermark=30)) == 3
    assert run.step([Row("a", 7, 15)], watermark=30) == []


def test_a_jump_of_the_watermark_that_gives_too_many_is_refused() -> None:
    run = Run(limit=8)
    run.step([Row("a", 7, 5)], keys=["b", "c"])
    assert len(run.step(watermark=40)) == 9
    with pytest.raises(SqlExtError, match=r"12 windows without rows at once, and 'sqlext.fill.limit' = 8"):
        run.step(watermark=100)


def test_days_of_a_zone_from_the_first_micro_batch_on() -> None:
    """SQL gives rows their days, whose bounds on the wall clock are keys; before it there was no watermark."""
    day, summer = 86_400_000, 1711839600000  # midnight of March 31 in Berlin: this day has 23 hours
    walls = [summer + 3_600_000 + n * day for n in range(4)]
    ends = [summer, summer + day - 3_600_000, summer + 2 * day - 3_600_000, summer + 3 * day - 3_600_000]
    policy = Policy(Tumble(day), AfterWatermark())
    of = WindowSpecification(3, policy, (AggregateCall("count", (), name="count()"),), start=3, end=4)
    wall = pa.timestamp("us")
    types = [pa.string(), wall, wall, pa.int64(), pa.int64(), pa.bool_()]
    filling = Filling(0, day, day, zone="Europe/Berlin", walls=True, table=5)
    operator = FilledTableKeys(WindowOperator(of, types), filling, of, types)
    shown = [pa.array([w, None], pa.timestamp("ms")).cast(wall) for w in walls]
    columns = [["a", "b"], shown[0], shown[1], [ends[0], 0], [ends[1], 0], [False, True], [0, 0]]
    arrays = [c if isinstance(c, pa.Array) else pa.array(c) for c in columns]
    partial = operator.partial(pa.table(arrays, [f"c{i}" for i in range(7)]))
    came = operator.gathered([operator.for_each(partial), partial.remove_column(partial.num_columns - 1)])
    state = operator.step(operator.empty(), came, Clock(0, Clock.BEGIN, 0)).state
    out = operator.step(operator.decode(operator.encode(state)), None, Clock(ends[3], 0, 0)).out
    found = [(row["c0"], row["c2"], row["c3"], row["c4"], row["c5"] or 0) for row in out.to_pylist()]
    days = [w.as_py() for column in shown[1:] for w in column[:1]]
    # The key of the row is none of the table's.
    assert sorted(found) == [
        ("a", days[0], ends[0], ends[1], 1),
        *(("b", days[n], ends[n], ends[n + 1], 0) for n in range(3)),
    ]


KEYS = st.sampled_from(["a", "b", "c", None])
BATCHES = st.lists(
    st.tuples(st.lists(st.tuples(KEYS, st.integers(-40, 150)), max_size=5), st.integers(0, 50)), max_size=6
)


@settings(max_examples=80, deadline=None)
@given(BATCHES, st.sets(KEYS, max_size=4), st.sampled_from([(10, 10), (20, 10), (10, 20)]), st.integers(1, 4))
def test_the_oracle(
    batches: list[tuple[list[tuple[str | None, int]], int]],
    keys: set[str | None],
    window: tuple[int, int],
    buckets: int,
) -> None:
    size, step = window
    run, watermark, made = Run(size, step, buckets=buckets), -60, run_keys(keys)
    panes = run.step(keys=made) if made else []
    for came, ahead in batches:
        watermark += ahead
        before = run.due()
        some = run.step([Row(k, 1, t) for k, t in came], watermark)
        assert came or before is None or before <= watermark or some == []
        panes += some
    panes += run.end()
    real = {(k, s): (n, v) for k, s, _, n, v, filled in panes if not filled}
    starts = [s for _, s in real]
    reached = (watermark - size) // step * step
    expected = {}
    for key in keys if starts else []:
        last: tuple[int | None, int | None] = (None, None)
        for start in range(min(starts), max(*starts, reached) + 1 if len(starts) else 0, step):
            if (key, start) in real:
                last = real[key, start]
            else:
                expected[key, start] = last
    filled = [p for p in panes if p[5]]
    assert {(k, s): (n, v) for k, s, _, n, v, _ in filled} == expected
    assert len(filled) == len(expected)


def run_keys(keys: set[str | None]) -> list[str | None]:
    """Return the keys of the table in one order, each twice."""
    return sorted(keys, key=str) * 2


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(KEYS, st.integers(-40, 150)), min_size=1, max_size=12), st.sets(KEYS))
def test_cuts_do_not_matter(came: list[tuple[str | None, int]], keys: set[str | None]) -> None:
    rows = sorted((Row(k, 1, t) for k, t in came), key=lambda r: r.ts)
    once, cut = Run(), Run(buckets=3)
    once.step(rows, keys=run_keys(keys))
    cut.step(keys=run_keys(keys))
    made = []
    for at in range(0, len(rows), 3):
        made += cut.step(rows[at : at + 3], rows[at].ts)
    made += cut.end()
    assert sorted(made, key=repr) == sorted(once.end(), key=repr)

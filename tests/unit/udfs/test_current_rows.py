"""Current rows by key: what records change, against a dictionary; state through bytes; a time to live."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pyarrow as pa
import pytest

from sqlext_udfs.current_rows import CurrentOperator, CurrentSpecification
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, SHOWN, UPDATE_AFTER, UPDATE_BEFORE

#: Key, value, row kind, position, bucket.
TYPES = [pa.string(), pa.float64(), pa.int8(), pa.int64()]
Record = tuple[str, float | None, bool]
Change = tuple[str, str, float | None]


class Run:
    """An operator over micro-batches of records (key, value, whether the row is gone)."""

    def __init__(self, ttl: int | None = None) -> None:
        self.operator = CurrentOperator(CurrentSpecification(1, (0, 1), 2, 3, ttl), TYPES)
        self.state = self.operator.empty()
        self.sent = 0

    def send(self, *records: Record, parts: int = 1, now: int | None = None) -> list[Change]:
        """Return the changes of a batch, which comes in parts of any order."""
        numbered = [(*r, self.sent + i) for i, r in enumerate(records)]
        self.sent += len(records)
        pieces = [self.operator.partial(_rows(numbered[n::parts])) for n in reversed(range(parts))]
        rows = self.operator.partial(pa.concat_tables(pieces)) if records else None
        step = self.operator.step(self.state, rows.remove_column(4) if rows is not None else None, Clock(now=now))
        assert step.out.schema.types == list(self.operator.output_types)
        assert step.open_groups == step.state.num_rows
        if step.state is not self.state:
            self.state = self.operator.decode(self.operator.encode(step.state))
        keys, values, kinds = (column.to_pylist() for column in step.out.columns)
        return [(SHOWN[kind], key, value) for kind, key, value in zip(kinds, keys, values, strict=True)]


def _rows(records: Sequence[tuple[str, float | None, bool, int]]) -> pa.Table:
    columns = list(zip(*records, strict=True)) or [(), (), (), ()]
    kinds = [DELETE if gone else UPDATE_AFTER for gone in columns[2]]
    arrays = [pa.array(v, t) for v, t in zip((columns[0], columns[1], kinds, columns[3]), TYPES, strict=True)]
    return pa.table([*arrays, pa.array([0] * len(kinds), pa.int32())], ["c0", "c1", "c2", "c3", "bucket"])


def test_what_records_change() -> None:
    run = Run()
    assert run.send(("a", 1, False), ("b", 2, False), ("x", None, True)) == [("+I", "a", 1), ("+I", "b", 2)]
    assert run.send(("a", 3, False), ("b", 2, False)) == [("-U", "a", 1), ("+U", "a", 3)]
    assert run.send(("b", None, True)) == [("-D", "b", 2)]
    assert run.send(("b", None, True)) == []
    assert run.send(("b", 4, False)) == [("+I", "b", 4)]


def test_of_a_batch_the_last_record_of_a_key_counts() -> None:
    run = Run()
    assert run.send(("a", 1, False), ("a", None, True), parts=2) == []
    assert run.send(("a", 1, False), ("a", 2, False), ("a", 3, False), parts=2) == [("+I", "a", 3)]
    assert run.send(("a", None, True), ("a", 3, False), parts=2) == []
    assert run.send(("a", 9, False), ("a", None, True)) == [("-D", "a", 3)]


def test_equal_rows() -> None:
    """NULL and NaN are equal to themselves, 0.0 to -0.0: nothing has changed."""
    run = Run()
    run.send(("n", None, False), ("x", float("nan"), False), ("z", 0.0, False))
    before = run.state
    assert run.send(("n", None, False), ("x", float("nan"), False), ("z", -0.0, False)) == []
    assert run.state is before


@pytest.mark.parametrize("seed", range(20))
def test_as_a_dictionary(seed: int) -> None:
    """Applied to a table, the changes are what the records say; what is taken back was there."""
    chosen, run = random.Random(seed), Run()
    told: dict[str, float | None] = {}
    made: dict[str, float | None] = {}
    for _ in range(12):
        records = []
        for _ in range(chosen.randrange(9)):
            key, gone = chosen.choice("abcde"), chosen.random() < 0.3
            records.append((key, None if gone else float(chosen.randrange(3)), gone))
            if gone:
                told.pop(key, None)
            else:
                told[key] = records[-1][1]
        for kind, key, value in run.send(*records, parts=chosen.randrange(1, 4)):
            if kind in (SHOWN[UPDATE_BEFORE], SHOWN[DELETE]):
                assert made.pop(key) == value
            else:
                assert key not in made
                assert (kind == SHOWN[INSERT]) == (key not in made) or kind == SHOWN[UPDATE_AFTER]
                made[key] = value
        assert made == told


def test_a_time_to_live() -> None:
    """A record that says the same keeps the key; what was forgotten is not taken back."""
    run = Run(ttl=10)
    assert run.send(("a", 1, False), ("b", 2, False), now=0) == [("+I", "a", 1), ("+I", "b", 2)]
    assert run.send(("a", 1, False), now=8) == []
    assert run.operator.next_wakeup(run.state).processing == 10
    assert run.send(now=12) == []
    assert run.state.num_rows == 1
    assert run.send(("a", 5, False), ("b", 6, False), now=13) == [("-U", "a", 1), ("+U", "a", 5), ("+I", "b", 6)]


@pytest.mark.parametrize(
    ("nested", "repeated"),
    [
        (pa.list_(pa.struct([("k", pa.string()), ("v", pa.list_(pa.int64()))])), 0),
        (pa.map_(pa.string(), pa.list_(pa.int64())), 2),
    ],
)
def test_rows_of_any_type(nested: pa.DataType, repeated: int) -> None:
    """Maps cannot be compared: a record with the same ones is a change."""
    types = [pa.string(), nested, pa.int8(), pa.int64()]
    operator = CurrentOperator(CurrentSpecification(1, (0, 1), 2, 3), types)

    def one(numbers: list[int]) -> pa.Table:
        value = [("k", numbers)] if pa.types.is_map(nested) else [{"k": "k", "v": numbers}]
        arrays = [pa.array([v], t) for v, t in zip(("a", value, UPDATE_AFTER, 0), types, strict=True)]
        return pa.table(arrays, ["c0", "c1", "c2", "c3"])

    first = operator.step(operator.empty(), one([1, 2]), Clock())
    again = operator.step(first.state, one([1, 2]), Clock())
    other = operator.step(first.state, one([1]), Clock())
    assert (first.out.num_rows, again.out.num_rows, other.out.num_rows) == (1, repeated, 2)

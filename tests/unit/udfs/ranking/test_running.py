"""Functions in the order of a value against a list that is computed anew."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER
from sqlext_udfs.ranking.running import running_operator

Row = tuple[str, "int | None", "int | None"]
#: name, place, rows, offset, default
FUNCTIONS = (
    ("COUNT", None, False, 1, None),
    ("COUNT", 2, True, 1, None),
    ("SUM", 2, False, 1, None),
    ("SUM", 2, True, 1, None),
    ("MIN", 2, False, 1, None),
    ("MAX", 2, True, 1, None),
    ("LAG", 2, False, 2, None),
    ("LAG", 2, False, 1, 3),
)
DEFAULT = 9
LONG = pa.int64()


def run(batches: list[list[tuple[Any, ...]]], values: pa.DataType = LONG, *, changes: bool = False) -> list[Any]:
    """Return the rows that are left; the state goes through bytes between batches."""
    types = [pa.string(), pa.int64(), values, values, pa.int8()]
    fields = {
        "keys": 1,
        "out": (0, 1, 2),
        "order": ((1, False, True),),
        "kind": 4 if changes else None,
        "ttl": None,
        "functions": FUNCTIONS,
        "checked": True,
    }
    operator = running_operator(fields, types)
    state, left = operator.empty(), Counter[tuple[Any, ...]]()
    for batch in batches:
        if not batch:
            continue
        columns = [[r[0] for r in batch], [r[1] for r in batch], [r[2] for r in batch]]
        columns += [[values_of(values, DEFAULT)] * len(batch), [r[3] for r in batch]]
        arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
        rows = operator.partial(pa.table(arrays, [f"c{i}" for i in range(5)]))
        step = operator.step(state, rows, Clock())
        assert [c.type for c in step.out.columns] == list(operator.output_types)
        state = operator.decode(operator.encode(step.state))
        for *row, _, kind in (tuple(r.values()) for r in step.out.to_pylist()):
            left[tuple(row)] += 1 if kind in (INSERT, UPDATE_AFTER) else -1
    assert all(n >= 0 for n in left.values())
    return sorted((+left).elements(), key=repr)


def values_of(of: pa.DataType, value: int) -> Any:
    return Decimal(value) if pa.types.is_decimal(of) else float(value) if pa.types.is_floating(of) else value


def naive(rows: list[tuple[Any, ...]], default: Any = DEFAULT) -> list[Any]:
    """Return what SQL says of all rows at once."""
    made = []
    for key in {r[0] for r in rows}:
        own = sorted((r for r in rows if r[0] == key), key=lambda r: (r[1] is not None, r[1] or 0))
        for i, row in enumerate(own):
            peers = [r[2] for r in own if r[1] is None or (row[1] is not None and r[1] <= row[1])]
            here = [r[2] for r in own[: i + 1]]
            known, known_here = ([v for v in of if v is not None] for of in (peers, here))
            made.append(
                (
                    *row[:3],
                    len(peers),
                    len(known_here),
                    sum(known) if known else None,
                    sum(known_here) if known_here else None,
                    min(known, default=None),
                    max(known_here, default=None),
                    own[i - 2][2] if i >= 2 else None,
                    own[i - 1][2] if i >= 1 else default,
                )
            )
    return sorted(made, key=repr)


rows_ = st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 4), st.none() | st.integers(-3, 3))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(rows_, max_size=6), max_size=4))
def test_inserts_alone(batches: list[list[Row]]) -> None:
    made = run([[(*r, INSERT) for r in b] for b in batches])
    assert made == naive([r for b in batches for r in b])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(rows_, min_size=1, max_size=6, unique=True), min_size=1, max_size=3), st.data())
def test_rows_that_are_taken_back(batches: list[list[Row]], data: st.DataObject) -> None:
    # Equal rows, and rows that are equal in ORDER BY, would come in an order that the test does not know.
    every = list({(r[0], i): r for i, r in enumerate(dict.fromkeys(r for b in batches for r in b))}.values())
    every = [(k, i, v) for i, (k, _, v) in enumerate(every)]
    gone = data.draw(st.lists(st.sampled_from(every), unique=True))
    made = run([[(*r, INSERT) for r in every], [(*r, DELETE) for r in gone]], changes=True)
    assert made == naive([r for r in every if r not in gone])


@pytest.mark.parametrize("of", [pa.float64(), pa.decimal128(10, 0)])
def test_sums_have_their_types(of: pa.DataType) -> None:
    rows = [("a", 1, values_of(of, 2)), ("a", 2, None), ("a", 3, values_of(of, 5)), ("b", 1, None)]
    assert run([[(*r, INSERT) for r in rows]], of) == naive(rows, values_of(of, DEFAULT))


def sums(values: list[int], of: pa.DataType = LONG, *, checked: bool = True) -> list[Any]:
    """Return sums up to each of the values; the last two are equal in ORDER BY."""
    types = [pa.int64(), of]
    fields = {"keys": 0, "out": (1,), "order": ((0, False, True),), "kind": None, "ttl": None}
    fields |= {"functions": (("SUM", 1, False, 1, None),), "checked": checked}
    operator = running_operator(fields, types)
    order = [*range(len(values) - 1), len(values) - 2]
    arrays = [pa.array(order, pa.int64()), pa.array([values_of(of, v) for v in values], of)]
    step = operator.step(operator.empty(), operator.partial(pa.table(arrays, ["c0", "c1"])), Clock())
    made: list[Any] = step.out.column(1).to_pylist()
    return made


def test_a_sum_that_does_not_fit_is_an_error_or_wraps() -> None:
    most = 2**63 - 1
    assert sums([most, -most - 1, 5, 0]) == [most, -1, 4, 4]
    assert sums([most, 1, 5, 0], checked=False) == [most, -most - 1, -most + 4, -most + 4]
    # Of rows that are equal in ORDER BY none has the sum that does not fit.
    assert sums([most, 1, -1]) == [most, most, most]
    with pytest.raises(SqlExtError, match="RUN-035"):
        sums([most, 1, 5, 0])


@pytest.mark.parametrize("checked", [True, False])
def test_a_sum_of_decimals_has_38_digits(checked: bool) -> None:
    of, most = pa.decimal128(38, 0), 10**38 - 1
    assert sums([most, -1, 1], of, checked=checked) == [most, most, most]
    with pytest.raises(SqlExtError, match="RUN-035"):
        sums([most, 1, 5], of, checked=checked)

"""OVER the rows of windows that are over: as plain Python has it, whatever the batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.kernel.operator import Clock, Wakeup
from sqlext_udfs.over.specification import OverCall, OverFrame
from sqlext_udfs.over.windowed import WindowedOverOperator, WindowedOverSpecification
from sqlext_udfs.ranking.specification import SortKey

KEY, END, VALUE, TEXT, ID = range(5)
TYPES = [pa.string(), pa.int64(), pa.int64(), pa.string(), pa.int64()]
ALL = 1 << 40
_WHOLE, _UP_TO = OverFrame("RANGE", ALL, ALL), OverFrame("RANGE", ALL, 0)
_ORDERS = {
    "none": (),
    "up": (SortKey(VALUE),),
    "down": (SortKey(VALUE, True, False), SortKey(TEXT)),
}
_CALLS = [
    OverCall("ntile", parameters=(("n", 3),)),
    OverCall("percent_rank"),
    OverCall("cume_dist"),
    OverCall("row_number"),
    OverCall("rank"),
    OverCall("dense_rank"),
    OverCall("nth_value", (ID,), _WHOLE, parameters=(("n", 2),)),
    OverCall("nth_value", (ID,), OverFrame("ROWS", 1, 1), parameters=(("n", 3),)),
    OverCall("count", (), _WHOLE),
    OverCall("sum", (VALUE,), _UP_TO),
    OverCall("count", (TEXT,), _WHOLE, True),
    OverCall("collect_list", (ID,), OverFrame("ROWS", 1, ALL)),
    OverCall("first", (ID,), _WHOLE),
    OverCall("last", (ID,), _UP_TO),
    OverCall("max", (TEXT,), OverFrame("ROWS", -1, 2)),
    OverCall("lag", (ID,), OverFrame("ROWS"), parameters=(("offset", 2),)),
    OverCall("lead", (ID,), OverFrame("ROWS", 0, 1)),
]


class Row(NamedTuple):
    """A row that goes in; its window ends at ``end``."""

    key: str | None
    end: int
    value: int | None
    text: str | None
    id: int = 0


class Run:
    """The operator driven by rows: its state goes through bytes after each batch."""

    def __init__(self, calls: Sequence[OverCall], order: str = "up") -> None:
        spec = WindowedOverSpecification(2, END, (ID,), tuple(calls), (_ORDERS[order],), (0,) * len(calls))
        self.operator = WindowedOverOperator(spec, TYPES)
        self.state = self.operator.empty()
        self.watermark: int | None = None
        self.late = 0

    def batch(self, rows: Sequence[Row], watermark: int | None = None) -> list[tuple[Any, ...]]:
        """Return what comes out of a micro-batch."""
        clock = Clock(self.watermark if watermark is None else watermark, self.watermark, None)
        self.watermark = clock.watermark
        columns = zip(*rows, strict=True) if rows else [()] * len(TYPES)
        arrays = [pa.array(list(c), t) for c, t in zip(columns, TYPES, strict=True)]
        came = pa.table(arrays, [f"c{i}" for i in range(len(TYPES))]) if rows else None
        step = self.operator.step(self.state, came, clock)
        self.state = self.operator.decode(self.operator.encode(step.state))
        self.late += step.dropped_late
        assert step.out.schema.types == list(self.operator.output_types)
        return [tuple(list(r.values())[:-1]) for r in step.out.to_pylist()]


def _expected(rows: Sequence[Row], calls: Sequence[OverCall], order: str) -> list[tuple[Any, ...]]:
    out = []
    for at in {(r.key, r.end) for r in rows}:
        mine = sorted((r for r in rows if (r.key, r.end) == at), key=lambda r: _sort_key(r, order))
        peers = [_sort_key(r, order) for r in mine]
        out += [(r.id, *(_result(c, mine, peers, i) for c in calls)) for i, r in enumerate(mine)]
    return sorted(out)


def _sort_key(row: Row, order: str) -> tuple[Any, ...]:
    text = (row.text is not None, row.text or "")
    return {
        "none": (),
        "up": (row.value is not None, row.value or 0),
        "down": (row.value is None, -(row.value or 0), text),
    }[order]


def _result(call: OverCall, rows: list[Row], peers: list[tuple[Any, ...]], place: int) -> Any:
    first, behind = peers.index(peers[place]), len(peers) - peers[::-1].index(peers[place])
    count = len(rows)
    plain: dict[str, Any] = {
        "row_number": place + 1,
        "rank": first + 1,
        "dense_rank": len(set(peers[: place + 1])),
        "percent_rank": first / (count - 1) if count > 1 else 0.0,
        "cume_dist": behind / count,
        "ntile": next((n for n in range(1, 4) if place < sum(count // 3 + (p < count % 3) for p in range(n))), None),
        "lag": rows[place - 2].id if place >= 2 else None,
        "lead": rows[place + 1].id if place + 1 < count else None,
    }
    if call.function in plain:
        return plain[call.function]
    assert call.frame.preceding is not None
    low, high = place - call.frame.preceding, place + call.frame.following + 1
    if call.frame.unit == "RANGE":
        low, high = 0 if call.frame.preceding else first, count if call.frame.following else behind
    framed = [r[call.inputs[0]] if call.inputs else 1 for r in rows[max(low, 0) : max(high, 0)]]
    known = [v for v in framed if v is not None]
    if call.function == "nth_value":
        n = call.parameter("n")
        return framed[n - 1] if len(framed) >= n else None
    if call.function == "sum":
        return sum(known) if known else None
    functions: dict[str, Any] = {
        "count": len(set(known)) if call.distinct else len(known),
        "collect_list": known,
        "first": known[0] if known else None,
        "last": known[-1] if known else None,
        "max": max(known, default=None),
    }
    return functions[call.function]


_ROWS = st.builds(
    lambda key, end, value, text: Row(key, end, value, text),
    st.sampled_from(["a", "b", None]),
    st.sampled_from([10, 20, 30]),
    st.none() | st.integers(0, 3),
    st.none() | st.sampled_from(["x", "y"]),
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.lists(_ROWS, max_size=9), st.none() | st.integers(0, 35)), max_size=4),
    st.lists(st.sampled_from(_CALLS), min_size=1, max_size=5),
    st.sampled_from(list(_ORDERS)),
)
def test_it_agrees_with_plain_python(
    batches: list[tuple[list[Row], int | None]], calls: list[OverCall], order: str
) -> None:
    run, out, kept, number, before = Run(calls, order), [], [], 0, -1
    for rows, watermark in [*batches, ([], Clock.END)]:
        mine = [r._replace(id=number + i) for i, r in enumerate(rows)]
        number += len(rows)
        kept += [r for r in mine if r.end > before]
        watermark = before if watermark is None else max(before, watermark)
        out += run.batch(mine, None if watermark < 0 else watermark)
        before = watermark
    assert sorted(out) == _expected(kept, calls, order)
    assert run.late == number - len(kept)
    assert run.state.num_rows == 0


@pytest.mark.parametrize("order", _ORDERS)
def test_all_functions(order: str) -> None:
    rows = [Row("ab"[i % 5 == 0], 10, [None, 1, 2, 2, 5][i % 5], [None, "x", "y"][i % 3], i) for i in range(40)]
    assert sorted(Run(_CALLS, order).batch(rows, 10)) == _expected(rows, _CALLS, order)


def test_rows_come_out_when_their_window_is_over() -> None:
    run = Run([OverCall("percent_rank")])
    assert run.batch([Row("a", 10, 1, None, 1), Row("a", 20, 1, None, 2), Row("a", 10, 2, None, 3)], 9) == []
    assert run.operator.next_wakeup(run.state) == Wakeup(10)
    assert run.batch([], 10) == [(1, 0.0), (3, 1.0)]
    assert run.batch([Row("a", 10, 5, None, 4), Row("a", 20, 0, None, 5)]) == []
    assert run.late == 1
    assert run.batch([], Clock.END) == [(2, 1.0), (5, 0.0)]


def test_calls_of_several_orders() -> None:
    calls = [OverCall("row_number"), OverCall("count", (), _WHOLE), OverCall("row_number")]
    spec = WindowedOverSpecification(2, END, (ID,), tuple(calls), (_ORDERS["up"], (), _ORDERS["down"]), (0, 1, 2))
    run = Run(calls)
    run.operator = WindowedOverOperator(spec, TYPES)
    rows = [Row("a", 10, v, None, v) for v in (2, 3, 1)]
    assert run.batch(rows, 10) == [(2, 2, 3, 2), (3, 3, 3, 1), (1, 1, 3, 3)]

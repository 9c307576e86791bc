"""OVER in plain Python: one row after the other, each frame looked at anew."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.over.operator import OverOperator
from sqlext_udfs.over.specification import OverCall, OverFrame, OverSpecification

#: Key, time, an integer, a floating-point number, text, the row's own number.
TYPES = [pa.string(), pa.int64(), pa.int64(), pa.float64(), pa.string(), pa.int64()]
KEY, TIME, VALUE, NUMBER, TEXT, ID = range(len(TYPES))


class Row(NamedTuple):
    """A row that goes in."""

    key: str | None
    time: int
    value: int | None = None
    number: float | None = None
    text: str | None = None
    id: int = 0


class Batch(NamedTuple):
    """A micro-batch; the watermark does not move where it has none."""

    rows: list[Row]
    watermark: int | None = None


class Run:
    """The operator driven by rows: its state goes through bytes after each batch."""

    def __init__(
        self,
        *calls: OverCall,
        time: int | None = TIME,
        values: tuple[int, ...] = (ID,),
        keys: int = 1,
        ttl: int | None = None,
    ):
        self.operator = OverOperator(OverSpecification(keys, time, values, calls, ttl), TYPES)
        self.state = self.operator.empty()
        self.watermark: int | None = None
        self.late = 0

    def batch(self, rows: Sequence[Row], watermark: int | None = None, now: int | None = None) -> list[tuple[Any, ...]]:
        """Return what comes out of a micro-batch, without the row kind (which is always INSERT)."""
        clock = Clock(self.watermark if watermark is None else watermark, self.watermark, now)
        self.watermark = clock.watermark
        step = self.operator.step(self.state, table(rows) if rows else None, clock)
        self.state = self.operator.decode(self.operator.encode(step.state))
        self.late += step.dropped_late
        assert all(kind == 0 for kind in step.out.column(step.out.num_columns - 1).to_pylist())
        return [tuple(list(r.values())[:-1]) for r in step.out.to_pylist()]

    def all(self, batches: Sequence[Batch]) -> list[tuple[Any, ...]]:
        """Return what comes out of some batches and the end of input."""
        made = [out for b in batches for out in self.batch(b.rows, b.watermark)]
        return made + self.batch([], Clock.END)


def table(rows: Sequence[Row]) -> pa.Table:
    """Return rows as the operator gets them."""
    return pa.table(
        [pa.array(list(c), t) for c, t in zip(zip(*rows, strict=True), TYPES, strict=True)],
        [f"c{i}" for i in range(len(TYPES))],
    )


def expected(batches: Sequence[Batch], calls: Sequence[OverCall]) -> list[tuple[Any, ...]]:
    """Return each row's number and results, in the order in which rows come out."""
    kept: list[Row] = []
    watermark: int | None = None
    for batch in batches:
        kept += [r for r in batch.rows if watermark is None or r.time >= watermark]
        watermark = batch.watermark if batch.watermark is not None else watermark
    kept.sort(key=lambda r: r.time)
    return [(row.id, *(_result(c, [r for r in kept if r.key == row.key], row) for c in calls)) for row in kept]


def _result(call: OverCall, rows: list[Row], row: Row) -> Any:
    place = rows.index(row)
    peers = [r.time for r in rows]
    if call.function == "row_number":
        return place + 1
    if call.function == "rank":
        return peers.index(row.time) + 1
    if call.function == "dense_rank":
        return len({t for t in peers if t <= row.time})
    end = place + 1 if call.frame.unit == "ROWS" else max(i for i, t in enumerate(peers) if t == row.time) + 1
    if call.function == "lag":
        at = end - 1 - dict(call.parameters).get("offset", 1)
        return rows[at][call.inputs[0]] if at >= 0 else None
    if call.function == "lead":
        later = rows[place + call.frame.following :]
        return later[0][call.inputs[0]] if later else None
    framed = [r for i, r in enumerate(rows) if _is_in(call.frame, i - place, r.time - row.time)]
    values = [r[call.inputs[0]] if call.inputs else 1 for r in framed]
    known = [v for v in values if v is not None]
    return _FUNCTIONS[call.function](list(dict.fromkeys(known)) if call.distinct else known)


def _is_in(frame: OverFrame, place: int, time: int) -> bool:
    """Whether a row is in the frame of another: how many rows, and ms, it lies behind that."""
    at = place if frame.unit == "ROWS" else time
    return at <= frame.following and (frame.preceding is None or at >= -frame.preceding)


_FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "count": len,
    "sum": lambda v: (math.fsum(v) if isinstance(v[0], float) else sum(v)) if v else None,
    "min": lambda v: min(v, default=None),
    "max": lambda v: max(v, default=None),
    "first": lambda v: v[0] if v else None,
    "last": lambda v: v[-1] if v else None,
    "collect_list": list,
}

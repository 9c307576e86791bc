"""Add to rows the watermark that they meet: CURRENT_WATERMARK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sqlext_udfs.kernel.dividing import Wanted
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import INSERT

#: Milliseconds of 9999-01-01. It stands for the watermark at the end of input, which no TIMESTAMP can show.
_END = 253_370_764_800_000


@dataclass(frozen=True, slots=True)
class WatermarkSpecification:
    """The operator's input columns by position.

    Attributes:
        keys: how many of the first columns spread rows over buckets.
        out: the columns that come out.
        kind: row kinds of a changelog; None where rows only come.
    """

    keys: int
    out: tuple[int, ...]
    kind: int | None = None


class WatermarkOperator(BucketOperator[None]):
    """Stamp rows with the watermark at the begin of their micro-batch; there is no state.

    The columns ``out`` come out, the watermark (BIGINT of ms since 1970 UTC, NULL before the first one), and the row
    kind (int8).

    Args:
        specification: the columns.
        types: of the columns that go in.
    """

    def __init__(self, specification: WatermarkSpecification, types: Sequence[pa.DataType]) -> None:
        self._spec = specification
        self.output_types = (*(types[place] for place in specification.out), pa.int64(), pa.int8())

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return all rows: each comes out."""
        return rows

    def empty(self) -> None:
        """Return None: there is no state."""

    def step(self, state: None, rows: pa.Table | None, clock: Clock) -> StepResult[None]:
        """Give out the rows with the watermark at the begin of the micro-batch."""
        if rows is None:
            return StepResult(state, self._table([pa.array([], type_) for type_ in self.output_types]))
        count, kind = rows.num_rows, self._spec.kind
        stamp = pa.repeat(pa.scalar(_shown(clock.watermark), pa.int64()), count)
        kinds = rows.column(kind) if kind is not None else pa.repeat(pa.scalar(INSERT, pa.int8()), count)
        return StepResult(state, self._table([*(rows.column(place) for place in self._spec.out), stamp, kinds]))

    def next_wakeup(self, state: None) -> Wakeup:
        """Return never: it gives nothing out by itself."""
        return Wakeup()

    def encode(self, state: None) -> bytes:
        """Return nothing; it is never asked for, as nothing changes."""
        return b""

    def of_keys(self, state: None, wanted: Wanted) -> None:
        """Return None."""

    def together(self, states: Sequence[None]) -> None:
        """Return None."""

    def decode(self, data: bytes) -> None:
        """Return nothing."""

    def _table(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> pa.Table:
        return pa.table(list(columns), names=[f"c{i}" for i in range(len(columns))])


def _shown(watermark: int | None) -> int | None:
    """Return the watermark of a clock; Spark's begins at 1970, which no row has come to."""
    if watermark is None or watermark <= 0:
        return None
    return min(watermark, _END)


def watermark_operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> WatermarkOperator:
    """Return the operator of the fields of its specification and the types of the columns that go in."""
    return WatermarkOperator(WatermarkSpecification(**fields), types)

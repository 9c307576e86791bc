"""Describe what a window operator computes, and the columns that come out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.aggregates.aggregation import Aggregation
from sqlext_udfs.kernel.clock import BEFORE_ALL
from sqlext_udfs.windows.policy import Policy

#: The columns after the aggregates', as (name, type); the type of ``late_row`` is the row's.
PANE_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("pane_index", pa.int32()),
    ("pane_non_speculative_index", pa.int32()),
    ("pane_timing", pa.string()),
    ("pane_is_first", pa.bool_()),
    ("pane_is_last", pa.bool_()),
    ("pane_timestamp", pa.int64()),
    ("row_kind", pa.int8()),
)
# The type of ``late_row`` where nobody wants late rows: it is NULL then.
_NO_ROW = pa.bool_()


@dataclass(frozen=True, slots=True)
class WindowSpecification:
    """The operator's input columns by position, and what is made of them.

    Attributes:
        keys: how many of the first columns are the key, of any type that can be compared.
        policy: the windows, and when they give panes.
        aggregates: what is computed for each pane.
        time: the rowtime, BIGINT of milliseconds (UTC); None where windows are of the batch clock.
        gap: BIGINT of milliseconds: the gap of each row's session.
        start, end: BIGINT of milliseconds (UTC): the window of each row, where SQL gave it one. Then the windows of the
            policy do not count.
        values: DOUBLE columns that triggers and evictors look at, by their numbers in the policy.
        row: a struct, the original row, which comes out where it is too late; None where nobody keeps late rows. It
            is NULL beside each window that SQL gave a row but the last: what is late for these may not be for that.
        kind: what each row does (``kernel.row_kinds``), where rows may be taken back: without a window, with the one
            that SQL gave, in sessions, or in windows of the batch clock.
        ttl: ms of processing time after which a group without new rows is forgotten: without a window only.
        closed: windows that end up to this time (ms) were closed under a shorter lateness, and stay so.
    """

    keys: int
    policy: Policy
    aggregates: tuple[AggregateCall, ...]
    time: int | None = None
    gap: int | None = None
    start: int | None = None
    end: int | None = None
    values: tuple[int, ...] = ()
    row: int | None = None
    kind: int | None = None
    ttl: int | None = None
    closed: int = BEFORE_ALL


def output_types(specification: WindowSpecification, types: Sequence[pa.DataType]) -> list[tuple[str, pa.DataType]]:
    """Return name and type of each column that comes out, in order.

    The table itself calls them ``c0``, ``c1``, ... as it does those that go in.

    Args:
        specification: what is computed.
        types: of the columns that go in.
    """
    keys = [(f"key_{i}", types[i]) for i in range(specification.keys)]
    bounds = [("window_start", pa.int64()), ("window_end", pa.int64())]
    made = Aggregation(specification.aggregates, types).output_types
    results = [(f"result_{i}", t) for i, t in enumerate(made)]
    # The column is there in any case, so that the places of all others do not depend on it.
    row = _NO_ROW if specification.row is None else types[specification.row]
    return [*keys, *bounds, *results, *PANE_COLUMNS, ("late_row", row), ("late_watermark", pa.int64())]

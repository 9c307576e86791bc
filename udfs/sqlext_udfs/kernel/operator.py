"""Define a stateful operator, before Spark: a fold of row tables into one state per bucket.

A hash of the key spreads rows over a few buckets. So state is read and written a few times per micro-batch, not once
per key: each state call is a round trip to the JVM. A bucket's operator sees all rows of its keys, works on whole
columns, and keeps everything it knows in one value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import pyarrow as pa

from sqlext_udfs.kernel.clock import Clock as Clock
from sqlext_udfs.kernel.clock import Wakeup as Wakeup
from sqlext_udfs.kernel.dividing import Wanted

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class StepResult(Generic[State]):
    """What one micro-batch did to a bucket.

    Attributes:
        state: the next state; the same object where nothing changed.
        out: the rows that come out.
        dropped_late: how many rows came too late for all their windows.
        dropped_closed: how many rows came to a window that was closed by ONCE.
        open_groups: how many keys and windows the state holds.
    """

    state: State
    out: pa.Table
    dropped_late: int = 0
    dropped_closed: int = 0
    open_groups: int = 0


class BucketOperator(Protocol[State]):
    """The semantics of one stateful operator. Its methods are pure: they change neither state nor rows."""

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way, so that a bucket may keep its state in levels (``kernel.levelled``).

        Then a step of some keys and their rows does to them what a step of all does, and the first columns of what
        ``gathered`` gives are the key.
        """
        return False

    @property
    def reads_levels(self) -> bool:
        """Whether a state may be in levels: this operator wrote it, or the one that it was before the query changed."""
        return self.separable

    @property
    def takes_rows(self) -> bool:
        """Whether ``gathered`` also takes rows that have not been through ``partial``."""
        return False

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return fewer rows that mean the same: work that can be done before rows travel to their bucket.

        Called on some rows of one micro-batch, of any buckets, and again on its own results. The last column is the
        bucket, which depends on the key alone. It must still be the last column of the result.
        """

    def for_each(self, leaving: pa.Table) -> pa.Table | None:
        """Return what every bucket is told, beside its own rows, of all that leave together; None for nothing.

        Args:
            leaving: results of ``partial``, of any buckets; the last column is the bucket.
        """
        return None

    def gathered(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Return all that came to a bucket in a micro-batch as one table, as ``step`` takes it.

        Args:
            tables: at least one: results of ``partial`` without the bucket, and of ``for_each``; where ``takes_rows``,
                rows too.
        """
        # No copy: the parts stay where they lie.
        return pa.concat_tables(tables)

    def empty(self) -> State:
        """Return the state of a bucket that has seen nothing."""

    def step(self, state: State, rows: pa.Table | None, clock: Clock) -> StepResult[State]:
        """Return what a micro-batch does to a bucket.

        Args:
            state: before; it is not changed. Where nothing changes the same object must come back, and is not
                written.
            rows: what ``gathered`` gives; None where only the clock has moved.
            clock: what time it is.
        """

    def next_wakeup(self, state: State) -> Wakeup:
        """Return when a bucket must be called although no rows come (ms of watermark and batch clock)."""

    def encode(self, state: State) -> bytes:
        """Return a state as bytes that ``decode`` reads, also after a restart with a later version of this code."""

    def decode(self, data: bytes) -> State:
        """Return the state that ``encode`` wrote.

        Raises:
            SqlExtError: RUN-030 if a version that this code does not know wrote it.
        """

    def of_keys(self, state: State, wanted: Wanted) -> State:
        """Return what a state knows of some keys; what it knows of time stays."""

    def of_encoded(self, data: bytes, wanted: Wanted) -> State:
        """Return what a state that ``encode`` wrote knows of some keys; the others need not be decoded."""
        return self.of_keys(self.decode(data), wanted)

    def is_current(self, data: bytes) -> bool:
        """Return whether ``decode`` gives the rows of a state as they were written, in their order."""
        return True

    def open_groups(self, state: State) -> int:
        """Return how many keys and windows a state holds, as ``StepResult.open_groups`` counts them."""
        return 0

    def together(self, states: Sequence[State]) -> State:
        """Return states of different keys as one; at least one, all of buckets that saw the same time last."""

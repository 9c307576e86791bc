"""What a stateful operator is, before Spark: a fold of row tables into one state per bucket.

Rows are spread over a few buckets by a hash of their key, so that state is read and written a few times per
micro-batch, not once per key (each state call is a round trip to the JVM). A bucket's operator sees all rows of
its keys, works on whole columns, and keeps everything it knows in one value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

import pyarrow as pa

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Clock:
    """What time it is for an operator; the same for all its buckets, and when a micro-batch is retried.

    Attributes:
        watermark: milliseconds; None where the query has no event time.
        now: the micro-batch's processing time in milliseconds; None where the operator does not ask for it.
    """

    watermark: int | None = None
    now: int | None = None


class BucketOperator(Protocol[State]):
    """The semantics of one stateful operator. Its methods are pure: they change neither state nor rows."""

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return less that means the same: work that can be done before rows travel to their bucket.

        Called on some rows of one micro-batch, of any buckets, and again on results of its own. The last column is
        the bucket, which depends on the key alone; it must still be there, last.
        """

    def empty(self) -> State:
        """Return the state of a bucket that has seen nothing."""

    def process(self, state: State, rows: pa.Table, clock: Clock) -> tuple[State, pa.Table]:
        """Return a bucket's next state, and the rows that come out.

        Called once per bucket and micro-batch, with the results of ``partial`` (without the bucket). Where nothing
        changed the state, the same object must come back: then it is not written.
        """

    def encode(self, state: State) -> bytes:
        """Return a state as bytes that ``decode`` reads, also after a restart with a later version of this code."""

    def decode(self, data: bytes) -> State:
        """Return the state that ``encode`` wrote.

        Raises:
            SqlExtError: RUN-030 if a version that this code does not know wrote it.
        """

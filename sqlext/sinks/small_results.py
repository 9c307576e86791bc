"""Finish a query in this process where little is left of its tables once Spark's workers have combined their rows.

Spark needs longer for a shuffle and a file than for thousands of partial results. The operators, the texts and the
numbers of batches are the same, so a batch is one and the same, whoever has written it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

from sqlext.local.engine import computed
from sqlext.local.reading import ReadRows
from sqlext.rewrite.arrow.in_process import LocalScript
from sqlext.sinks.base import SinkContext
from sqlext.sinks.local import LocalSink


class BatchCounts(NamedTuple):
    """How many rows a batch has written, and how many were read for them."""

    written: int
    read: int


@dataclass(frozen=True)
class SmallResult:
    """A query that can be finished here.

    Attributes:
        script: what is left to do.
        sink: takes the rows; it writes what Spark's sink would write.
        context: the query, to its sink.
        given: the partial results by the views of its tables; None where they are too large.
    """

    script: LocalScript
    sink: LocalSink
    context: SinkContext
    given: Callable[[], Mapping[str, ReadRows] | None]

    def written(
        self, batch_id: int, settings: Callable[[], AbstractContextManager[None]], *, repeated: bool
    ) -> BatchCounts | None:
        """Write a batch; None where Spark must do it.

        Args:
            batch_id: its number.
            settings: gives the Spark settings for what Spark does of it; one query has them at a time.
            repeated: whether it may have been written before.

        Raises:
            SqlExtError: what the operators or the sink refuse.
        """
        with settings():
            given = self.given()
        if given is None:
            return None
        found = computed(self.script, None, given)
        self.context.check_fence()
        self.sink.write(found.rows, batch_id, repeated=repeated)
        self.context.check_fence()
        return BatchCounts(found.rows.num_rows, found.read)

"""Collect the rows of a SELECT that runs in this process without an end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from sqlext.sinks.base import SinkContext
from sqlext.sinks.live_rows import LiveRows, StandingRows
from sqlext.sinks.local import LocalSink
from sqlext.sources.values import rows_of_table


class NamedRow(tuple[Any, ...]):
    """A row whose values are found by place, and by name as in a row of Spark's."""

    __slots__ = ()
    places: Mapping[str, int] = {}

    def __getitem__(self, key: Any) -> Any:
        """Return a value."""
        return super().__getitem__(self.places[key] if isinstance(key, str) else key)


@dataclass(frozen=True)
class CollectHere(LocalSink):
    """Keeps the rows of every batch, as ``CollectSink`` does.

    Attributes:
        folds: False to keep every row that an updating result has given.
    """

    context: SinkContext
    schema: pa.Schema
    folds: bool = True
    batches: dict[int, list[NamedRow]] = field(default_factory=dict)

    def write(self, rows: pa.Table, batch_id: int, *, repeated: bool) -> None:
        """Keep a batch."""
        self.batches[batch_id] = list(map(self._row, rows_of_table(rows)))

    def live(self, width: int) -> LiveRows:
        """Return the rows from the first batch on, of each the first ``width`` columns."""
        return LiveRows(self.batches, StandingRows(self.context, width, self.folds))

    @cached_property
    def _row(self) -> type[NamedRow]:
        places = {name: place for place, name in enumerate(self.schema.names)}
        return type("NamedRow", (NamedRow,), {"__slots__": (), "places": places})

"""Keep the state of a bucket of windows of one pane: one table, and a few facts about all of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pyarrow as pa

from sqlext_udfs.aggregates.aggregation import Named
from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.clock import BEFORE_ALL
from sqlext_udfs.kernel.table_codec import decode_state, encode_state

# Where the fields of ``BucketState`` stand that are no columns: in the metadata of the table.
_FACTS = b"sqlext.windows"
_NAMED = "aggregates"
_NAMES = ("done", "wakeup", "arrived")


@dataclass(frozen=True, slots=True)
class BucketState:
    """The windows of a bucket that have not given their pane.

    Attributes:
        table: a row for each key and slice (or session); without columns where there is none.
        done: windows that end up to this time (ms) have given their pane.
        wakeup: the least end (ms) of a window that has not; None without windows.
        arrived: how many rows have come: the place of the next one in the order of arrival.
    """

    table: pa.Table = field(default_factory=lambda: pa.table({}))
    done: int = BEFORE_ALL
    wakeup: int | None = None
    arrived: int = 0

    def columns(self) -> list[pa.Array]:
        """Return the table's columns, each in one piece."""
        return [whole(c) for c in self.table.columns]


def encode(state: BucketState, named: Named) -> bytes:
    """Return a state as bytes, with the names of its aggregates."""
    facts = {name: getattr(state, name) for name in _NAMES} | {_NAMED: named}
    return encode_state(state.table.replace_schema_metadata({_FACTS: json.dumps(facts)}))


def decode(data: bytes) -> tuple[BucketState, Named]:
    """Return the state that ``encode`` wrote, and the names of its aggregates; none if an older version wrote it."""
    table = decode_state(data)
    facts = json.loads(table.schema.metadata[_FACTS])
    named = facts.pop(_NAMED, ())
    return BucketState(table.replace_schema_metadata(None), **facts), named

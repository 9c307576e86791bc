"""Keep the state of a bucket of OVER: waiting rows, rows that frames still reach, partial results, and ages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.dividing import Wanted, greatest, rows_of_keys, tables_together
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.groups import Ints, numbered
from sqlext_udfs.kernel.table_codec import decode_state, encode_state, nested, unnested

# Where version and ``passed`` stand: in the metadata of the table.
_FACTS = b"sqlext.over"
_VERSION = 1


def _nothing() -> pa.Table:
    return pa.table({})


@dataclass(frozen=True, slots=True)
class OverState:
    """What OVER knows of a bucket. A table that has no columns yet has no rows.

    Attributes:
        waiting: rows for whose time the watermark is not there yet, as they came.
        reached: rows that have come out, by key and time: keys, time, and the inputs of functions with such frames.
        running: a row for each key: the key, and what functions with unbounded frames keep of it.
        passed: how many rows have been looked at (``Timeline.passed``).
        seen: rows that wait and are before it (ms) wait for later rows of their key; None where none does so.
        written: keys, and when the last row of each came (ms of the batch clock); only with a time to live.
    """

    waiting: pa.Table = field(default_factory=_nothing)
    reached: pa.Table = field(default_factory=_nothing)
    running: pa.Table = field(default_factory=_nothing)
    passed: int = 0
    written: pa.Table = field(default_factory=_nothing)
    seen: int | None = None


def encode(state: OverState) -> bytes:
    """Return a state as bytes: three or four tables in one."""
    # Only keys with a time to live have the fourth table; ``decode`` takes three tables too.
    tables = [state.waiting, state.reached, state.running, *([state.written] if state.written.num_columns else [])]
    facts = {"version": _VERSION, "passed": state.passed}
    if state.seen is not None:
        facts["seen"] = state.seen
    return encode_state(nested(tables).replace_schema_metadata({_FACTS: json.dumps(facts)}))


def decode(data: bytes) -> OverState:
    """Return the state that ``encode`` wrote.

    Raises:
        SqlExtError: RUN-030 if a version that this code does not know wrote it.
    """
    parts = decode_state(data)
    facts = json.loads((parts.schema.metadata or {}).get(_FACTS, b"{}"))
    if facts.get("version") != _VERSION:
        raise SqlExtError(
            "RUN-030",
            f"the state of OVER has version {facts.get('version')}, this is version {_VERSION}",
            hint="DROP QUERY starts the query anew",
        )
    waiting, reached, running, *more = unnested(parts)
    written = more[0] if more else _nothing()
    return OverState(waiting, reached, running, facts["passed"], written, facts.get("seen"))


def of_keys(state: OverState, keys: int, wanted: Wanted) -> OverState:
    """Return what a state knows of some keys; they are the first columns of each table."""
    tables = (state.waiting, state.reached, state.running, state.written)
    waiting, reached, running, written = (rows_of_keys(table, range(keys), wanted) for table in tables)
    return OverState(waiting, reached, running, state.passed, written, state.seen)


def together(states: Sequence[OverState]) -> OverState:
    """Return states of different keys as one."""
    waiting, reached, running, written = (
        tables_together(getattr(state, name) for state in states)
        for name in ("waiting", "reached", "running", "written")
    )
    passed = max(state.passed for state in states)
    return OverState(waiting, reached, running, passed, written, greatest(state.seen for state in states))


def key_numbers(keys: int, *tables: pa.Table) -> Ints:
    """Return a number for the key of each row of some tables, one behind the other; keys are their first columns."""
    known = [t.select(range(keys)) for t in tables if t.num_columns]
    if not keys or not known:
        return np.zeros(sum(t.num_rows for t in tables), np.int64)
    first = known[0].column_names
    together = normalised(pa.concat_tables([t.rename_columns(first) for t in known]))
    return numbered([whole(c) for c in together.columns]).ids

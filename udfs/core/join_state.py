"""The state of a bucket of a join as bytes: the rows that are held of both sides."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext.udfs.core.arrow_numpy import integers, whole
from sqlext.udfs.core.join_rows import JoinRows, Sides
from sqlext.udfs.core.table_codec import decode_rows, decode_state, encode_rows, encode_state

_FACTS = b"sqlext.join"
_NUMBERS = ("count", "matches", "time")


def encode_sides(state: Sides) -> bytes:
    """Return rows of both sides as a state value."""
    cells = [encode_rows(_table(rows)) for rows in state]
    return encode_state(pa.table({"side": pa.array(cells, pa.large_binary())}))


def decode_sides(data: bytes, types: Sequence[Sequence[pa.DataType]]) -> Sides:
    """Return the rows of a state value.

    Args:
        data: what ``encode_sides`` wrote.
        types: of each side's columns.

    Raises:
        SqlExtError: RUN-033 if the state has other columns.
    """
    cells = whole(decode_state(data).column("side"))
    sides = [_rows(decode_rows(memoryview(cell.as_buffer()))) for cell in cells]
    for rows, expected in zip(sides, types, strict=True):
        found = [c.type for c in rows.columns]
        if found != list(expected):
            raise SqlExtError(
                "RUN-033",
                f"the join has kept rows of ({_named(found)}), not of ({_named(expected)})",
                hint="DROP QUERY starts the query anew",
            )
    return Sides(*sides)


def _table(rows: JoinRows) -> pa.Table:
    """Return rows as a table; a number that is the same in all of them stands beside it."""
    columns = {f"c{i}": c for i, c in enumerate(rows.columns)}
    facts: dict[str, int] = {"rows": len(rows)}
    for name in _NUMBERS:
        values = getattr(rows, name)
        if len(values) and (values == values[0]).all():
            facts[name] = int(values[0])
        else:
            columns[name] = pa.array(values)
    return pa.table(columns).replace_schema_metadata({_FACTS: json.dumps(facts)})


def _rows(table: pa.Table) -> JoinRows:
    facts = json.loads(table.schema.metadata[_FACTS])
    numbers = [
        np.full(facts["rows"], facts[name], np.int64) if name in facts else integers(table.column(name))
        for name in _NUMBERS
    ]
    columns = tuple(whole(table.column(n)) for n in table.column_names if n not in _NUMBERS)
    return JoinRows(columns, *numbers)


def _named(types: Sequence[pa.DataType]) -> str:
    return ", ".join(map(str, types))

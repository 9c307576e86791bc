"""Turn the state of a bucket of a join into bytes and back: the rows that are held of both sides.

The table has one row. Each column of each side is one list in it, so both sides lie in one table without a copy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.joins.rows import JoinRows, Sides
from sqlext_udfs.kernel.arrow_numpy import integers, whole
from sqlext_udfs.kernel.table_codec import decode_state, encode_state

_FACTS = b"sqlext.join"
_NUMBERS = ("count", "matches", "time")


def encode_sides(state: Sides) -> bytes:
    """Return rows of both sides as a state value."""
    columns: dict[str, pa.Array] = {}
    facts: dict[str, int] = {}
    for side, rows in zip(Sides._fields, state, strict=True):
        facts[f"{side}.rows"] = len(rows)
        columns |= {f"{side}.{i}": _cell(c) for i, c in enumerate(rows.columns)}
        for name in _NUMBERS:
            values = getattr(rows, name)
            # A number that is the same in all rows stands beside them.
            if len(values) and (values == values[0]).all():
                facts[f"{side}.{name}"] = int(values[0])
            else:
                columns[f"{side}.{name}"] = _cell(pa.array(values))
    return encode_state(pa.table(columns).replace_schema_metadata({_FACTS: json.dumps(facts)}))


def decode_sides(data: bytes, types: Sequence[Sequence[pa.DataType]]) -> Sides:
    """Return the rows of a state value.

    Args:
        data: what ``encode_sides`` wrote.
        types: of each side's columns.

    Raises:
        SqlExtError: RUN-033 if the state has other columns.
    """
    table = decode_state(data)
    facts: dict[str, int] = json.loads(table.schema.metadata[_FACTS])
    columns = {name: whole(column).flatten() for name, column in zip(table.column_names, table.columns, strict=True)}
    sides = [_rows(columns, facts, side) for side in Sides._fields]
    for rows, expected in zip(sides, types, strict=True):
        found = [c.type for c in rows.columns]
        if found != list(expected):
            raise SqlExtError(
                "RUN-033",
                f"the join has kept rows of ({_named(found)}), not of ({_named(expected)})",
                hint="DROP QUERY starts the query anew",
            )
    return Sides(*sides)


def _rows(columns: Mapping[str, pa.Array], facts: Mapping[str, int], side: str) -> JoinRows:
    names = [f"{side}.{name}" for name in _NUMBERS]
    rows = facts[f"{side}.rows"]
    numbers = [np.full(rows, facts[n], np.int64) if n in facts else integers(columns[n]) for n in names]
    own = [c for n, c in columns.items() if n.startswith(f"{side}.") and n not in names]
    return JoinRows(tuple(own), *numbers)


def _cell(column: pa.Array) -> pa.Array:
    """Return a column as a list in one row."""
    return pa.LargeListArray.from_arrays(pa.array([0, len(column)], pa.int64()), column)


def _named(types: Sequence[pa.DataType]) -> str:
    return ", ".join(map(str, types))

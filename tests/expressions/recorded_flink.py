"""The tables that the answers were recorded over, and an environment that knows their types."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlext import types as t
from sqlext.analysis.types.inference import TypeInference
from sqlext.dialect.ast.expressions import ColumnRef, Expr, Node
from sqlext.dialect.ast.queries import Query
from sqlext.types import LogicalType

RECORDED = Path(__file__).parent / "recorded"

COLUMNS: dict[str, LogicalType] = {
    "id": t.INT,
    "s": t.STRING,
    "n": t.INT,
    "x": t.DOUBLE,
    "b": t.BOOLEAN,
    "ts": t.TIMESTAMP3,
    "j": t.STRING,
    "u": t.STRING,
    "l": t.BIGINT,
    "f": t.FLOAT,
    "ti": t.TINYINT,
    "si": t.SMALLINT,
    "d": t.DATE,
    "tm": t.TIME,
    "de": t.decimal(10, 2),
    "lz": t.TIMESTAMP_LTZ3,
    "ai": t.array(t.INT).not_null(),
    "ast": t.array(t.STRING).not_null(),
    "mp": t.map_of(t.char(1).not_null(), t.INT).not_null(),
    "bs": t.BYTES,
    "ro": t.row(t.Field("p", t.INT), t.Field("q", t.STRING)).not_null(),
    "vc": LogicalType("VARCHAR", 20),
    "ch": t.char(2).not_null(),
    "ts6": t.timestamp(6),
}

#: The columns beyond those of the file, for Spark.
DERIVED = (
    "CAST(n AS BIGINT) l",
    "CAST(x AS FLOAT) f",
    "CAST(id AS TINYINT) ti",
    "CAST(id AS SMALLINT) si",
    "CAST(ts AS DATE) d",
    "CAST(substring(CAST(ts AS STRING), 12, 8) AS TIME(0)) tm",
    "TRY_CAST(x AS DECIMAL(10, 2)) de",
    "timestamp_millis(shiftright(shiftleft(id * 1000000000L, 32), 32)) lz",
    "array(id, n) ai",
    "array(s, 'z') ast",
    "map('a', n) mp",
    "CAST(s AS BINARY) bs",
    "named_struct('p', id, 'q', s) ro",
    "s vc",
    "'ab' ch",
    "ts ts6",
)
FILE_SCHEMA = "id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP_NTZ, j STRING, u STRING"

#: A table of values at the edges of their types: the largest, the smallest, zero, NULL, and of each kind an odd one.
_EDGES: dict[str, LogicalType] = {
    "id": t.INT,
    "t": t.TINYINT,
    "h": t.SMALLINT,
    "i": t.INT,
    "l": t.BIGINT,
    "f": t.FLOAT,
    "x": t.DOUBLE,
    "p": t.decimal(5, 2),
    "q": t.decimal(20, 10),
    "r": t.decimal(38, 18),
    "w": t.decimal(38, 0),
    "s": t.STRING,
    "y": t.BYTES,
    "b": t.BOOLEAN,
    "d": t.DATE,
    "m": t.TIME,
    "a": t.TIMESTAMP3,
    "g": t.timestamp(6),
    "k": t.TIMESTAMP_LTZ3,
    "ai": t.array(t.INT),
    "au": t.array(t.STRING),
    "mp": t.map_of(t.STRING, t.INT),
    "ro": t.row(t.Field("g", t.INT), t.Field("u", t.STRING), t.Field("e", t.row(t.Field("o", t.DOUBLE)))),
    "ar": t.array(t.row(t.Field("g", t.INT), t.Field("u", t.STRING))),
    "c": t.char(4),
    "v": LogicalType("VARCHAR", 3),
    "z": LogicalType("BINARY", 3),
}
_EDGES_IN_FILE = {
    **{name: type_.spark() for name, type_ in _EDGES.items() if name not in "cvz"},
    "m": "STRING",
    "k": "STRING",
}


@dataclass(frozen=True)
class Table:
    """A table that answers were recorded over.

    Args:
        file: its rows, a file of JSON.
        columns: their types.
        schema: the columns of the file, for Spark.
        derived: all columns or those beyond the file's, for Spark.
    """

    file: str
    columns: dict[str, LogicalType]
    schema: str
    derived: tuple[str, ...]


STRS = Table("strs.json", COLUMNS, FILE_SCHEMA, ("*", *DERIVED))
EDGES = Table(
    "edges.json",
    _EDGES,
    ", ".join(f"{name} {type_}" for name, type_ in _EDGES_IN_FILE.items()),
    (
        *(name for name in _EDGES_IN_FILE if name not in "mk"),
        "CAST(m AS TIME(0)) m",
        "CAST(k AS TIMESTAMP) k",
        "rpad(s, 4, ' ') c",
        "left(s, 3) v",
        "rpad(left(y, 3), 3, X'00') z",
    ),
)
#: The files of answers, and the table of each.
ANSWERS = {"scalars": STRS, "aggregates": STRS, "meetings": EDGES}


def recorded(name: str) -> list[dict[str, Any]]:
    """Return the answers in one file."""
    lines = (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def differences(kind: str) -> dict[str, str]:
    """Return the expressions whose answer is another one here, and why."""
    found: dict[str, str] = {}
    section = ""
    for line in (RECORDED / "differences.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif "  -->  " in line and not line.startswith("#") and section == kind:
            expression, _, reason = line.partition("  -->  ")
            found[expression] = reason
    return found


class Strs:
    """Implements TypeEnv and RenderContext over the table."""

    def __init__(self, mode: str = "flink", columns: dict[str, LogicalType] = COLUMNS, zone: str = "UTC") -> None:
        self.mode = mode
        self.zone = zone
        self.columns = columns
        self.inference = TypeInference(self)

    def column_type(self, ref: ColumnRef) -> LogicalType | None:
        """Return the type of a column or a field of it."""
        type_ = self.columns.get(ref.parts[0])
        for name in ref.parts[1:]:
            type_ = next((f.type for f in type_.fields if f.name == name), None) if type_ else None
        return type_

    def query_type(self, query: Query) -> LogicalType | None:
        """Sub-queries are unknown."""

    def column(self, ref: ColumnRef) -> str | None:
        """Columns stay as they are."""

    def replacement(self, node: Node) -> str | None:
        """Nothing is replaced."""

    def type_of(self, expr: Expr) -> LogicalType | None:
        """Return an expression's type."""
        return self.inference.type_of(expr)

    def query(self, query: Query) -> str:
        """Sub-queries stay as they are."""
        return query.span.text

"""Define the logical types under Flink's names, and the Spark type of each.

Names and precisions follow Flink's SQL data types page; DESCRIBE prints them as Flink does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlext.capabilities import TIME_TYPE, require

#: Flink's length of STRING and BYTES.
UNBOUNDED = 2147483647


@dataclass(frozen=True, slots=True)
class Field:
    """A named field of a ROW."""

    name: str
    type: LogicalType
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class LogicalType:
    """A type, by its root name and parameters.

    Attributes:
        root: ``BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL CHAR VARCHAR BINARY VARBINARY
            DATE TIME TIMESTAMP TIMESTAMP_LTZ INTERVAL_DAY_TIME INTERVAL_YEAR_MONTH ARRAY MAP MULTISET
            ROW NULL VARIANT``. STRING is VARCHAR(UNBOUNDED), BYTES is VARBINARY(UNBOUNDED).
        precision: length of CHAR ... VARBINARY, precision of DECIMAL and of the times (fraction digits).
        scale: of DECIMAL.
        nullable: False for ``NOT NULL``.
        children: element of ARRAY and MULTISET, key and value of MAP.
        fields: of ROW.
    """

    root: str
    precision: int | None = None
    scale: int | None = None
    nullable: bool = True
    children: tuple[LogicalType, ...] = ()
    fields: tuple[Field, ...] = ()

    def not_null(self) -> LogicalType:
        """Return the same type, NOT NULL."""
        return replace(self, nullable=False)

    def as_nullable(self) -> LogicalType:
        """Return the same type without NOT NULL at its top level."""
        return replace(self, nullable=True)

    @property
    def is_timestamp(self) -> bool:
        """Whether this is TIMESTAMP or TIMESTAMP_LTZ of any precision."""
        return self.root in ("TIMESTAMP", "TIMESTAMP_LTZ")

    @property
    def is_integer(self) -> bool:
        """Whether this is TINYINT, SMALLINT, INT or BIGINT."""
        return self.root in INTEGERS

    @property
    def is_approximate(self) -> bool:
        """Whether this is FLOAT or DOUBLE."""
        return self.root in ("FLOAT", "DOUBLE")

    @property
    def is_numeric(self) -> bool:
        """Whether this is an integer, DECIMAL, FLOAT or DOUBLE."""
        return self.is_integer or self.is_approximate or self.root == "DECIMAL"

    @property
    def is_text(self) -> bool:
        """Whether this is CHAR, VARCHAR or STRING."""
        return self.root in ("CHAR", "VARCHAR")

    def flink(self) -> str:
        """Return the type as Flink prints it in DESCRIBE, without a top-level NOT NULL."""
        return _FLINK.get(self.root, _flink_plain)(self)

    def spark(self) -> str:
        """Return the Spark SQL type behind it (TIMESTAMP(p) is TIMESTAMP_NTZ, TIMESTAMP_LTZ is TIMESTAMP).

        Raises:
            SqlExtError: ENV-014 for TIME where Spark has none.
        """
        if self.root == "TIME":
            require(TIME_TYPE)
        return _SPARK.get(self.root, _spark_plain)(self)

    def __str__(self) -> str:
        return self.flink() + ("" if self.nullable else " NOT NULL")


INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")

BOOLEAN = LogicalType("BOOLEAN")
TINYINT = LogicalType("TINYINT")
SMALLINT = LogicalType("SMALLINT")
INT = LogicalType("INT")
BIGINT = LogicalType("BIGINT")
FLOAT = LogicalType("FLOAT")
DOUBLE = LogicalType("DOUBLE")
STRING = LogicalType("VARCHAR", UNBOUNDED)
BYTES = LogicalType("VARBINARY", UNBOUNDED)
DATE = LogicalType("DATE")
TIME = LogicalType("TIME", 0)
TIMESTAMP3 = LogicalType("TIMESTAMP", 3)
TIMESTAMP_LTZ3 = LogicalType("TIMESTAMP_LTZ", 3)
INTERVAL_DAY_TIME = LogicalType("INTERVAL_DAY_TIME")
INTERVAL_YEAR_MONTH = LogicalType("INTERVAL_YEAR_MONTH")
NULL = LogicalType("NULL")
VARIANT = LogicalType("VARIANT")


def decimal(precision: int, scale: int) -> LogicalType:
    """Return DECIMAL(precision, scale)."""
    return LogicalType("DECIMAL", precision, scale)


def char(length: int) -> LogicalType:
    """Return CHAR(length), the type of a string literal."""
    return LogicalType("CHAR", length)


def timestamp(precision: int) -> LogicalType:
    """Return TIMESTAMP(precision): wall-clock time without a zone."""
    return LogicalType("TIMESTAMP", precision)


def timestamp_ltz(precision: int) -> LogicalType:
    """Return TIMESTAMP_LTZ(precision): an instant."""
    return LogicalType("TIMESTAMP_LTZ", precision)


def array(element: LogicalType) -> LogicalType:
    """Return ARRAY<element>."""
    return LogicalType("ARRAY", children=(element,))


def multiset(element: LogicalType) -> LogicalType:
    """Return MULTISET<element>."""
    return LogicalType("MULTISET", children=(element,))


def map_of(key: LogicalType, value: LogicalType) -> LogicalType:
    """Return MAP<key, value>."""
    return LogicalType("MAP", children=(key, value))


def row(*fields: Field) -> LogicalType:
    """Return ROW<fields>."""
    return LogicalType("ROW", fields=fields)


def quote(name: str) -> str:
    """Return a name in backticks, inner backticks doubled (Flink's and Spark's identifier quoting)."""
    return "`" + name.replace("`", "``") + "`"


def _flink_plain(t: LogicalType) -> str:
    if t.precision is None:
        return t.root
    return f"{t.root}({t.precision})" if t.scale is None else f"{t.root}({t.precision}, {t.scale})"


def _flink_unbounded(short: str) -> Callable[[LogicalType], str]:
    return lambda t: short if t.precision == UNBOUNDED else _flink_plain(t)


def _flink_row(t: LogicalType) -> str:
    return "ROW<" + ", ".join(f"{quote(f.name)} {f.type}" for f in t.fields) + ">"


def _flink_nested(t: LogicalType) -> str:
    return f"{t.root}<{', '.join(str(c) for c in t.children)}>"


_FLINK: dict[str, Callable[[LogicalType], str]] = {
    "VARCHAR": _flink_unbounded("STRING"),
    "VARBINARY": _flink_unbounded("BYTES"),
    "ROW": _flink_row,
    "ARRAY": _flink_nested,
    "MAP": _flink_nested,
    "MULTISET": _flink_nested,
    "INTERVAL_DAY_TIME": lambda t: "INTERVAL SECOND(3)",
    "INTERVAL_YEAR_MONTH": lambda t: "INTERVAL MONTH",
}


def _spark_plain(t: LogicalType) -> str:
    return t.root


def _spark_row(t: LogicalType) -> str:
    return "STRUCT<" + ", ".join(f"{quote(f.name)}: {f.type.spark()}" for f in t.fields) + ">"


_SPARK: dict[str, Callable[[LogicalType], str]] = {
    "DECIMAL": lambda t: f"DECIMAL({t.precision}, {t.scale})",
    # Spark has CHAR(n) and VARCHAR(n) in the schemas of tables alone; an expression's type is STRING.
    "CHAR": lambda t: "STRING",
    "VARCHAR": lambda t: "STRING",
    "BINARY": lambda t: "BINARY",
    "VARBINARY": lambda t: "BINARY",
    # Spark's TIME has at most microseconds.
    "TIME": lambda t: f"TIME({min(t.precision or 0, 6)})",
    "TIMESTAMP": lambda t: "TIMESTAMP_NTZ",
    "TIMESTAMP_LTZ": lambda t: "TIMESTAMP",
    "INTERVAL_DAY_TIME": lambda t: "INTERVAL DAY TO SECOND",
    "INTERVAL_YEAR_MONTH": lambda t: "INTERVAL YEAR TO MONTH",
    "ARRAY": lambda t: f"ARRAY<{t.children[0].spark()}>",
    "MAP": lambda t: f"MAP<{t.children[0].spark()}, {t.children[1].spark()}>",
    # A multiset is a map from element to count, as in Flink's own encoding.
    "MULTISET": lambda t: f"MAP<{t.children[0].spark()}, INT>",
    "ROW": _spark_row,
    "NULL": lambda t: "VOID",
}

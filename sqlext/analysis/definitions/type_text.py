"""Print types as SHOW CREATE TABLE does, which is longer than DESCRIBE's form, and as Flink does in CAST."""

from __future__ import annotations

import re

from sqlext.types import LogicalType, quote

_CASTS = {
    "INT": "INTEGER",
    "DOUBLE PRECISION": "DOUBLE",
    "NUMERIC": "DECIMAL",
    "DEC": "DECIMAL",
    "CHARACTER": "CHAR",
    "CHARACTER VARYING": "VARCHAR",
    "CHAR VARYING": "VARCHAR",
    "BINARY VARYING": "VARBINARY",
}
_HEAD = re.compile(r"[A-Z]+(?: PRECISION| VARYING)?")


def full_type(type_: LogicalType) -> str:
    """Return the type as Flink's ``asSerializableString`` gives it, NOT NULL included."""
    return _full_body(type_) + ("" if type_.nullable else " NOT NULL")


def _full_body(type_: LogicalType) -> str:
    if type_.root in ("VARCHAR", "VARBINARY"):
        return f"{type_.root}({type_.precision})"
    if type_.root == "TIMESTAMP_LTZ":
        return f"TIMESTAMP({type_.precision}) WITH LOCAL TIME ZONE"
    if type_.root == "ROW":
        return "ROW<" + ", ".join(_full_field(f.name, f.type, f.comment) for f in type_.fields) + ">"
    if type_.children:
        return f"{type_.root}<{', '.join(full_type(c) for c in type_.children)}>"
    return type_.flink()


def _full_field(name: str, type_: LogicalType, comment: str | None) -> str:
    note = f" '{comment.replace(chr(39), chr(39) * 2)}'" if comment else ""
    return f"{quote(name)} {full_type(type_)}{note}"


def cast_type(type_: LogicalType, written: str) -> str:
    """Return the type of a CAST as Flink prints it: as written, in its long names.

    Args:
        type_: the type.
        written: the user's text of it, which says whether a precision was given.
    """
    if type_.fields:
        fields = ", ".join(f"{quote(f.name)} {_nested(f.type)}" for f in type_.fields)
        return f"ROW< {fields} >"
    if type_.children:
        return f"{type_.root}< {', '.join(_nested(c) for c in type_.children)} >"
    text = re.sub(r"\s*,\s*", ", ", " ".join(written.upper().split())).replace(" (", "(").replace("( ", "(")
    head = _HEAD.match(text)
    return _CASTS.get(head.group(), head.group()) + text[head.end() :] if head else text


def _nested(type_: LogicalType) -> str:
    return cast_type(type_, type_.flink()) + ("" if type_.nullable else " NOT NULL")

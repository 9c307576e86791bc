"""Describe raw: a message is one value, a line of a file one text, as Flink's format of this name has them.

Numbers are the bytes that they have in memory, the highest first unless 'raw.endianness' says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.connectors.formats.base import Decoded, ReadField, Ref
from sqlext.connectors.options import RAW_OPTIONS, OptionError, Rules
from sqlext.quoting import string
from sqlext.types import LogicalType
from sqlext_catalog.model import Options

_LINE = "value"
#: Root of a type -> how many bytes a value has.
_SIZES = {"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8}
_BYTES = ("BINARY", "VARBINARY")
#: Bytes of the largest number.
_MOST = 8


class RawFormat:
    """``'format' = 'raw'`` of files: a line is a text."""

    name = "raw"
    rules = Rules(RAW_OPTIONS)

    def validate(self, owner: str, options: Mapping[str, str]) -> None:
        """Accept: no option contradicts another."""

    def raw_schema(self, fields: tuple[ReadField, ...], options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Return the line."""
        return ((_LINE, "STRING"),)

    def reader_options(self, options: Mapping[str, str]) -> Options:
        """Return what ends a line: a line feed, as in Flink, which takes away a carriage return before it."""
        return (("lineSep", "\n"),)

    def decode(self, fields: tuple[ReadField, ...], options: Mapping[str, str], zone: str, ref: Ref) -> Decoded:
        """Return the line as the one column."""
        line = rf"regexp_replace({ref(_LINE)}, '\\r\\z', '')"
        return Decoded(tuple((f.name, f"CAST({line} AS {f.type.spark()})") for f in fields))


def require_raw(fields: tuple[ReadField, ...], *, lines: bool = False) -> None:
    """Refuse columns that the format cannot hold; ``lines``: of files.

    Raises:
        OptionError: OPT-008.
    """
    one = fields[0].type if len(fields) == 1 else None
    if one is not None and (one.is_text or one.root in _BYTES or (one.root in _SIZES and not lines)):
        return
    numbers = "" if lines else ", BOOLEAN, TINYINT, SMALLINT, INT or BIGINT"
    message = f"format 'raw' holds exactly one column, of type STRING{' or' if lines else ','} BYTES{numbers}"
    hint = (
        "other columns need a format that names them, as json" if len(fields) > 1 else "declare it so, and convert it"
    )
    raise OptionError("OPT-008", message, option="format", hint=hint)


def raw_value(declared: LogicalType, content: str, options: Mapping[str, str]) -> str:
    """Return SQL of the value that a message holds.

    Args:
        content: SQL of a BINARY.
        options: of the format, without what stands before ``raw.``.
    """
    size = _SIZES.get(declared.root)
    if size is None:
        return f"CAST({content} AS {declared.spark()})"
    told = string(f"[RUN-066] format 'raw': {declared.flink()} has {size} bytes, not these: ")
    found = f"hex({content}) <> '00'" if declared.root == "BOOLEAN" else _number(declared, content, size, options)
    wrong = f"raise_error(concat({told}, hex({content})))"
    return f"CASE WHEN {content} IS NULL THEN NULL WHEN length({content}) = {size} THEN {found} ELSE {wrong} END"


def raw_message(declared: LogicalType, value: str, options: Mapping[str, str]) -> str:
    """Return SQL of the message that holds a value, a BINARY; see ``raw_value``."""
    size = _SIZES.get(declared.root)
    if size is None:
        return f"CAST({value} AS BINARY)"
    if declared.root == "BOOLEAN":
        return f"unhex(CASE WHEN {value} THEN '01' WHEN NOT {value} THEN '00' END)"
    # ``hex`` gives a negative number in two's complement, with all sixteen digits.
    digits = f"right(lpad(hex(CAST({value} AS BIGINT)), {2 * _MOST}, '0'), {2 * size})"
    return f"unhex({_highest_first(digits, size, options)})"


def _number(declared: LogicalType, content: str, size: int, options: Mapping[str, str]) -> str:
    digits = _highest_first(f"hex({content})", size, options)
    beyond = _MOST - size
    signed = f"concat(repeat(IF({digits} >= '8', 'FF', '00'), {beyond}), {digits})" if beyond else digits
    # To the base -10: signed.
    return f"CAST(conv({signed}, 16, -10) AS {declared.spark()})"


def _highest_first(digits: str, size: int, options: Mapping[str, str]) -> str:
    """Return SQL of a number's hexadecimal digits, the bytes turned around where the lowest is first."""
    if options.get("raw.endianness", "").strip().lower() != "little-endian" or size == 1:
        return digits
    return f"concat({', '.join(f'substr({digits}, {2 * n + 1}, 2)' for n in reversed(range(size)))})"

"""List the hash functions (Flink docs: System (Built-in) Functions, Hash Functions)."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.analysis.functions.model import CallTexts, fn
from sqlext.analysis.functions.results import nullable, strict
from sqlext.types import BYTES, STRING, LogicalType


def _digest(bits: int) -> Callable[[CallTexts], str]:
    return lambda call: f"sha2({call.args[0]}, {bits})"


def _hex(length: int) -> LogicalType:
    return LogicalType("CHAR", length)


def _sha2(call: CallTexts) -> str:
    return f"sha2({call.args[0]}, {call.args[1]})"


def _unhex(call: CallTexts) -> str:
    """NULL if a character is no digit; of an odd number of digits the first counts as 0 (measured on 2.3)."""
    text, literal = call.args[0], call.literal(0)
    even = literal is not None and len(literal) % 2 == 0
    digits = text if even else f"if(length({text}) % 2 = 1, concat('00', substring({text}, 2)), {text})"
    return f"CASE WHEN {call.atom(0)} RLIKE '^[0-9A-Fa-f]*$' THEN unhex({digits}) END"


HASHING = (
    fn("MD5", "text/binary", strict(_hex(32)), spark=strict(STRING)),
    fn("SHA1", "text/binary", strict(_hex(40)), spark=strict(STRING), aliases=("SHA",)),
    fn("SHA224", "text/binary", strict(_hex(56)), _digest(224)),
    fn("SHA256", "text/binary", strict(_hex(64)), _digest(256)),
    fn("SHA384", "text/binary", strict(_hex(96)), _digest(384)),
    fn("SHA512", "text/binary", strict(_hex(128)), _digest(512)),
    fn("SHA2", "text/binary, integer", strict(LogicalType("VARCHAR", 128)), _sha2, spark=strict(STRING)),
    fn("UNHEX", "text", nullable(BYTES), _unhex),
)

"""Tell which records are larger than their client sends, before it is asked: it refuses a whole batch for one."""

from __future__ import annotations

from collections.abc import Iterable

from sqlext.connectors.kafka.guarantee import exactly_once
from sqlext_catalog.model import Options

#: The option of each client, and what it is without one: of Java's, which Spark has, and of librdkafka.
_JAVA, _OWN = ("properties.max.request.size", 1_048_576), ("properties.message.max.bytes", 1_000_000)
#: Each adds the most that a record has beside key, value and headers: Java's client also the head of a batch.
_JAVAS_FRAME, _OWN_FRAME = 61 + 21, 36
#: Up to which length so many bytes hold a length: seven bits each, one of them for the sign.
_LENGTHS = tuple((1 << (7 * n - 1), n) for n in (1, 2, 3, 4))


def largest(options: Options) -> tuple[str, int]:
    """Return the option that says how many bytes a record may have, and how many that are."""
    option, usual = _OWN if exactly_once(options) else _JAVA
    text = dict(options).get(option, "")
    return option, int(text) if text.strip().isdecimal() else usual


def size(names: Iterable[str], options: Options) -> str:
    """Return the bytes of a record as its client counts them, as SQL over its columns."""
    named, own = set(names), exactly_once(options)
    key = "key" if "key" in named else "CAST(NULL AS STRING)"
    parts = [str(_OWN_FRAME if own else _JAVAS_FRAME), *(_bytes(part, bare=own) for part in ("value", key))]
    if "headers" in named:
        each = f"{_bytes('h.key')} + {_bytes('h.value')}"
        parts.append(f"coalesce(aggregate(headers, 0, (sum, h) -> sum + {each}), 0)")
    if not own:
        parts.append(_length("coalesce(size(headers), 0)") if "headers" in named else "1")
    return " + ".join(parts)


def _bytes(column: str, *, bare: bool = False) -> str:
    """Return the bytes of a text or of bytes, and those of its length unless it is ``bare``."""
    plain = f"coalesce(octet_length({column}), 0)"
    return plain if bare else f"{_length(plain)} + {plain}"


def _length(number: str) -> str:
    whens = " ".join(f"WHEN {number} < {end} THEN {count}" for end, count in _LENGTHS)
    return f"CASE {whens} ELSE 5 END"

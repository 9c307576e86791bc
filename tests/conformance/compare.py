"""Compare rows that Flink wrote with rows that we wrote, as multisets.

The order of keys is free and an absent key equals null. Timestamps are compared as instants with at
least milliseconds, whole numbers exactly, other numbers to 1e-9.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]

_RELATIVE = 1e-9
_ABSOLUTE = 1e-12
_SHOWN = 10
_TIMESTAMP = re.compile(
    r"^(?P<date>\d{4,}-\d\d-\d\d)[T ](?P<minute>\d\d:\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"\s*(?P<zone>Z|[+-]\d\d:?\d\d)?$"
)


@dataclass(frozen=True)
class Instant:
    """A timestamp, normalised so that equal instants are equal texts."""

    text: str


def read_rows(folder: Path) -> list[Row]:
    """Return the rows of a sink's folder: JSON lines, with the ``k=v`` folder names as columns."""
    rows: list[Row] = []
    for path in _data_files(folder):
        partition = dict(_partition_columns(path.relative_to(folder)))
        rows += [row | partition for row in read_lines(path)]
    return rows


def read_lines(path: Path) -> list[Any]:
    """Return the JSON values of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def data_files(folder: Path) -> list[Path]:
    """Return every file below a folder that holds rows, in order."""
    return list(_data_files(folder))


def difference(expected: Sequence[Row], actual: Sequence[Row], ignored: Collection[str] = ()) -> str | None:
    """Return what differs between two multisets of rows, for people, or None if they are equal."""
    missing, extra = _unmatched(_normal_rows(expected, ignored), _normal_rows(actual, ignored))
    if not missing and not extra:
        return None
    lines = [f"{len(expected)} rows expected, {len(actual)} found; {len(missing)} missing, {len(extra)} too many"]
    lines += [line for pair in _pairs(missing, extra) for line in pair]
    return "\n".join(lines)


def equal(left: Any, right: Any) -> bool:
    """Say whether two normalised values are the same, numbers within the tolerance."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _close(float(left), float(right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return type(left) is type(right) and bool(left == right)


def normal(value: Any) -> Any:
    """Return a value with timestamps as instants and without null fields."""
    if isinstance(value, str):
        return _instant(value) or value
    if isinstance(value, list):
        return [normal(v) for v in value]
    if isinstance(value, dict):
        return {k: normal(v) for k, v in value.items() if v is not None}
    return value


def _data_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "_")) or path.name.endswith(".crc"):
            continue
        if path.is_dir():
            yield from _data_files(path)
        else:
            yield path


def _partition_columns(path: Path) -> Iterator[tuple[str, str]]:
    for part in path.parts[:-1]:
        name, equals, value = part.partition("=")
        if equals:
            yield name, value


def _normal_rows(rows: Sequence[Row], ignored: Collection[str]) -> list[Row]:
    kept = ({k: v for k, v in row.items() if k not in ignored} for row in rows)
    return sorted((normal(row) for row in kept), key=_sort_key)


def _unmatched(expected: list[Row], actual: list[Row]) -> tuple[list[Row], list[Row]]:
    if len(expected) == len(actual) and all(map(equal, expected, actual)):
        return [], []
    extra = list(actual)
    missing = []
    for row in expected:
        match = next((i for i, other in enumerate(extra) if equal(row, other)), None)
        if match is None:
            missing.append(row)
        else:
            del extra[match]
    return missing, extra


def _pairs(missing: list[Row], extra: list[Row]) -> Iterator[list[str]]:
    """Show each missing row with the row that is most like it, and where these two differ."""
    rest = list(extra)
    for row in missing[:_SHOWN]:
        yield [f"  - {_shown(row)}"]
        if rest:
            nearest = min(rest, key=lambda other: len(_differing(row, other)))
            rest.remove(nearest)
            yield [f"  + {_shown(nearest)}", f"    differ: {_columns(row, nearest)}"]
    yield [f"  + {_shown(row)}" for row in rest[:_SHOWN]]


def _differing(left: Row, right: Row) -> list[str]:
    return [k for k in {**left, **right} if not equal(left.get(k), right.get(k))]


def _columns(left: Row, right: Row) -> str:
    return ", ".join(f"{k}: {_shown(left.get(k))} -> {_shown(right.get(k))}" for k in _differing(left, right))


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=lambda instant: instant.text)


def _close(left: float, right: float) -> bool:
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return math.isclose(left, right, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)


def _sort_key(value: Any) -> str:
    """Return a text that sorts equal rows next to each other, numbers to 9 digits."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"F{value:.9e}"
    if isinstance(value, list):
        return "L[" + ",".join(map(_sort_key, value)) + "]"
    if isinstance(value, dict):
        return "O{" + ",".join(f"{k}:{_sort_key(v)}" for k, v in sorted(value.items())) + "}"
    return f"{type(value).__name__[0]}{value}"


def _instant(text: str) -> Instant | None:
    found = _TIMESTAMP.match(text.strip())
    if not found:
        return None
    moment = f"{found['date']}T{found['minute']}:{found['second'] or '00'}"
    zone = found["zone"]
    if zone and zone != "Z":
        moment = dt.datetime.fromisoformat(moment + _iso_offset(zone)).astimezone(dt.timezone.utc).isoformat()[:19]
    fraction = (found["fraction"] or "").ljust(3, "0")
    return Instant(f"{moment}.{fraction[:3]}{fraction[3:].rstrip('0')}")


def _iso_offset(zone: str) -> str:
    return zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"

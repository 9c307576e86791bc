"""What engines have answered, held against each other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.conformance.compare import data_files, normal, read_lines


def difference(answers: Mapping[str, Path], partial: Collection[str], key: Sequence[str] = ()) -> str:
    """Return how the answers of engines differ, empty if they do not.

    Args:
        answers: engine -> folder.
        partial: engines that may have fewer rows: plain Spark never gives out the last windows.
        key: the primary key of the table that changes go to: then a row takes the place of the one before, which
            Flink does not write.
    """
    found = {side: _last(folder, key) if key else _rows(folder) for side, folder in answers.items()}
    sides = list(found)
    for other in sides[1:]:
        missing, extra = found[sides[0]] - found[other], found[other] - found[sides[0]]
        if other in partial:
            missing.clear()
        if missing or extra:
            first = next(iter([*missing, *extra]))
            return f"{sides[0]} and {other} differ in {missing.total() + extra.total()} rows, one is {first}"
    return ""


def _rows(folder: Path) -> Counter[str]:
    """Return the rows of a folder; of a file of changes what stands in the end."""
    rows: Counter[str] = Counter()
    for file in _files(folder):
        for row in read_lines(file):
            if "op" in row:
                rows.update(_texts(row.get("after")))
                rows.subtract(_texts(row.get("before")))
            else:
                rows.update(_texts(row))
    return Counter({row: count for row, count in rows.items() if count})


def _last(folder: Path, key: Sequence[str]) -> Counter[str]:
    """Return the rows of a table that a file of changes keeps by key; changes of a key stand in one file, in order."""
    kept: dict[str, dict[str, Any]] = {}
    for file in _files(folder):
        for change in read_lines(file):
            row = change.get("after") or change["before"]
            place = json.dumps([row[k] for k in key], default=str)
            if change.get("after") is not None:
                kept[place] = row
            elif kept.get(place) == row:
                del kept[place]
    return Counter(text for row in kept.values() for text in _texts(row))


def _texts(row: dict[str, Any] | None) -> list[str]:
    if row is None:
        return []
    plain = {name: int(v) if isinstance(v, float) and v.is_integer() else v for name, v in row.items()}  # 2 is 2.000
    return [json.dumps(normal(plain), sort_keys=True, default=str)]


def _files(folder: Path) -> list[Path]:
    """Return the files of an answer; Flink makes no folder for one without rows."""
    return data_files(folder) if folder.is_dir() else []

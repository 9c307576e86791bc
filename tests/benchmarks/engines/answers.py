"""What engines have answered, held against each other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from tests.conformance.compare import data_files, normal, read_lines


def difference(answers: Mapping[str, Path], partial: Collection[str]) -> str:
    """Return how the answers of engines differ, empty if they do not.

    Args:
        answers: engine -> folder.
        partial: engines that may have fewer rows: plain Spark never gives out the last windows.
    """
    found = {side: _rows(folder) for side, folder in answers.items()}
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
    for file in data_files(folder):
        for row in read_lines(file):
            if "op" in row:
                rows.update(_texts(row.get("after")))
                rows.subtract(_texts(row.get("before")))
            else:
                rows.update(_texts(row))
    return Counter({row: count for row, count in rows.items() if count})


def _texts(row: dict[str, Any] | None) -> list[str]:
    return [] if row is None else [json.dumps(normal(row), sort_keys=True, default=str)]

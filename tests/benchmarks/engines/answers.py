"""What engines have answered, held against each other."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.conformance.compare import data_files, normal


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
            side, code = next((side, code) for side, of in ((sides[0], missing), (other, extra)) for code in of)
            rows = missing.total() + extra.total()
            return f"{sides[0]} and {other} differ in {rows} rows, one is {_text(answers[side], code)}"
    return ""


def _rows(folder: Path) -> Counter[int]:
    """Return the codes of the rows of a folder; of a file of changes of what stands in the end."""
    rows: Counter[int] = Counter()
    for change in _changes(folder):
        for row, times in ((change["after"], 1), (change["before"], -1)):
            if row is not None:
                rows[_code(row)] += times
    return Counter({row: count for row, count in rows.items() if count})


def _last(folder: Path, key: Sequence[str]) -> Counter[int]:
    """Return the same of a table that a file of changes keeps by key; changes of a key stand one behind the other."""
    kept: dict[int, int] = {}
    for change in _changes(folder):
        row = change["after"] or change["before"]
        place = hash(json.dumps([row[k] for k in key], default=str))
        if change["after"] is not None:
            kept[place] = _code(row)
        elif kept.get(place) == _code(row):
            del kept[place]
    return Counter(kept.values())


def _changes(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield rows before and after, in the order in which they were written; Flink makes no folder without rows."""
    files = data_files(folder) if folder.is_dir() else []
    # Flink begins a file where one is full, and numbers them: "-10" is behind "-9".
    for file in sorted(files, key=lambda f: [int(n) if n.isdecimal() else n for n in re.split(r"(\d+)", f.name)]):
        with file.open(encoding="utf-8", newline="\n") as lines:
            for row in map(json.loads, lines):
                yield {"before": None, "after": None, **row} if "op" in row else {"before": None, "after": row}


def _code(row: dict[str, Any]) -> int:
    """Return a number for a row. Texts of ten million rows do not fit."""
    return hash(_row_text(row))


def _row_text(row: dict[str, Any]) -> str:
    plain = {name: int(v) if isinstance(v, float) and v.is_integer() else v for name, v in row.items()}  # 2 is 2.000
    return json.dumps(normal(plain), sort_keys=True, default=str)


def _text(folder: Path, code: int) -> str:
    """Return the text of a row that an answer has."""
    rows = (row for change in _changes(folder) for row in (change["after"], change["before"]) if row is not None)
    return next(_row_text(row) for row in rows if _code(row) == code)

"""Record what DuckDB answers to as-of joins: ``pip install duckdb``, then ``python tests/session/as_of/record.py``.

Writes ``recorded.json``: rows of both sides of twelve cases, and what each query gives. Times are in milliseconds.
DuckDB has no TOLERANCE and no NEAREST: what it finds is compared with the tolerance, and the nearest row is searched.
"""

from __future__ import annotations

import json
import random
from importlib import import_module
from pathlib import Path
from typing import Any

CASES = 12
TOLERANCE = 3000
_JOIN = "l ASOF LEFT JOIN r ON l.c = r.c AND l.k = r.k AND l.t {} r.t"
_NEAREST = """(SELECT l.*, (
  SELECT r.id FROM r WHERE r.c = l.c AND r.k = l.k ORDER BY abs(r.t - l.t), r.t LIMIT 1) AS rid FROM l) AS l
LEFT JOIN r ON r.id = l.rid"""
#: The pair of rows, where they are near enough.
_PAIR = "SELECT l.id, CASE WHEN abs(l.t - r.t) <= {} THEN r.id END FROM {}"


def rows(chance: random.Random) -> dict[str, list[tuple[Any, ...]]]:
    """Return both sides: number, case, key, time. No two right rows have one key and time: any of them would do."""
    sides: dict[str, list[tuple[Any, ...]]] = {"l": [], "r": []}
    for case in range(CASES):
        # Few times far apart, or many that are equal.
        times = range(0, 20_000, chance.choice((1, 500, 1000, 5000)))
        for side, some in sides.items():
            found: set[tuple[Any, int]] = set()
            for _ in range(chance.choice((0, 3, 10, 25)) if case else 10):
                place = chance.choice(("a", "b", None)), chance.choice(times)
                if side == "l" or place not in found:
                    found.add(place)
                    some.append((len(some), case, *place))
    return sides


def main() -> None:
    """Ask DuckDB, and write."""
    database: Any = import_module("duckdb").connect()
    sides = rows(random.Random(30))
    for name, some in sides.items():
        database.execute(f"CREATE TABLE {name} (id INT, c INT, k VARCHAR, t BIGINT)")
        database.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", some)
    answers = {}
    for match in (">=", ">", "<=", "<", "NEAREST"):
        for tolerance in (None, TOLERANCE, 0):
            joined = _NEAREST if match == "NEAREST" else _JOIN.format(match)
            far = 1 << 40 if tolerance is None else tolerance
            name = match if tolerance is None else f"{match} {tolerance}"
            answers[name] = sorted(database.execute(_PAIR.format(far, joined)).fetchall())
    found = {"version": database.execute("SELECT version()").fetchone()[0], **sides, "answers": answers}
    Path(__file__).with_name("recorded.json").write_text(json.dumps(found, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main()

"""As-of joins of SQL: cases worked out by hand, and what DuckDB answers; in this process, on Spark, in both modes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sqlext
from tests.workspace import Workspace

if TYPE_CHECKING:
    from sqlext.session.api import Session

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "as_of" / "recorded.json").read_text("utf-8"))
START = datetime(2024, 1, 1)
BATCH = "SET 'execution.runtime-mode' = 'batch';"
STREAMING = "SET 'execution.runtime-mode' = 'streaming';"
#: Rows are shuffled, and nothing is late.
TABLE = """CREATE TABLE {0} (id INT, c INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH ('connector' = 'filesystem', 'path' = '{1}/{0}', 'format' = 'json'{2});
"""
Pairs = list[tuple[int, int | None]]


def write(folder: Path, sides: dict[str, Sequence[tuple[int, int, str | None, int]]], files: int = 1) -> None:
    """Write both sides, each cut into files; times are in milliseconds."""
    chance = random.Random(3)
    for name, rows in sides.items():
        (folder / name).mkdir(parents=True)
        shuffled = chance.sample(rows, len(rows))
        for number in range(files):
            lines = [
                json.dumps({"id": i, "c": c, "k": k, "ts": str(START + timedelta(milliseconds=t))})
                for i, c, k, t in shuffled[number::files]
            ]
            (folder / name / f"{number}.json").write_text("".join(f"{line}\n" for line in lines), "utf-8")


def query(match: str, tolerance: int | None, join: str = "LEFT ASOF JOIN") -> str:
    """Return the join; without a tolerance one of an hour where a stream needs it."""
    condition = "NEAREST(l.ts, r.ts)" if match == "NEAREST" else f"l.ts {match} r.ts"
    far = 3600_000 if tolerance is None and match not in (">=", ">") else tolerance
    within = "" if far is None else f"TOLERANCE INTERVAL '{far / 1000:.3f}' SECOND"
    return (
        f"SELECT l.id, r.id AS other FROM l {join} r MATCH_CONDITION ({condition}) {within} ON l.c = r.c AND l.k = r.k"
    )


def in_order(rows: Iterable[Sequence[Any]]) -> Pairs:
    return sorted(((row[0], row[1]) for row in rows), key=lambda row: (row[0], row[1] or 0))


def local(folder: Path) -> Session:
    session = sqlext.connect(catalog=folder / "catalog", settings={"sqlext.engine": "local"})
    session.run("".join(TABLE.format(name, folder, "") for name in "lr"))
    return session


# Worked out by hand: comparison, tolerance, times of left rows, times of right rows, what each left row meets (seconds)

WORKED: list[tuple[str, int | None, list[int], list[int], list[int | None]]] = [
    (">=", None, [5], [], [None]),
    (">=", None, [5], [5], [5]),
    (">=", None, [5], [6], [None]),
    (">=", None, [5], [1, 3, 4, 9], [4]),
    (">=", None, [0, 5, 5, 9], [5], [None, 5, 5, 5]),
    (">=", None, [10, 20, 30], [9, 19, 21], [9, 19, 21]),
    (">=", 3, [5, 6], [2], [2, None]),
    (">=", 0, [5, 6], [5], [5, None]),
    (">=", 3, [9], [1, 5], [None]),
    (">", None, [5], [5], [None]),
    (">", None, [5], [4, 5], [4]),
    (">", None, [5, 6], [5], [None, 5]),
    (">", 2, [5, 8], [3, 5], [3, None]),
    (">", 0, [5], [4, 5], [None]),
    ("<=", None, [5], [5], [5]),
    ("<=", None, [5], [4], [None]),
    ("<=", None, [5], [9, 7, 6], [6]),
    ("<=", None, [1, 6, 8], [2, 7], [2, 7, None]),
    ("<=", 2, [1, 5], [3, 8], [3, None]),
    ("<=", 0, [5, 7], [5, 8], [5, None]),
    ("<", None, [5], [5], [None]),
    ("<", None, [5], [5, 6], [6]),
    ("<", None, [1, 2, 3], [3], [3, 3, None]),
    ("<", 1, [1, 4], [2, 6], [2, None]),
    ("NEAREST", None, [5], [], [None]),
    ("NEAREST", None, [5], [1, 8], [8]),
    ("NEAREST", None, [5], [2, 9], [2]),
    ("NEAREST", None, [5], [3, 7], [3]),
    ("NEAREST", None, [5], [5, 4, 6], [5]),
    ("NEAREST", 2, [5, 20], [3, 17, 30], [3, None]),
    ("NEAREST", 3, [5, 20], [8, 17, 22], [8, 22]),
    ("NEAREST", 0, [5, 6], [5], [5, None]),
]


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int | None, str], Pairs]:
    """Return what a join gives of both sides of all cases; the number of a right row is its time."""
    folder = tmp_path_factory.mktemp("worked")
    left = [(100 * c + n, c, "k", t * 1000) for c, (_, _, times, *_) in enumerate(WORKED) for n, t in enumerate(times)]
    right = [(t, c, "k", t * 1000) for c, (*_, times, _) in enumerate(WORKED) for t in times]
    write(folder, {"l": left, "r": right})
    session = local(folder)

    @cache
    def joined(match: str, millis: int | None, mode: str) -> Pairs:
        session.run(mode)
        return in_order(session.sql(query(match, millis)).rows)

    return joined


@pytest.mark.parametrize("mode", [STREAMING, BATCH])
@pytest.mark.parametrize("case", range(len(WORKED)))
def test_worked_out_by_hand(worked: Callable[[str, int | None, str], Pairs], case: int, mode: str) -> None:
    match, tolerance, _, _, expected = WORKED[case]
    joined = worked(match, None if tolerance is None else tolerance * 1000, mode)
    assert [other for n, other in joined if n // 100 == case] == expected


# A second opinion

ANSWERS = {name: in_order(pairs) for name, pairs in RECORDED["answers"].items()}


def asked(name: str) -> tuple[str, int | None]:
    """Return comparison and tolerance of one of DuckDB's answers."""
    match, *tolerance = name.split()
    return match, int(tolerance[0]) if tolerance else None


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("second")
    write(folder, {side: [tuple(row) for row in RECORDED[side]] for side in "lr"}, files=3)
    return local(folder)


@pytest.mark.parametrize("mode", [STREAMING, BATCH])
@pytest.mark.parametrize("name", ANSWERS)
def test_duckdb_says_the_same(second: Session, name: str, mode: str) -> None:
    second.run(mode)
    assert in_order(second.sql(query(*asked(name))).rows) == ANSWERS[name]
    inner = in_order(second.sql(query(*asked(name), "ASOF JOIN")).rows)
    assert inner == [pair for pair in ANSWERS[name] if pair[1] is not None]


@pytest.fixture
def on_spark(workspace: Workspace) -> Callable[..., list[Any]]:
    """Return how to run statements over the recorded rows, of which each micro-batch takes a file."""
    write(workspace.input, {side: [tuple(row) for row in RECORDED[side]] for side in "lr"}, files=3)
    options = ", 'sqlext.source' = '{}', 'maxFilesPerTrigger' = '1'"

    def run(*statements: str, reader: str = "spark") -> list[Any]:
        tables = "".join(TABLE.format(side, "${IN}", options.format(reader)) for side in "lr")
        return workspace.run(tables, *statements)

    return run


@pytest.mark.parametrize(("mode", "reader"), [(STREAMING, "spark"), (STREAMING, "arrow"), (BATCH, "spark")])
def test_spark_says_what_duckdb_says(on_spark: Callable[..., list[Any]], mode: str, reader: str) -> None:
    names = [name for name in ANSWERS if name.endswith("3000") or (mode == BATCH and " " not in name)]
    results = on_spark(mode, *(f"{query(*asked(name))};" for name in names), reader=reader)[-len(names) :]
    for name, result in zip(names, results, strict=True):
        assert in_order(result.rows) == ANSWERS[name], name


def test_what_stands_of_an_updating_join_is_the_same(workspace: Workspace, on_spark: Callable[..., list[Any]]) -> None:
    names = {"back": ">=", "ahead": "< 3000", "either": "NEAREST 3000"}
    for sink, name in names.items():
        table = f"CREATE TABLE {sink} (id INT, other INT, PRIMARY KEY (id) NOT ENFORCED) "
        table += f"WITH ('connector' = 'delta', 'path' = '${{OUT}}/{sink}');"
        on_spark(table, f"INSERT INTO {sink} {query(*asked(name))} EMIT CHANGES ALLOW LATENESS 1h;")
        rows = [(int(i), None if other == "None" else int(other)) for i, other in workspace.delta(sink)]
        assert in_order(rows) == ANSWERS[name], name

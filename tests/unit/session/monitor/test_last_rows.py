"""The last rows of tables in files, read without Spark; and why there are none."""

from __future__ import annotations

import math
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sqlext.dialect.script import parse_script
from sqlext.policy import Restrictions, policy_of
from sqlext.session.interpreter import Interpreter
from sqlext.session.monitor.last_rows import last_rows
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText
from sqlext_catalog.model import Table


def table(columns: str, options: str) -> Table:
    state = new_state(None)
    for statement in parse_script(SourceText.of(f"CREATE TABLE t ({columns}) WITH ({options})")):
        Interpreter(state, DryRun(state)).run(statement)
    (found,) = [r for r in state.catalog.snapshot().relations() if isinstance(r, Table)]
    return found


def in_files(folder: Path, form: str, columns: str = "n BIGINT, s STRING") -> Table:
    return table(columns, f"'connector'='filesystem', 'path'='{folder}', 'format'='{form}'")


def write(path: Path, form: str, first: int, count: int) -> None:
    numbers = range(first, first + count)
    if form == "parquet":
        pq.write_table(pa.table({"n": pa.array(numbers, pa.int64()), "s": [f"a{n}" for n in numbers]}), path)
    else:
        lines = (f'{{"n": {n}, "s": "a{n}"}}' if form == "json" else f"{n},a{n}" for n in numbers)
        path.write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("form", ["json", "csv", "parquet"])
def test_the_newest_files(tmp_path: Path, form: str) -> None:
    for number in range(4):
        write(tmp_path / f"{number}.{form}", form, 10 * number, 3)
    found = last_rows("t", in_files(tmp_path, form), 5)
    assert (found.columns, found.why) == (("n", "s"), None)
    assert found.rows == [(n, f"a{n}") for n in (21, 22, 30, 31, 32)]


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_of_a_large_file_the_end_is_read(tmp_path: Path, form: str) -> None:
    write(tmp_path / f"1.{form}", form, 0, 120_000)
    found = last_rows("t", in_files(tmp_path, form), 2)
    assert found.rows == [(119_998, "a119998"), (119_999, "a119999")]


def test_values_that_json_has_not(tmp_path: Path) -> None:
    values = {
        "d": pa.array([Decimal("12.50")], pa.decimal128(5, 2)),
        "t": pa.array([datetime(2024, 1, 1, microsecond=500_000)], pa.timestamp("us")),
        "b": [True],
        "x": pa.array([None], pa.int32()),
        "big": pa.array([9007199254740993], pa.int64()),
        "f": [math.nan],
        "a": pa.array([[1, 2]], pa.list_(pa.int32())),
    }
    pq.write_table(pa.table(values), tmp_path / "1.parquet")
    columns = "d DECIMAL(5, 2), t TIMESTAMP(3), b BOOLEAN, x INT, big BIGINT, f DOUBLE, a ARRAY<INT>"
    found = last_rows("t", in_files(tmp_path, "parquet", columns), 2)
    assert found.columns == ("d", "t", "b", "x", "big", "f")  # Arrow reads no arrays as Spark does
    assert found.rows == [("12.50", "2024-01-01 00:00:00.500000", True, None, "9007199254740993", "nan")]


@pytest.mark.parametrize(
    ("columns", "options", "why"),
    [
        ("n BIGINT", "'connector'='print'", "connector 'print' keeps no rows in files"),
        ("n BIGINT", "'connector'='delta', 'path'='/nowhere/at/all'", "no row has come out yet"),
        ("n BIGINT", "'connector'='filesystem', 'path'='/', 'format'='orc'", "format 'orc' has no Arrow reader"),
    ],
)
def test_why_there_are_none(columns: str, options: str, why: str) -> None:
    found = last_rows("t", table(columns, options), 5)
    assert found.rows == ()
    assert why in (found.why or "")


def test_a_folder_without_rows(tmp_path: Path) -> None:
    found = last_rows("t", in_files(tmp_path, "json", "n BIGINT"), 5)
    assert (found.columns, found.why) == (("n",), "no row has come out yet")
    assert last_rows("gone", None, 5).why == "the catalog has no table of this name"


def test_a_policy_is_asked_before_files_are(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    (inside / "rows").mkdir(parents=True)
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    policy = policy_of(Restrictions().within(inside))
    for folder, shown in (
        (inside / "rows", True),
        # Who reads it follows the link below it.
        (inside, False),
        (outside, False),
        (inside / "link", False),
        (inside / ".." / "outside", False),
    ):
        write(folder / "1.json", "json", 0, 3)
        found = last_rows("t", in_files(folder, "json"), 5, policy)
        assert bool(found.rows) is shown
        assert (found.why is None) is shown
        assert shown or "RESTRICT-002" in str(found.why)

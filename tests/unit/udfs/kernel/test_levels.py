"""Levels find the entries of their keys, and files of levels are a help that nothing depends on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext import SqlExtError
from sqlext_udfs.distinct import DistinctOperator
from sqlext_udfs.kernel.levelled import KeptLevels, LevelEntry, Levelled, LevelRules, StepTimes, is_levelled
from sqlext_udfs.kernel.levels import NO_HASHES, Level, LevelWork
from sqlext_udfs.kernel.operator import Clock, Wakeup
from sqlext_udfs.spark.level_store import LevelFiles, SparkLevels

NUMBERS = st.lists(st.integers(-5, 30))


def table(values: Sequence[int]) -> pa.Table:
    return pa.table({"c0": pa.array(values, pa.int64()), "c1": pa.array([v * v for v in values], pa.int64())})


def work() -> LevelWork[pa.Table]:
    return LevelWork(DistinctOperator(), 1)


def level(values: Sequence[int]) -> Level:
    return work().level(table(values), DistinctOperator().encode(table(values)))


def found(state: pa.Table) -> list[int]:
    return list(state.column(0).to_pylist()) if state.num_columns else []


@given(NUMBERS, NUMBERS, NUMBERS)
def test_entries_of_keys(kept: list[int], asked: list[int], newer: list[int]) -> None:
    some, hashes = level(kept), work().hashes(table(asked))
    assert found(work().of(some, hashes)) == [v for v in kept if v in asked]
    assert found(work().without(some, hashes)) == [v for v in kept if v not in asked]
    assert found(work().but(some, [level(newer), Level(b"", (), hashes)])) == [
        v for v in kept if v not in newer and v not in asked
    ]
    assert some.owns(hashes).sum() == len(set(kept) & set(asked))
    assert len(some.hashes()) == len(set(kept))
    mine, others = work().parts(table(kept), hashes)
    assert (found(mine), found(others)) == ([v for v in kept if v in asked], [v for v in kept if v not in asked])


def test_what_is_gone_is_owned_without_entries() -> None:
    gone = work().hashes(table([1, 2]))
    made = work().level(table([2, 3]), b"", gone)
    assert made.gone.tolist() == work().hashes(table([1])).tolist()
    assert made.owns(work().hashes(table([1, 2, 3, 4]))).sum() == len([1, 2, 3])


def test_what_is_kept_is_read_again() -> None:
    kept = KeptLevels(b"12345678", np.array([3, 4], np.uint64), (LevelEntry(2, "x", 9, 1, None),), Wakeup(None, 7), 11)
    again = KeptLevels.decoded(kept.encoded())
    assert bytes(again.newest) == kept.newest
    assert again.gone.tolist() == [3, 4]
    assert (again.entries, again.wakeup, again.open_groups) == (kept.entries, kept.wakeup, 11)
    assert is_levelled(kept.encoded())
    assert again.next_wakeup() == Wakeup(1, 7)


def test_a_small_state_stays_one_value() -> None:
    bucket = Levelled(DistinctOperator(), 1, LevelRules())
    done = bucket.step(None, table([1, 2]), StepTimes(Clock()), None)
    assert done.kept is not None
    assert not is_levelled(done.kept)
    assert bucket.step(done.kept, table([1]), StepTimes(Clock()), None).kept is None


def test_a_file_is_found_by_another_worker(tmp_path: Path) -> None:
    one, other = LevelFiles(tmp_path), LevelFiles(tmp_path)
    assert other.load("a") is None
    one.remember("a", level([1, 2, 3]))
    there = other.load("a")
    assert there is not None
    assert found(work().of(there, work().hashes(table([3, 4])))) == [3]
    one.remove("a")
    assert other.load("a") is None
    assert found(work().of(there, work().hashes(table([2])))) == [2]


def test_memory_serves_where_no_file_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    files = LevelFiles(tmp_path / "file")
    files.remember("a", level([1]))
    assert files.load("a") is not None
    assert LevelFiles(tmp_path / "file").load("a") is None
    files.remove("a")
    assert files.load("a") is None


def test_files_that_nobody_uses_go(tmp_path: Path) -> None:
    files = LevelFiles(tmp_path)
    for name in "ab":
        files.remember(name, level([1]))
    for name in "ab":
        os.utime(tmp_path / "sqlext-levels" / name, (1, 1))
    assert files.load("a") is not None
    files.remember("c", level([1]))
    assert sorted(path.name for path in (tmp_path / "sqlext-levels").iterdir()) == ["a", "c"]


class OneLevel:
    """A state variable with one level."""

    def getValue(self, key: tuple[int]) -> tuple[str, bytes, bytes] | None:  # noqa: N802 - PySpark's name
        return ("x", b"data", NO_HASHES.tobytes()) if key == (1,) else None


def test_a_level_that_is_not_there_is_damage(tmp_path: Path) -> None:
    store = SparkLevels(OneLevel(), LevelFiles(tmp_path))  # type: ignore[arg-type]
    assert store.read(LevelEntry(1, "x", 4))[0] == b"data"
    for entry in (LevelEntry(1, "y", 4), LevelEntry(2, "x", 4)):
        with pytest.raises(SqlExtError) as raised:
            store.read(entry)
        assert raised.value.code == "RUN-031"

"""What is known of a Delta table before its rows are replaced, without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from sqlext.connectors.delta.reader.tables import log_of
from sqlext.connectors.delta.reader.versions import DeltaPosition
from sqlext.connectors.delta.replacement import DeltaReplacement
from sqlext.connectors.spec import WriteSpec
from sqlext.sinks.base import SinkContext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: It is asked for nothing.
NO_SPARK = cast("SparkSession", None)


def replacement(context: SinkContext, *, path: str | None, table: str | None = None) -> DeltaReplacement:
    return DeltaReplacement(WriteSpec("delta", (), path=path, table=table, primary_key=("k",)), context)


def test_keys_and_place() -> None:
    upsert, append = SinkContext("q", "c", "upsert", keys=("other",)), SinkContext("q", "c", "append")
    found = replacement(upsert, path=None, table="db.t")
    assert (found.keys(), replacement(append, path="/t").keys()) == (("k",), ())
    assert (found.beside("/rows").path, found.beside("/rows").table) == ("/rows", None)


@pytest.mark.parametrize(("batch", "has"), [(4, True), (5, True), (6, False)])
def test_whether_a_merge_is_there(tmp_path: Path, batch: int, has: bool) -> None:
    context = SinkContext("q", "c", "upsert")
    done = CommitProperties(app_transactions=[Transaction(context.identity, 5)])
    write_deltalake(tmp_path / "t", pa.table({"k": [1]}), commit_properties=done)
    assert replacement(context, path=str(tmp_path / "t")).has(NO_SPARK, batch) is has


def test_nobody_knows(tmp_path: Path) -> None:
    """Another run of the query has written it; and of a table by its name nothing is looked up without Spark."""
    done = CommitProperties(app_transactions=[Transaction(SinkContext("q", "c").identity, 5)])
    write_deltalake(tmp_path / "t", pa.table({"k": [1]}), commit_properties=done)
    another = SinkContext("q", "another", "upsert")
    assert replacement(another, path=str(tmp_path / "t")).has(NO_SPARK, 5) is None
    assert replacement(another, path=None, table="db.t").has(NO_SPARK, 5) is None


def of_spark(path: Path, version: int, file: int = -1, *, whole: bool = False) -> str:
    """Return a place in the words of Delta's own source."""
    place = {"sourceVersion": 1, "reservoirId": log_of(str(path)).identity(), "reservoirVersion": version}
    return json.dumps({**place, "index": file, "isStartingVersion": whole})


def of_ours(version: int) -> str:
    return json.dumps({"versions": DeltaPosition(version, is_commit=True, files=0).number})


def test_readers_are_moved_behind_all_rows(tmp_path: Path) -> None:
    """From the new rows elsewhere, or within the table; a second time is none; other sources stay where they are."""
    context, files = SinkContext("q", "c"), json.dumps({"logOffset": 3})
    there, beside = (replacement(context, path=str(tmp_path / name)) for name in ("there", "beside"))
    for name, commits in (("there", 3), ("beside", 1)):
        for _ in range(commits):
            write_deltalake(tmp_path / name, pa.table({"k": [1]}), mode="append")
    ends = [of_spark(tmp_path / "beside", 1), files, of_spark(tmp_path / "beside", 0, 0, whole=True)]
    moved = there.behind(NO_SPARK, ends, beside, alone=True)
    assert moved == (of_spark(tmp_path / "there", 3), None, of_spark(tmp_path / "there", 3))
    assert there.behind(NO_SPARK, [m or files for m in moved], beside, alone=True) == moved
    assert there.behind(NO_SPARK, [files, of_ours(1)], beside, alone=True) == (None, of_ours(3))
    # Nothing says which of two tables each of them is of.
    two = [of_ours(1), of_ours(2)]
    assert there.behind(NO_SPARK, two, beside, alone=False) == (None, None)
    assert there.behind(NO_SPARK, two, beside, alone=True) == (of_ours(3), of_ours(3))


def test_whether_a_reader_has_read_all(tmp_path: Path) -> None:
    there = replacement(SinkContext("q", "c"), path=str(tmp_path / "t"))
    for _ in range(2):
        write_deltalake(tmp_path / "t", pa.table({"k": [1]}), mode="append")

    def is_through(end: str) -> bool:
        return there.are_read(NO_SPARK, [end], alone=True)

    assert [is_through(of_spark(tmp_path / "t", version)) for version in (0, 1, 2)] == [False, False, True]
    assert [is_through(of_ours(version)) for version in (0, 1, 2)] == [False, False, True]
    assert is_through(of_spark(tmp_path / "t", 1, 0))
    assert not is_through(of_spark(tmp_path / "t", 1, 0, whole=True))
    assert not is_through(json.dumps({"logOffset": 3}))
    # The same rows in other files are none that are left.
    DeltaTable(tmp_path / "t").optimize.compact()
    assert is_through(of_spark(tmp_path / "t", 2))

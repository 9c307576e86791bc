"""What is known of a Delta table before its rows are replaced, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pytest
from deltalake import CommitProperties, Transaction, write_deltalake

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

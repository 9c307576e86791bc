"""What a worker has loaded is not looked through after each task; nothing is done to the user's own process."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from sqlext_udfs.kernel import packing, worker_memory


def _work_without_rows(name: str) -> None:
    """Do the work of a task, to its end."""
    work: dict[str, Callable[[], Any]] = {
        "pack": lambda: packing.pack(None, [], []),  # type: ignore[arg-type] - nothing asks the operator
        "unpack": lambda: packing.unpack([]),
    }
    list(work[name]())


def _looked_at(name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield how many objects a collection looks at before and after a task, and what it finds of garbage made later."""
    for _ in batches:
        pass
    gc.unfreeze()  # the worker may have done work of ours before
    worker_memory._spare.cache_clear()
    before = len(gc.get_objects())
    _work_without_rows(name)
    after = len(gc.get_objects())
    frozen = gc.get_freeze_count()
    _work_without_rows(name)
    again = gc.get_freeze_count()
    loop: list[object] = []
    loop.append(loop)
    del loop
    yield pa.record_batch([pa.array([before, after, frozen, again, gc.collect()], pa.int64())], ["n"])


@pytest.mark.parametrize("name", ["pack", "unpack"])
def test_a_worker_looks_for_garbage_among_new_objects_only(session: SparkSession, name: str) -> None:
    rows = session.range(1, numPartitions=1).mapInArrow(partial(_looked_at, name), "n BIGINT").collect()
    before, after, frozen, again, found = (r.n for r in rows)
    assert before > 10_000
    assert after < before / 10
    assert again <= frozen  # some of what is frozen goes, nothing comes
    assert found >= 1


def test_the_users_own_process_is_left_alone() -> None:
    before = gc.get_freeze_count()
    _work_without_rows("unpack")
    assert gc.get_freeze_count() == before

"""What a worker has loaded is not looked through after each task; nothing is done to the user's own process."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import SparkSession

from sqlext.udfs.processors.worker_memory import spare_what_is_loaded


def _seen_by_a_collection(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield how many objects a collection looks at before and after, and whether it still finds garbage made later."""
    for _ in batches:
        pass
    gc.unfreeze()  # the worker may have done work of ours before
    before = len(gc.get_objects())
    spare_what_is_loaded.__globals__["_spare"].cache_clear()
    spare_what_is_loaded()
    after = len(gc.get_objects())
    frozen = gc.get_freeze_count()
    spare_what_is_loaded()
    again = gc.get_freeze_count()
    loop: list[object] = []
    loop.append(loop)
    del loop
    found = gc.collect()
    yield pa.record_batch([pa.array([before, after, frozen, again, found], pa.int64())], ["n"])


def test_a_worker_looks_for_garbage_among_new_objects_only(session: SparkSession) -> None:
    rows = session.range(1, numPartitions=1).mapInArrow(_seen_by_a_collection, "n BIGINT").collect()
    before, after, frozen, again, found = (r.n for r in rows)
    assert before > 10_000
    assert after < before / 10
    assert again <= frozen
    assert found >= 1


def test_the_users_own_process_is_left_alone() -> None:
    before = gc.get_freeze_count()
    spare_what_is_loaded()
    assert gc.get_freeze_count() == before

"""What is added up of Spark's reports: each micro-batch once, and none left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql.streaming.listener import StreamingQueryProgress

from sqlext.jobs.progress import InputCounts, Progress
from sqlext.watermarks.history import OperatorState

RUN = "00000000-0000-0000-0000-000000000001"
OTHER = "00000000-0000-0000-0000-000000000002"


def report(batch: int, rows: int | None, *, watermark: int = 0, run: str = RUN) -> StreamingQueryProgress:
    """Make a report of a micro-batch; without rows one of a trigger that found nothing."""
    source = {"description": "files", "startOffset": "0", "endOffset": {"file": batch}, "latestOffset": "9"}
    counted = {"sqlext input a": {"largest": rows, "n": rows, "smallest": 0}}
    made: dict[str, Any] = {
        "id": RUN,
        "runId": run,
        "name": "q",
        "timestamp": "2024-01-01T00:00:00.000Z",
        "batchId": batch,
        "batchDuration": 1,
        "durationMs": {"triggerExecution": 1} | ({"addBatch": 1} if rows is not None else {}),
        "eventTime": {"watermark": f"1970-01-01T00:00:{watermark:02}.000Z"},
        "stateOperators": [],
        "sources": [{**source, "numInputRows": rows or 0, "inputRowsPerSecond": 0.0, "processedRowsPerSecond": 0.0}],
        "sink": {"description": "sink", "numOutputRows": -1},
        "observedMetrics": counted if rows is not None else {},
    }
    return StreamingQueryProgress.fromJson(made)


def with_state(of: StreamingQueryProgress, *memory: int) -> StreamingQueryProgress:
    """Return a report with operators that use so many bytes each."""
    names = "allUpdatesTimeMs numRowsTotal numRowsUpdated allRemovalsTimeMs numRowsRemoved commitTimeMs memoryUsedBytes"
    names += " numRowsDroppedByWatermark numShufflePartitions numStateStoreInstances"
    operators = [{"operatorName": "x", **dict.fromkeys(names.split(), 0), "customMetrics": {}} for _ in memory]
    for operator, used in zip(operators, memory, strict=True):
        operator["memoryUsedBytes"] = used
    return StreamingQueryProgress.fromJson({**json.loads(of.json), "stateOperators": operators})


def read(progress: Progress) -> tuple[InputCounts, tuple[int, ...]]:
    """Return what was read of the one input."""
    found = progress.read()
    return found.counts["a"][""], tuple(end["file"] for end in found.ends)


def test_the_memory_of_state_is_that_of_the_last_batch() -> None:
    progress = Progress()
    progress.add([with_state(report(0, 5), 100, 20), with_state(report(1, 5), 70)])
    assert progress.values()["state_bytes"] == 70


def test_parts_of_batches_and_operators_are_added_up() -> None:
    progress = Progress()
    progress.add([with_state(report(0, 5), 100, 20), with_state(report(1, 7), 70, 30)])
    found = progress.details()
    assert found.spent == {"addBatch": 2}  # not the whole of a batch, which is busy_ms
    assert found.read == {"a": 12}
    assert found.operators == (OperatorState(0, 0, 70, 0), OperatorState(0, 0, 30, 0))


def test_operators_of_ours_count_their_groups() -> None:
    """Spark counts buckets. Views are numbered from the sources on, and Spark lists operators from the sink on."""
    made = json.loads(with_state(report(0, 5), 100, 20).json)
    for operator in made["stateOperators"]:
        operator["operatorName"] = "transformWithStateExec"
    for step, groups in ((9, 3), (10, 8)):
        made["observedMetrics"][f"sqlext operator sqlext_step_{step}"] = {"open": groups, "late": 1, "closed": 0}
    progress = Progress()
    progress.add([StreamingQueryProgress.fromJson(made)])
    assert progress.details().operators == (OperatorState(8, 0, 100, 1), OperatorState(3, 0, 20, 1))


def test_a_batch_after_a_trigger_that_found_nothing_is_counted() -> None:
    progress = Progress()
    for batch, rows in enumerate((5, 7)):
        progress.add([report(batch, None)])  # Spark writes one after ten quiet seconds, with the number of the next
        progress.add([report(batch, rows)])
    assert read(progress) == (InputCounts(7, 12, 2, 7, 0), (1,))
    assert progress.values()["batch"] == 2
    assert progress.values()["rows_in"] == 12


def test_reports_that_come_again_change_nothing() -> None:
    progress = Progress()
    reports = [report(0, 5), report(1, 7, watermark=3), report(2, None, watermark=4)]
    for _ in range(3):
        progress.add(reports)
        progress.add(reports[:1])
    assert progress.values()["rows_in"] == 12
    assert progress.values()["watermark"] == 4000
    assert len(progress.moments()) == 2


def test_another_run_begins_its_batches_where_it_went_on() -> None:
    progress = Progress()
    progress.add([report(3, 5)])
    progress.add([report(3, 5, run=OTHER)])
    assert progress.values()["rows_in"] == 10


def test_missed_batches_are_seen_to_be_missing() -> None:
    progress = Progress()
    assert not progress.is_next(report(0, 5))  # whatever ran before is not known
    progress.add([report(0, 5)])
    assert progress.is_next(report(1, None))
    assert progress.is_next(report(1, 5))
    assert not progress.is_next(report(2, 5))
    assert not progress.is_next(report(1, 5, run=OTHER))


@pytest.mark.parametrize("shown", ['{"file": 3, "held": null}', "{'file': 3, 'held': None}"])
def test_offsets_of_any_pyspark(shown: str) -> None:
    """PySpark before 4.2 gives those that have names as Python shows them."""
    made = json.loads(report(0, 5).json)
    sources = [{**made["sources"][0], "endOffset": text} for text in (shown, "7", "None", "null", "no offset")]
    progress = Progress()
    progress.add([StreamingQueryProgress.fromJson(made)])
    told = StreamingQueryProgress.fromJson({**made, "batchId": 1, "sources": sources})
    for source, text in zip(told["sources"], (shown, "7", "None", "null", "no offset"), strict=True):
        source["endOffset"] = text
    progress.add([told])
    assert progress.read().ends == ({"file": 3, "held": None},)


def test_rows_that_are_read_outside_of_a_stream_are_of_the_micro_batch_that_is_reported_next() -> None:
    progress = Progress()
    progress.wrote(3, read=100)
    progress.add([report(0, 0)])
    assert (progress.values()["last_rows"], progress.values()["rows_in"]) == (100, 100)
    assert [(m.rows_in, m.rows_out) for m in progress.moments()] == [(100, 3)]
    progress.add([report(1, 5)])
    assert (progress.values()["last_rows"], progress.values()["rows_in"]) == (5, 105)

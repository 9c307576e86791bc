"""What a recorder leaves for those who look from another process: plan, samples, why a query failed."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from pyspark.sql.streaming.listener import StreamingQueryProgress

from sqlext import SqlExtError
from sqlext.jobs.progress import Progress
from sqlext.jobs.recording import Failure, LateRowsNotice, Recorder, read_failure, read_outline
from sqlext.plan.steps import PlanStep
from sqlext.stores.location import Location
from sqlext.watermarks.history import samples

STEPS = (
    PlanStep(0, "Sink", "out", "append", stateful=False, input=None, reads=(1,)),
    PlanStep(1, "Scan", "orders (filesystem, stream)", "append", stateful=False, input="orders", reads=()),
)


def _late(rows: int) -> StreamingQueryProgress:
    """Return Spark's report of a micro-batch in which an operator of ours has dropped rows."""
    run = "00000000-0000-0000-0000-000000000001"
    report = {"id": run, "runId": run, "name": "q", "timestamp": "2024-01-01T00:00:00.000Z", "batchId": 0,
              "batchDuration": 1, "durationMs": {"addBatch": 1}, "eventTime": {}, "stateOperators": [], "sources": [],
              "sink": {"description": "sink", "numOutputRows": -1},
              "observedMetrics": {"sqlext operator sqlext_step_1": {"open": 0, "late": rows, "closed": 0}}}  # fmt: skip
    return StreamingQueryProgress.fromJson(report)


def test_a_restart_goes_on_with_the_samples_and_forgets_the_failure(tmp_path: Path) -> None:
    place = Location.of(tmp_path)
    counted = Progress()
    first = Recorder("q", place, False, STEPS)
    first.begin()
    counted.wrote(3)
    first.look(counted, None)
    first.end(SqlExtError("RUN-041", "a value is too large", hint="cast it"))
    assert read_failure(place) == Failure("RUN-041", "a value is too large", "cast it", None)
    assert read_outline(place) == first.outline
    again = Recorder("q", place, False, STEPS)
    again.begin()
    assert read_failure(place) is None
    again.look(Progress(), None)
    again.end(None)
    assert [(s.rows_out, s.began) for s in samples(place)] == [(3, first.outline.began), (0, again.outline.began)]


def test_late_rows_are_warned_of_once(tmp_path: Path) -> None:
    counted = Progress()
    recorder = Recorder("q", Location.of(tmp_path), False, STEPS)
    recorder.begin()
    counted.wrote(0, read=100)
    counted.add([_late(30)])
    with pytest.warns(LateRowsNotice, match="query `q`: 30% of the rows"):
        recorder.look(counted, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recorder.look(counted, None)


def test_what_another_version_wrote_is_not_known(tmp_path: Path) -> None:
    place = Location.of(tmp_path)
    assert (read_outline(place), read_failure(place)) == (None, None)
    place.put("plan.json", '{"bounded": true}')
    place.put("end.json", '{"code": "X"}')
    assert (read_outline(place), read_failure(place)) == (None, None)


def test_no_query_fails_by_what_cannot_be_recorded(tmp_path: Path) -> None:
    place = Location.of(tmp_path / "progress")
    recorder = Recorder("q", place, False, STEPS)
    (tmp_path / "progress").write_text("a file where the folder was")
    recorder.look(Progress(), None)
    recorder.end(None)

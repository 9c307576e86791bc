"""What a recorder leaves for those who look from another process: plan, samples, why a query failed."""

from __future__ import annotations

from pathlib import Path

from sqlext import SqlExtError
from sqlext.jobs.progress import Progress
from sqlext.jobs.recording import Failure, Recorder, read_failure, read_outline
from sqlext.plan.steps import PlanStep
from sqlext.stores.location import Location
from sqlext.watermarks.history import samples

STEPS = (
    PlanStep(0, "Sink", "out", "append", stateful=False, input=None, reads=(1,)),
    PlanStep(1, "Scan", "orders (filesystem, stream)", "append", stateful=False, input="orders", reads=()),
)


def test_a_restart_goes_on_with_the_samples_and_forgets_the_failure(tmp_path: Path) -> None:
    place = Location.of(tmp_path)
    counted = Progress()
    first = Recorder(place, False, STEPS)
    first.begin()
    counted.wrote(3)
    first.look(counted, None)
    first.end(SqlExtError("RUN-041", "a value is too large", hint="cast it"))
    assert read_failure(place) == Failure("RUN-041", "a value is too large", "cast it", None)
    assert read_outline(place) == first.outline
    again = Recorder(place, False, STEPS)
    again.begin()
    assert read_failure(place) is None
    again.look(Progress(), None)
    again.end(None)
    assert [(s.rows_out, s.began) for s in samples(place)] == [(3, first.outline.began), (0, again.outline.began)]


def test_what_another_version_wrote_is_not_known(tmp_path: Path) -> None:
    place = Location.of(tmp_path)
    assert (read_outline(place), read_failure(place)) == (None, None)
    place.put("plan.json", '{"bounded": true}')
    place.put("end.json", '{"code": "X"}')
    assert (read_outline(place), read_failure(place)) == (None, None)


def test_no_query_fails_by_what_cannot_be_recorded(tmp_path: Path) -> None:
    place = Location.of(tmp_path / "progress")
    recorder = Recorder(place, False, STEPS)
    (tmp_path / "progress").write_text("a file where the folder was")
    recorder.look(Progress(), None)
    recorder.end(None)

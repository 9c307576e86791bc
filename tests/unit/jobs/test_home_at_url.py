"""A query's place at a URL: its lease, its mark and its refusals are those of a folder."""

from __future__ import annotations

import pickle
import uuid
from pathlib import Path

import pytest

from sqlext import SqlExtError
from sqlext.analysis.inserts.fingerprint import Fingerprint
from sqlext.connectors.moments import ProcessingClock
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.decisions import Starting, plan_runs
from sqlext.jobs.runs import QueryRun, begun_run
from sqlext.jobs.timekeeping import Timekeeping, read_report
from sqlext.rewrite.script.model import KeptInput
from sqlext.stores.location import Location
from sqlext.watermarks.history import History, Sample, samples
from sqlext.watermarks.inputs import Input
from tests.s3_server import BUCKET, SECRET, S3Server

PRINTS: Fingerprint = {"rowtime": ("ts", "1")}


class Place:
    """The checkpoints of one catalog at a URL."""

    def __init__(self, s3: S3Server) -> None:
        self.url = f"s3a://{BUCKET}/{uuid.uuid4().hex}"
        self.settings = s3.settings

    def open(self, name: str = "q", *, looks: bool = False, force: bool = False) -> QueryHome:
        return QueryHome("nowhere", name, self.url, settings=self.settings, looks=looks, force=force)

    def keys(self) -> list[str]:
        return sorted(Location(self.url, self.settings).names())


@pytest.fixture
def place(s3: S3Server) -> Place:
    """A place where no query was."""
    return Place(s3)


def code(home: QueryHome, prints: Fingerprint = PRINTS) -> str:
    with pytest.raises(SqlExtError) as refused:
        plan_runs([Starting(home, prints)], restart_finished=False)
    return refused.value.code


def test_it_has_one_driver(place: Place) -> None:
    with place.open() as home:
        with pytest.raises(SqlExtError) as refused:
            place.open()
        assert refused.value.code == "RUN-022"
        assert home.checkpoint == f"{home.location.place}/checkpoint"
        with place.open(force=True) as other:
            with pytest.raises(SqlExtError) as fenced:
                home.begin(QueryRun("run", PRINTS))
            assert fenced.value.code == "RUN-029"
            other.begin(QueryRun("run", PRINTS))
            pickle.loads(pickle.dumps(other.fence)).check()
    place.open().close()


def test_what_it_is_refused_for(place: Place) -> None:
    home = place.open()
    home.begin(QueryRun("run", PRINTS))
    store = home.location.store
    store.write("checkpoint/offsets/0", b"v1\n{}\n-")
    assert plan_runs([Starting(home, PRINTS)], restart_finished=False) == [QueryRun("run", PRINTS)]
    assert begun_run("nowhere", "q", place.url, place.settings) == QueryRun("run", PRINTS)
    assert code(home, {"rowtime": ("other", "2")}) == "RUN-020"
    store.write("checkpoint/commits/1", b"v1")
    assert code(home) == "RUN-023"
    store.delete("checkpoint/commits/1")
    store.write("checkpoint/sqlext-run", b"another")
    assert code(home) == "RUN-021"
    store.remove("checkpoint")
    assert code(home) == "RUN-024"
    store.write("run.json", b"{")
    assert code(home) == "RUN-023"
    store.delete("run.json")
    store.write("checkpoint/offsets/0", b"v1")
    assert code(home) == "RUN-021"
    home.remove()
    assert place.keys() == []


def test_it_was_removed_and_somebody_knows_that_it_was_there(place: Place) -> None:
    with place.open() as home:
        with pytest.raises(SqlExtError) as refused:
            plan_runs([Starting(home, PRINTS, ran_here=lambda: True)], restart_finished=False)
        assert (refused.value.code, home.checkpoint in refused.value.message) == ("RUN-024", True)
        assert refused.value.hint is not None
        assert "DROP QUERY `q`" in refused.value.hint
        home.begin(QueryRun("run", PRINTS))
        assert plan_runs([Starting(home, PRINTS, ran_here=lambda: True)], restart_finished=False)


def test_a_batch_that_was_begun(place: Place) -> None:
    with place.open() as home:
        home.begin(QueryRun("run", PRINTS))
        for key in ("offsets/9", "offsets/10", "commits/9"):
            home.location.store.write(f"checkpoint/{key}", b"v1")
        assert home.repeats_a_batch()
        home.location.store.write("checkpoint/commits/10", b"v1")
        assert not home.repeats_a_batch()


@pytest.mark.parametrize("begins", [False, True])
def test_what_was_set_aside(place: Place, begins: bool) -> None:
    with place.open() as home:
        home.begin(QueryRun("run", PRINTS))
        home.write_heartbeat()
        home.write_first_tick()
        home.location.store.write("checkpoint/offsets/0", b"old")
    with place.open() as home:
        assert home.location.text(f"{home.set_aside()}/offsets/0") == "old"
        home.location.store.write("checkpoint/offsets/0", b"new")
        if begins:
            home.begin(QueryRun("run", PRINTS, renewals=1))
    with place.open() as home:
        assert home.location.text("checkpoint/offsets/0") == ("new" if begins else "old")
        assert (home.heartbeat.text("end.txt") is None) == begins
        assert not list(home.location.names("before"))


def test_ticks(place: Place) -> None:
    with place.open() as home:
        home.ticks.made()
        home.write_first_tick()
        home.write_tick()
        home.write_last_tick()
        names = sorted(home.ticks.names())
        assert (names[0][:1].isdecimal(), names[1:]) == (True, ["_folder", "end.txt", "start.txt"])
        assert home.own_sources(None) == (home.location.place, f"{home.location.place}/replays")


def test_its_time(place: Place) -> None:
    with place.open() as home:
        kept = [KeptInput(Input("a", delay=1_000), "beats", "source")]
        keeping = Timekeeping(home.time, kept, ProcessingClock())
        keeping.begin()
        keeping.save()
        assert read_report(home.time) == keeping.report
        history = History(home.time)
        for at in range(3):
            history.take(Sample(at * 1_000, None, {"a": (at, "active")}, 0, at, 0, 0, 0))
        history.flush()
        assert [s.rows_in for s in samples(home.time)] == [0, 1, 2]
        assert [s.rows_in for s in History(home.time).samples()] == [0, 1, 2]


def test_no_secret_is_shown(place: Place) -> None:
    with place.open() as home:
        shown = f"{home.location!r} {home.fence!r} {home.location.below('x')}"
        assert SECRET not in shown


def test_a_store_that_does_not_answer(tmp_path: Path) -> None:
    settings = {"fs.s3a.endpoint": "http://127.0.0.1:9", "fs.s3a.access.key": "k", "fs.s3a.secret.key": "s"}
    location = Location.of(f"s3://{BUCKET}/x", settings)
    assert location.path is None
    assert Location.of(tmp_path).path == tmp_path
    assert Location.of(f"S3://{BUCKET}/x/").for_spark == f"s3a://{BUCKET}/x"

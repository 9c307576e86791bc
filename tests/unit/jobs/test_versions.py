"""One file says which version of a query is the current one; a version stays where it began."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.decisions import Starting, plan_runs
from sqlext.jobs.query_files import folder_name, parts_of_checkpoint, query_location
from sqlext.jobs.runs import QueryRun, begun_run
from sqlext.jobs.versions import (
    DEPLOYING,
    Versions,
    change_versions,
    refuse_while_deployed,
    remove_outdated,
    remove_version,
    sole_deployment,
    versions_of,
)
from sqlext.sinks.base import SinkContext
from sqlext.stores import lease
from sqlext.stores.location import Location
from sqlext.stores.owners import Owner, this_process
from sqlext_catalog.ddl import record_query
from sqlext_catalog.model import QueryRecord

PRINTS = {"WHERE": ("a > 1", "1")}


def home(folder: Path, **options: object) -> QueryHome:
    return QueryHome(folder, "q", **options)  # type: ignore[arg-type]


def put_versions(folder: Location, versions: Versions) -> None:
    change_versions(folder, "q", versions_of(folder), versions)


def begin(folder: Path, version: str, run: str) -> None:
    with home(folder, version=version) as place:
        place.begin(QueryRun(run, PRINTS))


def test_a_start_goes_on_in_the_current_version(tmp_path: Path) -> None:
    begin(tmp_path, "", "old")
    begin(tmp_path, "a1", "new")
    folder = home(tmp_path, looks=True).folder

    def current() -> str:
        run = begun_run(tmp_path, "q", None, {})
        assert run is not None
        return run.run_id

    versions = Versions(beside="a1")
    put_versions(folder, versions)
    assert (current(), versions_of(folder)) == ("old", versions)
    put_versions(folder, versions.switching(7, 1))
    for looks in (True, False):
        with home(tmp_path, looks=looks) as place, pytest.raises(SqlExtError) as refused:
            plan_runs([Starting(place, PRINTS)], restart_finished=False)
        assert refused.value.code == "RUN-083"
        assert refused.value.hint == (
            "sqlext deploy with the new version ends it, or sqlext deploy --rollback with the old one"
        )
    assert versions.switching(7, 1).given_up() == Versions()
    put_versions(folder, versions.switching(7, 1).switched())
    assert current() == "new"
    assert versions_of(folder) == Versions("a1", before="", restored=7, deployed=1)
    with home(tmp_path) as place:
        assert place.location.place.endswith("/versions/a1")
        assert parts_of_checkpoint(place.checkpoint, "q") == (f"{tmp_path}/queries", "a1")
    put_versions(folder, versions_of(folder).restoring())
    with home(tmp_path, looks=True) as place, pytest.raises(SqlExtError) as refused:
        plan_runs([Starting(place, PRINTS)], restart_finished=False)
    assert refused.value.hint == "sqlext deploy --rollback ends it with the old version"
    put_versions(folder, versions_of(folder).rolled_back())
    remove_version(folder, "a1")
    assert (current(), versions_of(folder)) == ("old", Versions())
    assert list(folder.names("versions")) == []


def test_the_rows_of_the_version_before_are_not_the_current_ones() -> None:
    """Each version has an identity of its own, so no sink takes the batches of one for those of the other."""
    old, new = (SinkContext("q", QueryRun(run, PRINTS).checkpoint_id).identity for run in ("old", "new"))
    assert old != new


def test_a_folder_of_checkpoints_may_be_called_so() -> None:
    own = f"s3a://b/versions/{folder_name('q')}"
    assert parts_of_checkpoint(f"{own}/checkpoint", "q") == ("s3a://b/versions", "")
    assert parts_of_checkpoint(f"{own}/versions/a1/checkpoint", "q") == ("s3a://b/versions", "a1")


@pytest.mark.parametrize("current", ["", "a1"])
def test_drop_query_takes_all_versions(tmp_path: Path, current: str) -> None:
    begin(tmp_path, "", "old")
    begin(tmp_path, "a1", "new")
    put_versions(home(tmp_path, looks=True).folder, Versions(current))
    home(tmp_path).remove()
    assert list((tmp_path / "queries").iterdir()) == []


def test_who_comes_from_the_version_before_has_no_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that has looked before the switch, and has taken its lease behind it."""
    begin(tmp_path, "", "old")
    folder = home(tmp_path, looks=True).folder
    taken = QueryHome._taken

    def late(self: QueryHome, force: bool) -> object:
        put_versions(folder, Versions("a1", before=""))
        return taken(self, force)

    monkeypatch.setattr(QueryHome, "_taken", late)
    with pytest.raises(SqlExtError) as refused:
        home(tmp_path)
    assert refused.value.code == "RUN-022"
    monkeypatch.undo()
    home(tmp_path, version="").close()
    assert query_location(tmp_path, "q", None).place.endswith("/versions/a1")


class DiedError(Exception):
    """A process ends amid its work."""


def test_a_drop_that_dies_never_brings_an_older_version_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for steps in itertools.count():
        root = tmp_path / str(steps)
        begin(root, "", "old")
        begin(root, "a1", "new")
        place = home(root, looks=True).folder
        put_versions(place, Versions("a1", before=""))
        dropped = home(root)
        store, left = type(place.store), steps

        def dies(self: Any, prefix: str, remove: Callable[[Any, str], None] = store.remove) -> None:
            nonlocal left
            if not left:
                raise DiedError
            left -= 1
            remove(self, prefix)

        with monkeypatch.context() as patched:
            patched.setattr(store, "remove", dies)
            try:
                dropped.remove()
            except DiedError:
                run = begun_run(root, "q", None, {})
                assert run is None or run.run_id == "new", steps
            else:
                break
        dropped.close()
    assert steps > 3


def test_who_has_not_seen_a_change_makes_none(tmp_path: Path) -> None:
    folder = Location.of(tmp_path)
    first, second = Versions(beside="a1"), Versions(beside="b2")
    change_versions(folder, "q", Versions(), first)
    for then in (Versions(), second):
        with pytest.raises(SqlExtError) as refused:
            change_versions(folder, "q", then, second)
        assert refused.value.code == "RUN-087"
    assert versions_of(folder) == first


def test_of_two_who_change_it_at_once_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one has written between a look and the write."""
    folder = Location.of(tmp_path)
    store, others = type(folder.store), iter([Versions(beside="b2"), Versions(beside="c3")])
    for name in ("create", "replace"):
        with monkeypatch.context() as patched:
            write = getattr(store, name)

            def late(self: Any, *arguments: Any, write: Callable[..., Any] = write) -> Any:
                patched.undo()
                put_versions(folder, next(others))
                return write(self, *arguments)

            patched.setattr(store, name, late)
            with pytest.raises(SqlExtError) as refused:
                put_versions(folder, Versions(beside="a1"))
            assert refused.value.code == "RUN-087"
    assert versions_of(folder) == Versions(beside="c3")


def test_one_deploys_at_a_time(tmp_path: Path) -> None:
    folder = Location.of(tmp_path)
    with sole_deployment(folder, "q"):
        for another in (lambda: refuse_while_deployed(folder, "q"), sole_deployment(folder, "q").__enter__):
            with pytest.raises(SqlExtError) as refused:
                another()
            assert refused.value.code == "RUN-087"
            assert f"`q` is being deployed already, by {this_process()}" in refused.value.message
    assert list(folder.names()) == []
    # One that died has no lease any more.
    lease.take(folder.below(DEPLOYING).store, owner=Owner(this_process().host, 1 << 30, "long ago"))
    refuse_while_deployed(folder, "q")
    with sole_deployment(folder, "q"):
        pass


def test_versions_that_nobody_goes_back_to_are_removed(tmp_path: Path) -> None:
    folder = Location.of(tmp_path)
    put_versions(folder, Versions("a1", beside="b2", before="c3"))
    for version in ("a1", "b2", "c3", "d4", "e5"):
        folder.put(f"versions/{version}/run.json", "{}")
    remove_outdated(folder)
    assert sorted(folder.names("versions")) == ["a1/run.json", "b2/run.json", "c3/run.json"]


def test_a_query_that_is_deployed_is_not_dropped(tmp_path: Path) -> None:
    session = sqlext.Session(catalog=tmp_path)
    begin(tmp_path, "", "old")
    place = home(tmp_path, looks=True)
    session.catalog.apply(
        record_query(QueryRecord("q", "", (), None, place.checkpoint, "", "stopped")), "START QUERY q"
    )
    with sole_deployment(place.folder, "q"), pytest.raises(SqlExtError) as refused:
        session.run("DROP QUERY q;")
    assert refused.value.code == "RUN-087"
    assert [q.name for q in session.catalog.snapshot().queries()] == ["q"]
    session.run("DROP QUERY q;")
    assert list((tmp_path / "queries").iterdir()) == []

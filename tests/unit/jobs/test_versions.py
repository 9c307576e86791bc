"""One file says which version of a query is the current one; a version stays where it began."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlext import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.decisions import Starting, plan_runs
from sqlext.jobs.query_files import folder_name, parts_of_checkpoint, query_location
from sqlext.jobs.runs import QueryRun, begun_run
from sqlext.jobs.versions import Versions, put_versions, remove_version, versions_of
from sqlext.sinks.base import SinkContext

PRINTS = {"WHERE": ("a > 1", "1")}


def home(folder: Path, **options: object) -> QueryHome:
    return QueryHome(folder, "q", **options)  # type: ignore[arg-type]


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
    put_versions(folder, versions.switching(7))
    for looks in (True, False):
        with home(tmp_path, looks=looks) as place, pytest.raises(SqlExtError) as refused:
            plan_runs([Starting(place, PRINTS)], restart_finished=False)
        assert refused.value.code == "RUN-083"
        assert refused.value.hint == (
            "sqlext deploy with the new version ends it, or sqlext deploy --rollback with the old one"
        )
    assert versions.switching(7).given_up() == Versions()
    put_versions(folder, versions.switching(7).switched(1))
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

"""Commits of files to a folder in an object store: every crash, repetitions, and two drivers of one query."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable

import pytest

from sqlext.connectors.filesystem.sink import commit
from sqlext.connectors.filesystem.sink.commit import FileCommit, Folder
from sqlext.connectors.filesystem.sink.places import STAGING
from sqlext.stores.object_files import ObjectFiles
from tests.s3_server import BUCKET, S3Server

ROWS = {"k=a%2Fb/x.csv": "1", "k=b c/x.csv": "2", "k=b c/y.csv": "3"}
Plan = Callable[[Iterable[str]], FileCommit]
Stage = Callable[[str], None]


class CrashError(BaseException):
    """The driver is gone: nothing catches this."""


class AtUrl:
    """A folder in an object store that nobody else has."""

    def __init__(self, s3: S3Server) -> None:
        self._settings = s3.settings
        self.url = f"s3a://{BUCKET}/{uuid.uuid4().hex}"

    def folder(self, query: str = "q") -> Folder:
        """Return what a driver of a query has."""
        return Folder(self.url, query, self._settings)

    def stage(self, where: str) -> None:
        """Write rows as Spark would."""
        objects = ObjectFiles(where, self._settings)
        for name, text in ROWS.items():
            objects.put(name, text.encode())
        objects.put("_SUCCESS", b"")

    def names(self) -> list[str]:
        """Return the names of all objects."""
        return sorted(name for name, _ in ObjectFiles(self.url, self._settings).sizes())

    def visible(self) -> list[str]:
        """Return the rows that readers see."""
        objects = ObjectFiles(self.url, self._settings)
        return sorted(objects.get(n).decode() for n in self.names() if not n.startswith(STAGING))


@pytest.fixture
def place(s3: S3Server) -> AtUrl:
    return AtUrl(s3)


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], None]], None]:
    """Return a function that lets something happen at the n-th step from now on."""

    def arm(step: int, act: Callable[[], None]) -> None:
        left = [step]

        def at_step(name: str) -> None:
            left[0] -= 1
            if left[0] == 0:
                act()

        monkeypatch.setattr(commit, "at_step", at_step)

    return arm


def crash() -> None:
    raise CrashError


def appending(batch: int) -> Plan:
    def plan(staged: Iterable[str]) -> FileCommit:
        return FileCommit((), tuple((n, f"{n.rpartition('/')[0]}/part-{batch}-{i}.csv") for i, n in enumerate(staged)))

    return plan


def replacing(folder: Folder) -> Plan:
    return lambda staged: FileCommit(tuple(folder.visible_files()), appending(9)(staged).moves)


def attempt(folder: Folder, batch: int, stage: Stage, plan: Plan) -> bool:
    """Return whether the commit came through."""
    try:
        folder.commit(batch, stage, plan)
    except CrashError:
        return False
    return True


def test_appending_survives_every_crash(s3: S3Server, at: Callable[[int, Callable[[], None]], None]) -> None:
    step, crashed = 1, True
    while crashed:
        place = AtUrl(s3)
        at(step, crash)
        crashed = not attempt(place.folder(), 0, place.stage, appending(0))
        at(0, crash)
        assert attempt(place.folder(), 0, place.stage, appending(0))
        assert attempt(place.folder(), 0, place.stage, appending(0))  # a batch that is repeated
        assert place.visible() == sorted(ROWS.values())
        assert [n for n in place.names() if n.startswith(STAGING)] == [f"{STAGING}/q/done"]
        step += 1
    assert step > 8


def test_overwriting_survives_every_crash(s3: S3Server, at: Callable[[int, Callable[[], None]], None]) -> None:
    step, crashed = 1, True
    while crashed:
        place = AtUrl(s3)
        ObjectFiles(place.url, s3.settings).put("old.csv", b"old")
        at(step, crash)
        folder = place.folder()
        crashed = not attempt(folder, 0, place.stage, replacing(folder))
        at(0, crash)
        assert attempt(place.folder(), 0, place.stage, replacing(place.folder()))
        assert place.visible() == sorted(ROWS.values())
        step += 1


@pytest.mark.parametrize("replaces", [False, True])
def test_a_driver_that_was_away_changes_nothing(
    s3: S3Server, at: Callable[[int, Callable[[], None]], None], replaces: bool
) -> None:
    """Another driver of the query comes at each step, and goes on with the batch and the next one."""

    def plan(folder: Folder, batch: int) -> Plan:
        return replacing(folder) if replaces and batch == 0 else appending(batch)

    step, came = 1, [True]
    while came[0]:
        place = AtUrl(s3)
        came = [False]

        def other(place: AtUrl = place, came: list[bool] = came) -> None:
            came[0] = True
            at(0, crash)
            for batch in (0, 1):
                mine = place.folder()
                mine.commit(batch, place.stage, plan(mine, batch))

        at(step, other)
        first = place.folder()
        first.commit(0, place.stage, plan(first, 0))
        assert place.visible() == sorted([*ROWS.values()] * (2 if came[0] else 1)), step
        # A restart repeats what the last driver did: nothing comes twice.
        again = place.folder()
        again.commit(1, place.stage, plan(again, 1))
        assert place.visible() == sorted([*ROWS.values()] * 2), step
        step += 1
    assert step > 8


def test_an_empty_folder_is_there_and_stays(place: AtUrl) -> None:
    folder = place.folder()
    folder.create()
    folder.create()
    assert not folder.is_file()
    folder.commit(0, lambda where: None, appending(0))
    folder.forget()
    assert place.names() == [f"{STAGING}/folder"]


def test_a_file_in_its_place(s3: S3Server, place: AtUrl) -> None:
    parent, _, name = place.url.rpartition("/")
    ObjectFiles(parent, s3.settings).put(name, b"x")
    assert place.folder().is_file()


def test_settings_are_not_shown(s3: S3Server) -> None:
    from sqlext.connectors.filesystem.sink.part_files import FileSink
    from sqlext.connectors.spec import WriteSpec
    from sqlext.sinks.base import SinkContext
    from sqlext.stores.files import FileAccess

    secret = s3.settings["spark.hadoop.fs.s3a.secret.key"]
    sink = FileSink(WriteSpec("filesystem", (), "t", path=f"s3a://{BUCKET}"), SinkContext("q", "1"), s3.settings)
    assert secret not in repr(sink) + repr(FileAccess(s3.settings))

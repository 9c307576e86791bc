"""A crash between any two steps of a file commit, once or twice, changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from sqlext.connectors.filesystem.sink import commit
from sqlext.connectors.filesystem.sink.commit import FileCommit, Folder

ROWS = {"k=a/x.csv": "1", "k=b/x.csv": "2", "k=b/y.csv": "3"}


class CrashError(BaseException):
    """The driver is gone: nothing catches this."""


@pytest.fixture
def crash_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that lets the n-th step from now on crash."""

    def arm(step: int) -> None:
        left = [step]

        def at_step(name: str) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise CrashError(name)

        monkeypatch.setattr(commit, "at_step", at_step)

    return arm


def stage(folder: str) -> None:
    for name, text in ROWS.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    Path(folder, "_SUCCESS").touch()


def appending(batch: int) -> Callable[[Iterable[str]], FileCommit]:
    def plan(staged: Iterable[str]) -> FileCommit:
        moves = tuple((n, f"{n.rpartition('/')[0]}/part-{batch}-{i}.csv") for i, n in enumerate(staged))
        return FileCommit((), moves)

    return plan


def replacing(folder: Folder) -> Callable[[Iterable[str]], FileCommit]:
    return lambda staged: FileCommit(tuple(folder.visible_files()), appending(9)(staged).moves)


def attempt(folder: Folder, batch: int, plan: Callable[[Iterable[str]], FileCommit]) -> bool:
    """Return whether the commit came through."""
    try:
        folder.commit(batch, stage, plan)
    except CrashError:
        return False
    return True


def visible(path: Path) -> list[str]:
    return sorted(f.read_text() for f in path.rglob("*.csv") if commit.STAGING not in f.parts)


def test_appending_survives_every_crash(tmp_path: Path, crash_at: Callable[[int], None]) -> None:
    first, crashed = 1, True
    while crashed:
        crashed = False
        for second in range(1, 14):
            path = tmp_path / f"{first}-{second}"
            Folder(str(path), "other").commit(0, stage, appending(100))
            crash_at(first)
            crashed |= not attempt(Folder(str(path), "q"), 0, appending(0))
            crash_at(second)
            attempt(Folder(str(path), "q"), 0, appending(0))
            crash_at(0)
            assert attempt(Folder(str(path), "q"), 0, appending(0))
            assert attempt(Folder(str(path), "q"), 1, appending(1))
            assert visible(path) == sorted(list(ROWS.values()) * 3)
            left = [p for p in (path / commit.STAGING / "q").iterdir() if p.name != "done"]
            assert left == []
        first += 1
    assert first > 10


def test_overwriting_survives_every_crash(tmp_path: Path, crash_at: Callable[[int], None]) -> None:
    first, crashed = 1, True
    while crashed:
        path = tmp_path / str(first)
        path.mkdir()
        (path / "old.csv").write_text("old")
        crash_at(first)
        folder = Folder(str(path), "q")
        crashed = not attempt(folder, 0, replacing(folder))
        crash_at(0)
        assert attempt(folder, 0, replacing(folder))
        assert visible(path) == sorted(ROWS.values())
        first += 1


def test_a_half_written_manifest_is_none(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path), "q")
    staging = tmp_path / commit.STAGING / "q"
    staging.mkdir(parents=True)
    (staging / "0.json.tmp").write_text('{"moves": [[')
    folder.commit(0, stage, appending(0))
    assert visible(tmp_path) == sorted(ROWS.values())

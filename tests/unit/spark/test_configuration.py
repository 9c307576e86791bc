"""The settings of a local Spark."""

from __future__ import annotations

import stat
import sys
import tempfile
from pathlib import Path

import pytest

from sqlext.spark.local import configuration, python_sockets


def test_packages_and_what_is_left_out_stand_beside_ours(tmp_path: Path) -> None:
    ours, both = (configuration(1, tmp_path, *more) for more in (([],), (["g:m:1"], ["g:bundle"])))
    for name, added in (("spark.jars.packages", "g:m:1"), ("spark.jars.excludes", "g:bundle")):
        assert both.get(name) == f"{ours.get(name)},{added}"


def test_sockets_lie_in_a_folder_of_the_users_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    settings = python_sockets()
    if not settings:
        assert sys.platform == "win32" or len(str(tmp_path)) > 44
        return
    (folder,) = tmp_path.iterdir()
    assert settings["spark.python.unix.domain.socket.dir"] == str(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_whose_name_is_too_long_has_no_sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ("f" * 60)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert python_sockets() == {}
    assert list(folder.iterdir()) == []

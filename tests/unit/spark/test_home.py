"""The home of links that Spark's Python processes start quickly from."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sqlext.spark.worker_processes import linked_home, spark_home

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")


def test_a_home_has_links_and_no_python(tmp_path: Path) -> None:
    spark = _installed(tmp_path / "spark")
    home = linked_home(tmp_path / "share" / "home", spark)
    assert {p.name: p.readlink() for p in home.iterdir()} == {"bin": spark / "bin", "jars": spark / "jars"}
    assert [p.name for p in home.parent.iterdir()] == ["home"]
    assert home.stat().st_mode & 0o055 == 0o055, "other users may take it"


def test_a_home_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    spark = _installed(tmp_path / "spark")
    before = linked_home(tmp_path / "home", spark).stat().st_ino
    assert linked_home(tmp_path / "home", spark).stat().st_ino == before


def test_a_home_follows_the_installed_spark(tmp_path: Path) -> None:
    linked_home(tmp_path / "home", _installed(tmp_path / "old"))
    new = _installed(tmp_path / "new", "conf")
    home = linked_home(tmp_path / "home", new)
    assert {p.name for p in home.iterdir()} == {"bin", "jars", "conf"}
    assert (home / "jars").resolve() == new / "jars"


def test_without_a_place_to_write_the_installed_spark_is_taken(tmp_path: Path) -> None:
    spark = _installed(tmp_path / "spark")
    (tmp_path / "file").write_text("no folder")
    assert linked_home(tmp_path / "file" / "home", spark) == spark


def test_a_chosen_spark_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert spark_home() == Path("/opt/spark")


def _installed(folder: Path, *more: str) -> Path:
    for name in ("bin", "jars", "python", *more):
        (folder / name).mkdir(parents=True)
    return folder

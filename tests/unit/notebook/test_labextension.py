"""The colours of cells in JupyterLab: what is built is that of its sources, and knows the dialect's words."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import sqlext.notebook
from sqlext.dialect.keywords import KEYWORDS
from tests.built_files import hash_of_sources

BUILT = Path(sqlext.notebook.__file__).parent / "labextension"
SOURCES = Path(sqlext.notebook.__file__).parents[2] / "tools" / "jupyterlab"


def test_the_build_is_that_of_the_sources() -> None:
    assert (BUILT / "sources.sha256").read_text().strip() == hash_of_sources(SOURCES), "run `make jupyterlab`"


def test_the_keywords_are_those_of_the_dialect() -> None:
    keywords, types = re.findall(r"`([^`]*)`", (SOURCES / "src" / "words.ts").read_text("utf-8"))
    assert set(keywords.split()) == KEYWORDS
    assert set(types.split()) - {"VARIANT"} <= KEYWORDS


def test_the_manifest_names_what_is_there() -> None:
    manifest = json.loads((BUILT / "package.json").read_text("utf-8"))
    assert (BUILT / manifest["jupyterlab"]["_build"]["load"]).is_file()
    # Nothing of JupyterLab's is built in: it works with the versions that the environment has.
    shared = manifest["jupyterlab"]["sharedPackages"].values()
    assert [package for package in shared if package["bundled"]] == []
    assert sum(file.stat().st_size for file in BUILT.rglob("*.js")) < 20_000


@pytest.mark.costly
@pytest.mark.skipif(shutil.which("npm") is None, reason="Node.js is not installed")
def test_it_is_built(tmp_path: Path) -> None:
    """Its own tests run first: what each text's colours are."""
    folder = tmp_path / "tools" / "jupyterlab"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules", "lib"))
    (tmp_path / "sqlext" / "notebook").mkdir(parents=True)
    for command in (["ci"], ["test"], ["run", "build"]):
        done = subprocess.run(["npm", *command], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    made = tmp_path / "sqlext" / "notebook" / "labextension"
    # The bundler's hashes follow the folder in which it runs.
    assert {file.name.split(".")[0] for file in made.rglob("*")} == {
        file.name.split(".")[0] for file in BUILT.rglob("*")
    }
    assert (made / "sources.sha256").read_text() == (BUILT / "sources.sha256").read_text()

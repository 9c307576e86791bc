"""Build sdist and wheel, install the wheel in a bare environment elsewhere, and run README's script there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.markdown import ROOT, blocks
from tests.pages import Reader
from tests.pages import blocks as blocks_of

#: What a build needs of the project; everything else, a virtual environment among it, stays out.
SOURCES = ("sqlext", "udfs", "catalog", "sql_examples", "pyproject.toml", "setup.py", "README.md", "LICENSE")
PACKAGES = {"sqlext", "sqlext_udfs", "sqlext_catalog"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sdist, and the wheel that was built from it."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("made")
    for name in SOURCES:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(place, source)
    run(sys.executable, "-m", "build", "--outdir", str(made), str(source))
    return made


def run(*command: str, cwd: Path | None = None) -> str:
    """Run a program without this process's paths and return what it prints."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SPARK_HOME", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_both_archives_hold_every_package(built: Path) -> None:
    [sdist], [wheel] = built.glob("*.tar.gz"), built.glob("*.whl")
    assert sdist.name.startswith("sqlext_spark-")
    assert wheel.name.startswith("sqlext_spark-")
    with tarfile.open(sdist) as archive:
        inside = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    wanted = {str(p.relative_to(ROOT)) for top in ("sqlext", "udfs", "catalog") for p in (ROOT / top).rglob("*.py")}
    assert wanted - inside == set()
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    installed = {name.removeprefix("udfs/").removeprefix("catalog/") for name in wanted if "/plugin/" not in name}
    assert installed - packed == set()
    about = next(n for n in packed if "/METADATA" in n)[:-9]
    data = f"{about.removesuffix('.dist-info')}.data"
    assert {name.split("/")[0] for name in packed} == {*PACKAGES, "dbt", about, data}
    assert {f"{package}/py.typed" for package in PACKAGES} <= packed
    for files, there in {
        "sql_examples": "sqlext/examples",
        "sqlext/starters": "sqlext/starters",
        "sqlext/ui/static": "sqlext/ui/static",
        # JupyterLab looks for extensions here.
        "sqlext/notebook/labextension": f"{data}/data/share/jupyter/labextensions/sqlext-cells",
    }.items():
        # The files of git: what a run leaves in a folder is no part of the package.
        listed = run("git", "ls-files", files, cwd=ROOT).splitlines()
        assert {f"{there}{name.removeprefix(files)}" for name in listed} - packed == set()


@pytest.fixture(scope="module")
def bare(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of programs of a bare environment with the wheel."""
    [wheel] = built.glob("*.whl")
    programs = tmp_path_factory.mktemp("bare") / "bin"
    run(sys.executable, "-m", "venv", str(programs.parent))
    pip = (str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--constraint", str(ROOT / "constraints.txt"), f"{wheel}[local,shell]")
    return programs


#: What README shows: its files, its command and the rows.
SHOWN = {b.language: b.text for b in reversed(list(blocks((ROOT / "README.md").read_text("utf-8"))))}


def shown_rows(bare: Path, work: Path, *more: str) -> None:
    """Run README's command on the files that ``sqlext init`` writes; they and the rows must be those of the page."""
    run(str(bare / "sqlext"), "init", str(work))
    assert (work / "data" / "orders" / "1.json").read_text("utf-8") == SHOWN["json"]
    assert (work / "orders.sql").read_text("utf-8") == SHOWN["sql"]
    command, *result = SHOWN["console"].splitlines()
    program, *arguments = command.removeprefix("$ ").split()
    printed = run(str(bare / program), *arguments, *more, cwd=work)
    assert [line for line in result if line not in printed] == []


def test_small_files_need_no_spark(bare: Path, tmp_path: Path) -> None:
    shown_rows(bare, tmp_path / "work", "--conf", "sqlext.engine=auto")


@pytest.mark.slow
def test_the_wheel_runs_the_script_of_the_readme(bare: Path, tmp_path: Path) -> None:
    shown_rows(bare, tmp_path / "work")


@pytest.mark.costly
@pytest.mark.parametrize(("page", "begin"), [("../README.md", ()), ("shell.md", ("-i", "orders.sql"))])
def test_a_page_in_the_bare_environment(
    page: str, begin: tuple[str, ...], bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every block in turn; Python is this process's."""
    monkeypatch.chdir(tmp_path)
    reader = Reader(begin, programs=bare)
    for block in blocks_of(page):
        if block.kind != "python":
            reader.do(block)

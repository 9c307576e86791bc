"""Build sdist and wheel, install the wheel in a bare environment elsewhere, and run README's script there."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from tests.markdown import ROOT, blocks, indented
from tests.pages import Reader, ran_elsewhere
from tests.pages import blocks as blocks_of
from tests.ports import free_port

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


def environment(built: Path, folder: Path, install: str, constraints: str) -> Path:
    """Return the folder of programs of an environment, made by a page's line of pip with the wheel."""
    [wheel] = built.glob("*.whl")
    programs = folder / "bin"
    run(sys.executable, "-m", "venv", str(folder))
    _, *words = shlex.split(install.replace("sqlext-spark", str(wheel)))
    pip = (str(programs / "python"), "-m", "pip", *words, "--quiet", "--disable-pip-version-check")
    run(*pip, "--constraint", str(ROOT / constraints))
    return programs


@pytest.fixture(scope="module")
def bare(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of programs of a bare environment with the wheel."""
    folder = tmp_path_factory.mktemp("bare")
    return environment(built, folder, "pip install 'sqlext-spark[local,shell]'", "constraints.txt")


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


def commands_of(page: str) -> list[str]:
    """Return the lines of the first commands that a page shows, pip's first."""
    return next(indented((ROOT / "docs" / page).read_text("utf-8"))).strip().splitlines()


@pytest.mark.costly
def test_the_page_of_dbt_in_its_environment(built: Path, tmp_path: Path) -> None:
    """Line by line in one shell; then what the page tells of the other commands of dbt."""
    install, *lines = commands_of("dbt.md")
    programs = environment(built, tmp_path / "env", install, "constraints-dbt.txt")
    said = ran_elsewhere(f"cd {tmp_path}; " + "; ".join(lines), programs)
    assert "PASS=10 WARN=0 ERROR=0" in said
    for command in ("dbt run", "dbt test", "dbt docs generate"):
        said = ran_elsewhere(f"cd {tmp_path}/shop; {command}", programs)
        assert "Completed successfully" in said or "Catalog written" in said, said
    assert "| tea" in ran_elsewhere(f"cd {tmp_path}/shop; dbt show --select large_orders", programs)


@pytest.mark.costly
def test_the_page_of_notebooks_in_its_environment(built: Path, tmp_path: Path) -> None:
    """The notebook runs in JupyterLab's kernel, and a browser shows its cells in colours."""
    install, start, lab = commands_of("notebook.md")
    programs = environment(built, tmp_path / "env", install, "constraints.txt")
    ran_elsewhere(f"cd {tmp_path}; {start}; jupyter execute --inplace orders.ipynb", programs)
    outputs = [
        o for cell in json.loads((tmp_path / "orders.ipynb").read_text())["cells"] for o in cell.get("outputs", ())
    ]
    assert [o for o in outputs if o["output_type"] == "error"] == []
    assert any("<svg" in "".join(o.get("data", {}).get("text/html", ())) for o in outputs)
    assert "sqlext-cells" in ran_elsewhere("jupyter labextension list 2>&1", programs)
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        pytest.skip("no Chromium: apt-get install chromium chromium-driver")
    port = free_port()
    options = f"--no-browser --allow-root --port {port} --ServerApp.token= --ServerApp.root_dir={tmp_path}"
    env = {"HOME": str(tmp_path), "PATH": f"{programs}:{os.environ['PATH']}"}
    command = [str(programs / "jupyter"), *lab.split()[1:2], *options.split()]
    server = subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.DEVNULL)
    try:
        assert set(languages(f"http://127.0.0.1:{port}/lab/tree/orders.ipynb")) == {"python", "sqlext"}
    finally:
        server.kill()  # asked to end, it first waits for its kernels
        server.wait()


def languages(url: str) -> list[str]:
    """Return which language each cell of code of a notebook has in a browser, once one has ours."""
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,1400"):
        options.add_argument(flag)
    script = "return [...document.querySelectorAll('.jp-CodeCell .cm-content')].map(e => e.dataset.language || '')"
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        waiting = WebDriverWait(browser, 120, ignored_exceptions=[WebDriverException])

        def shown(_: object) -> list[str]:
            if "JupyterLab" not in browser.title and "orders" not in browser.title:
                browser.get(url)  # the server was not there yet
            found: list[str] = browser.execute_script(script)
            return found if "sqlext" in found else []

        return waiting.until(shown)
    finally:
        browser.quit()

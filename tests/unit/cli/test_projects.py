"""``sqlext init`` and ``sqlext examples``: what they copy is whole, checks, and overwrites nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sqlext.cli.main import main
from sqlext.cli.projects import examples_folder
from tests.markdown import ROOT
from tests.pages import blocks


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments])


def well(*arguments: str) -> str:
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def files(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def test_a_script(folder: Path) -> None:
    told = well("init", "my project")
    made = folder / "my project"
    assert files(made) == {"orders.sql", "orders.out", "data/orders/1.json"}
    assert told.splitlines()[-4] == "  cd 'my project'"
    assert "no mistakes" in call("check", str(made / "orders.sql"), "-d", "IN=data", "-d", "OUT=out").stderr


def test_the_script_is_that_of_the_readme() -> None:
    well("init")
    shown = [block for block in blocks("../README.md") if block.file]
    assert {block.file for block in shown} == {"orders.sql", "data/orders/1.json"}
    assert [block.file for block in shown if Path(block.file).read_text("utf-8") != block.text] == []


def test_a_notebook(folder: Path) -> None:
    well("init", "--notebook")
    cells = json.loads((folder / "orders.ipynb").read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code[0] == "%load_ext sqlext"
    statements = [text.partition("\n")[2] for text in code[1:]]
    Path("cells.sql").write_text(";\n".join(statements), "utf-8")
    assert "no mistakes" in call("check", "cells.sql", "-d", "IN=data").stderr


def test_a_project_of_dbt(folder: Path) -> None:
    well("init", "shop", "--dbt")
    assert {"dbt_project.yml", "profiles.yml", ".gitignore", "models/per_minute.sql"} <= files(folder / "shop")


def test_nothing_is_overwritten(folder: Path) -> None:
    well("init")
    well("init")
    (folder / "orders.out").write_text("mine")
    (folder / "orders.sql").unlink()
    result = call("init")
    assert result.exit_code == 1
    assert result.stderr.startswith("RUN-013: `orders.out` is there already")
    assert not (folder / "orders.sql").exists()
    Path("file").touch()
    assert call("init", "file").exit_code == 1


def test_examples_are_listed() -> None:
    lines = well("examples").splitlines()
    assert lines[3].startswith("04_tumble  Tumbling windows")
    assert len(lines) == len(list(examples_folder().glob("*.sql"))) + 2


@pytest.mark.parametrize("name", ["04", "04_tumble", "04_tumble.sql", "tumble"])
def test_an_example_by_its_name(name: str, folder: Path) -> None:
    told = well("examples", name, "--to", "here")
    assert {"04_tumble.sql", "04_tumble.out", "data/orders/orders.json"} <= files(folder / "here")
    assert "  sqlext run 04_tumble.sql -d IN=data -d OUT=out" in told.splitlines()


def test_all_examples(folder: Path) -> None:
    well("examples", "--all")
    assert {f.name for f in (ROOT / "sql_examples").glob("*.*")} <= files(folder)


@pytest.mark.parametrize(("name", "said"), [("nothing", "there are none"), ("hop", "05_hop, 06_hop_with_gaps")])
def test_names_that_are_no_example(name: str, said: str) -> None:
    result = call("examples", name)
    assert result.exit_code == 2
    assert said in result.stderr

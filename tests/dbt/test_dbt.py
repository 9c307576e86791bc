"""The example project, from a fresh folder, by the real dbt: two processes, and then what they left behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from tests import one_script

EXAMPLE = Path(__file__).parents[2] / "sql_examples" / "dbt"
PASSED = "PASS=10 WARN=0 ERROR=0 SKIP=0"
pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Project:
    """A folder in which dbt ran: what the first run said, and what the later ones gave, by step."""

    folder: Path
    built: str
    story: dict[str, Any]

    def table(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table as they are at the end."""
        return DeltaTable(str(self.folder / ".spark" / "warehouse" / "shop.db" / name)).to_pyarrow_table().to_pylist()

    def columns(self, kind: str, name: str) -> dict[str, dict[str, Any]]:
        """Return what `dbt docs` has of the columns of a model or source."""
        catalog = json.loads((self.folder / "target" / "catalog.json").read_text())
        return catalog[kind][name]["columns"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = project_in(tmp_path_factory.mktemp("dbt"))
    built = run(folder, "dbt", "build", "--no-use-colors")
    one_script.as_models(folder)
    later = run(folder, "python", str(Path(__file__).with_name("drive.py")))
    return Project(folder, built, json.loads(later.split("STORY ", 1)[1]))


def project_in(folder: Path) -> Path:
    """Return a fresh copy of the example project, in a folder."""
    hidden = shutil.ignore_patterns(".spark", ".sqlext", "target", "logs")
    return Path(shutil.copytree(EXAMPLE, folder / "shop", ignore=hidden))


def run(folder: Path, program: str, *arguments: str, **variables: str) -> str:
    """Return what a program of dbt's environment prints; it must succeed."""
    done = ask(folder, program, *arguments, **variables)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "Traceback" not in done.stderr
    return done.stdout


def ask(folder: Path, program: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Return how a program of dbt's environment ended."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_", "PYTHON"))}
    env.update(variables)
    env["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "false"
    command = [str(environment() / "bin" / program), *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=1200, check=False)


def environment() -> Path:
    """Return the environment that has dbt: our own, or the one that `make test` makes beside it."""
    own = Path(sys.prefix)
    found = [place for place in (own, own / "dbt") if (place / "bin" / "dbt").exists()]
    assert found, f"dbt is in neither {own} nor {own / 'dbt'}: run `make test`, or pip install '.[dbt]'"
    return found[0]


def test_everything_is_built_and_tested_in_the_order_of_the_references(project: Project) -> None:
    assert PASSED in project.built
    assert project.built.index("shop.large_orders ") < project.built.index("shop.per_minute ")
    assert project.table("per_hour") == [{"hour": project.table("per_hour")[0]["hour"], "total": 47.0}]
    assert project.table("revenue") == [{"category": "drinks", "total": 47.0}]


def test_a_run_goes_on_where_the_last_one_stopped(project: Project) -> None:
    first = ["10:00 tea 32", "10:01 coffee 15"]
    assert project.story["caught up"]["rows"] == [*first, "10:02 cake 11", "10:02 tea 40"]
    assert project.story["nothing new"]["rows"] == project.story["caught up"]["rows"]


def test_a_changed_model(project: Project) -> None:
    before = project.story["nothing new"]["rows"]
    assert not project.story["fail"]["success"]
    assert "is not the one that its checkpoint was made by" in project.story["fail"]["said"]
    assert project.story["fail"]["rows"] == before
    assert project.story["continue"]["success"]
    assert "is left as it is" in project.story["continue"]["said"]
    assert project.story["continue"]["rows"] == before
    assert project.story["apply"]["success"]
    assert project.story["apply"]["rows"] == ["10:00 coffee 15", "10:00 tea 32"]


def test_a_model_below_one_that_was_made_anew(project: Project) -> None:
    assert "begins anew, without the state and the rows that it had" in project.story["apply"]["said"]
    assert project.story["below"]["success"], project.story["below"]["said"]
    assert "per_hour begins anew" in project.story["below"]["said"].replace("`", "").replace('"', "")


def test_the_script_that_all_faces_run(project: Project) -> None:
    assert project.story["one script"]["success"]
    assert one_script.rows(project.folder / ".spark" / "warehouse" / "shop.db" / "panes") == one_script.ROWS


def test_full_refresh_starts_anew(project: Project) -> None:
    assert project.story["full refresh"]["success"]
    assert project.story["full refresh"]["rows"] == project.story["caught up"]["rows"]


def test_a_mistake_is_told_with_its_place_and_changes_nothing(project: Project) -> None:
    said = project.story["mistake"]["said"]
    assert not project.story["mistake"]["success"]
    assert "NAME-" in said
    assert "`amout`" in said
    assert "did you mean `amount`?" in said
    assert "Traceback" not in said
    assert project.story["mistake"]["rows"] == project.story["full refresh"]["rows"]


def test_a_stream_view_can_be_looked_at(project: Project) -> None:
    assert project.story["shown"]["success"]
    assert "coffee" in project.story["shown"]["said"]


def test_docs_show_time_attributes(project: Project) -> None:
    orders = project.columns("sources", "source.shop.files.orders")
    assert orders["ts"]["type"] == "TIMESTAMP(3) *ROWTIME*"
    assert "INTERVAL '10' SECOND" in orders["ts"]["comment"]
    assert project.columns("nodes", "model.shop.per_minute")["minute_time"]["type"] == "TIMESTAMP(3) *ROWTIME*"
    assert project.columns("nodes", "model.shop.large_orders")["ts"]["type"] == "TIMESTAMP(3) *ROWTIME*"


def test_lineage_is_kept(project: Project) -> None:
    manifest = json.loads((project.folder / "target" / "manifest.json").read_text())
    parents = manifest["parent_map"]
    assert parents["model.shop.large_orders"] == ["source.shop.files.orders"]
    assert parents["model.shop.per_hour"] == ["model.shop.per_minute"]

"""``sqlext check`` over folders, and what it says to editors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sqlext.cli.main import main

#: Without Spark, a plain query of an unknown table may be Spark's; a sink cannot.
OVER = "INSERT INTO {} SELECT 1;"
TABLES = "CREATE TABLE t (a INT) WITH ('connector' = 'datagen');\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {
        "jobs/a.sql": TABLES + "SELECT a FROM t;\n",
        "jobs/deep/b.sql": TABLES + "SELECT b FROM t;\nSELECT 'open FROM t;\n",
        "jobs/.hidden/c.sql": "SELECT b FROM nowhere;\n",
        "jobs/readme.txt": "SELECT",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def check(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", *arguments])


def places(result: Result) -> list[str]:
    return [line.rsplit(": ", 1)[0] for line in result.stderr.splitlines() if ".sql:" in line]


def test_a_folder_stands_for_its_scripts(folder: Path) -> None:
    result = check("jobs")
    assert result.exit_code == 1
    assert places(result) == ["jobs/deep/b.sql:2:8: NAME-003", "jobs/deep/b.sql:3:8: PARSE-001"]
    assert result.stderr.splitlines()[-1] == "2 errors in 1 of 2 files"
    assert result.stdout == ""


def test_good_scripts(folder: Path) -> None:
    (folder / "jobs/deep/b.sql").write_text(TABLES)
    result = check("jobs")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "no mistakes in 2 files\n")


def test_standard_input() -> None:
    good = CliRunner().invoke(main, ["check", "-"], input="SELECT 1;")
    assert (good.exit_code, good.stderr) == (0, "no mistakes\n")
    bad = CliRunner().invoke(main, ["check", "-"], input="\nSELECT FROM;")
    assert bad.exit_code == 1
    assert bad.stderr.startswith("<stdin>:2:8: PARSE-002")
    none = CliRunner().invoke(main, ["check", "-"], input=b"\xff")
    assert "RUN-011: cannot read `-`: it is not UTF-8 text" in none.stderr


def test_warnings_fail_if_that_is_asked_for(folder: Path) -> None:
    (folder / "doubt.sql").write_text(TABLES + "SELECT a, COUNT(*) FROM t GROUP BY a;")
    found = check("doubt.sql")
    assert found.exit_code == 0
    assert found.stderr.splitlines()[0] == (
        "doubt.sql:2:36: WARN-001: nothing bounds the state of GROUP BY a without a window"
    )
    assert found.stderr.splitlines()[-1] == "no mistakes, but warnings"
    assert check("doubt.sql", "--strict").exit_code == 1
    as_data = check("doubt.sql", "--format", "json")
    assert [(e["severity"], e["code"]) for e in json.loads(as_data.stdout)] == [("warning", "WARN-001")]
    assert check("doubt.sql", "jobs").stderr.splitlines()[-1] == "2 errors and 1 warning in 2 of 3 files"


def test_json_goes_to_standard_output(folder: Path) -> None:
    result = check("jobs", "--format", "json")
    assert result.exit_code == 1
    assert result.stderr == ""
    found = json.loads(result.stdout)
    assert [(e["file"], e["line"], e["column"], e["code"]) for e in found] == [
        ("jobs/deep/b.sql", 2, 8, "NAME-003"),
        ("jobs/deep/b.sql", 3, 8, "PARSE-001"),
    ]
    good = check("jobs/a.sql", "--format", "json")
    assert (good.exit_code, json.loads(good.stdout)) == (0, [])


def test_a_folder_without_scripts(folder: Path) -> None:
    (folder / "empty").mkdir()
    result = check("empty")
    assert result.exit_code == 1
    assert result.stderr.startswith("RUN-012: there is no .sql file in `empty`")


def test_definitions_that_all_scripts_see(folder: Path) -> None:
    (folder / "tables.sql").write_text(TABLES.replace("TABLE t", "TABLE shared").replace("datagen", "blackhole"))
    (folder / "jobs/deep/b.sql").write_text(f"{OVER.format('shared')}\n")
    assert check("jobs").exit_code == 1
    assert check("jobs", "-i", "tables.sql").exit_code == 0


def test_reading_goes_on_behind_an_error(folder: Path) -> None:
    (folder / "job.sql").write_text(
        f"SELECT FROM;\n{OVER.format('nowhere')}\nINSERT nowhere;\nSHOW TABLES;\nSELEC 1;\n"
    )
    assert [p.partition(": ")[0] for p in places(check("job.sql"))] == [
        "job.sql:1:8", "job.sql:2:13", "job.sql:3:8", "job.sql:5:1",
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", ["CREATE TABLE x (a INT, a INT) WITH ();", "CREATE TABLE x (a INT,,) WITH ();"])
def test_what_follows_from_an_error_is_none(wrong: str, folder: Path) -> None:
    (folder / "job.sql").write_text(f"{wrong}\n{OVER.format('x')}\n{OVER.format('y')}\n")
    assert [p.partition(": ")[0].split(":")[1] for p in places(check("job.sql"))] == ["1", "3"]


def test_a_file_that_is_named_twice_is_checked_once(folder: Path) -> None:
    assert len(places(check("jobs/deep/b.sql", "jobs"))) == 2

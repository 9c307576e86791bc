"""``sqlext run`` end to end: what is shown, what is written, and how it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from sqlext.cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """\
CREATE TABLE clicks (page STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
CREATE TABLE per_minute (page STRING, started TIMESTAMP(3), n BIGINT, PRIMARY KEY (page, started) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}');
INSERT INTO per_minute
SELECT page, window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY page, window_start, window_end;
SET 'execution.runtime-mode' = 'batch';
SELECT page, n FROM per_minute ORDER BY page, n;
"""
CLICKS = [("a", "00:00:01"), ("b", "00:00:02"), ("a", "00:00:59"), ("a", "00:01:00")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working directory with a script and its input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.sql").write_text(SCRIPT)
    (tmp_path / "in").mkdir()
    rows = [json.dumps({"page": page, "ts": f"2024-01-01 {time}"}) for page, time in CLICKS]
    (tmp_path / "in" / "clicks.json").write_text("\n".join(rows))
    return tmp_path


def run(*arguments: str, into: Path | None = None) -> Result:
    here = Path.cwd() if into is None else into
    return CliRunner().invoke(
        main, ["run", "job.sql", "-D", f"IN={here / 'in'}", "-D", f"OUT={here / 'out'}", *arguments]
    )


def test_results_go_to_stdout_and_progress_to_stderr(spark: SparkSession, folder: Path) -> None:
    result = run()
    assert result.exit_code == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["page", "n"] in lines
    assert [line for line in lines if line and line[0] in "ab"] == [["a", "1"], ["a", "2"], ["b", "1"]]
    assert "4 rows in, 3 rows out, every window came out, no row was late" in result.stderr
    shown = result.stderr[result.stderr.index("first rows of per_minute:") :].splitlines()
    assert sum("2024-01-01" in line for line in shown) == 3
    table = "default_catalog.default_database.per_minute"
    assert shown[-1] == f"all of them: sqlext shell -S -e 'SELECT * FROM {table}'"
    assert (folder / ".sqlext").is_dir()


def test_twice_in_a_row(spark: SparkSession, folder: Path) -> None:
    first, second = run(), run("--no-progress")
    assert second.exit_code == 0, second.stderr
    assert second.stdout == first.stdout
    assert "first rows" not in second.stderr
    assert "gets them again" not in second.stderr


def test_rows_that_are_appended_twice_are_announced(spark: SparkSession, folder: Path) -> None:
    (folder / "job.sql").write_text(SCRIPT.replace(", PRIMARY KEY (page, started) NOT ENFORCED", ""))
    assert "gets them again" not in run().stderr
    second = run()
    assert second.stderr.startswith("warning: `per_minute` has the rows of the last run of `job.per_minute`")
    assert second.stderr.count("2024-01-01") >= 6


def test_what_spark_refuses_has_its_place(spark: SparkSession, folder: Path) -> None:
    for text, said in {
        "SELECT name FROM VALUES (1) AS t(name) WHERE;": "job.sql:2:",
        "SELECT nme FROM VALUES (1) AS t(name);": "job.sql:2:8: NAME-003: there is no column `nme`",
        "ANALYZE TABLE nowhere COMPUTE STATISTICS;": "NAME-002: there is no table",
    }.items():
        (folder / "job.sql").write_text(f"SELECT 1 AS one;\n{text}\n")
        result = run()
        assert result.exit_code == 1
        assert said in result.stderr, result.stderr
        assert "RUN-100" not in result.stderr


def test_relative_paths_start_at_the_working_directory(spark: SparkSession, folder: Path) -> None:
    result = run(into=Path())
    assert result.exit_code == 0, result.stderr
    assert (folder / "out" / "_delta_log").is_dir()


def test_catalog_goes_where_it_is_told(spark: SparkSession, folder: Path) -> None:
    assert run("--catalog", "elsewhere").exit_code == 0
    assert (folder / "elsewhere").is_dir()
    assert not (folder / ".sqlext").exists()


def test_a_mistake_runs_nothing(spark: SparkSession, folder: Path) -> None:
    (folder / "job.sql").write_text(SCRIPT.replace("SELECT page, window_start", "SELECT pge, window_start"))
    result = run()
    assert result.exit_code == 1
    assert result.stderr.startswith("job.sql:6:8: NAME-")
    assert not (folder / "out").exists()


def test_a_failure_at_run_time_has_a_position(spark: SparkSession, folder: Path) -> None:
    (folder / "in" / "clicks.json").write_text('{"page": "a", "ts": null}\n')
    result = run()
    assert result.exit_code == 1
    assert "job.sql:5:1: RUN-" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unknown_variable(spark: SparkSession, folder: Path) -> None:
    result = CliRunner().invoke(main, ["run", "job.sql", "-D", "IN=in"])
    assert result.exit_code == 1
    assert "job.sql:4:" in result.stderr


def test_an_unbounded_query_for_a_while(spark: SparkSession, folder: Path) -> None:
    (folder / "job.sql").write_text(
        "CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '5');\n"
        "CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole');\n"
        "INSERT INTO nowhere SELECT n FROM ticks;\n"
    )
    result = run("--for", "3 s", "--trigger-interval", "500 ms")
    assert result.exit_code == 0, result.stderr
    assert "rows out" in result.stderr.splitlines()[-1]

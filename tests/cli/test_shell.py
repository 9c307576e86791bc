"""``sqlext shell`` without a terminal: options, formats, pipes and exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sqlext.cli.main import main

pytestmark = pytest.mark.usefixtures("spark")

CLICKS = """\
CREATE TABLE clicks (page STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
"""
PER_MINUTE = """\
SELECT page, window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY page, window_start, window_end;
"""
PER_PAGE = "SELECT page, COUNT(*) AS n FROM clicks GROUP BY page;\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working directory with definitions and their input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clicks.sql").write_text(CLICKS)
    (tmp_path / "in").mkdir()
    rows = [("a", "00:00:01"), ("b", "00:00:02"), ("a", "00:00:59"), ("a", "00:01:00")]
    lines = [json.dumps({"page": page, "ts": f"2024-01-01 {time}"}) for page, time in rows]
    (tmp_path / "in" / "clicks.json").write_text("\n".join(lines))
    return tmp_path


def shell(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(main, ["shell", "-d", "IN=in", *arguments], input=stdin)


def test_statements_given_with_e(folder: Path) -> None:
    result = shell("-i", "clicks.sql", "-e", PER_MINUTE, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    head, *rows = csv.reader(io.StringIO(result.stdout))
    assert head == ["page", "window_start", "n"]
    assert sorted(rows) == [
        ["a", "2024-01-01 00:00:00", "2"],
        ["a", "2024-01-01 00:01:00", "1"],
        ["b", "2024-01-01 00:00:00", "1"],
    ]
    assert "3 rows (" in result.stderr


def test_a_pipe(folder: Path) -> None:
    result = shell("-S", "--format", "json", stdin=f"{CLICKS}{PER_PAGE}SELECT 1 AS one;\n")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    *pages, one = [json.loads(line) for line in result.stdout.splitlines()]
    assert sorted(map(str, pages)) == ["{'page': 'a', 'n': 3}", "{'page': 'b', 'n': 1}"]
    assert one == {"one": 1}


def test_a_file(folder: Path) -> None:
    (folder / "job.sql").write_text("SELECT '${WORD}' AS word;\n")
    result = shell("-f", "job.sql", "-d", "WORD=hello", "--format", "markdown")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "| word |\n| --- |\n| hello |\n"


def test_the_catalog_stays(folder: Path) -> None:
    assert shell("-f", "clicks.sql").exit_code == 0
    assert shell("-S", "-e", "SHOW TABLES", "--format", "csv").stdout == "table name\nclicks\n"


def test_the_first_mistake_ends_it(folder: Path) -> None:
    result = shell("-e", "SELECT 1 AS a; SELEC 2;", "-e", "SELECT 3 AS c;")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[0].startswith("<sql>:1:16: PARSE-002")
    assert result.stdout == ""


def test_a_failure_at_run_time(folder: Path) -> None:
    (folder / "in" / "clicks.json").write_text('{"page": "a", "ts": null}\n')
    result = shell("-i", "clicks.sql", "-e", PER_MINUTE)
    assert result.exit_code == 1
    assert "RUN-001" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("option", ["-f", "-i"])
def test_a_file_that_is_not_there(option: str, folder: Path) -> None:
    result = shell(option, "none.sql", "-e", "SELECT 1;")
    assert result.exit_code == 1
    assert "RUN-011: cannot read `none.sql`" in result.stderr


def test_what_the_session_begins_with(folder: Path) -> None:
    assert (
        shell("-e", "CREATE DATABASE shop; CREATE TABLE shop.sold (a INT) WITH ('connector' = 'datagen');").exit_code
        == 0
    )
    result = shell(
        "-S", "--database", "shop", "--conf", "sqlext.expressions=flink", "--conf", "spark.sql.shuffle.partitions=3",
        "--format", "csv", "-e", "SHOW TABLES; SET; ", "-e", "SELECT 7 / 2 AS half;",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "table name\nsold\nkey,value\nsqlext.expressions,flink\nhalf\n3\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--database", "nowhere"), "CAT-002"),
        (("--conf", "sqlext.expression=flink"), "OPT-010"),
        (("--conf", "spark.driver.memory=1m"), "ENV-010"),
    ],
)
def test_a_session_that_cannot_begin_so(arguments: tuple[str, ...], code: str, folder: Path) -> None:
    result = shell(*arguments, "-e", "SELECT 1;")
    assert result.exit_code == 1
    assert code in result.stderr


def test_changes_of_a_query(folder: Path) -> None:
    mode = "SET 'sql-client.execution.result-mode' = 'changelog';"
    result = shell("-S", "-i", "clicks.sql", "--format", "csv", "-e", f"{mode} {PER_PAGE}")
    assert result.exit_code == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == ["+I,a,3", "+I,b,1", "op,page,n"]


def test_set_changes_the_format_and_reset_takes_that_back(folder: Path) -> None:
    one = "SELECT 1 AS a;"
    result = shell("-S", "--format", "csv", "-e", f"SET 'sqlext.shell.format' = 'json'; {one} RESET; {one}")
    assert result.stdout == '{"a": 1}\na\n1\n'
    assert "OPT-011" in shell("-e", "SET 'sqlext.shell.format' = 'xml';").stderr


def test_jobs_are_waited_for_and_listed(folder: Path) -> None:
    jobs = """
    CREATE TABLE counts (page STRING, n BIGINT, PRIMARY KEY (page) NOT ENFORCED)
    WITH ('connector' = 'delta', 'path' = 'counts');
    INSERT INTO counts SELECT page, COUNT(*) FROM clicks GROUP BY page;
    SHOW JOBS;
    STOP JOB 'sql.counts';
    """
    result = shell("-i", "clicks.sql", "--format", "csv", "-e", jobs)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1].startswith("sql.counts,sql.counts,FINISHED,")
    assert "sql.counts: 4 rows in, 2 rows out" in result.stderr
    assert "RUN-025: job `sql.counts` does not run in this session" in result.stderr


def test_stop_job_with_savepoint_tells_where_it_goes_on(folder: Path) -> None:
    job = """
    CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '5');
    CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole');
    INSERT INTO nowhere SELECT n FROM ticks;
    STOP JOB 'sql.nowhere' WITH SAVEPOINT;
    SHOW JOBS;
    """
    result = shell("-S", "--format", "csv", "-e", job)
    assert result.exit_code == 0, result.stderr
    head, place, _, shown = result.stdout.splitlines()
    assert head == "savepoint path"
    assert Path(place).is_dir()
    assert shown.startswith("sql.nowhere,sql.nowhere,STOPPED,")

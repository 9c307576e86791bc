"""The command line: exit codes, messages, and no Spark where none is needed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sqlext.cli.main import main
from sqlext.cli.parameters import address, definition, duration

GOOD = """\
CREATE TABLE t (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}/t', 'format' = 'json');
CREATE TABLE s (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '${IN}/s', 'format' = 'json');
INSERT INTO s SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY k, window_start, window_end;
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working directory with a good and a bad script."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.sql").write_text(GOOD)
    (tmp_path / "bad.sql").write_text(GOOD.replace("SELECT k,", "SELECT kk,"))
    return tmp_path


def test_version() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert result.output.startswith("sqlext 0.")


def test_addresses() -> None:
    assert address("9464") == ("127.0.0.1", 9464)
    assert address("0.0.0.0:0") == ("0.0.0.0", 0)
    with pytest.raises(click.BadParameter):
        address("localhost")


def test_definitions() -> None:
    assert definition("IN=a=b") == ("IN", "a=b")
    for text in ("IN", "in=x", "=x", "A B=1"):
        with pytest.raises(click.BadParameter):
            definition(text)


def test_durations() -> None:
    assert duration("30 s") == 30_000
    with pytest.raises(click.BadParameter, match="no duration"):
        duration("soon")


@pytest.mark.parametrize(("options", "before"), [([], r"starting Spark 4\.\d\.\d \.\.\.\n"), (["--no-progress"], "")])
def test_what_is_said_before_spark_starts(options: list[str], before: str, folder: Path) -> None:
    """Spark cannot start here: what stands before the reason was said before."""
    (folder / "one.sql").write_text("SELECT 1 AS one;")
    done = subprocess.run(
        [sys.executable, "-m", "sqlext.cli.main", "run", "one.sql", *options],
        env={**os.environ, "SPARK_HOME": "/nowhere"}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert re.match(before + "one.sql:1:1: ENV-006: Spark's program cannot be started: No such file", done.stderr)
    assert done.stderr.endswith("hint: unset SPARK_HOME, or let it name a Spark\n")


@pytest.mark.parametrize("command", ["run", "shell -f"])
def test_settings(command: str, folder: Path) -> None:
    """An option that there is not is refused before Spark starts."""
    result = CliRunner().invoke(main, [*command.split(), "good.sql", "--conf", "sqlext.nothing=1"])
    assert (result.exit_code, "OPT-010" in result.stderr) == (1, True)


def test_rewrite(folder: Path) -> None:
    result = CliRunner().invoke(main, ["rewrite", "good.sql", "--define", "IN=x"])
    assert result.exit_code == 0, result.output
    assert "window" in result.output


def test_rewrite_leaves_nothing_behind(folder: Path) -> None:
    before = sorted(folder.iterdir())
    assert CliRunner().invoke(main, ["rewrite", "good.sql", "--define", "IN=x"]).exit_code == 0
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("command", ["rewrite", "explain", "check"])
def test_a_mistake_is_shown_where_it_is(command: str, folder: Path) -> None:
    result = CliRunner().invoke(main, [command, "bad.sql", "--define", "IN=x"])
    assert result.exit_code == 1
    assert result.stderr.splitlines()[0].startswith("bad.sql:4:22: NAME-")
    assert "                       ^" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (folder / "x").exists()


@pytest.mark.parametrize("command", ["rewrite", "explain", "check"])
def test_a_file_that_is_not_there(command: str, folder: Path) -> None:
    result = CliRunner().invoke(main, [command, "none.sql"])
    assert result.exit_code == 1
    assert "none.sql" in result.stderr


def test_check_reads_all_files(folder: Path) -> None:
    good = CliRunner().invoke(main, ["check", "good.sql", "--define", "IN=x"])
    assert (good.exit_code, good.stdout, good.stderr) == (0, "", "no mistakes\n")
    (folder / "worse.sql").write_text("SELECT FROM;\nSELEC 1;\n")
    both = CliRunner().invoke(main, ["check", "bad.sql", "good.sql", "worse.sql", "--define", "IN=x"])
    assert both.exit_code == 1
    assert [line.partition(": ")[0] for line in both.stderr.splitlines() if ".sql:" in line] == [
        "bad.sql:4:22",
        "worse.sql:1:8",
        "worse.sql:2:1",
    ]
    assert both.stderr.splitlines()[-1] == "3 errors in 2 of 3 files"


@pytest.mark.parametrize("broken", [".sql", ".steps"])
def test_a_test_that_cannot_be_read(broken: str, folder: Path) -> None:
    (folder / "a.sql").write_text("SELECT 1;")
    (folder / f"a{broken}").write_bytes(b"\xff")
    found = CliRunner().invoke(main, ["test", "a.sql", "missing.sql"])
    assert (found.exit_code, found.exception.__class__) == (1, SystemExit)
    assert f"RUN-011: cannot read `a{broken}`: it is not UTF-8 text" in found.output
    assert "RUN-011: cannot read `missing.sql`: No such file or directory" in found.output
    assert "2 tests, 2 failed" in found.output


@pytest.mark.parametrize("command", ["rewrite", "explain", "check"])
def test_no_spark_is_started_or_even_imported(command: str, folder: Path) -> None:
    code = f"""
import sys
from sqlext.cli.main import main
try:
    main(["{command}", "good.sql", "--define", "IN=x"])
except SystemExit as stop:
    assert not stop.code
heavy = {{"pyspark", "pandas", "rich"}} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

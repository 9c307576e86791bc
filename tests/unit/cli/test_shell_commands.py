"""What is a command of the shell, what it does, and what is SQL."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from rich.console import Console

from sqlext.cli.shell.commands import Leave, command, words
from sqlext.cli.shell.given import run_given
from sqlext.cli.shell.runner import Shell
from sqlext.errors import SqlExtError
from sqlext.session.api import Session

TABLE = "CREATE TABLE orders (item STRING) WITH ('connector' = 'datagen');\n"
VIEW = "CREATE VIEW `a pen` AS SELECT item FROM orders WHERE item = 'pen';\n"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """Return a shell with a table and a view, which has started no Spark."""
    opened = Shell(
        Session(catalog=tmp_path_factory.mktemp("catalog")),
        {},
        output=Console(file=io.StringIO()),
        messages=Console(file=io.StringIO()),
    )
    assert opened.run(TABLE + VIEW)
    yield opened
    opened.close(wait=False)


def printed(console: Console) -> str:
    """Return what was printed since one last asked."""
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    console.file.seek(0)
    console.file.truncate()
    return text


def do(shell: Shell, text: str) -> None:
    action = command(text)
    assert action is not None
    action(shell)


@pytest.mark.parametrize(
    "text",
    [
        "quit",
        "QUIT;",
        " exit ;",
        "help",
        ".help",
        ".mode csv",
        ".read job.sql",
        ".nothing",
        r"\d",
        r"\d orders",
        r"\dt+",
    ],
)
def test_commands(text: str) -> None:
    assert command(text) is not None


@pytest.mark.parametrize("text", ["", "SELECT 1;", "quit now", "mode csv", "SELECT\n.5;", "help;\nSELECT 1;", "read x"])
def test_sql(text: str) -> None:
    assert command(text) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (".nothing at all", "there is no command .nothing; .help lists them"),
        (".read", ".read needs a file: .read FILE"),
        (r"\d", r"\d is a command of psql; here it is .tables, or DESCRIBE name;"),
        (r"\dt+ x", r"\dt is a command of psql; here it is .tables"),
        (r"\zz", r"there is no command \zz; .help lists them"),
    ],
)
def test_hints(text: str, told: str, shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    do(shell, text)
    assert capsys.readouterr().err == f"{told}\n"


def test_tables(shell: Shell) -> None:
    printed(shell.output)
    do(shell, ".tables")
    assert printed(shell.output).split() == ["table", "name", "─" * 12, "a", "pen", "orders"]
    do(shell, ".tables o%;")
    assert "a pen" not in printed(shell.output)


def test_schema(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    do(shell, ".schema")
    shown = printed(shell.output)
    assert shown.index("CREATE TABLE") < shown.index("CREATE VIEW")
    assert shown.rstrip().endswith(";")
    do(shell, ".mode csv")
    do(shell, ".schema `a pen`")
    assert printed(shell.output).startswith("CREATE VIEW")
    do(shell, ".mode table")
    capsys.readouterr()
    do(shell, ".schema ordrs")
    assert "did you mean `orders`?" in capsys.readouterr().err


def test_what_is_shown_can_be_run_again(shell: Shell, tmp_path: Path) -> None:
    do(shell, ".schema")
    script = printed(shell.output)
    assert len(Session(catalog=tmp_path / "other").run(script)) == 2


def test_times(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    printed(shell.messages)
    shell.run("SHOW TABLES; SHOW DATABASES;\n")
    assert [line.partition("(")[0] for line in printed(shell.messages).splitlines()] == ["2 rows ", "1 row "]
    do(shell, ".timer off")
    shell.run("SHOW TABLES;\n")
    assert printed(shell.messages) == "2 rows\n"
    do(shell, ".timer")
    assert capsys.readouterr().out == "the timer is off; .timer on or .timer off\n"


def test_the_pager(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = Console(file=io.StringIO(), force_terminal=True, width=80, height=10)
    opened = Shell(Session(catalog=tmp_path), {}, output=output, silent=True)
    databases = "".join(f"CREATE DATABASE d{i};" for i in range(4))
    opened.run(databases + "\n")
    for setting, paged in (("off", False), ("on", True)):
        do(opened, f".pager {setting}")
        capsys.readouterr()
        printed(output)
        opened.run("SHOW DATABASES;\n")
        assert ("d3" in capsys.readouterr().out) == paged
        assert ("d3" in printed(output)) != paged
    opened.run("SHOW CATALOGS;\n")
    assert "default_catalog" in printed(output)  # it fits
    opened.close(wait=False)


def test_definitions_do_not_wait_for_spark(tmp_path: Path) -> None:
    asked = Event()

    def starting(version: str) -> None:
        asked.wait(60)
        raise SqlExtError("ENV-006", "no Spark is wanted here")

    opened = Shell(Session(catalog=tmp_path, starting=starting), {}, silent=True)
    opened.start_spark()
    assert opened.run(TABLE)
    asked.set()
    opened.close(wait=False)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (".tables", ["a pen", "orders"]),
        (" .tables orders ;\n", ["orders"]),
        ("-- what is there\n.tables orders\nSHOW DATABASES;", ["orders", "default_database"]),
        ("SHOW DATABASES; .tables orders", ["default_database", "orders"]),
        (".mode json\n.mode csv\n\nSHOW CATALOGS", ["default_catalog"]),
        ("SHOW CATALOGS;\nclear;", ["default_catalog"]),
        ("SHOW DATABASES LIKE '\n.tables';", []),
        ("/* it's\n.tables */ SHOW CATALOGS;", ["default_catalog"]),
    ],
)
def test_commands_between_statements_that_are_given(text: str, shown: list[str], shell: Shell) -> None:
    do(shell, ".mode csv")
    printed(shell.output)
    assert run_given(shell, text)
    heads = {"table name", "database name", "catalog name"}
    assert [line for line in printed(shell.output).splitlines() if line not in heads] == shown
    do(shell, ".mode table")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\\d\nSHOW CATALOGS;", r"\d is a command of psql; here it is .tables, or DESCRIBE name;"),
        (".nothing\nSHOW CATALOGS;", "there is no command .nothing; .help lists them"),
        (".timer off\n.timer on\n\nSELEC 1;\n.tables", "<sql>:4:1: PARSE-002: expected a statement, found `SELEC`"),
        (".schema none\nSHOW CATALOGS;", "NAME-002: there is no table `none`"),
        (".read none.sql\nSHOW CATALOGS;", "RUN-011: cannot read `none.sql`"),
    ],
)
def test_what_is_given_ends_with_a_mistake(
    text: str, told: str, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    printed(shell.output)
    assert not run_given(shell, text)
    assert told in capsys.readouterr().err
    assert printed(shell.output) == ""


def test_what_is_given_leaves(shell: Shell) -> None:
    printed(shell.output)
    with pytest.raises(Leave):
        run_given(shell, "SHOW CATALOGS;\n.quit\nSHOW DATABASES;")
    assert "default_database" not in printed(shell.output)


def test_a_command_in_a_file(shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.sql").write_text("SHOW TABLES;\n.tables\n")
    assert not shell.run(tmp_path / "job.sql")
    said = capsys.readouterr().err
    assert "job.sql:2:1: PARSE-002" in said
    assert "at the prompt of `sqlext shell`, in its -e, or piped to it" in said


def test_completion() -> None:
    assert words(".t") == [".tables", ".timer"]
    assert words("t") == []
    assert ".schema" in words(".")

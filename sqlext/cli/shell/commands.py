"""Run the shell's own commands: ``.help`` as in duckdb, or a bare word as in spark-sql."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from sqlext.cli.shell.runner import Shell

_HELP = """\
Statements end with ; and may have several lines. Tab completes, Ctrl-R searches the history.
Ctrl-C ends a query, or drops what is typed; Ctrl-D leaves.

  .help              this text (also: help)
  .quit              leave; running jobs are stopped and keep their place (also: quit, exit)
  .read FILE         run the statements of a file
  .mode FORMAT       table, csv, json or markdown: SET 'sqlext.shell.format' = '...'
  .clear             clear the screen (also: clear)

  SHOW TABLES;  DESCRIBE t;  EXPLAIN SELECT ...;  SHOW JOBS;  STOP JOB 'name';  SET;  RESET;
  SET 'sql-client.execution.result-mode' = 'table' | 'changelog' | 'tableau';   how a streaming SELECT is shown"""


class Leave(Exception):  # noqa: N818 - no error: the user wants to go
    """Raised by .quit."""


def _quit(shell: Shell, argument: str) -> None:
    raise Leave


def _help(shell: Shell, argument: str) -> None:
    click.echo(_HELP)


def _clear(shell: Shell, argument: str) -> None:
    click.clear()


def _mode(shell: Shell, argument: str) -> None:
    value = argument.replace("'", "''")
    # By SET, so that SET lists it and RESET takes it back.
    shell.run(f"SET 'sqlext.shell.format' = '{value}';\n")


def _read(shell: Shell, argument: str) -> None:
    if argument:
        shell.run(Path(argument).expanduser())
    else:
        click.echo(".read needs a file: .read FILE", err=True)


_Action = Callable[[Shell, str], None]
_WORDS: Mapping[str, _Action] = {"quit": _quit, "exit": _quit, "help": _help, "clear": _clear}
_COMMANDS: Mapping[str, _Action] = {**_WORDS, "mode": _mode, "read": _read}


def command(text: str) -> Callable[[Shell], None] | None:
    """Return what a line does if it is a command, else None: then it is SQL."""
    dotted = text.strip().startswith(".")
    word, _, argument = text.strip().rstrip(";").strip().removeprefix(".").partition(" ")
    # A bare word is a command only alone: `clear cache` is a statement of Spark.
    if "\n" in text.strip() or (not dotted and (argument or word.lower() not in _WORDS)):
        return None
    action = _COMMANDS.get(word.lower())
    if action is None:
        return lambda shell: click.echo(f"there is no command .{word}; .help lists them", err=True)
    return lambda shell: action(shell, argument.strip())

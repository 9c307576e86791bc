"""Run the shell's own commands: ``.help`` as in duckdb, or a bare word as in spark-sql."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from sqlext.cli.formats import print_line
from sqlext.cli.messages import tell
from sqlext.cli.shell.runner import Shell
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier, string
from sqlext_catalog.model import View

_HELP = """\
Statements end with ; and may have several lines. Tab completes, Ctrl-R searches the history.
Ctrl-C ends a query, or drops what is typed; Ctrl-D leaves.

  .help              this text (also: help)
  .quit              leave; running jobs are stopped and keep their place (also: quit, exit)
  .tables [PATTERN]  the tables and views of the database: SHOW TABLES LIKE 'PATTERN'
  .schema [NAME]     the CREATE of a table or view, or of all in the database
  .read FILE         run the statements of a file
  .mode FORMAT       table, csv, json or markdown: SET 'sqlext.shell.format' = '...'
  .timer on | off    whether each statement says how long it took
  .pager on | off    whether tables longer than the screen are shown in the pager (PAGER, or less)
  .clear             clear the screen (also: clear)

  SHOW TABLES;  DESCRIBE t;  EXPLAIN SELECT ...;  SHOW JOBS;  STOP JOB 'name';  SET;  RESET;
  SET 'sql-client.execution.result-mode' = 'table' | 'changelog' | 'tableau';   how a streaming SELECT is shown"""


class Leave(Exception):  # noqa: N818 - no error: the user wants to go
    """Raised by .quit."""


def _quit(shell: Shell, argument: str) -> bool:
    raise Leave


def _help(shell: Shell, argument: str) -> bool:
    click.echo(_HELP)
    return True


def _clear(shell: Shell, argument: str) -> bool:
    click.clear()
    return True


def _mode(shell: Shell, argument: str) -> bool:
    value = argument.replace("'", "''")
    # By SET, so that SET lists it and RESET takes it back.
    return shell.run(f"SET 'sqlext.shell.format' = '{value}';\n")


def _read(shell: Shell, argument: str) -> bool:
    if argument:
        return shell.run(Path(argument).expanduser())
    return _refused(".read needs a file: .read FILE")


def _tables(shell: Shell, argument: str) -> bool:
    return shell.run(f"SHOW TABLES LIKE {string(argument)};\n" if argument else "SHOW TABLES;\n")


def _schema(shell: Shell, argument: str) -> bool:
    catalog = shell.session.catalog
    here = catalog.snapshot().relations(catalog.current_catalog, catalog.current_database)
    # Tables first: views read them.
    here.sort(key=lambda relation: isinstance(relation, View))
    names = [argument] if argument else [identifier(relation.name.name) for relation in here]
    script = "".join(f"SHOW CREATE {_kind(shell, name)} {name};\n" for name in names)
    try:
        # Not as ``shell.run`` shows it: these are texts, whatever the format of rows.
        for result in shell.session.run(script + "\n"):
            print_line(f"{result.rows[0][0]};", shell.output)
    except SqlExtError as error:
        tell(error)
        return False
    return True


def _kind(shell: Shell, name: str) -> str:
    parts = [part.strip("`") for part in name.split(".")]
    found = shell.session.catalog.lookup(parts) if len(parts) <= 3 else None
    return "VIEW" if isinstance(found, View) else "TABLE"


def _timer(shell: Shell, argument: str) -> bool:
    shell.timer = _switched("timer", argument, now=shell.timer)
    return True


def _pager(shell: Shell, argument: str) -> bool:
    shell.pager = _switched("pager", argument, now=shell.pager)
    return True


def _switched(what: str, argument: str, *, now: bool) -> bool:
    """Return whether something is on from now on; say how it is where neither was asked for."""
    if argument in ("on", "off"):
        return argument == "on"
    click.echo(f"the {what} is {'on' if now else 'off'}; .{what} on or .{what} off")
    return now


#: What a command does; false where it was refused.
_Action = Callable[[Shell, str], bool]
_WORDS: Mapping[str, _Action] = {"quit": _quit, "exit": _quit, "help": _help, "clear": _clear}
_COMMANDS: Mapping[str, _Action] = {
    **_WORDS,
    "mode": _mode,
    "read": _read,
    "tables": _tables,
    "schema": _schema,
    "timer": _timer,
    "pager": _pager,
}
#: What serves in place of commands of psql.
_PSQL = {
    "d": ".tables, or DESCRIBE name;", "dt": ".tables", "dv": "SHOW VIEWS;", "df": "SHOW FUNCTIONS;",
    "dn": "SHOW DATABASES;", "l": "SHOW DATABASES;", "c": "USE name;", "i": ".read FILE", "timing": ".timer on",
    "q": ".quit", "h": ".help", "?": ".help", "x": ".mode json", "sf": ".schema NAME",
}  # fmt: skip


def command(text: str) -> Callable[[Shell], bool] | None:
    """Return what a line does (and whether it went well) if it is a command, else None: then it is SQL."""
    if text.strip().startswith("\\"):
        return _of_psql(text.strip()[1:].partition(" ")[0].rstrip("+;"))
    dotted = text.strip().startswith(".")
    word, _, argument = text.strip().rstrip(";").strip().removeprefix(".").partition(" ")
    # A bare word is a command only alone: `clear cache` is a statement of Spark.
    if "\n" in text.strip() or (not dotted and (argument or word.lower() not in _WORDS)):
        return None
    action = _COMMANDS.get(word.lower())
    if action is None:
        return lambda shell: _refused(f"there is no command .{word}; .help lists them")
    return lambda shell: action(shell, argument.strip())


def words(text: str) -> list[str]:
    """Return the commands that a line could become, for completion; none for SQL."""
    return sorted(f".{word}" for word in _COMMANDS if f".{word}".startswith(text)) if text.startswith(".") else []


def _of_psql(word: str) -> Callable[[Shell], bool]:
    serves = _PSQL.get(word)
    said = (
        f"\\{word} is a command of psql; here it is {serves}"
        if serves
        else f"there is no command \\{word}; .help lists them"
    )
    return lambda shell: _refused(said)


def _refused(said: str) -> bool:
    click.echo(said, err=True)
    return False

"""Define the command ``sqlext shell``. Its options are those of spark-sql."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sqlext.cli.messages import tell
from sqlext.cli.parameters import ALLOW, CATALOG, CONF, DEFINE, RESTRICTED, restrictions
from sqlext.errors import SqlExtError
from sqlext.settings import choices_of

if TYPE_CHECKING:
    from sqlext.cli.shell.runner import Shell
    from sqlext.policy import Restrictions


@dataclass(frozen=True, slots=True)
class ShellArguments:
    """Arguments of ``sqlext shell``; ``texts`` and ``file`` are run in place of a prompt."""

    catalog: str
    definitions: dict[str, str]
    conf: dict[str, str]
    texts: tuple[str, ...] = ()
    file: Path | None = None
    init: Path | None = None
    database: str | None = None
    form: str = "table"
    silent: bool = False
    restricted: bool | Restrictions = False


@click.command()
@click.option("-e", "texts", multiple=True, metavar="SQL", help="Run these statements, and no prompt. Can be repeated.")
@click.option("-f", "file", type=click.Path(path_type=Path), help="Run the statements of a file, and no prompt.")
@click.option("-i", "init", type=click.Path(path_type=Path), help="Run the statements of a file first.")
@click.option("-S", "--silent", is_flag=True, help="Show rows and errors only.")
@click.option("--database", metavar="NAME", help="Begin in this database, DB or CATALOG.DB.")
@CONF
@DEFINE
@click.option(
    "--format", "form", type=click.Choice(choices_of("sqlext.shell.format")), default="table", show_default=True,
    help="How rows are shown. SET 'sqlext.shell.format' changes it.",
)  # fmt: skip
@CATALOG
@RESTRICTED
@ALLOW
def shell(
    texts: tuple[str, ...],
    file: Path | None,
    init: Path | None,
    silent: bool,
    database: str | None,
    conf: tuple[tuple[str, str], ...],
    definitions: tuple[tuple[str, str], ...],
    form: str,
    catalog: str,
    restricted: bool,
    allowed: tuple[tuple[str, str], ...],
) -> None:
    """Type statements at a prompt; or give them with -e, in a file with -f, or through a pipe.

    Without a prompt the exit code is 0, or 1 after the first statement that is refused or fails.
    """
    may = restrictions(restricted, allowed)
    options = ShellArguments(catalog, dict(definitions), dict(conf), texts, file, init, database, form, silent, may)
    try:
        code = _run(options)
    except SqlExtError as error:
        tell(error)
        code = 1
    sys.exit(code)


def _run(options: ShellArguments) -> int:
    import sqlext
    from sqlext.cli.shell.runner import Shell
    from sqlext.locations import catalog_place

    session = sqlext.connect(
        catalog=catalog_place(options.catalog), settings=options.conf, restricted=options.restricted
    )
    if options.database is not None:
        session.catalog.use_database(options.database.split("."))
    opened = Shell(session, options.definitions, options.form, options.silent)
    # A prompt needs a terminal on both sides: piped input is a script, and piped output has no screen.
    given = bool(options.texts) or options.file is not None or not (sys.stdin.isatty() and sys.stdout.isatty())
    begun = options.init is None or opened.run(options.init)
    if not given:
        _prompt(opened)
        return 0
    well = begun and _run_given(opened, options)
    # After a failure jobs are stopped and not waited for: an endless one would keep the shell from ending.
    return 0 if opened.close(wait=well) and well else 1


def _run_given(opened: Shell, options: ShellArguments) -> bool:
    """Run what is given, one after the other, up to the first that goes wrong, or to ``.quit``."""
    from sqlext.cli.shell.commands import Leave
    from sqlext.cli.shell.given import run_given

    texts = options.texts if options.texts or options.file is not None else (sys.stdin.read(),)
    try:
        return all(run_given(opened, t) for t in texts) and (options.file is None or opened.run(options.file))
    except Leave:
        return True


def _prompt(opened: Shell) -> None:
    try:
        # The extra `shell` is needed here only: statements of -e, -f or a pipe run without it.
        from sqlext.cli.shell.prompt import interact
    except ModuleNotFoundError as error:
        opened.close(wait=False)
        message, hint = f"the prompt needs the package {error.name}", "pip install 'sqlext-spark[shell]'"
        raise SqlExtError("ENV-009", message, hint=hint) from error
    opened.start_spark()  # it takes seconds, in which somebody is still typing
    interact(opened)
    opened.close(wait=False)

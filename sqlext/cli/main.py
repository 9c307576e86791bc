"""Define the commands of ``sqlext``: read arguments, call the Session, print what it returns.

Imports stay inside the commands. So ``rewrite``, ``explain`` and ``check`` answer at once, without Spark.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from sqlext.cli.doctor import doctor
from sqlext.cli.messages import tell
from sqlext.cli.parameters import (
    ALLOW,
    CATALOG,
    CONF,
    DEFINE,
    RESTRICTED,
    address,
    difference_limit,
    duration,
    restrictions,
)
from sqlext.cli.projects import examples, init
from sqlext.cli.servers import lsp, mcp
from sqlext.cli.shell.command import shell
from sqlext.cli.ui import ui
from sqlext.cli.watermarks import watermarks
from sqlext.errors import SqlExtError
from sqlext.local.vector_units import use_fast_units

FILE = click.argument("file", type=click.Path(path_type=Path))
PATHS = click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sqlext-spark", message="sqlext %(version)s")
def main() -> None:
    """Flink-like streaming SQL on Spark."""
    use_fast_units()


@main.command()
@FILE
@DEFINE
@CATALOG
@click.option("--checkpoint", metavar="PLACE", help="Keep checkpoints here, a folder or a URL, not beside the catalog.")
@click.option(
    "--for", "run_for", type=duration, metavar="DURATION", help="Stop unbounded queries after this time, e.g. '30 s'."
)
@click.option(
    "--trigger-interval", type=duration, metavar="DURATION", help="Start a micro-batch this often (else at once)."
)
@click.option(
    "--restart", "restarts", type=click.IntRange(min=0), default=0, metavar="TIMES",
    help="Begin again after a failure that may pass, this often in a row: after 1, 2, 4, ... 60 s.",
)  # fmt: skip
@click.option("--no-progress", is_flag=True, help="Print results only.")
@click.option(
    "--metrics",
    type=address,
    metavar="[HOST:]PORT",
    help="Serve Prometheus metrics meanwhile; without HOST to this machine alone.",
)
@click.option(
    "--ui", type=address, is_flag=False, flag_value="8265", metavar="[HOST:]PORT",
    help="Serve the page of the queries meanwhile; without HOST to this machine alone, without PORT at 8265.",
)  # fmt: skip
@CONF
@RESTRICTED
@ALLOW
def run(
    file: Path,
    definitions: tuple[tuple[str, str], ...],
    catalog: str,
    checkpoint: str | None,
    run_for: int | None,
    trigger_interval: int | None,
    restarts: int,
    no_progress: bool,
    metrics: tuple[str, int] | None,
    ui: tuple[str, int] | None,
    conf: tuple[tuple[str, str], ...],
    restricted: bool,
    allowed: tuple[tuple[str, str], ...],
) -> None:
    """Run a script: bounded queries to their end, unbounded ones until stopped."""
    from sqlext.cli.run import RunArguments, run_script

    times, shown = (run_for, trigger_interval), not no_progress
    may = restrictions(restricted, allowed)
    options = RunArguments(
        catalog, checkpoint, *times, progress=shown, metrics=metrics, ui=ui, conf=dict(conf), restricted=may,
        restarts=restarts,
    )  # fmt: skip
    with _errors():
        run_script(file, dict(definitions), options)


@main.command()
@FILE
@DEFINE
@CATALOG
@click.option(
    "--target", default="spark", show_default=True,
    type=click.Choice(["spark", "spark-sql", "databricks", "pipelines"]),
    help="spark: the streaming SQL and its sinks; spark-sql: the batch form, for a bare spark-sql session; databricks: "
    "streaming tables; pipelines: the files of a project for spark-pipelines.",
)  # fmt: skip
@click.option("--out", metavar="DIR", help="With --target pipelines: write the files of the project here.")
def rewrite(file: Path, definitions: tuple[tuple[str, str], ...], catalog: str, target: str, out: str | None) -> None:
    """Print the Spark SQL that a script becomes. Starts no Spark."""
    if out is not None and target != "pipelines":
        raise click.UsageError("--out goes with --target pipelines")
    with _errors():
        from sqlext.session.offline.commands import rewrite_file, rewrite_project

        if out is not None:
            click.echo("\n".join(map(str, rewrite_project(file, out, dict(definitions), catalog))))
            return
        click.echo(rewrite_file(file, dict(definitions), target=target, catalog=catalog))


@main.command()
@FILE
@DEFINE
@CATALOG
@click.option("--format", "format_", type=click.Choice(["text", "json", "mermaid"]), default="text", show_default=True)
def explain(file: Path, definitions: tuple[tuple[str, str], ...], catalog: str, format_: str) -> None:
    """Print each query's plan: time attributes, watermarks, native or stateful and why. Starts no Spark."""
    with _errors():
        from sqlext.session.offline.commands import explain_file

        click.echo(explain_file(file, dict(definitions), format=format_, catalog=catalog))


@main.command()
@FILE
@DEFINE
@CATALOG
@click.option("--checkpoint", metavar="PLACE", help="Where the run keeps its checkpoints, as of sqlext run.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--strict", is_flag=True, help="Fail too where state is left behind, or rows are written again.")
@CONF
def plan(
    file: Path,
    definitions: tuple[tuple[str, str], ...],
    catalog: str,
    checkpoint: str | None,
    format_: str,
    strict: bool,
    conf: tuple[tuple[str, str], ...],
) -> None:
    """Say what running a script would do to tables, queries and sinks. Starts no Spark, changes nothing.

    The exit code is 1 if a query would be refused.
    """
    from sqlext.cli.planning import plan_script

    with _errors():
        fails = plan_script(file, dict(definitions), catalog, checkpoint, dict(conf), format_, strict=strict)
    sys.exit(1 if fails else 0)


@main.command()
@FILE
@DEFINE
@CATALOG
@click.option("--checkpoint", metavar="PLACE", help="Where the run keeps its checkpoints, as of sqlext run.")
@click.option(
    "--allow-differences", default="0", show_default=True, metavar="N|P%", type=difference_limit,
    help="How many rows may differ: a number, or a share of the rows that are there.",
)  # fmt: skip
@click.option("--allow-column", "columns", multiple=True, metavar="NAME", help="It may differ. Can be repeated.")
@click.option("--show", default=10, show_default=True, type=click.IntRange(0), help="How many such rows are shown.")
@click.option("--stop", is_flag=True, help="Ask who runs an old version to stop it.")
@click.option("--keep-rows", is_flag=True, help="Leave the rows that are there; fill the new version's state alone.")
@click.option("--renew/--no-renew", default=True, help="Renew queries that read replaced rows, or refuse.")
@click.option("--rollback", is_flag=True, help="Bring back the versions from before, with their rows.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@CONF
def deploy(
    file: Path,
    definitions: tuple[tuple[str, str], ...],
    catalog: str,
    checkpoint: str | None,
    allow_differences: str,
    columns: tuple[str, ...],
    show: int,
    stop: bool,
    keep_rows: bool,
    renew: bool,
    rollback: bool,
    format_: str,
    conf: tuple[tuple[str, str], ...],
) -> None:
    """Run changed queries beside the old ones, compare their rows, and make them current in one step.

    The exit code is 1 if more rows differ than may; then the old ones stay current.
    """
    from sqlext.cli.deploying import DeployArguments, deploy_script

    told = (allow_differences, columns, show, stop, keep_rows, renew, rollback)
    given = DeployArguments(catalog, checkpoint, dict(conf), format_, *told)
    with _errors():
        fails = deploy_script(file, dict(definitions), given)
    sys.exit(1 if fails else 0)


@main.command()
@PATHS
@DEFINE
@CATALOG
@click.option("-i", "init", type=click.Path(path_type=Path), help="A script whose tables and views all others see.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--strict", is_flag=True, help="Let warnings fail too.")
@RESTRICTED
@ALLOW
def check(
    paths: tuple[Path, ...],
    definitions: tuple[tuple[str, str], ...],
    catalog: str,
    init: Path | None,
    format_: str,
    strict: bool,
    restricted: bool,
    allowed: tuple[tuple[str, str], ...],
) -> None:
    """Look for mistakes in scripts and in folders of scripts; - is standard input. Starts no Spark, changes nothing.

    A warning says what may not be meant: a script with warnings alone runs, and the exit code is 0.
    """
    from sqlext.cli.checking import check_scripts

    with _errors():
        may = restrictions(restricted, allowed)
        wrong = check_scripts(paths, dict(definitions), catalog, init, format_, strict=strict, restricted=may)
    sys.exit(1 if wrong else 0)


@main.command()
@PATHS
@DEFINE
@CONF
@click.option("--update", is_flag=True, help="Write what the scripts give now in place of comparing it.")
def test(
    paths: tuple[Path, ...],
    definitions: tuple[tuple[str, str], ...],
    conf: tuple[tuple[str, str], ...],
    update: bool,
) -> None:
    """Run scripts and compare what they give with the .out files beside them.

    A folder stands for its scripts that have such a file. ${IN} is the folder `data` beside a script, ${OUT} an empty
    one. A query that never ends gets what the .steps file beside it says, step by step, on a clock of its own.
    """
    with _errors():
        from sqlext.cli.testing import run_tests

        code = run_tests(paths, dict(definitions), dict(conf), update=update)
    sys.exit(code)


@main.command()
@click.argument("shell_name", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell_name: str) -> None:
    """Print what makes a shell complete this command: eval "$(sqlext completion bash)"."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell_name)
    assert kind is not None
    click.echo(kind(main, {}, "sqlext", "_SQLEXT_COMPLETE").source())


main.add_command(doctor)
main.add_command(examples)
main.add_command(init)
main.add_command(lsp)
main.add_command(mcp)
main.add_command(shell)
main.add_command(ui)
main.add_command(watermarks)


@contextmanager
def _errors() -> Iterator[None]:
    """Turn a refusal into its message and exit code 1."""
    try:
        yield
    except SqlExtError as e:
        tell(e)
        sys.exit(1)


if __name__ == "__main__":
    main()

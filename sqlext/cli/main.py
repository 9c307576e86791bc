"""``sqlext run | rewrite | explain | check``: reads arguments, calls the Session, prints what comes back.

Imports stay inside the commands: ``rewrite``, ``explain`` and ``check`` answer without Spark, at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from sqlext.cli.parameters import definition, duration
from sqlext.errors import SqlExtError

FILE = click.argument("file", type=click.Path(path_type=Path))
DEFINE = click.option(
    "--define", "-D", "definitions", type=definition, multiple=True, metavar="NAME=VALUE",
    help="Replace ${NAME} in the script. Can be repeated.",
)  # fmt: skip
CATALOG = click.option(
    "--catalog", default=".sqlext", show_default=True, metavar="DIR",
    help="The folder that remembers tables, views and queries.",
)  # fmt: skip


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sqlext", message="sqlext %(version)s")
def main() -> None:
    """Flink-like streaming SQL on Spark."""


@main.command()
@FILE
@DEFINE
@CATALOG
@click.option("--checkpoint", metavar="DIR", help="Keep the queries' checkpoints here, not in the catalog's folder.")
@click.option(
    "--for", "run_for", type=duration, metavar="DURATION", help="Stop unbounded queries after this time, e.g. '30 s'."
)
@click.option(
    "--trigger-interval", type=duration, metavar="DURATION", help="Start a micro-batch this often (else at once)."
)
@click.option("--no-progress", is_flag=True, help="Print results only.")
def run(
    file: Path,
    definitions: tuple[tuple[str, str], ...],
    catalog: str,
    checkpoint: str | None,
    run_for: int | None,
    trigger_interval: int | None,
    no_progress: bool,
) -> None:
    """Run a script: bounded queries to their end, unbounded ones until stopped."""
    from sqlext.cli.run import RunOptions, run_script

    options = RunOptions(catalog, checkpoint, run_for, trigger_interval, progress=not no_progress)
    with _errors():
        run_script(file, dict(definitions), options)


@main.command()
@FILE
@DEFINE
@CATALOG
@click.option(
    "--target", type=click.Choice(["spark", "spark-sql"]), default="spark", show_default=True,
    help="spark: the streaming SQL and its sinks; spark-sql: the batch form, for a bare spark-sql session.",
)  # fmt: skip
def rewrite(file: Path, definitions: tuple[tuple[str, str], ...], catalog: str, target: str) -> None:
    """Print the Spark SQL that a script becomes. Starts no Spark."""
    with _errors():
        from sqlext.execution.offline import rewrite_file

        click.echo(rewrite_file(file, dict(definitions), target=target, catalog=catalog))


@main.command()
@FILE
@DEFINE
@CATALOG
@click.option("--format", "format_", type=click.Choice(["text", "json", "mermaid"]), default="text", show_default=True)
def explain(file: Path, definitions: tuple[tuple[str, str], ...], catalog: str, format_: str) -> None:
    """Print each query's plan: time attributes, watermarks, native or stateful and why. Starts no Spark."""
    with _errors():
        from sqlext.execution.offline import explain_file

        click.echo(explain_file(file, dict(definitions), format=format_, catalog=catalog))


@main.command()
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@DEFINE
@CATALOG
def check(files: tuple[Path, ...], definitions: tuple[tuple[str, str], ...], catalog: str) -> None:
    """Look for mistakes in scripts. Starts no Spark and changes nothing."""
    with _errors():
        from sqlext.execution.offline import check_file

        errors = [e for file in files for e in check_file(file, dict(definitions), catalog=catalog)]
    for error in errors:
        click.echo(error.render(), err=True)
    sys.exit(1 if errors else 0)


@contextmanager
def _errors() -> Iterator[None]:
    """Turn a refusal into its message and exit code 1."""
    try:
        yield
    except SqlExtError as e:
        click.echo(e.render(), err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()

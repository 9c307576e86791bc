"""Answer ``sqlext doctor``: what is here, what is missing, what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from sqlext.cli.parameters import CATALOG, CONF

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@click.command()
@CATALOG
@click.option("--checkpoint", metavar="DIR", help="Look at this folder for checkpoints too.")
@click.option("--spark", is_flag=True, help="Start a Spark, and ask it and its workers too.")
@CONF
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
def doctor(catalog: str, checkpoint: str | None, spark: bool, conf: tuple[tuple[str, str], ...], format_: str) -> None:
    """Say what is here and what is missing, each with what to do. Starts no Spark by itself.

    The exit code is 1 where something is missing that `sqlext run` needs.
    """
    # Imported here, so that ``--help`` loads neither rich nor a catalog.
    from sqlext.jobs.tables import console
    from sqlext.session.doctor.examination import Examination

    ask = _starting(catalog, dict(conf)) if spark else None
    found = Examination(catalog, checkpoint, ask, stores=dict(conf)).diagnosis()
    if format_ == "json":
        click.echo(json.dumps([asdict(finding) for finding in found.findings], indent=2, ensure_ascii=False))
    else:
        console().print(found)
    raise SystemExit(0 if found.ready else 1)


def _starting(catalog: str, settings: dict[str, str]) -> Callable[[], SparkSession]:
    def start() -> SparkSession:
        import sqlext
        from sqlext.locations import catalog_place

        return sqlext.connect(catalog=catalog_place(catalog), settings=settings).spark

    return start

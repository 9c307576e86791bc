"""Show what ``sqlext deploy`` has found and done, and say whether it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click


@dataclass(frozen=True, slots=True)
class DeployArguments:
    """Arguments of ``sqlext deploy``; those of ``Session.deploy`` have its names."""

    catalog: str
    checkpoint: str | None
    conf: Mapping[str, str]
    form: str
    allow_differences: str
    allow_columns: tuple[str, ...]
    show: int
    stop: bool
    keep_rows: bool
    renew: bool
    rollback: bool


def deploy_script(file: Path, variables: Mapping[str, str], given: DeployArguments) -> bool:
    """Deploy a script or roll it back, print what became of its queries, and return whether that is a failure.

    Raises:
        SqlExtError: as ``Session.deploy`` and ``Session.roll_back``.
    """
    # Imported here, so that ``--help`` loads no dialect.
    from sqlext.locations import catalog_place
    from sqlext.session.api import Session

    session = Session(catalog=catalog_place(given.catalog), settings=given.conf)
    if given.rollback:
        found = session.roll_back(file, variables, checkpoint=given.checkpoint)
    else:
        found = session.deploy(
            file,
            variables,
            checkpoint=given.checkpoint,
            allow_differences=given.allow_differences,
            allow_columns=given.allow_columns,
            show=given.show,
            stop=given.stop,
            keep_rows=given.keep_rows,
            renew=given.renew,
        )
    click.echo(found.to_json() if given.form == "json" else str(found))
    return found.refused

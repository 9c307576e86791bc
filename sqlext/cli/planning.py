"""Show what ``sqlext plan`` finds, and say whether it fails."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click


def plan_script(
    file: Path,
    variables: Mapping[str, str],
    catalog: str,
    checkpoint: str | None,
    conf: Mapping[str, str],
    form: str,
    *,
    strict: bool,
) -> bool:
    """Print what running a script would do as ``text`` or ``json``, and return whether that is a failure.

    Args:
        strict: whether it is one to lose state, or to write rows a second time.

    Raises:
        SqlExtError: what is wrong with the script.
    """
    # Imported here, so that ``--help`` loads no dialect.
    from sqlext.locations import catalog_place
    from sqlext.session.api import Session

    found = Session(catalog=catalog_place(catalog), settings=conf).plan(file, variables, checkpoint=checkpoint)
    click.echo(found.to_json() if form == "json" else str(found))
    return found.refused or (strict and found.loses)

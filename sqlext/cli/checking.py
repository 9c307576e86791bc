"""Show what ``sqlext check`` finds, and say whether it fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import click

from sqlext.cli.messages import as_json, tell
from sqlext.errors import SqlExtError, counted
from sqlext.policy import Restrictions


def check_scripts(
    paths: Sequence[Path],
    variables: Mapping[str, str],
    catalog: str,
    init: Path | None,
    form: str,
    *,
    strict: bool,
    restricted: bool | Restrictions = False,
) -> bool:
    """Check scripts, print what is found as ``text`` or ``json``, and return whether that is a failure.

    Args:
        init: a script whose definitions all of them see.
        strict: whether warnings are failures too.
        restricted: what the scripts may use.

    Raises:
        SqlExtError: RUN-012 for a folder without scripts.
    """
    # Imported here, so that ``--help`` loads no dialect.
    from sqlext.session.offline.commands import check_files

    by_file = check_files(paths, variables, catalog=catalog, init=init, restricted=restricted)
    found = [error for of_file in by_file.values() for error in of_file]
    if form == "json":
        click.echo(as_json(found))
    else:
        for error in found:
            tell(error)
        summary = _summary(by_file.values())
        if summary:
            click.echo(summary, err=True)
    return any(strict or error.severity == "error" for error in found)


def _summary(by_file: Collection[Sequence[SqlExtError]]) -> str:
    """Return the last line: what was found in how many files; empty where the findings of a single file say all."""
    counts = Counter(error.severity for of_file in by_file for error in of_file)
    if not counts:
        return "no mistakes" if len(by_file) == 1 else f"no mistakes in {len(by_file)} files"
    if len(by_file) == 1:
        return "" if counts["error"] else "no mistakes, but warnings"
    wrong = sum(1 for of_file in by_file if of_file)
    told = " and ".join(counted(n, what) for what, n in sorted(counts.items()))
    return f"{told} in {wrong} of {len(by_file)} files"

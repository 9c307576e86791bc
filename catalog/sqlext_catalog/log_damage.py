"""Find out which file of a Delta table's log is damaged, where what reads the table does not say it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from sqlext.errors import SqlExtError
from sqlext.stores.base import ByteStore

#: The folder of the log, in a table's.
LOG = "_delta_log"
#: PROTOCOL.md of Delta: versions are padded to twenty digits; a checkpoint of several parts has more behind it.
_ENTRY = re.compile(r"(\d{20})(\.json|\.checkpoint.*\.parquet)")
_PARQUET = b"PAR1"


def damage_of_log(files: ByteStore, place: str) -> str | None:
    """Return which file of the log is damaged, and how: ``/t/_delta_log/00000000000000000003.json` is empty``.

    Args:
        files: those of the table's folder.
        place: that folder, or its URL.

    Returns:
        None where no damage is seen, or where there is no log.
    """
    commits, checkpoints = _entries(files)
    if not commits and not checkpoints:
        return None
    for name in checkpoints.values():
        if not _is_parquet(files, name):
            return f"`{place}/{name}` is damaged"
    # What lies before a checkpoint may have been cleaned away.
    first = max(checkpoints, default=-1) + 1
    for version in range(first, max(commits, default=-1) + 1):
        name = commit_name(version)
        if (wrong := _wrong_with(files, name)) is not None:
            return f"`{place}/{name}` {wrong}"
    return None


def first_commit() -> str:
    """Return the name of a table's first commit."""
    return commit_name(0)


def commit_name(version: int) -> str:
    """Return the name of a commit of a table."""
    return f"{LOG}/{version:020}.json"


def damaged(path: str, what: str) -> SqlExtError:
    """Return the refusal of a table whose log has a damaged file (RUN-093).

    Args:
        path: the table's folder or URL.
        what: as ``damage_of_log`` gives it.
    """
    return SqlExtError(
        "RUN-093",
        f"the Delta table at `{path}` cannot be read: {what}",
        hint="put the file back from a backup: without it nobody knows which files hold the rows. A result can be made "
        "anew: move that folder away, DROP QUERY the queries that write it, and run them",
    )


def _entries(files: ByteStore) -> tuple[set[int], Mapping[int, str]]:
    """Return the versions of commits, and the names of checkpoints by version."""
    commits: set[int] = set()
    checkpoints: dict[int, str] = {}
    for key in files.keys(LOG):
        found = _ENTRY.fullmatch(key.rpartition("/")[2])
        if found is None or key.count("/") > 1:
            continue
        if found[2] == ".json":
            commits.add(int(found[1]))
        else:
            checkpoints[int(found[1])] = key
    return commits, checkpoints


def _wrong_with(files: ByteStore, name: str) -> str | None:
    found = files.read(name)
    if found is None:
        return "is not there"
    if not found.data.strip():
        return "is empty"
    try:
        for line in found.data.decode("utf-8").splitlines():
            if line and not isinstance(json.loads(line), dict):
                return "is damaged"
    except ValueError:
        return "is damaged"
    return None


def _is_parquet(files: ByteStore, name: str) -> bool:
    found = files.read(name)
    return found is None or (found.data.startswith(_PARQUET) and found.data.endswith(_PARQUET))

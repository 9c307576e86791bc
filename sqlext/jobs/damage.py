"""Find out whether a checkpoint of Spark's is whole, where Spark itself would not say what is missing."""

from __future__ import annotations

import json

from sqlext.jobs.query_files import last_number
from sqlext.stores.location import Location

#: Lines of a file of offsets before those of the sources: its version, and the batch's metadata.
_HEAD = 2
#: How Spark's source of files counts: by the entries of a log of its own.
_BY_LOG = "logOffset"


def damage_of(location: Location, checkpoint: str) -> str | None:
    """Return what is wrong with a checkpoint, None if nothing is seen.

    Args:
        location: a query's folder.
        checkpoint: the name of the checkpoint in it.
    """
    offsets = f"{checkpoint}/offsets"
    begun, done = last_number(location, offsets), last_number(location, f"{checkpoint}/commits")
    if begun < done:
        return f"micro-batch {done} is done, and `{offsets}` does not have it"
    if begun < 0:
        return None
    sources = (location.text(f"{offsets}/{begun}") or "").splitlines()[_HEAD:]
    if not sources:
        return f"`{offsets}/{begun}` is cut off"
    return _without_log(location, checkpoint, sources)


def _without_log(location: Location, checkpoint: str, offsets: list[str]) -> str | None:
    """Return what is wrong with the logs of sources of files.

    Spark lists a source once for each branch that reads it, always with the same offset, and it has one log. So as many
    logs must be there as there are different offsets.
    """
    logged = [n for n, offset in enumerate(offsets) if _has_log(offset)]
    if not logged:
        return None
    folder = f"{checkpoint}/sources"
    there = {name.partition("/")[0] for name in location.names(folder) if _is_entry(name.rpartition("/")[2])}
    gone = [n for n in logged if str(n) not in there]
    return f"nothing lies at `{folder}/{gone[0]}`" if gone and len(there) < len({offsets[n] for n in logged}) else None


def _has_log(offset: str) -> bool:
    try:
        found = json.loads(offset)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get(_BY_LOG, -1) >= 0


def _is_entry(name: str) -> bool:
    """Whether a file is an entry of a log, or several of them in one."""
    return name.removesuffix(".compact").isdigit()

"""Find a query's folder, and the last number in one of Spark's logs there."""

from __future__ import annotations

import hashlib
import json
import re

from sqlext.jobs.versions import FOLDER as VERSIONS
from sqlext.jobs.versions import version_location, versions_of
from sqlext.locations import PathOrText, checkpoint_place
from sqlext.stores.location import Location, StoreSettings

#: Below the catalog's folder: those of queries.
QUERIES = "queries"
#: In a query's folder: what its time keeper knows (``timekeeping``), and how it goes (``recording``).
TIME, PROGRESS = "time", "progress"
#: And the batches that were begun without Spark.
HERE = "local"
#: Of a query without an end that runs without Spark: its micro-batches that are done, and levels of its state.
COMMITS, LEVELS = "commits", "levels"
#: And the dead letters that are fed back into it (``replays``).
REPLAYS = "replays"


def folder_name(name: str) -> str:
    """Return a name as a folder's: readable, unique, never a path."""
    # The hash keeps apart names that read alike. 60 characters stay far below the 255 bytes of a file's name.
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "query"
    return f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def query_folder(
    root: PathOrText, name: str, checkpoint: str | None, settings: StoreSettings | None = None
) -> Location:
    """Return the folder of a query below the catalog's folder ``root``, or below ``checkpoint`` where it is given.

    Args:
        settings: Spark's, for URLs.

    Raises:
        SqlExtError: RUN-028 for a URL without a store.
    """
    place = Location.of(checkpoint_place(checkpoint) if checkpoint else root, settings)
    return (place if checkpoint else place.below(QUERIES)).below(folder_name(name))


def query_location(
    root: PathOrText, name: str, checkpoint: str | None, settings: StoreSettings | None = None
) -> Location:
    """Return the folder of a query's current version; arguments and errors are those of ``query_folder``."""
    folder = query_folder(root, name, checkpoint, settings)
    return version_location(folder, versions_of(folder).current)


def parts_of_checkpoint(checkpoint: str, name: str) -> tuple[str, str]:
    """Return what the folder of a query lies in, and the name of a version's, by where a checkpoint of it lies."""
    folder = checkpoint.rpartition("/")[0]
    own, _, version = folder.rpartition(f"/{VERSIONS}/")
    if not own.endswith(f"/{folder_name(name)}"):  # the query's own: what is called so is something else
        own, version = folder, ""
    return own.rpartition("/")[0], version


def last_number(location: Location, folder: str) -> int:
    """Return the last batch in one of Spark's logs, -1 if there is none."""
    # Spark's logs also hold temporary files, whose names are no numbers.
    return max((int(name) for name in location.names(folder) if name.isdecimal()), default=-1)


def watermark_in(location: Location, number: int) -> int:
    """Return the watermark (ms) of a micro-batch, by which it has closed windows; 0 before the first.

    Args:
        location: the query's folder.
        number: of the micro-batch; the last 100 are kept.
    """
    text = location.text(f"checkpoint/offsets/{number}") if number >= 0 else None
    if text is None:
        noted = location.json(f"{HERE}/{number}") or {}
        return int(noted.get("moment", {}).get("watermark") or 0)
    # Spark's OffsetSeqLog: a line with the version, one with metadata, then one for each source.
    return int(json.loads(text.splitlines()[1])["batchWatermarkMs"])

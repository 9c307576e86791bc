"""Find out whether a checkpoint of Spark's is whole, where Spark itself would not say what is missing."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from pathlib import Path

from sqlext.connectors.places import json_object, place_of_rows
from sqlext.jobs.query_files import last_number
from sqlext.spark.state_files import is_schema, is_whole_state
from sqlext.stores.checksums import checksums_of
from sqlext.stores.location import Location

#: Lines of a file of offsets before those of the sources: its version, and the batch's metadata.
_HEAD = 2
#: How Spark's source of files counts: by the entries of a log of its own.
_BY_LOG = "logOffset"
#: Ends the name of an entry that holds all that came before.
_COMPACT = ".compact"
#: How readers of ours count files, and where in a query's folder their logs lie (``sources.file_log``).
_FILES, _OWN_LOGS = "files", "sources"
#: Spark's logs and what it keeps of operators begin with a version, and JSON is behind it. Its source of topics puts a
#: zero byte before that (SPARK-19517).
_VERSION = re.compile(r"\0?v\d+")
_LOGS, _METADATA = ("offsets", "commits", "sources"), "metadata"
#: In a file of offsets: nothing of a source was read.
_NO_OFFSET = "-"


def damage_of(location: Location, checkpoint: str) -> str | None:
    """Return what is wrong with a checkpoint, None if nothing is seen.

    Args:
        location: a query's folder.
        checkpoint: the name of the checkpoint in it.
    """
    offsets = f"{checkpoint}/offsets"
    begun, done = last_number(location, offsets), last_number(location, f"{checkpoint}/commits")
    if begun < done:
        return f"micro-batch {done} is done, and `{location.place}/{offsets}/{done}` is not there"
    if begun < 0:
        return None
    sources = (location.text(f"{offsets}/{begun}") or "").splitlines()[_HEAD:]
    if not sources:
        return f"`{location.place}/{offsets}/{begun}` is cut off"
    return _without_log(location, checkpoint, sources) or _without_own_log(location, sources)


def unreadable_file(folder: Path) -> str | None:
    """Return which file of a checkpoint of this machine is not what Spark writes there: ``/x/offsets/3` is damaged``.

    A file that a checksum lies beside is left to that: a source of Spark's may keep what it likes.
    """
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.startswith(".") or checksums_of(path).exists():
            continue
        if not _is_readable(path, path.relative_to(folder)):
            return f"`{path}` is damaged"
    return None


def _is_readable(path: Path, name: Path) -> bool:
    if name.suffix == ".zip":
        return zipfile.is_zipfile(path)
    if name.parts == (_METADATA,):
        return json_object(path.read_text("utf-8", "replace")) is not None
    if is_schema(name) or (name.parts[0] not in _LOGS and f"_{_METADATA}" not in name.parts):
        return is_whole_state(path, name)
    version, *lines = path.read_text("utf-8", "replace").splitlines() or [""]
    return _VERSION.fullmatch(version) is not None and all(map(_is_entry, lines))


def _is_entry(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return line == _NO_OFFSET
    return True


def _without_own_log(location: Location, offsets: list[str]) -> str | None:
    """Return what is wrong with the logs of files that readers of ours keep: one may lack its last entries.

    Which log is which source's is not known. But each source needs a log that has come as far.
    """
    read = {
        found[_FILES] for offset in offsets if (found := place_of_rows(offset)) is not None and set(found) == {_FILES}
    }
    wanted = sorted((n for n in read if isinstance(n, int) and n > 0), reverse=True)
    if not wanted:
        return None
    last: dict[str, str] = {}
    for name in location.names(_OWN_LOGS):
        source, _, entry = name.partition("/")
        last[source] = max(last.get(source, ""), entry)
    there = sorted(((_files_in(location, source, entry), source) for source, entry in last.items()), reverse=True)
    place = f"{location.place}/{_OWN_LOGS}"
    for number, files in enumerate(wanted):
        if number >= len(there):
            return f"nothing lies at `{place}`, and the query has read {files} files"
        known, source = there[number]
        if known < files:
            return f"`{place}/{source}/{known:020}.json` is not there, and the query has read {files} files"
    return None


def _files_in(location: Location, source: str, entry: str) -> int:
    """Return how many files a log has by its last entry; one that cannot be read is told by who reads it."""
    try:
        return int(entry.partition(".")[0]) + len(location.json(f"{_OWN_LOGS}/{source}/{entry}"))
    except (ValueError, TypeError):
        return sys.maxsize


def _without_log(location: Location, checkpoint: str, offsets: list[str]) -> str | None:
    """Return what is wrong with the logs of sources of files.

    Spark lists a source once for each branch that reads it, always with the same offset, and it has one log. So as many
    logs must be there as there are different offsets. Spark takes an entry that is gone for one without files.
    """
    logged = [n for n, offset in enumerate(offsets) if _log_offset(offset) >= 0]
    if not logged:
        return None
    folder = f"{checkpoint}/sources"
    entries: dict[str, set[str]] = {}
    for name in location.names(folder):
        source, _, entry = name.partition("/")
        if entry.removesuffix(_COMPACT).isdigit():
            entries.setdefault(source, set()).add(entry)
    gone = [n for n in logged if str(n) not in entries]
    if gone and len(entries) < len({offsets[n] for n in logged}):
        return f"nothing lies at `{location.place}/{folder}/{gone[0]}`"
    for n in logged:
        missing = _missing_entry(entries.get(str(n)), _log_offset(offsets[n]))
        if missing is not None:
            return f"`{location.place}/{folder}/{n}/{missing}` is not there"
    return None


def _missing_entry(entries: set[str] | None, last: int) -> int | None:
    """Return the first entry up to ``last`` that a log lacks; one of several holds all that came before."""
    if entries is None:
        return None
    whole = [int(entry.removesuffix(_COMPACT)) for entry in entries if entry.endswith(_COMPACT)]
    first = max((n for n in whole if n <= last), default=-1) + 1
    return next((n for n in range(first, last + 1) if str(n) not in entries), None)


def _log_offset(offset: str) -> int:
    """Return the last entry of its log that a source has come to, -1 for one without a log."""
    number = (json_object(offset) or {}).get(_BY_LOG, -1)
    return number if isinstance(number, int) else -1

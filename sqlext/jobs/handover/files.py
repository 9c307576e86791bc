"""Write one reader's log of files as that of another one: Spark's, and ours. Files stay in their order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from sqlext.jobs.taken.logs import found_files
from sqlext.jobs.taken.model import path_key
from sqlext.locations import is_remote
from sqlext.sources.file_log import FileLog, FoundFile, log_text
from sqlext.stores.location import Location

#: What Java leaves as it is in the path of a URI, beside letters and digits (``java.net.URI``); also all but ASCII.
_PLAIN = "/@,;:$&+=_-!.~'()*"
_VERSION = "v1"


class TakenFile(NamedTuple):
    """A file of a log.

    Attributes:
        path: as the reader writes it.
        modified: ms since 1970 UTC.
        batch: its place: in ours the number of files before it, in Spark's that of the files that it came with.
    """

    path: str
    modified: int
    batch: int

    @property
    def key(self) -> str:
        """The path in the one form by which files are compared."""
        return path_key(self.path)


def files_of_spark(place: Location, source: int, checkpoint: str) -> list[TakenFile]:
    """Return the files of a log of Spark's, each once, in their order; see ``found_files``."""
    found = {f.path: TakenFile(f.path, f.modified, f.batch) for f in found_files(place, source, checkpoint)}
    return sorted(found.values(), key=lambda file: file.batch)


def files_of_ours(log: FileLog) -> list[TakenFile]:
    """Return the files of a log of ours, in their order."""
    return [TakenFile(file.path, file.modified, at) for at, file in enumerate(log.between(0, len(log)))]


def as_ours(files: Sequence[TakenFile], there: Iterable[FoundFile]) -> Mapping[str, str]:
    """Return the parts of a log of ours with some files.

    Args:
        there: the files that are there now, as ours names them.
    """
    named = {path_key(file.path): file for file in there}
    # Of a file that is gone the size is not known, and nobody asks for it: it has been read.
    found = [named.get(file.key) or FoundFile(file.key, file.modified, 0) for file in files]
    return log_text(found)


def as_spark(files: Sequence[TakenFile], counts: Iterable[int], there: Iterable[TakenFile]) -> Mapping[str, str]:
    """Return the parts of a log of Spark's (``FileStreamSourceLog``) with some files.

    Args:
        counts: how many files lie before each end of a micro-batch that is still known.
        there: the files that are there now, as Spark names them.
    """
    named = {file.key: file.path for file in there}
    parts, begin = {}, 0
    for number, end in enumerate(batches(counts)):
        some = files[begin:end]
        entries = [
            {"path": named.get(file.key) or _as_uri(file.path), "timestamp": file.modified, "batchId": number}
            for file in some
        ]
        parts[str(number)] = "\n".join([_VERSION, *map(json.dumps, entries)])
        begin = end
    return parts


def batches(counts: Iterable[int]) -> list[int]:
    """Return how many files lie before the end of each part of a log of Spark's: no part is empty."""
    return sorted({count for count in counts if count})


def _as_uri(path: str) -> str:
    if is_remote(path):
        return path
    return "file://" + "".join(c if ord(c) > 127 else quote(c, safe=_PLAIN) for c in path)

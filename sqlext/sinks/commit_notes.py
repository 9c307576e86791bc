"""Note what a query has committed to its sinks, in its own folder: so a sink that has gone back is seen.

A sink knows which batches it has by what lies in the sink itself. Where that was put back to an older state, it says
nothing of what it had. The note lies with the checkpoint, which says up to which batch no row comes again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

from sqlext.stores.location import Location

#: In a query's folder: a file for each of its sinks.
SINKS = "sinks"
#: Bytes of a file: two commits have less than half of that.
_SIZE = 1024


@dataclass(frozen=True, slots=True)
class Commit:
    """A batch that a query has committed.

    Attributes:
        table: the id of the table: one that was made anew has another one. Of what has no id, its place.
        writer: the identity under which it was committed (``SinkContext.identity``).
        batch: its number.
        version: of the table, which this commit made; 0 where there are none.
    """

    table: str
    writer: str
    batch: int
    version: int

    def comes_again(self, before: Commit) -> bool:
        """Whether this commit has the batch of one before, or an older one."""
        return before.writer == self.writer and before.batch >= self.batch


@dataclass(frozen=True)
class CommitNotes:
    """What a query has committed, as it has noted it; a plain value that can be pickled.

    Attributes:
        place: the query's folder.
        done: the last batch that its checkpoint counts as done, -1 for none: those behind it come again.
    """

    place: Location
    done: int

    def kept(self, sink: str) -> Sequence[Commit]:
        """Return the last two commits to a sink, the older one first; none where nothing can be read.

        Args:
            sink: the name of the query, and of which of its rows (``SinkContext.query``).
        """
        try:
            return tuple(Commit(**found) for found in self.place.json(_key(sink)) or ())
        except (ValueError, TypeError):
            return ()

    def expected(self, sink: str, writer: str) -> Commit | None:
        """Return the last commit that a sink must have, None if nothing is known of any.

        A batch that comes again needs not be there. Under another identity a checkpoint ended, and all of its batches
        were done.
        """
        found = [c for c in self.kept(sink) if c.writer != writer or c.batch <= self.done]
        return found[-1] if found else None

    def add(self, sink: str, commit: Commit) -> None:
        """Note one more commit to a sink, on this machine; a note that cannot be written fails no batch that is in."""
        if self.place.path is not None:
            with suppress(OSError):
                self.keep(sink, (*(c for c in self.kept(sink) if not commit.comes_again(c)), commit))

    def keep(self, sink: str, commits: Sequence[Commit]) -> None:
        """Note the last commits to a sink, the older one first.

        On this machine it is not forced to the disk, which would take milliseconds for each batch. After a power cut it
        may be an older one, or none that can be read: then less is known.
        """
        text = json.dumps([asdict(commit) for commit in commits[-2:]])
        folder = self.place.path
        if folder is None:
            self.place.store.write(_key(sink), text.encode("utf-8"))
            return
        path = folder / _key(sink)
        with suppress(FileExistsError):
            path.parent.mkdir()
        # A new file in place of the old one, or one cut to nothing first, is forced to the disk by file systems. So the
        # same bytes are written over. They are of one page, of which no reader sees a half.
        file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
        try:
            os.pwrite(file, text.ljust(_SIZE).encode("utf-8"), 0)
        finally:
            os.close(file)

    def file(self, sink: str) -> str:
        """Return where the note of a sink lies, for messages."""
        return f"{self.place.place}/{_key(sink)}"


def _key(sink: str) -> str:
    return f"{SINKS}/{hashlib.sha256(sink.encode()).hexdigest()[:12]}.json"

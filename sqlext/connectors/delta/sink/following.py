"""Follow what a query commits to a Delta table, and refuse a table that has gone back behind it.

The newest commit of a log that is gone leaves no trace in the table. Delta goes on from the version before it, and
its rows are lost. So a query notes its commits (``sinks.commit_notes``). A table that was RESTOREd has a higher
version, one that was made anew has another id, and a log that was cleaned up still has later versions.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from sqlext.connectors.delta.reader.log import DeltaLog
from sqlext.connectors.delta.reader.tables import log_of
from sqlext.connectors.places import json_object
from sqlext.errors import SqlExtError
from sqlext.locations import is_remote, on_disk
from sqlext.sinks.base import SinkContext
from sqlext.sinks.commit_notes import Commit, CommitNotes
from sqlext.stores.access import object_settings
from sqlext.stores.location import Location
from sqlext.stores.opening import has_store

_LOG = "_delta_log"
#: PROTOCOL.md of Delta: a version is in the names of its commit and of its checkpoints.
_VERSIONED = re.compile(r"(\d{20})\..*(json|parquet)")
#: Further back than this many commits, those of a query are not looked for.
_MOST = 100
#: Held while a thread begins or ends.
_THREADS = threading.Lock()


@dataclass(frozen=True)
class _Log:
    """The files of a table's log, as far as they say who has committed what."""

    place: Location

    def commit(self, version: int) -> bytes | None:
        """Return what a commit says, None if it is not there."""
        found = self.place.store.read(self.name(version))
        return None if found is None else found.data

    def name(self, version: int) -> str:
        return f"{_LOG}/{version:020}.json"

    def identity(self) -> str:
        """Return the id of the table by the last commit that says it, empty where none does."""
        version = self.latest()
        while version is not None and version >= 0:
            for line in (self.commit(version) or b"").splitlines():
                if b'"metaData"' in line:
                    return str(_action(line, "metaData").get("id", ""))
            version -= 1
        return ""

    def left_of(self, latest: int) -> str | None:
        """Return a file that is left of a later version, such as a checksum; None where nobody sees one."""
        folder = self.place.path
        if folder is None:
            return None
        names = sorted(file.name for file in (folder / _LOG).iterdir())
        numbered = ((re.match(r"\.?(\d{20})\.", name), name) for name in names)
        return next((name for found, name in numbered if found is not None and int(found[1]) > latest), None)

    def latest(self) -> int | None:
        """Return the latest version, None where there is no log."""
        names = (_VERSIONED.fullmatch(name.rpartition("/")[2]) for name in self.place.names(_LOG))
        return max((int(found[1]) for found in names if found is not None), default=None)


class Following:
    """Follows the commits of one query to one table, from one micro-batch to the next.

    Args:
        place: the table's folder or URL.
        table: reads it.
        context: the query, with the notes of its commits.
    """

    def __init__(self, place: Location, table: DeltaLog, context: SinkContext) -> None:
        self._log, self._read, self._context = _Log(place), table, context
        self._at: int | None = None
        self._known: tuple[Commit, ...] = ()
        #: The id of the table, once it was needed; empty where nobody here can tell.
        self._table: str | None = None
        self._asked, self._runs = 0, False

    def __reduce__(self) -> tuple[object, ...]:
        """Look anew in another process: Spark Connect writes batches on the server."""
        return Following, (self._log.place, self._read, self._context)

    def require_there(self) -> None:
        """Refuse a table that lacks a commit whose rows do not come again.

        Raises:
            SqlExtError: RUN-096.
        """
        expected = self._notes.expected(self._context.query, self._context.identity)
        if expected is not None:
            self._require(expected)

    def begin(self) -> None:
        """Look where the table is, before the next commit: what comes behind that may be the query's."""
        latest = self._log.latest()
        self._known = tuple(self._notes.kept(self._context.query))
        noted = self._known[-1].version if self._known else None
        # A batch that comes again may be there, and not be noted.
        near = noted is not None and latest is not None and 0 <= latest - noted <= _MOST
        self._at = noted if near else latest

    def committed(self) -> None:
        """Note what the query has committed since the last time. Far from this machine a thread of its own does so.

        Raises:
            SqlExtError: RUN-096 where the table has gone back while the query ran.
        """
        if self._log.place.path is not None and self._notes.place.path is not None:
            with suppress(OSError):  # a note that cannot be written fails no batch that is in
                self._look()
            return
        with _THREADS:
            self._asked += 1
            if self._runs:
                return
            self._runs = True
        # None of a daemon: the last batch of a process is noted before it ends.
        threading.Thread(target=self._live, name=f"sqlext notes of {self._context.query}").start()

    def _live(self) -> None:
        while True:
            with _THREADS:
                asked = self._asked
            try:
                self._look()
            except (OSError, SqlExtError):  # less is known then, and the next start tells what went back
                pass
            finally:
                with _THREADS:
                    ends = asked == self._asked
                    self._runs = not ends
            if ends:
                return

    def _look(self) -> None:
        if self._at is None:
            self.begin()
        found = list(self._own_commits())
        for commit in found:
            # One that came again is noted once: those that come before it count too.
            self._known = (*(c for c in self._known if not commit.comes_again(c)), commit)[-2:]
        if found:
            self._notes.keep(self._context.query, self._known)
        elif self._known and self._table:
            # A batch of no rows makes no commit. One that was made where the last one had been is none behind it.
            self._require(self._known[-1])

    def _own_commits(self) -> Iterator[Commit]:
        """Yield the commits of the query behind those that were looked at."""
        behind = -1 if self._at is None else self._at
        while (data := self._log.commit(behind + 1)) is not None:
            behind += 1
            self._at = behind
            batch = batch_of(data, self._context.identity)
            if batch is not None:
                self._table = self._identity() if self._table is None else self._table
                if self._table:
                    yield Commit(self._table, self._context.identity, batch, behind)

    def _require(self, expected: Commit) -> None:
        there = self._log.commit(expected.version)
        if there is not None and (batch_of(there, expected.writer) == expected.batch or not _is_whole(there)):
            return  # one that is damaged is told where it is read
        latest = self._log.latest()
        if latest is None or (there is None and latest >= expected.version):
            return  # it was dropped, or its log was cleaned up
        if self._identity() == expected.table:
            raise self._gone_back(expected, latest)

    def _identity(self) -> str:
        """Return the id of the table, empty where nobody here can tell."""
        from deltalake.exceptions import DeltaError

        try:
            return self._read.identity()
        except (DeltaError, SqlExtError):
            # delta-rs reads no log that Spark's summary of a later version lies beside, as of a commit that is gone.
            return self._log.identity()

    def _gone_back(self, expected: Commit, latest: int) -> SqlExtError:
        name, query = self._log.name(expected.version), self._context.query
        file = f"{self._log.place.place}/{name}"
        if latest < expected.version:
            state = f"it is at version {latest} now, and `{file}` is not there"
        else:
            state = f"`{file}` is another commit now"
        left = self._log.left_of(latest)
        without = f", and the files of later versions in that folder, such as `{left}`" if left is not None else ""
        return SqlExtError(
            "RUN-096",
            f"the Delta table at `{self._log.place.place}` has gone back: query `{query}` has committed micro-batch "
            f"{expected.batch} as version {expected.version}, and {state}. The rows of that micro-batch are gone, and "
            "those of micro-batches before it may be",
            hint=f"put that file, and those of later versions, back from a backup. To go on without these rows, "
            f"remove `{self._notes.file(query)}`{without}. DROP QUERY starts it anew, with an empty sink or one by key",
        )

    @property
    def _notes(self) -> CommitNotes:
        assert self._context.notes is not None, "only what is noted is followed"
        return self._context.notes


def following(path: str | None, context: SinkContext) -> Following | None:
    """Return what follows the commits of a query to a table; None where nothing is noted, or no process reads the log.

    Args:
        path: of the table, or its URL; None if nobody knows.
    """
    if path is None or context.notes is None or not has_store(on_disk(path)):
        return None
    settings = object_settings() if is_remote(path) else None
    return Following(Location.of(on_disk(path), settings), log_of(on_disk(path)), context)


def batch_of(commit: bytes, writer: str) -> int | None:
    """Return which batch of a writer a commit is, None if it is none of its own."""
    found = None
    for line in commit.splitlines():
        if writer.encode() not in line:
            continue
        txn, mark = _action(line, "txn"), str(_action(line, "commitInfo").get("userMetadata"))
        if txn.get("appId") == writer:
            found = int(str(txn["version"]))
        elif mark.startswith(f"sqlext {writer} "):
            found = int(mark.rpartition(" ")[2])
    return found


def _action(line: bytes, kind: str) -> Mapping[str, object]:
    """Return an action of a kind that a line of a commit has, or none of its parts."""
    found = (json_object(line.decode("utf-8", "replace")) or {}).get(kind)
    return found if isinstance(found, dict) else {}


def _is_whole(commit: bytes) -> bool:
    lines = [line for line in commit.decode("utf-8", "replace").splitlines() if line.strip()]
    return bool(lines) and all(json_object(line) is not None for line in lines)

"""Store the catalog in one Delta table: one row an object, one commit a statement.

Why 8 processes lose nothing: a commit on a local disk is a finished file that gets the name
``_delta_log/<version>.json`` by a hard link, which fails if that version exists. In an object store that object is put
under the condition that there is none. Every commit of ours replaces the table's single data file, on top of the
version it has read, without retries of its own; so of two commits made from the same version one is always refused,
and its change function runs again on the new state. delta-rs does the same where it commits.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sqlext.errors import SqlExtError
from sqlext.locations import PathOrText
from sqlext_catalog.commits import DataFile, MadeCommit, commit, commit_by_delta_rs, is_plain
from sqlext_catalog.log_damage import LOG, commit_name
from sqlext_catalog.migrations import FORMAT, migrate
from sqlext_catalog.model import CatalogObject
from sqlext_catalog.places import TablePlace, table_place
from sqlext_catalog.rows import Row, from_row, to_row
from sqlext_catalog.snapshot import (
    NEVER_COMMITTED,
    Change,
    ChangeFunction,
    Put,
    Snapshot,
    check_changes,
    check_no_temporary,
)

if TYPE_CHECKING:
    from deltalake import DeltaTable

#: The kind of the row that says how the others are to be read.
FORMAT_KIND = "format"
_MAX_ATTEMPTS = 200
#: The longest wait after a lost race, in attempts: about as many as there are writers in a crowd.
_LONGEST_WAIT = 8
# A reader replays the log from its last checkpoint on, so opening stays cheap.
_CHECKPOINT_EVERY = 50
#: How many commits are read at once for the history.
_READERS = 16
_OPERATION = "sqlextOperation"
#: Tells one attempt to commit from all others.
_ATTEMPT = "sqlextAttempt"


class Version(NamedTuple):
    """One commit of the catalog."""

    version: int
    operation: str
    time: datetime


class Store(Protocol):
    """Where definitions are kept: in a place (``CatalogStore``) or in memory (``MemoryStore``)."""

    def snapshot(self, version: int | None = None) -> Snapshot:
        """Return the catalog as it is now, or as it was at a version."""

    def commit(self, change: ChangeFunction, operation: str) -> Snapshot:
        """Apply what ``change`` says in one atomic step and return the snapshot after it."""

    def history(self) -> list[Version]:
        """Return the commits, newest first."""

    def another(self) -> Store:
        """Return the same store, for use in another thread."""


class _Loaded(NamedTuple):
    """A snapshot with what tells whether it is still current, and what the next commit builds on."""

    snapshot: Snapshot
    file: DataFile  # that has its rows
    identity: object  # of the version's file in the log: another one if the folder was made anew
    format: int
    plain: bool  # whether the table asks nothing more of its writers than ours do


class CatalogStore:
    """A catalog in a folder, or at a URL of an object store. Nothing is created before the first commit.

    An instance belongs to one thread; any number of instances, in any number of processes, share a place.

    Args:
        directory: the folder or URL.
        settings: Spark's, or Hadoop's, for a URL; what they do not say is taken from the environment.

    Raises:
        SqlExtError: as ``table_place``. Every method raises RUN-015 if an object store does not answer as it should.
    """

    def __init__(self, directory: PathOrText, settings: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._place = table_place(directory, settings)
        self.directory = self._place.catalog
        self._loaded: _Loaded | None = None

    def another(self) -> CatalogStore:
        """Return the same store, for use in another thread."""
        same = CatalogStore(self.directory, self._settings)
        same._loaded = self._loaded  # plain values, which it looks at once more before it uses them
        return same

    def snapshot(self, version: int | None = None) -> Snapshot:
        """Return the catalog as it is now, or as it was at a version.

        While nothing has changed this costs two small reads: a commit exists exactly if its file in the log does.
        """
        if version is not None and version != NEVER_COMMITTED:
            return self._at(version)
        loaded = None if version == NEVER_COMMITTED else self._refresh()
        return loaded.snapshot if loaded else Snapshot.empty()

    def commit(self, change: ChangeFunction, operation: str) -> Snapshot:
        """Apply what ``change`` says in one atomic step and return the snapshot after it.

        ``change`` runs again on the newer state whenever another process was faster; what it raises, it raises to
        the caller. No changes, no commit. ``operation`` is kept in the history: it must not quote options.
        """
        for attempt in range(_MAX_ATTEMPTS):
            began = time.monotonic()
            loaded = self._refresh()
            before = loaded.snapshot if loaded else Snapshot.empty()
            changes = change(before)
            if not changes:
                return before
            after = after_changes(before, changes)
            if self._try_commit(loaded, after, changes, operation):
                return self._after_commit()
            # Full jitter: the more often we lose, the further apart the competitors spread. What an attempt takes
            # is the measure: 20 ms on a local disk, up to seconds in an object store.
            longest = min(_LONGEST_WAIT, 2**attempt) * (time.monotonic() - began)
            time.sleep(random.uniform(0, longest))  # noqa: S311
        raise SqlExtError(
            "CAT-033",
            f"the catalog in {self.directory} is being changed by others all the time; gave up after"
            f" {_MAX_ATTEMPTS} attempts",
            hint="run the statement again",
        )

    def history(self) -> list[Version]:
        """Return the commits, newest first."""
        loaded = self._refresh()
        if not loaded:
            return []
        # Not delta-rs' own history: while it waits for an object store, no thread of this process runs.
        with _Reading(self._place), ThreadPoolExecutor(_READERS) as readers:
            return list(readers.map(self._version, range(loaded.snapshot.version, -1, -1)))

    def _refresh(self) -> _Loaded | None:
        if self._loaded and self._is_current(self._loaded):
            return self._loaded
        self._loaded = self._load() if self._is_begun() else None
        return self._loaded

    def _is_current(self, loaded: _Loaded) -> bool:
        version = loaded.snapshot.version
        # Both are needed: a folder that was made anew may have reached the same version.
        return self._identity(version) == loaded.identity and self._identity(version + 1) is None

    def _is_begun(self) -> bool:
        # A log without a single commit is a first commit under way in another process.
        return any(key.endswith(".json") for key in self._place.files.keys(LOG))

    def _identity(self, version: int) -> object | None:
        """Return what tells a version's commit from one of another table of this place; None if there is none."""
        with _Reading(self._place):
            found = self._place.files.read(commit_name(version))
        return found.stamp if found is not None else None

    def _load(self, version: int | None = None) -> _Loaded:
        with _Reading(self._place):
            table = self._table(version)
            file, rows = self._rows(table)
            snapshot = Snapshot(objects_of(rows, self.directory), table.version())
            plain = is_plain(table)
        # No commit has the identity "": if it has gone by now, the next look loads again.
        return _Loaded(snapshot, file, self._identity(snapshot.version) or "", _format(rows), plain)

    def _table(self, version: int | None = None) -> DeltaTable:
        from deltalake import DeltaTable

        return DeltaTable(self._place.table, version=version, storage_options=dict(self._place.options))

    def _rows(self, table: DeltaTable) -> tuple[DataFile, list[Row]]:
        from sqlext_catalog.arrow import read_parquet

        # Not file_uris(): it escapes characters of the folder, and the result is no path.
        added = table.get_add_actions()
        found = zip(added["path"].to_pylist(), added["size_bytes"].to_pylist(), strict=True)
        files = [DataFile(path, size) for path, size in found]
        newest = self._place.files.read(commit_name(table.version()))
        # delta-rs reads an empty commit (a disk that lost power) as one that changed nothing: a lost update.
        if len(files) != 1 or newest is None or not newest.data:
            raise ValueError(f"version {table.version()}, or one before it, is not a commit of sqlext")
        (file,) = files
        data = self._place.files.read(file.path)
        if data is None:
            raise ValueError(f"{self._place.table}/{file.path} is not there")
        try:
            return file, read_parquet(data.data)
        except Exception as error:
            raise ValueError(f"{self._place.table}/{file.path}: {error}") from error

    def _version(self, version: int) -> Version:
        found = self._place.files.read(commit_name(version))
        if found is None:
            raise ValueError(f"version {version} is not there")
        entries = map(json.loads, found.data.splitlines())
        entry = next(action["commitInfo"] for action in entries if "commitInfo" in action)
        instant = datetime.fromtimestamp(entry["timestamp"] / 1000, timezone.utc)
        # A commit of another tool has Delta's operation alone.
        return Version(version, entry.get(_OPERATION, entry["operation"]), instant)

    def _at(self, version: int) -> Snapshot:
        newest = self.snapshot().version
        if not 0 <= version <= newest:
            raise SqlExtError("CAT-034", f"the catalog has no version {version}; the newest is {newest}")
        return self.snapshot() if version == newest else self._load(version).snapshot

    def _try_commit(self, loaded: _Loaded | None, after: Snapshot, changes: Sequence[Change], operation: str) -> bool:
        """Commit a snapshot on top of what was read, and of nothing else; return whether nobody was faster."""
        from deltalake.exceptions import DeltaError

        rows, attempt = to_table(rows_of(after)), uuid.uuid4().hex
        version = after.version + 1
        made, failed = None, None
        try:
            made = self._written(loaded, rows, {_OPERATION: operation, _ATTEMPT: attempt}, version)
        except (DeltaError, OSError, SqlExtError) as error:
            failed = error
        if made is not None:
            # Without a look at it: what was written is there.
            written = after.with_changes(map(_as_read, changes)).at_version(version)
            self._loaded = _Loaded(written, made.file, made.stamp, FORMAT, plain=True)
            return True
        # A lost race and a full disk raise the same classes; whether the next version exists tells them apart.
        next_one = self._place.files.read(commit_name(version))
        if next_one is None and failed is not None:
            raise failed if isinstance(failed, SqlExtError) else self._place.unwritable(failed) from None
        # The answer to a commit that was made may get lost on its way from a store.
        return next_one is not None and attempt.encode() in next_one.data

    def _written(self, loaded: _Loaded | None, rows: Any, info: Mapping[str, str], version: int) -> MadeCommit | None:
        if loaded is None or (loaded.plain and loaded.format == FORMAT):
            return commit(self._place.files, version, rows, loaded.file if loaded else None, info)
        commit_by_delta_rs(self._table(version - 1), rows, info, new_columns=loaded.format < FORMAT)
        return None

    def _after_commit(self) -> Snapshot:
        snapshot = self.snapshot()
        if snapshot.version > 0 and (snapshot.version + 1) % _CHECKPOINT_EVERY == 0:
            self._checkpoint(snapshot.version)
        return snapshot

    def _checkpoint(self, version: int) -> None:
        from deltalake.exceptions import DeltaError

        try:
            self._table(version).create_checkpoint()
        except (DeltaError, OSError):
            return  # It only makes opening faster; the next one will do.


class _Reading:
    """Turns whatever a damaged table raises into one error that names the place."""

    def __init__(self, place: TablePlace) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        # KeyboardInterrupt and refusals of ours say nothing of damage.
        if not isinstance(error, Exception) or isinstance(error, SqlExtError):
            return
        raise self._place.unreadable(error) from None


def _as_read(change: Change) -> Change:
    """Return a change with its object as it comes back from its row."""
    return Put(from_row(to_row(change.object))) if isinstance(change, Put) else change


def after_changes(before: Snapshot, changes: Sequence[Change]) -> Snapshot:
    """Return the snapshot after changes; raises as ``check_no_temporary`` and ``check_changes``."""
    check_no_temporary(changes)
    check_changes(changes)
    return before.with_changes(changes)


def _format(rows: list[Row]) -> int:
    (version,) = (row["name"] for row in rows if row["kind"] == FORMAT_KIND)
    return int(version)


def objects_of(rows: list[Row], place: object) -> list[CatalogObject]:
    """Return the objects of stored rows, in the format of now.

    Args:
        place: of the catalog, for the message.

    Raises:
        SqlExtError: CAT-031 for a newer format.
    """
    stored = _format(rows)
    if stored > FORMAT:
        raise SqlExtError(
            "CAT-031",
            f"the catalog in {place} was written by a newer sqlext (format {stored}, this one knows {FORMAT})",
            hint="upgrade sqlext",
        )
    return [from_row(row) for row in migrate([row for row in rows if row["kind"] != FORMAT_KIND], stored)]


def rows_of(snapshot: Snapshot) -> list[Row]:
    """Return the rows to store: that of the format first. So there always is one, and a commit always replaces some."""
    return [{"kind": FORMAT_KIND, "name": str(FORMAT)}, *(to_row(item) for item in snapshot)]


def to_table(rows: list[Row]) -> Any:
    """Return rows as an Arrow table; raises CAT-022 for text that is not Unicode."""
    from sqlext_catalog.arrow import to_arrow

    try:
        return to_arrow(rows)
    except UnicodeEncodeError as error:
        raise SqlExtError("CAT-022", f"a definition holds text that is not valid Unicode: {error.reason}") from error

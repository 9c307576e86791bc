"""A catalog that lives in memory: for dry runs over a whole script, and for tests."""

from __future__ import annotations

from datetime import datetime, timezone

from sqlext.errors import SqlExtError
from sqlext_catalog.changes import ChangeFunction
from sqlext_catalog.snapshot import Snapshot
from sqlext_catalog.store import Version
from sqlext_catalog.validation import check_changes, check_no_temporary


class MemoryStore:
    """Keeps every version in a list; starts from a snapshot (the empty catalog unless one is given)."""

    def __init__(self, start: Snapshot | None = None) -> None:
        self._snapshots = [start or Snapshot.empty()]
        self._history: list[Version] = []

    def snapshot(self, version: int | None = None) -> Snapshot:
        """Return the catalog as it is now, or as it was at a version."""
        if version is None:
            return self._snapshots[-1]
        for snapshot in self._snapshots:
            if snapshot.version == version:
                return snapshot
        raise SqlExtError("CAT-034", f"the catalog has no version {version}")

    def commit(self, change: ChangeFunction, operation: str) -> Snapshot:
        """Apply what ``change`` says and return the snapshot after it."""
        before = self._snapshots[-1]
        changes = change(before)
        if not changes:
            return before
        check_no_temporary(changes)
        check_changes(changes)
        after = before.with_changes(changes).at_version(before.version + 1)
        self._snapshots.append(after)
        self._history.append(Version(after.version, operation, datetime.now(timezone.utc)))
        return after

    def history(self) -> list[Version]:
        """Return the commits, newest first."""
        return self._history[::-1]

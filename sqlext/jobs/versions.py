"""Say which version of a query is the current one, and what lies beside it.

A query begins in its own folder. A version that was deployed later has a folder below that one, for good: Spark's
checkpoints hold whole paths, so none can be moved. One small file says which of them a start goes on in.

<query's folder>/
    versions.json    ``Versions``; not there while nothing was deployed
    versions/<id>/   the folder of a version
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from sqlext.errors import SqlExtError
from sqlext.stores.location import Location

#: Below a query's folder: what says which version is current, and the folders of its versions.
FILE, FOLDER = "versions.json", "versions"
#: What has begun and is not done: the sink's rows are being replaced, or those of before brought back.
SWITCHING, RESTORING = "switching", "restoring"


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of a query, by the names of their folders; an empty name is the query's own folder.

    Attributes:
        current: the one in which a start goes on.
        beside: a new one that is not current yet, None without one.
        before: the one that a rollback brings back, None if there is none.
        restored: the version of the sink's table that goes with ``before``, or with ``current`` while switching.
        step: what has begun and is not done; empty if nothing has.
        deployed: when the current one became so, in nanoseconds since 1970; the same for all of one deployment.
    """

    current: str = ""
    beside: str | None = None
    before: str | None = None
    restored: int | None = None
    step: str = ""
    deployed: int = 0

    def switching(self, table_version: int) -> Versions:
        """Return them while the sink's rows are replaced by those of the version beside."""
        return replace(self, before=None, restored=table_version, step=SWITCHING)

    def switched(self, deployed: int, table_version: int | None = None) -> Versions:
        """Return them when the version beside is the current one.

        Args:
            deployed: see there.
            table_version: that of the sink's table, where its rows were not replaced.
        """
        assert self.beside is not None
        restored = self.restored if table_version is None else table_version
        return Versions(self.beside, before=self.current, restored=restored, deployed=deployed)

    def restoring(self) -> Versions:
        """Return them while the rows of the version before are brought back."""
        return replace(self, step=RESTORING)

    def given_up(self) -> Versions:
        """Return them when the version beside is not to become the current one."""
        return Versions(self.current, deployed=self.deployed)

    def rolled_back(self) -> Versions:
        """Return them when the version before is the current one again."""
        assert self.before is not None
        return Versions(self.before)


def versions_of(folder: Location) -> Versions:
    """Return the versions of the query in a folder."""
    found = folder.json(FILE)
    return Versions(**found) if found is not None else Versions()


def put_versions(folder: Location, versions: Versions) -> None:
    """Keep the versions of the query in a folder, in one step."""
    folder.put(FILE, json.dumps(asdict(versions)))


def version_location(folder: Location, version: str) -> Location:
    """Return where a version of the query in a folder lies."""
    return folder.below(f"{FOLDER}/{version}") if version else folder


def remove_version(folder: Location, version: str) -> None:
    """Remove all that a version has below the folder of its query; what the query's own folder has stays there."""
    if version:
        folder.store.remove(f"{FOLDER}/{version}")


def refuse_halfway(folder: Location, name: str) -> None:
    """Raise RUN-083 if a switch of versions has begun and is not done: nobody may begin until it is."""
    step = versions_of(folder).step
    if not step:
        return
    raise SqlExtError(
        "RUN-083",
        f"query `{name}` is between two versions: a deployment was broken off",
        hint="sqlext deploy --rollback ends it with the old version"
        if step == RESTORING
        else "sqlext deploy with the new version ends it, or sqlext deploy --rollback with the old one",
    )

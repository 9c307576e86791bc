"""Say which version of a query is the current one, and what lies beside it.

A query begins in its own folder. A version that was deployed later has a folder below that one, for good: Spark's
checkpoints hold whole paths, so none can be moved. One small file says which of them a start goes on in.

<query's folder>/
    versions.json    ``Versions``; not there while nothing was deployed
    versions/<id>/   the folder of a version
    deploying/       the lease of who deploys it: another one than that of who runs it
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

from sqlext.errors import SqlExtError
from sqlext.stores import lease
from sqlext.stores.lease import HeldError, Term
from sqlext.stores.location import Location

#: Below a query's folder: what says which version is current, the folders of its versions, and who deploys it.
FILE, FOLDER, DEPLOYING = "versions.json", "versions", "deploying"
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
        deployed: when the current one became so, or what is switched now was found good, in nanoseconds since 1970;
            the same for all of one deployment.
        replaces: while switching: whether the sink's rows are replaced; else they are the same.
        keeps: whether the sink keeps its rows, whatever those of ``beside`` would be: that one has filled its state
            from what the source has, and its own rows come behind them. Then there is no way back to ``current``.
    """

    current: str = ""
    beside: str | None = None
    before: str | None = None
    restored: int | None = None
    step: str = ""
    deployed: int = 0
    replaces: bool = True
    keeps: bool = False
    follows: bool = False

    def switching(self, table_version: int, deployed: int, *, replaces: bool = True) -> Versions:
        """Return them while the version beside becomes the current one; arguments as the attributes."""
        return replace(self, before=None, restored=table_version, step=SWITCHING, deployed=deployed, replaces=replaces)

    def switched(self) -> Versions:
        """Return them when the version beside is the current one."""
        assert self.beside is not None
        assert self.step == SWITCHING
        if self.keeps:
            return Versions(self.beside, deployed=self.deployed)
        return Versions(self.beside, before=self.current, restored=self.restored, deployed=self.deployed)

    def restoring(self) -> Versions:
        """Return them while the rows of the version before are brought back."""
        return replace(self, step=RESTORING)

    def given_up(self) -> Versions:
        """Return them when the version beside is not to become the current one."""
        return Versions(self.current)

    def rolled_back(self) -> Versions:
        """Return them when the version before is the current one again."""
        assert self.before is not None
        return Versions(self.before)


def versions_of(folder: Location) -> Versions:
    """Return the versions of the query in a folder."""
    found = folder.json(FILE)
    return Versions(**found) if found is not None else Versions()


def change_versions(folder: Location, name: str, then: Versions, now: Versions) -> None:
    """Let the versions of the query in a folder follow others, in one step.

    Raises:
        SqlExtError: RUN-087 these are not there any more: somebody else has changed them.
    """
    kept, data = folder.store.read(FILE), json.dumps(asdict(now)).encode()
    if versions_of(folder) == then:
        if kept is None:
            stamp = folder.store.create(FILE, data)
        else:
            stamp = folder.store.replace(FILE, data, kept.stamp)
        # The answer of a store may have been lost.
        if stamp is not None or versions_of(folder) == now:
            return
    raise SqlExtError(
        "RUN-087",
        f"query `{name}` is being deployed by somebody else: its versions have changed meanwhile",
        hint="nothing more was changed here; the same command looks again",
    )


def version_location(folder: Location, version: str) -> Location:
    """Return where a version of the query in a folder lies."""
    return folder.below(f"{FOLDER}/{version}") if version else folder


def remove_version(folder: Location, version: str) -> None:
    """Remove all that a version has below the folder of its query; what the query's own folder has stays there."""
    if version:
        folder.store.remove(f"{FOLDER}/{version}")


def remove_outdated(folder: Location) -> None:
    """Remove the versions that are neither current, nor before it, nor beside it."""
    found = versions_of(folder)
    for version in {name.partition("/")[0] for name in folder.names(FOLDER)}:
        if version not in (found.current, found.before, found.beside):
            remove_version(folder, version)


@contextmanager
def sole_deployment(folder: Location, name: str) -> Iterator[None]:
    """Be the only one who deploys the query in a folder; its old version may run meanwhile.

    Raises:
        SqlExtError: RUN-087 somebody else does, naming who.
    """
    store = folder.below(DEPLOYING).store
    try:
        mine = lease.take(store)
    except HeldError as held:
        raise _deployed_already(name, held.term) from None
    mine.keep()
    try:
        yield
    finally:
        mine.remove()
        store.leave()


def refuse_while_deployed(folder: Location, name: str) -> None:
    """Raise RUN-087 if somebody deploys the query in a folder."""
    term = lease.holder(folder.below(DEPLOYING).store)
    if term is not None:
        raise _deployed_already(name, term)


def _deployed_already(name: str, term: Term) -> SqlExtError:
    who = f"by {term.owner}" if term.owner is not None else "and the lease of who does cannot be read"
    seconds = max(0, term.expires - lease.now()) // 1000 + 1
    return SqlExtError(
        "RUN-087",
        f"query `{name}` is being deployed already, {who}: only one does at a time",
        hint="wait until it ends, or stop it"
        + (f"; if it is gone for sure, its lease ends in {seconds} s" if term.owner is not None else ""),
    )


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

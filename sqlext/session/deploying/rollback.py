"""Bring back the versions of queries from before their last deployment, or give up those that were being switched."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

from sqlext.errors import SqlExtError
from sqlext.jobs.alongside import move_ends
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.versions import SWITCHING, Versions, remove_outdated, versions_of
from sqlext.session.deploying.beside import NewVersions
from sqlext.session.deploying.candidates import Deployable, in_order, refuse_writers
from sqlext.session.deploying.downstream import Downstream
from sqlext.session.deploying.records import VersionRecords
from sqlext.session.deploying.report import LEFT_ALONE, ROLLED_BACK, DeployedQuery, Deployment


@dataclass(frozen=True)
class Rollback:
    """Goes back.

    Attributes:
        versions: knows where they lie.
        records: what the catalog says of queries.
        downstream: knows the queries that read what others write.
    """

    versions: NewVersions
    records: VersionRecords
    downstream: Downstream

    def roll_back(self, scripted: Sequence[Deployable]) -> Deployment:
        """Bring back the versions from before the last deployment of these queries, and of those that went with them.

        Raises:
            SqlExtError: RUN-085 there is none; RUN-022 the current one runs; RUN-084 another query uses the table;
                RUN-087 somebody else deploys one.
        """
        candidates = [*scripted, *self.downstream.behind(scripted)]
        with self.versions.sole(candidates):
            found = {c.name: self._versions(c) for c in candidates}
            chosen = _of_last_deployment(found, [c.name for c in scripted])
            back = in_order([c for c in candidates if c.name in chosen])
            if not back:
                _refuse(scripted)
            for candidate in back:
                self._require_before(candidate, found[candidate.name], chosen)
            with ExitStack() as held:
                homes = {c.name: held.enter_context(self.versions.home(c)) for c in back}
                # All before any: none may start while what it reads is brought back.
                for candidate in back:
                    versions = self._versions(candidate)
                    if versions.step != SWITCHING:
                        self.versions.change(candidate, versions, versions.restoring())
                done = {c.name: self._rolled_back(c, homes, back) for c in back}
        shown = [*scripted, *(c for c in candidates[len(scripted) :] if c.name in done)]
        return Deployment(tuple(done.get(c.name) or _left_alone(c) for c in shown))

    def _versions(self, candidate: Deployable) -> Versions:
        return versions_of(self.versions.home(candidate, looks=True).folder)

    def _require_before(self, candidate: Deployable, versions: Versions, back: Collection[str]) -> None:
        if versions.step != SWITCHING:
            before = self.versions.home(candidate, versions.before, looks=True) if versions.before is not None else None
            if before is None or before.run() is None:
                _refuse([candidate])
        refuse_writers(candidate, self.records.all())
        self.downstream.refuse_readers(candidate, back)

    def _rolled_back(
        self, candidate: Deployable, homes: Mapping[str, QueryHome], back: Sequence[Deployable]
    ) -> DeployedQuery:
        """Bring back the version before, or that which was being replaced. Each step may be done again."""
        current = homes[candidate.name]
        versions = versions_of(current.folder)
        if versions.step == SWITCHING:
            if versions.replaces:
                self._restore(candidate, current, versions)
                self._move_readers(candidate, homes, back)
            self.records.say_again(candidate, current)
            self.versions.change(candidate, versions, versions.given_up())
        else:
            assert versions.before is not None
            self._restore(candidate, current, versions)
            self._move_readers(candidate, homes, back)
            with self.versions.home(candidate, versions.before) as old:
                self.records.say_again(candidate, old)
            self.versions.change(candidate, versions, versions.rolled_back())
        remove_outdated(current.folder)
        return DeployedQuery(candidate.draft.name, candidate.table, ROLLED_BACK)

    def _restore(self, candidate: Deployable, current: QueryHome, versions: Versions) -> None:
        assert versions.restored is not None
        current.fence.check()
        self.versions.replacement_in(candidate, current).restore(self.versions.spark_session, versions.restored)

    def _move_readers(self, candidate: Deployable, homes: Mapping[str, QueryHome], back: Sequence[Deployable]) -> None:
        """Let the versions from before that read the table go on behind the rows that were brought back."""
        there = self.versions.replacement_in(candidate, homes[candidate.name])
        for reader in back:
            if candidate.table not in reader.reads or reader is candidate:
                continue
            versions = self._versions(reader)
            moved = partial(there.behind, self.versions.spark_session, read=there, alone=reader.reads_alone)
            if versions.step == SWITCHING:
                move_ends(homes[reader.name], moved)
                continue
            with self.versions.home(reader, versions.before) as old:
                move_ends(old, moved)


def _of_last_deployment(found: Mapping[str, Versions], scripted: Sequence[str]) -> set[str]:
    """Return the queries of the last deployment, also where it was broken off, and where its rollback was."""
    last = max((found[name].deployed for name in scripted), default=0)
    return {name for name, v in found.items() if v.step or (v.before is not None and v.deployed == last)}


def _refuse(candidates: Sequence[Deployable]) -> NoReturn:
    names = " and of ".join(f"query `{c.draft.name}`" for c in candidates)
    message = f"there is no version of {names} to go back to" if names else "the script has no query to roll back"
    raise SqlExtError("RUN-085", message, span=candidates[0].draft.insert.span if candidates else None)


def _left_alone(candidate: Deployable) -> DeployedQuery:
    return DeployedQuery(candidate.draft.name, candidate.table, LEFT_ALONE)

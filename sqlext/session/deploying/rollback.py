"""Bring back the versions of queries from before their last deployment, or give up those that were being switched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import NoReturn

from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.versions import SWITCHING, Versions, remove_outdated, versions_of
from sqlext.session.deploying.beside import NewVersions
from sqlext.session.deploying.candidates import Deployable, refuse_readers, refuse_writers
from sqlext.session.deploying.records import VersionRecords
from sqlext.session.deploying.report import LEFT_ALONE, ROLLED_BACK, DeployedQuery, Deployment


@dataclass(frozen=True)
class Rollback:
    """Goes back.

    Attributes:
        versions: knows where they lie.
        records: what the catalog says of queries.
    """

    versions: NewVersions
    records: VersionRecords

    def roll_back(self, candidates: Sequence[Deployable]) -> Deployment:
        """Bring back the versions from before the last deployment of these queries.

        Raises:
            SqlExtError: RUN-085 there is none; RUN-022 the current one runs; RUN-084 another query uses the table;
                RUN-087 somebody else deploys one.
        """
        with self.versions.sole(candidates):
            found = {c.draft.name: versions_of(self.versions.home(c, looks=True).folder) for c in candidates}
            chosen = _of_last_deployment(found)
            back = [c for c in candidates if c.draft.name in chosen]
            if not back:
                _refuse(candidates)
            for candidate in back:
                self._require_before(candidate, found[candidate.draft.name])
            with ExitStack() as held:
                homes = [held.enter_context(self.versions.home(c)) for c in back]
                done = {c.draft.name: self._rolled_back(c, home) for c, home in zip(back, homes, strict=True)}
        return Deployment(tuple(done.get(c.draft.name) or _left_alone(c) for c in candidates))

    def _require_before(self, candidate: Deployable, versions: Versions) -> None:
        if versions.step != SWITCHING:
            before = self.versions.home(candidate, versions.before, looks=True) if versions.before is not None else None
            if before is None or before.run() is None:
                _refuse([candidate])
        refuse_writers(candidate, self.records.all())
        refuse_readers(candidate, self.records.all(), self.versions.run_of)

    def _rolled_back(self, candidate: Deployable, current: QueryHome) -> DeployedQuery:
        """Bring back the version before, or that which was being replaced. Each step may be done again."""
        versions = versions_of(current.folder)
        if versions.step == SWITCHING:
            if versions.replaces:
                self._restore(candidate, current, versions)
            self.records.say_again(candidate, current)
            self.versions.change(candidate, versions, versions.given_up())
        else:
            assert versions.before is not None
            with self.versions.home(candidate, versions.before) as old:
                self.versions.change(candidate, versions, versions.restoring())
                self._restore(candidate, current, versions)
                self.records.say_again(candidate, old)
                self.versions.change(candidate, versions.restoring(), versions.rolled_back())
        remove_outdated(current.folder)
        return DeployedQuery(candidate.draft.name, candidate.table, ROLLED_BACK)

    def _restore(self, candidate: Deployable, current: QueryHome, versions: Versions) -> None:
        assert versions.restored is not None
        current.fence.check()
        self.versions.replacement_in(candidate, current).restore(self.versions.spark_session, versions.restored)


def _of_last_deployment(found: Mapping[str, Versions]) -> set[str]:
    """Return the queries of the last deployment, also where it was broken off, and where its rollback was."""
    last = max((v.deployed for v in found.values()), default=0)
    return {name for name, v in found.items() if v.step or (v.before is not None and v.deployed == last)}


def _refuse(candidates: Sequence[Deployable]) -> NoReturn:
    names = " and of ".join(f"query `{c.draft.name}`" for c in candidates)
    message = f"there is no version of {names} to go back to" if names else "the script has no query to roll back"
    raise SqlExtError("RUN-085", message, span=candidates[0].draft.insert.span if candidates else None)


def _left_alone(candidate: Deployable) -> DeployedQuery:
    return DeployedQuery(candidate.draft.name, candidate.table, LEFT_ALONE)

"""Deploy the changed queries of a script, and roll them back.

1. The new version of each runs beside the old one (``beside``).
2. The old versions must not run from here on. The new ones read the rest, and their rows are compared.
3. One commit of the sink's table replaces the rows, then one small file says which version is the current one. Where
   no row differs, there is no such commit: streams that read the table go on.

A process that dies leaves ``versions.json``, and the same command goes on from there. Between the commit and the file
nobody else may start the query (RUN-083).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import NoReturn

from sqlext.analysis.inserts.fingerprint import digest
from sqlext.errors import SqlExtError
from sqlext.jobs.alongside import ReachedBatch
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.comparison import DifferenceLimit, RowComparison, compare
from sqlext.jobs.parts import Place
from sqlext.jobs.recording import ask_to_stop
from sqlext.jobs.versions import (
    RESTORING,
    SWITCHING,
    Versions,
    put_versions,
    refuse_halfway,
    remove_version,
    versions_of,
)
from sqlext.plan.timing import InputEnd
from sqlext.quoting import identifier
from sqlext.session.deploying.beside import ROWS, NewVersions, rows_of, shared_columns
from sqlext.session.deploying.candidates import Deployable, refuse_readers, refuse_writers, require_deployable
from sqlext.session.deploying.report import (
    BEGINS,
    BEGINS_ANEW,
    DIFFERS,
    HELD_BACK,
    LEFT_ALONE,
    ROLLED_BACK,
    SAME,
    SWITCHED,
    DeployedQuery,
    Deployment,
)
from sqlext.session.places import record_of
from sqlext.sinks.opening import open_sink, require_sink
from sqlext.sinks.replacing import Replacement
from sqlext_catalog import ddl
from sqlext_catalog.model import QueryRecord
from sqlext_catalog.session_catalog import SessionCatalog

#: How long an old version may take to stop: in an object store its driver looks each quarter of a minute.
_SECONDS_TO_STOP, _SECONDS_BETWEEN_LOOKS = 120, 0.5


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may differ.

    Attributes:
        limit: how many rows.
        columns: that may differ in any row.
        show: how many rows that differ are shown.
    """

    limit: DifferenceLimit = field(default_factory=DifferenceLimit)
    columns: tuple[str, ...] = ()
    show: int = 10


@dataclass(frozen=True)
class _Pair:
    """The two versions of a query; the old one is this driver's."""

    candidate: Deployable
    old: QueryHome
    version: str

    @property
    def halfway(self) -> bool:
        """Whether its rows were being replaced when a deployment broke off."""
        return versions_of(self.old.folder).step == SWITCHING


@dataclass(frozen=True)
class Deployer:
    """Deploys queries.

    Attributes:
        versions: runs the new ones.
        catalog: gets the records of what was switched.
    """

    versions: NewVersions
    catalog: SessionCatalog

    def deploy(self, candidates: Sequence[Deployable], allowed: Allowed, *, stops: bool = False) -> Deployment:
        """Deploy the changed ones; all or none of them are switched.

        Args:
            stops: whether old versions that run are asked to stop.

        Raises:
            SqlExtError: RUN-022 an old version runs; RUN-083, RUN-084 for a query that cannot be deployed; what a new
                version fails with.
        """
        found = {c.draft.name: self._unchanged(c) for c in candidates}
        changed = [c for c in candidates if found[c.draft.name] is None]
        begun = [(c, self._run_beside(c)) for c in changed]
        for candidate in changed if stops else ():
            self._stop(candidate)
        with ExitStack() as held:
            pairs = [_Pair(c, held.enter_context(self.versions.home(c)), version) for c, version in begun]
            # What has begun to be replaced is ended first, whatever comes of the others.
            done = {pair.candidate.draft.name: self._ended(pair) for pair in pairs if pair.halfway}
            pairs = [pair for pair in pairs if pair.candidate.draft.name not in done]
            for pair in pairs:
                self._catch_up(pair)
            compared = [self._compared(pair, allowed) for pair in pairs]
            if all(query.outcome == SWITCHED for query in compared):
                deployed = time.time_ns()
                for pair, query in zip(pairs, compared, strict=True):
                    self._switch(pair, deployed, replaces=query.has_other_rows)
            else:
                compared = [q if q.outcome == DIFFERS else replace(q, outcome=HELD_BACK) for q in compared]
        done |= {query.name: query for query in compared}
        return Deployment(tuple(query or done[name] for name, query in found.items()))

    def roll_back(self, candidates: Sequence[Deployable]) -> Deployment:
        """Bring back the versions from before the last deployment of these queries.

        Raises:
            SqlExtError: RUN-085 there is none; RUN-022 the current one runs; RUN-084 another query uses the table.
        """
        found = {c.draft.name: versions_of(self.versions.home(c, looks=True).folder) for c in candidates}
        steps = {v.step for v in found.values()} - {""}
        last = max((v.deployed for v in found.values()), default=0)
        # A deployment that was broken off is given up alone; a rollback that was is ended with all of its queries.
        whole = SWITCHING not in steps
        chosen = {n for n, v in found.items() if v.step or (whole and v.before is not None and v.deployed == last)}
        back = [c for c in candidates if c.draft.name in chosen]
        if not back:
            self._refuse_rollback(candidates[0])
        for candidate in back:
            self._require_before(candidate)
        done = {c.draft.name: self._rolled_back(c) for c in back}
        return Deployment(tuple(done.get(c.draft.name) or _left_alone(c) for c in candidates))

    # The new version

    def _unchanged(self, candidate: Deployable) -> DeployedQuery | None:
        """Return why there is nothing to deploy, None where there is."""
        old = self.versions.home(candidate, looks=True)
        if versions_of(old.folder).step == RESTORING:
            raise candidate.refusal("a rollback of it was broken off", "sqlext deploy --rollback ends it")
        run = old.run()
        if run is None:
            return DeployedQuery(candidate.draft.name, candidate.table, BEGINS)
        found = candidate.changes_since(run)
        if not found:
            refuse_halfway(old.folder, candidate.draft.name)
        ended = run.finished and candidate.end is InputEnd.FINISH
        if ended or not found:
            return DeployedQuery(candidate.draft.name, candidate.table, BEGINS_ANEW if ended else SAME)
        require_deployable(candidate, found, self._records)
        if old.last_batch() < 0:
            raise candidate.refusal("the version that is there has read nothing", "DROP QUERY starts it anew")
        return None

    def _run_beside(self, candidate: Deployable) -> str:
        """Run the new version up to where the old one is by now, and return its folder."""
        old = self.versions.home(candidate, looks=True)
        version = self.versions.begin(candidate, old)
        if versions_of(old.folder).step != SWITCHING:
            self.versions.advance(candidate, version)
        return version

    def _stop(self, candidate: Deployable) -> None:
        """Ask who runs the old version to stop it, and wait; who does not stop is met by RUN-022 behind this."""
        old, deadline = self.versions.home(candidate, looks=True), time.monotonic() + _SECONDS_TO_STOP
        while time.monotonic() < deadline:
            try:
                old.refuse_if_held()
            except SqlExtError:
                ask_to_stop(old.progress)
                time.sleep(_SECONDS_BETWEEN_LOOKS)
            else:
                return

    def _catch_up(self, pair: _Pair) -> None:
        """Let the new version read what the old one has read since; the old one has stopped."""
        self.versions.advance(pair.candidate, pair.version, ReachedBatch(pair.old, self._last_batch(pair)))

    def _last_batch(self, pair: _Pair) -> int:
        """Return the last micro-batch of the old version whose rows are in the sink."""
        old, last = pair.old, pair.old.last_batch()
        if not old.repeats_a_batch():
            return last
        # It was stopped on the way: Spark does not count that micro-batch, but the sink may have it.
        has = self._replacement(pair.candidate, old).has(self.versions.spark_session, last + 1)
        if has is None:
            why = "nothing says whether the sink has the micro-batch that the version that is there has begun last"
            raise pair.candidate.refusal(why, "run it once more as it was, stop it, and then deploy")
        return last + 1 if has else last

    def _ended(self, pair: _Pair) -> DeployedQuery:
        """End a switch that was broken off; the rows were compared before."""
        self._switch(pair, time.time_ns(), replaces=True)
        return _deployed(pair)

    def _compared(self, pair: _Pair, allowed: Allowed) -> DeployedQuery:
        candidate, query = pair.candidate, _deployed(pair)
        with self.versions.home(candidate, pair.version) as new:
            comparison, added = self._comparison(self._replacement(candidate, new), new, allowed)
        outcome = SWITCHED if allowed.limit.allows(comparison) else DIFFERS
        query = replace(query, outcome=outcome, comparison=comparison, added=added)
        if outcome == SWITCHED and query.has_other_rows:
            refuse_readers(candidate, self._records)
            with self.versions.home(candidate, pair.version) as new:
                # Before anything is replaced: a sink that does not take the rows would leave it half done.
                found = self._replacement(candidate, new)
                require_sink(self.versions.spark_session, found.spec, found.context)
        return query

    def _comparison(
        self, replacement: Replacement, new: QueryHome, allowed: Allowed
    ) -> tuple[RowComparison, tuple[str, ...]]:
        """Return what differs between the rows of the sink and those of the new version, and the columns that come."""
        spark = self.versions.spark_session
        before, now = replacement.rows(spark), _beside(replacement, new).rows(spark)
        shared, added = shared_columns(before.columns, now.columns)
        before, now = (rows.select(*map(identifier, shared)) for rows in (before, now))
        found = compare(before, now, replacement.keys(), expected=allowed.columns, show=allowed.show)
        return found, tuple(added)

    # The switch

    def _switch(self, pair: _Pair, deployed: int, *, replaces: bool) -> None:
        """Make the new version the current one. Each step may be done again.

        Args:
            deployed: when, the same for all queries of a deployment.
            replaces: whether its rows take the place of those that are there; else these are the same.
        """
        folder, spark = pair.old.folder, self.versions.spark_session
        outdated = versions_of(folder).before  # there is one way back
        with self.versions.home(pair.candidate, pair.version) as new:
            self._require_still(pair)
            replacement = self._replacement(pair.candidate, new)
            if replaces:
                self._replace(pair, new, replacement)
                after = versions_of(folder).switched(deployed)
            else:
                if pair.old.fence.taken_over:
                    self._shut_out(pair, replacement)
                after = versions_of(folder).switched(deployed, replacement.version(spark))
            self._record(pair.candidate, new)
            put_versions(folder, after)
            new.location.store.remove(ROWS)
        if outdated is not None:
            remove_version(folder, outdated)

    def _replace(self, pair: _Pair, new: QueryHome, replacement: Replacement) -> None:
        spark, folder = self.versions.spark_session, pair.old.folder
        if not pair.halfway:
            put_versions(folder, versions_of(folder).switching(replacement.version(spark)))
        self._shut_out(pair, replacement)
        pair.old.fence.check()
        replacement.replace(_beside(replacement, new).rows(spark), new.last_batch())

    def _shut_out(self, pair: _Pair, replacement: Replacement) -> None:
        """Open the sink, which gets the columns that it lacks, and lets no commit of a driver through that was away."""
        context = replace(replacement.context, fence=pair.old.fence)
        open_sink(self.versions.spark_session, replacement.spec, context)

    def _require_still(self, pair: _Pair) -> None:
        """Refuse where the old version is another driver's by now, or another deployment has begun."""
        pair.old.fence.check()
        if versions_of(pair.old.folder).beside != pair.version:
            raise pair.candidate.refusal("another deployment of it has begun meanwhile", "deploy it again")

    def _replacement(self, candidate: Deployable, new: QueryHome) -> Replacement:
        run = new.run()
        assert run is not None
        return self.versions.replacement(candidate, Place(new, run))

    # The way back

    def _require_before(self, candidate: Deployable) -> None:
        home = self.versions.home(candidate, looks=True)
        versions = versions_of(home.folder)
        if versions.step != SWITCHING:
            before = self.versions.home(candidate, versions.before, looks=True) if versions.before is not None else None
            if before is None or before.run() is None:
                self._refuse_rollback(candidate)
        refuse_writers(candidate, self._records)
        refuse_readers(candidate, self._records)

    def _refuse_rollback(self, candidate: Deployable) -> NoReturn:
        message = f"there is no version of query `{candidate.draft.name}` to go back to"
        raise SqlExtError("RUN-085", message, span=candidate.draft.insert.span)

    def _rolled_back(self, candidate: Deployable) -> DeployedQuery:
        """Bring back the version before, or that which was being replaced. Each step may be done again."""
        with self.versions.home(candidate) as current:
            folder, versions = current.folder, versions_of(current.folder)
            if versions.step == SWITCHING:
                self._restore(candidate, current, versions)
                put_versions(folder, versions.given_up())
                self._record_again(candidate, current)
                gone = versions.beside
            else:
                assert versions.before is not None
                with self.versions.home(candidate, versions.before) as old:
                    put_versions(folder, versions.restoring())
                    self._restore(candidate, current, versions)
                    put_versions(folder, versions.rolled_back())
                    self._record_again(candidate, old)
                gone = versions.current
        assert gone is not None
        remove_version(folder, gone)
        return DeployedQuery(candidate.draft.name, candidate.table, ROLLED_BACK)

    def _restore(self, candidate: Deployable, current: QueryHome, versions: Versions) -> None:
        assert versions.restored is not None
        current.fence.check()
        self._replacement(candidate, current).restore(self.versions.spark_session, versions.restored)

    def _record_again(self, candidate: Deployable, old: QueryHome) -> None:
        """Let the catalog's record say what the version before is; its text is that of the script where they agree."""
        run = old.run()
        assert run is not None
        if not candidate.changes_since(run):
            self._record(candidate, old)
            return
        fingerprint = digest(run.fingerprint)

        def update(record: QueryRecord) -> QueryRecord:
            return replace(record, checkpoint=old.checkpoint, fingerprint=fingerprint, status="stopped")

        self._update(candidate, update, "ROLL BACK QUERY")

    # The catalog

    @property
    def _records(self) -> Sequence[QueryRecord]:
        return self.catalog.snapshot().queries()

    def _record(self, candidate: Deployable, home: QueryHome) -> None:
        """Let the catalog's record say what the version in a folder is; what else it says stays, as its job."""
        run = home.run()
        assert run is not None
        made = record_of(candidate.statement, candidate.draft, Place(home, run))
        made = replace(made, status="stopped")
        if all(r.name != made.name for r in self._records):
            self.catalog.apply(ddl.record_query(made), f"DEPLOY QUERY {made.name}")
            return

        def update(record: QueryRecord) -> QueryRecord:
            return replace(made, details=record.details, started=record.started, watermark=record.watermark)

        self._update(candidate, update, "DEPLOY QUERY")

    def _update(self, candidate: Deployable, update: Callable[[QueryRecord], QueryRecord], operation: str) -> None:
        name = candidate.draft.name
        self.catalog.apply(ddl.update_query(name, update), f"{operation} {name}")


def _deployed(pair: _Pair) -> DeployedQuery:
    run = pair.old.run()
    assert run is not None
    candidate = pair.candidate
    changes = tuple(map(str, candidate.changes_since(run)))
    return DeployedQuery(candidate.draft.name, candidate.table, SWITCHED, changes)


def _left_alone(candidate: Deployable) -> DeployedQuery:
    return DeployedQuery(candidate.draft.name, candidate.table, LEFT_ALONE)


def _beside(replacement: Replacement, new: QueryHome) -> Replacement:
    """Return the rows of the new version as those of a sink."""
    return replace(replacement, spec=replacement.beside(rows_of(new)))

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
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from sqlext.analysis.inserts.fingerprint import digest
from sqlext.errors import SqlExtError
from sqlext.jobs.alongside import ReachedBatch
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.comparison import DifferenceLimit, RowComparison, compare
from sqlext.jobs.parts import Place
from sqlext.jobs.recording import ask_to_stop
from sqlext.jobs.versions import RESTORING, SWITCHING, put_versions, remove_version, versions_of
from sqlext.plan.timing import InputEnd
from sqlext.quoting import identifier
from sqlext.session.deploying.beside import ROWS, NewVersions, rows_of, shared_columns
from sqlext.session.deploying.candidates import Deployable, refuse_readers, refuse_writers, require_deployable
from sqlext.session.deploying.report import (
    BEGINS,
    BEGINS_ANEW,
    DIFFERS,
    HELD_BACK,
    ROLLED_BACK,
    SAME,
    SWITCHED,
    DeployedQuery,
    Deployment,
)
from sqlext.session.places import record_of
from sqlext.sinks.opening import open_sink
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
            for pair in pairs:
                self._catch_up(pair)
            compared = [self._compared(pair, allowed) for pair in pairs]
            if all(query.outcome == SWITCHED for query in compared):
                for pair, query in zip(pairs, compared, strict=True):
                    self._switch(pair, replaces=query.has_other_rows)
            else:
                compared = [q if q.outcome == DIFFERS else replace(q, outcome=HELD_BACK) for q in compared]
        done = {query.name: query for query in compared}
        return Deployment(tuple(query or done[name] for name, query in found.items()))

    def roll_back(self, candidates: Sequence[Deployable]) -> Deployment:
        """Bring back the versions from before the last deployment of these queries.

        Raises:
            SqlExtError: RUN-085 there is none; RUN-022 the current one runs; RUN-084 another query uses the table.
        """
        for candidate in candidates:
            self._require_before(candidate)
        return Deployment(tuple(self._rolled_back(candidate) for candidate in candidates))

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
        if not pair.halfway:
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

    def _compared(self, pair: _Pair, allowed: Allowed) -> DeployedQuery:
        candidate = pair.candidate
        run = pair.old.run()
        assert run is not None
        query = DeployedQuery(
            candidate.draft.name, candidate.table, SWITCHED, tuple(map(str, candidate.changes_since(run)))
        )
        if pair.halfway:  # they were compared before
            return query
        with self.versions.home(candidate, pair.version) as new:
            comparison, added = self._comparison(self._replacement(candidate, new), new, allowed)
        outcome = SWITCHED if allowed.limit.allows(comparison) else DIFFERS
        query = replace(query, outcome=outcome, comparison=comparison, added=added)
        if outcome == SWITCHED and query.has_other_rows:
            refuse_readers(candidate, self._records)
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

    def _switch(self, pair: _Pair, *, replaces: bool) -> None:
        """Make the new version the current one. Each step may be done again.

        Args:
            replaces: whether its rows take the place of those that are there; else these are the same.
        """
        folder = pair.old.folder
        with self.versions.home(pair.candidate, pair.version) as new:
            replacement = self._replacement(pair.candidate, new)
            before = versions_of(folder)
            if before.before is not None:  # there is one way back
                remove_version(folder, before.before)
            if replaces:
                self._replace(pair, new, replacement)
                after = versions_of(folder).switched()
            else:
                after = before.switched(replacement.version(self.versions.spark_session))
            run = new.run()
            assert run is not None
            record = record_of(pair.candidate.statement, pair.candidate.draft, Place(new, run))
            self._record(replace(record, status="stopped"))
            put_versions(folder, after)
            new.location.store.remove(ROWS)

    def _replace(self, pair: _Pair, new: QueryHome, replacement: Replacement) -> None:
        spark, folder = self.versions.spark_session, pair.old.folder
        if not pair.halfway:
            put_versions(folder, versions_of(folder).switching(replacement.version(spark)))
        open_sink(spark, replacement.spec, replacement.context)  # it gets the columns that it lacks
        replacement.replace(_beside(replacement, new).rows(spark), new.last_batch())

    def _replacement(self, candidate: Deployable, new: QueryHome) -> Replacement:
        run = new.run()
        assert run is not None
        return self.versions.replacement(candidate, Place(new, run))

    # The way back

    def _require_before(self, candidate: Deployable) -> None:
        folder = self.versions.home(candidate, looks=True).folder
        versions = versions_of(folder)
        if versions.before is None:
            name = candidate.draft.name
            message = f"there is no version of query `{name}` to go back to"
            hint = "sqlext deploy with the new version ends what was broken off" if versions.step else None
            raise SqlExtError("RUN-085", message, span=candidate.draft.insert.span, hint=hint)
        refuse_writers(candidate, self._records)
        refuse_readers(candidate, self._records)

    def _rolled_back(self, candidate: Deployable) -> DeployedQuery:
        """Bring back the version before. Each step may be done again."""
        with self.versions.home(candidate) as new:
            folder, versions = new.folder, versions_of(new.folder)
            assert versions.before is not None
            assert versions.restored is not None
            with self.versions.home(candidate, versions.before) as old:
                put_versions(folder, versions.restoring())
                self._replacement(candidate, new).restore(self.versions.spark_session, versions.restored)
                put_versions(folder, versions.rolled_back())
                self._record_again(candidate, old)
        remove_version(folder, versions.current)
        return DeployedQuery(candidate.draft.name, candidate.table, ROLLED_BACK)

    def _record_again(self, candidate: Deployable, old: QueryHome) -> None:
        """Let the catalog's record say what the version before is; its text is that of the script where they agree."""
        run = old.run()
        assert run is not None
        if not candidate.changes_since(run):
            record = record_of(candidate.statement, candidate.draft, Place(old, run))
            self._record(replace(record, status="stopped"))
            return
        update = ddl.update_query(
            candidate.draft.name,
            lambda r: replace(r, checkpoint=old.checkpoint, fingerprint=digest(run.fingerprint), status="stopped"),
        )
        self.catalog.apply(update, f"ROLL BACK QUERY {candidate.draft.name}")

    # The catalog

    @property
    def _records(self) -> Sequence[QueryRecord]:
        return self.catalog.snapshot().queries()

    def _record(self, record: QueryRecord) -> None:
        self.catalog.apply(ddl.record_query(record), f"DEPLOY QUERY {record.name}")


def _beside(replacement: Replacement, new: QueryHome) -> Replacement:
    """Return the rows of the new version as those of a sink."""
    return replace(replacement, spec=replacement.beside(rows_of(new)))

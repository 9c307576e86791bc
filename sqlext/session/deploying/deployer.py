"""Deploy the changed queries of a script.

1. The new version of each runs beside the old one (``beside``).
2. The old versions must not run from here on. The new ones read the rest, and their rows are compared.
3. ``versions.json`` of each query says that it is switched. From here on nobody else may start it (RUN-083).
4. One commit of each sink's table replaces the rows. Where no row differs, there is no such commit: streams that read
   the table go on. Nor is there one where the sink keeps its rows.
5. ``versions.json`` says which version is the current one.

One process at a time deploys a query. One that dies leaves ``versions.json``, and the same command goes on from there:
where no rows were replaced by then it compares them again, else it ends what was begun.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from sqlext.errors import SqlExtError
from sqlext.jobs.alongside import ReachedBatch
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.comparison import RowComparison, compare
from sqlext.jobs.recording import ask_to_stop
from sqlext.jobs.versions import RESTORING, SWITCHING, refuse_halfway, remove_outdated, versions_of
from sqlext.plan.timing import InputEnd
from sqlext.session.deploying.allowed import Allowed
from sqlext.session.deploying.beside import ROWS, NewVersions, rows_of
from sqlext.session.deploying.candidates import Deployable, readers_of, refuse_readers, require_deployable
from sqlext.session.deploying.columns import ColumnComparison, compared_columns, selected
from sqlext.session.deploying.records import VersionRecords
from sqlext.session.deploying.report import (
    BEGINS,
    BEGINS_ANEW,
    DIFFERS,
    HELD_BACK,
    SAME,
    SWITCHED,
    DeployedQuery,
    Deployment,
)
from sqlext.sinks.opening import open_sink, require_sink
from sqlext.sinks.replacing import Replacement

#: How long an old version may take to stop: in an object store its driver looks each quarter of a minute.
_SECONDS_TO_STOP, _SECONDS_BETWEEN_LOOKS = 120, 0.5


@dataclass(frozen=True)
class _Pair:
    """The two versions of a query; the old one is this driver's."""

    candidate: Deployable
    old: QueryHome
    version: str

    @property
    def name(self) -> str:
        """The query's."""
        return self.candidate.draft.name


@dataclass(frozen=True)
class Deployer:
    """Deploys queries.

    Attributes:
        versions: runs the new ones.
        records: what the catalog says of queries.
    """

    versions: NewVersions
    records: VersionRecords

    def deploy(self, candidates: Sequence[Deployable], allowed: Allowed, *, stops: bool = False) -> Deployment:
        """Deploy the changed ones; all or none of them are switched.

        Args:
            stops: whether old versions that run are asked to stop.

        Raises:
            SqlExtError: RUN-022 an old version runs; RUN-083, RUN-084 for a query that cannot be deployed; RUN-087
                somebody else deploys one; what a new version fails with.
        """
        with self.versions.sole(candidates):
            return self._deployed(candidates, allowed, stops)

    def _deployed(self, candidates: Sequence[Deployable], allowed: Allowed, stops: bool) -> Deployment:
        found = {c.draft.name: self._unchanged(c) for c in candidates}
        changed = [c for c in candidates if found[c.draft.name] is None]
        begun = [(c, self._run_beside(c)) for c in changed]
        for candidate in changed if stops else ():
            self._stop(candidate)
        with ExitStack() as held:
            pairs = [_Pair(c, held.enter_context(self._taken(c)), version) for c, version in begun]
            # What has begun to be replaced is ended first, whatever comes of the others.
            halfway = self._halfway(candidates, pairs)
            for pair in halfway:
                self._switch(pair)
            done = {pair.name: _deployed(pair) for pair in halfway}
            pairs = [pair for pair in pairs if pair.name not in done]
            for pair in pairs:
                self._catch_up(pair)
            compared = [self._compared(pair, allowed) for pair in pairs]
            if all(query.outcome == SWITCHED for query in compared):
                self._switch_all(pairs, compared)
            else:
                compared = [q if q.outcome == DIFFERS else replace(q, outcome=HELD_BACK) for q in compared]
        done |= {query.name: query for query in compared}
        return Deployment(tuple(query or done[name] for name, query in found.items()))

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
        require_deployable(candidate, found, self.records.all())
        candidate.require_read(old)
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

    def _taken(self, candidate: Deployable) -> QueryHome:
        """Return the folder of the old version, this driver's own from here on."""
        try:
            return self.versions.home(candidate)
        except SqlExtError as error:
            if error.code != "RUN-022":
                raise
            hint = "sqlext deploy --stop (stop=True) asks who runs it to stop it; or stop it, then deploy again"
            raise SqlExtError(error.code, error.message, span=candidate.draft.insert.span, hint=hint) from None

    def _catch_up(self, pair: _Pair) -> None:
        """Let the new version read what the old one has read since; the old one has stopped."""
        self.versions.advance(pair.candidate, pair.version, ReachedBatch(pair.old, self._last_batch(pair)))

    def _last_batch(self, pair: _Pair) -> int:
        """Return the last micro-batch of the old version whose rows are in the sink."""
        old, last = pair.old, pair.old.last_batch()
        if not old.repeats_a_batch():
            return last
        # It was stopped on the way: Spark does not count that micro-batch, but the sink may have it.
        has = self.versions.replacement_in(pair.candidate, old).has(self.versions.spark_session, last + 1)
        if has is None:
            why = "nothing says whether the sink has the micro-batch that the version that is there has begun last"
            raise pair.candidate.refusal(why, "run it once more as it was, stop it, and then deploy")
        return last + 1 if has else last

    def _compared(self, pair: _Pair, allowed: Allowed) -> DeployedQuery:
        candidate, query = pair.candidate, _deployed(pair)
        with self.versions.home(candidate, pair.version) as new:
            replacement = self.versions.replacement_in(candidate, new)
            if candidate.keeps_rows:
                # A sink that does not take the rows to come would leave it half done.
                require_sink(self.versions.spark_session, replacement.spec, replacement.context)
                return replace(query, keeps_rows=True)
            comparison, columns = self._comparison(replacement, new, allowed)
            outcome = SWITCHED if allowed.limit.allows(comparison) else DIFFERS
            query = replace(query, outcome=outcome, comparison=comparison, columns=columns)
            if query.has_other_rows:
                query = replace(query, readers=readers_of(candidate, self.records.all(), self.versions.run_of))
            if outcome == SWITCHED and query.has_other_rows:
                refuse_readers(candidate, self.records.all(), self.versions.run_of)
                if replacement.takes(self.versions.spark_session):
                    # Before anything is replaced: a sink that does not take the rows would leave it half done.
                    require_sink(self.versions.spark_session, replacement.spec, replacement.context)
        return query

    def _comparison(
        self, replacement: Replacement, new: QueryHome, allowed: Allowed
    ) -> tuple[RowComparison, ColumnComparison]:
        """Return what differs between the rows of the sink and those of the new version."""
        spark = self.versions.spark_session
        before, now = replacement.rows(spark), _beside(replacement, new).rows(spark)
        columns = compared_columns(before, now, replacement.keys())
        before, now = selected(before, columns), selected(now, columns)
        return compare(before, now, columns.key, expected=allowed.columns, show=allowed.show), columns

    # The switch; each step may be done again

    def _halfway(self, candidates: Sequence[Deployable], pairs: Sequence[_Pair]) -> list[_Pair]:
        """Return those of a deployment that was broken off when rows of it were replaced already."""
        there = {c.draft.name: versions_of(self.versions.home(c, looks=True).folder) for c in candidates}
        halfway = [pair for pair in pairs if there[pair.name].step == SWITCHING]
        decided = {v.deployed for v in there.values() if not v.step} - {0}
        decided |= {there[pair.name].deployed for pair in halfway if self._is_replaced(pair)}
        return [pair for pair in halfway if there[pair.name].deployed in decided]

    def _is_replaced(self, pair: _Pair) -> bool:
        """Whether nobody is asked again: the sink keeps its rows, or its table has others than before the switch."""
        found, versions = self.versions.replacement_in(pair.candidate, pair.old), versions_of(pair.old.folder)
        return versions.keeps or found.version(self.versions.spark_session) != versions.restored

    def _switch_all(self, pairs: Sequence[_Pair], compared: Sequence[DeployedQuery]) -> None:
        deployed, spark = time.time_ns(), self.versions.spark_session
        for pair, query in zip(pairs, compared, strict=True):
            self._require_still(pair)
            table = self.versions.replacement_in(pair.candidate, pair.old).version(spark)
            then = versions_of(pair.old.folder)
            now = then.switching(table, deployed, replaces=query.has_other_rows)
            self.records.keep(pair.candidate, pair.old)
            self.versions.change(pair.candidate, then, now)
        for pair in pairs:
            self._switch(pair)

    def _switch(self, pair: _Pair) -> None:
        """Make the new version the current one: its rows take the place of those that are there, unless they differ."""
        folder, candidate = pair.old.folder, pair.candidate
        versions = versions_of(folder)
        with self.versions.home(candidate, pair.version) as new:
            self._require_still(pair)
            replacement = self.versions.replacement_in(candidate, new)
            opens = versions.replaces or versions.keeps or pair.old.fence.taken_over
            if opens and replacement.takes(self.versions.spark_session):
                self._shut_out(pair, replacement)
            if versions.replaces:
                pair.old.fence.check()
                replacement.replace(_beside(replacement, new).rows(self.versions.spark_session), new.last_batch())
            self.records.say(candidate, new)
            self.versions.change(candidate, versions, versions.switched())
            new.location.store.remove(ROWS)
        remove_outdated(folder)

    def _shut_out(self, pair: _Pair, replacement: Replacement) -> None:
        """Open the sink, which gets the columns that it lacks, and lets no commit of a driver through that was away."""
        context = replace(replacement.context, fence=pair.old.fence)
        open_sink(self.versions.spark_session, replacement.spec, context)

    def _require_still(self, pair: _Pair) -> None:
        """Refuse where the old version is another driver's by now, or another deployment has begun."""
        pair.old.fence.check()
        if versions_of(pair.old.folder).beside != pair.version:
            raise pair.candidate.refusal("another deployment of it has begun meanwhile", "deploy it again")


def _deployed(pair: _Pair) -> DeployedQuery:
    run = pair.old.run()
    assert run is not None
    candidate = pair.candidate
    changes = tuple(map(str, candidate.changes_since(run)))
    return DeployedQuery(candidate.draft.name, candidate.table, SWITCHED, changes)


def _beside(replacement: Replacement, new: QueryHome) -> Replacement:
    """Return the rows of the new version as those of a sink."""
    return replace(replacement, spec=replacement.beside(rows_of(new)))

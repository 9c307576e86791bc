"""Deploy the changed queries of a script.

1. The new version of each runs beside the old one (``beside``).
2. The old versions must not run from here on. The new ones read the rest, and their rows are compared.
3. ``versions.json`` of each query says that it is switched. From here on nobody else may start it (RUN-083).
4. One commit of each sink's table replaces the rows. Where no row differs, there is no such commit: streams that read
   the table go on. Nor is there one where the sink keeps its rows.
5. ``versions.json`` says which version is the current one.

A query that reads a table whose rows are replaced is renewed (``downstream``): between 2 and 3 a new version of it
reads the new rows where they lie then. When they are in the table, it is moved behind them.

One process at a time deploys a query. One that dies leaves ``versions.json``, and the same command goes on from there:
where no rows were replaced by then it compares them again, else it ends what was begun.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial

from sqlext.analysis.inserts.changes import Change
from sqlext.errors import SqlExtError
from sqlext.jobs.alongside import ReachedBatch, last_ends, move_ends
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.comparison import RowComparison, compare
from sqlext.jobs.recording import ask_to_stop
from sqlext.jobs.versions import RESTORING, SWITCHING, refuse_halfway, remove_outdated, versions_of
from sqlext.locations import on_disk
from sqlext.plan.timing import InputEnd
from sqlext.session.deploying.allowed import Allowed
from sqlext.session.deploying.beside import ROWS, NewVersions, rows_of
from sqlext.session.deploying.candidates import Deployable, in_order, readers_among, require_deployable
from sqlext.session.deploying.columns import ColumnComparison, compared_columns, selected
from sqlext.session.deploying.downstream import BEGINS_AGAIN, GOES_ON, REFUSED, RENEWED, Downstream, Reader
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
class _Chain:
    """What a deployment has found of its queries by then; who reads what another one writes comes behind that one."""

    allowed: Allowed
    pairs: dict[str, _Pair]
    held: ExitStack
    compared: dict[str, DeployedQuery] = field(default_factory=dict)

    @property
    def differs(self) -> bool:
        """Whether nothing will be switched."""
        return any(query.outcome == DIFFERS for query in self.compared.values())


@dataclass(frozen=True)
class Deployer:
    """Deploys queries.

    Attributes:
        versions: runs the new ones.
        records: what the catalog says of queries.
        downstream: knows the queries that read what others write.
        renews: whether these are renewed; else they are refused.
    """

    versions: NewVersions
    records: VersionRecords
    downstream: Downstream
    renews: bool = True

    def deploy(self, candidates: Sequence[Deployable], allowed: Allowed, *, stops: bool = False) -> Deployment:
        """Deploy the changed ones; all or none of them are switched.

        Args:
            stops: whether old versions that run are asked to stop.

        Raises:
            SqlExtError: RUN-022 an old version runs; RUN-083, RUN-084 for a query that cannot be deployed; RUN-087
                somebody else deploys one; what a new version fails with.
        """
        with self.versions.sole([*candidates, *self.downstream.behind(candidates)]):
            return self._deployed(candidates, allowed, stops)

    def _deployed(self, scripted: Sequence[Deployable], allowed: Allowed, stops: bool) -> Deployment:
        candidates = [*scripted, *self.downstream.behind(scripted)]
        found = {c.name: self._unchanged(c, scripted=n < len(scripted)) for n, c in enumerate(candidates)}
        changed = [c for c in candidates if found[c.name] is None]
        late = {c.name: c for c in readers_among(candidates, changed)}
        # Who reads what another one writes begins when that one has been compared.
        first = [(c, self._run_beside(c)) for c in changed if c.name not in late]
        affected = [c for c in candidates if found[c.name] is None or c.name in late]
        for candidate in affected if stops else ():
            self._stop(candidate)
        with ExitStack() as held:
            pairs = [_Pair(c, held.enter_context(self._taken(c)), version) for c, version in first]
            pairs += self._between(late.values(), held)
            # What has begun to be replaced is ended first, whatever comes of the others.
            halfway = self._halfway(candidates, pairs)
            for pair in halfway:
                self._switch(pair, halfway)
            done = {pair.name: _deployed(pair) for pair in halfway}
            chain = _Chain(allowed, {pair.name: pair for pair in pairs if pair.name not in done}, held)
            for candidate in in_order([c for c in affected if c.name not in done]):
                if candidate.name in late:
                    self._follow(candidate, chain, candidates)
                else:
                    self._catch_up(chain.pairs[candidate.name])
                    self._compare(candidate.name, chain, candidates)
            compared = chain.compared
            if all(query.outcome == SWITCHED for query in compared.values()):
                self._switch_all([chain.pairs[name] for name in compared], list(compared.values()))
            else:
                compared = {name: _held_back(query) for name, query in compared.items()}
        shown = {c.name: query for c in scripted if (query := found[c.name]) is not None} | done | compared
        names = dict.fromkeys([*(c.name for c in scripted), *shown])
        return Deployment(tuple(shown[name] for name in names if name in shown))

    # Queries that read what others write

    def _between(self, late: Iterable[Deployable], held: ExitStack) -> list[_Pair]:
        """Return those of a deployment that was broken off when they were to be switched."""
        pairs = []
        for candidate in late:
            versions = versions_of(self.versions.home(candidate, looks=True).folder)
            if versions.step == SWITCHING and versions.beside is not None:
                pairs.append(_Pair(candidate, held.enter_context(self._taken(candidate)), versions.beside))
        return pairs

    def _follow(self, candidate: Deployable, chain: _Chain, known: Sequence[Deployable]) -> None:
        """Let a query that reads what others write go on, or run a new version of it behind their new ones."""
        upstream = [pair for pair in chain.pairs.values() if pair.candidate.table in candidate.reads]
        replaced = [p for p in upstream if p.name in chain.compared and chain.compared[p.name].has_other_rows]
        run = self.versions.home(candidate, looks=True).run()
        assert run is not None, "what has never begun is not known to read"
        changes = candidate.changes_since(run)
        if chain.differs:
            if replaced or changes:
                chain.compared[candidate.name] = _described(candidate, changes, HELD_BACK)
            return
        if replaced:
            reader = self.downstream.reader(candidate, [p.candidate.table for p in replaced], run)
            if reader.outcome == REFUSED or (reader.outcome == RENEWED and not self.renews):
                raise _cannot_follow(replaced[0], reader)
            if reader.outcome == GOES_ON:
                return
        elif not changes:
            return
        if candidate.name not in chain.pairs:
            chain.pairs[candidate.name] = self._run_behind(candidate, replaced, chain.held)
        self._compare(candidate.name, chain, known)

    def _run_behind(self, candidate: Deployable, replaced: Sequence[_Pair], held: ExitStack) -> _Pair:
        """Run the new version of a query over the new rows of what it reads, and return both."""
        if not replaced:
            version = self._run_beside(candidate)
            pair = _Pair(candidate, held.enter_context(self._taken(candidate)), version)
            self._catch_up(pair)
            return pair
        old = held.enter_context(self._taken(candidate))
        for pair in replaced:
            self._require_whole(candidate, old, pair)
        rows = {p.candidate.table: on_disk(rows_of(self._home(p))) for p in replaced}
        moved = self.downstream.moved(candidate, rows)
        version = self.versions.begin(moved, old, lambda ends: self._elsewhere(moved, replaced, ends))
        reached = ReachedBatch(old, old.last_batch())
        self.versions.advance(moved, version, reached)
        return _Pair(moved, old, version)

    def _home(self, pair: _Pair) -> QueryHome:
        return self.versions.home(pair.candidate, pair.version, looks=True)

    def _require_whole(self, candidate: Deployable, old: QueryHome, pair: _Pair) -> None:
        """Refuse a query that has not read all of the table whose rows are replaced: a rollback would lose them."""
        candidate.require_read(old)
        there = self.versions.replacement_in(pair.candidate, pair.old)
        alone = candidate.reads_alone
        if old.repeats_a_batch() or not there.are_read(self.versions.spark_session, last_ends(old), alone=alone):
            why = f"it has not read all rows of `{pair.candidate.table}` yet, which are to be replaced"
            raise candidate.refusal(why, "run it once more as it was, stop it, and then deploy")

    def _elsewhere(self, candidate: Deployable, replaced: Sequence[_Pair], ends: Sequence[str]) -> list[int]:
        """Return the numbers of the sources that read new rows."""
        found: set[int] = set()
        for pair in replaced:
            theirs = [n for n, end in enumerate(self._moved(pair, ends, candidate)) if end is not None]
            if not theirs:
                why = f"its checkpoint does not say how far it has read `{pair.candidate.table}`"
                raise candidate.refusal(why, f"DROP QUERY `{candidate.name}` before; {BEGINS_AGAIN}")
            found.update(theirs)
        return sorted(found)

    def _moved(self, pair: _Pair, ends: Sequence[str], reader: Deployable) -> Sequence[str | None]:
        """Return the places of a query that has read the new rows, behind those of the table."""
        there = self.versions.replacement(pair.candidate)
        beside = _beside(there, self._home(pair))
        return there.behind(self.versions.spark_session, ends, beside, alone=reader.reads_alone)

    def _move_readers(self, pair: _Pair, pairs: Sequence[_Pair]) -> None:
        """Let the new versions that have read the new rows go on behind them, in the table."""
        for reader in pairs:
            if pair.candidate.table in reader.candidate.reads and reader is not pair:
                with self.versions.home(reader.candidate, reader.version) as new:
                    move_ends(new, partial(self._moved, pair, reader=reader.candidate))

    # The new version

    def _unchanged(self, candidate: Deployable, *, scripted: bool) -> DeployedQuery | None:
        """Return why there is nothing to deploy, None where there is.

        Args:
            scripted: whether the script has it; else it is there for those of the script.
        """
        old = self.versions.home(candidate, looks=True)
        if versions_of(old.folder).step == RESTORING:
            raise candidate.refusal("a rollback of it was broken off", "sqlext deploy --rollback ends it")
        run = old.run()
        if run is None:
            return DeployedQuery(candidate.draft.name, candidate.table, BEGINS)
        found = candidate.changes_since(run) if scripted else ()
        if not found:
            if self._is_being_renewed(candidate, old):
                return None
            refuse_halfway(old.folder, candidate.draft.name)
        ended = run.finished and candidate.end is InputEnd.FINISH
        if ended or not found:
            return DeployedQuery(candidate.draft.name, candidate.table, BEGINS_ANEW if ended else SAME)
        require_deployable(candidate, found, self.records.all())
        candidate.require_read(old)
        return None

    def _is_being_renewed(self, candidate: Deployable, old: QueryHome) -> bool:
        """Whether a deployment was broken off when a new version of the same query was to be switched."""
        versions = versions_of(old.folder)
        if versions.step != SWITCHING or not versions.follows:
            return False
        run = self.versions.home(candidate, versions.beside, looks=True).run()
        return run is not None and run.fingerprint == candidate.draft.prints

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
        if versions_of(pair.old.folder).follows:
            # It has read the new rows of a query that is not in this script.
            refuse_halfway(pair.old.folder, pair.name)
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

    def _compare(self, name: str, chain: _Chain, known: Sequence[Deployable]) -> None:
        """Compare the rows of a query's versions, and say what becomes of those that read them."""
        pair = chain.pairs[name]
        query = self._compared(pair, chain.allowed)
        if query.has_other_rows:
            query = replace(query, readers=self._readers(pair.candidate, known))
        chain.compared[name] = query
        refused = next((r for r in query.readers if r.outcome == REFUSED), None)
        if query.outcome == SWITCHED and refused is not None:
            raise _cannot_follow(pair, refused)

    def _readers(self, candidate: Deployable, known: Sequence[Deployable]) -> tuple[Reader, ...]:
        found = self.downstream.readers(candidate, known)
        if self.renews:
            return tuple(found)
        return tuple(replace(r, outcome=REFUSED) if r.outcome == RENEWED else r for r in found)

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
            if outcome == SWITCHED and query.has_other_rows and replacement.takes(self.versions.spark_session):
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
        ended = {pair.name: pair for pair in halfway if there[pair.name].deployed in decided}
        return [ended[c.name] for c in in_order([pair.candidate for pair in ended.values()])]

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
            self._switch(pair, pairs)

    def _switch(self, pair: _Pair, pairs: Sequence[_Pair]) -> None:
        """Make the new version the current one: its rows take the place of those that are there, unless they differ.

        Args:
            pairs: all that are switched.
        """
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
                # Before anybody may start it: then it writes more.
                self._move_readers(pair, pairs)
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
    return _described(candidate, candidate.changes_since(run), SWITCHED)


def _described(candidate: Deployable, changes: Sequence[Change], outcome: str) -> DeployedQuery:
    return DeployedQuery(candidate.name, candidate.table, outcome, tuple(map(str, changes)))


def _held_back(query: DeployedQuery) -> DeployedQuery:
    return query if query.outcome == DIFFERS else replace(query, outcome=HELD_BACK)


def _cannot_follow(pair: _Pair, reader: Reader) -> SqlExtError:
    """Return the refusal of a query whose reader would meet rows that are replaced."""
    why = f": {reader.why}" if reader.why else ""
    return pair.candidate.refusal(
        f"query `{reader.name}` reads the table as a stream, and would meet rows that are replaced{why}",
        f"DROP QUERY `{reader.name}` before; {BEGINS_AGAIN}",
    )


def _beside(replacement: Replacement, new: QueryHome) -> Replacement:
    """Return the rows of the new version as those of a sink."""
    return replace(replacement, spec=replacement.beside(rows_of(new)))

"""Run the new version of a query beside the old one, into rows of its own, up to where the old one is."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.connectors.registry import connector_of
from sqlext.jobs.alongside import (
    ReachedBatch,
    first_cut,
    first_ends,
    keep_watermark,
    next_cut,
    plan_as,
    plan_first,
    plan_next,
    plan_watermark,
)
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.parts import JobPart, Place, Schedule
from sqlext.jobs.query import JobLog
from sqlext.jobs.renewal import CHECKPOINT
from sqlext.jobs.runner import Job
from sqlext.jobs.runs import QueryRun
from sqlext.jobs.versions import (
    SWITCHING,
    Versions,
    change_versions,
    remove_outdated,
    sole_deployment,
    versions_of,
)
from sqlext.session.deploying.candidates import Deployable
from sqlext.session.drafts import RunOptions
from sqlext.session.executor import SparkHandler
from sqlext.session.places import sink_context
from sqlext.session.state import SessionState
from sqlext.sinks.opening import open_sink
from sqlext.sinks.replacing import Replacement, UntouchedRows, replacement_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Below the folder of a version that is not current yet: what it has written.
ROWS = "rows"
#: One micro-batch, which is planned already.
_PLANNED = Schedule(bounded=True, finish=False, planned=True)


class NewVersions(SparkHandler):
    """Runs new versions of queries; the old ones may run meanwhile."""

    def __init__(
        self, spark: Callable[[], SparkSession], state: SessionState, folder: Path | str, options: RunOptions
    ) -> None:
        super().__init__(spark, state, folder, options)

    def home(self, candidate: Deployable, version: str | None = None, *, looks: bool = False) -> QueryHome:
        """Return the folder of a version of a query, None for the current one."""
        name, stores = candidate.draft.name, self.state.stores
        return QueryHome(self.folder, name, self._checkpoint, settings=stores, looks=looks, version=version)

    def run_of(self, name: str) -> QueryRun | None:
        """Return the run of the current version of a query; None where it never began."""
        return QueryHome(self.folder, name, self._checkpoint, settings=self.state.stores, looks=True).run()

    @contextmanager
    def sole(self, candidates: Sequence[Deployable]) -> Iterator[None]:
        """Be the only one who deploys these queries, or rolls them back; those that never began do not count.

        Raises:
            SqlExtError: RUN-087 somebody else does.
        """
        with ExitStack() as held:
            for candidate in candidates:
                place = self.home(candidate, looks=True)
                if place.run() is not None:
                    held.enter_context(sole_deployment(place.folder, candidate.draft.name))
            yield

    def change(self, candidate: Deployable, then: Versions, now: Versions) -> None:
        """Let the versions of a query follow those that are there (RUN-087 where they are not any more)."""
        change_versions(self.home(candidate, looks=True).folder, candidate.draft.name, then, now)

    def begin(
        self, candidate: Deployable, old: QueryHome, whole: Callable[[Sequence[str]], Sequence[int]] = lambda _: ()
    ) -> str:
        """Return the folder of the new version, begun; one that has begun before goes on.

        Args:
            whole: returns the numbers of the sources that are read as far as they go, of the places of all.

        Raises:
            SqlExtError: RUN-022 another deployment of the query runs; RUN-027, RUN-084 where Spark cannot begin it.
        """
        versions = versions_of(old.folder)
        if versions.beside is not None:
            there = self.home(candidate, versions.beside, looks=True)
            run = there.run()
            # What one has thrown away the other would compare; what is being switched is decided.
            alike = versions.keeps == candidate.keeps_rows or versions.step == SWITCHING
            # The rows that it has read may be others by now.
            alike = alike and (not (versions.follows or candidate.follows) or versions.step == SWITCHING)
            if alike and run is not None and run.fingerprint == candidate.draft.prints:
                return versions.beside
            there.refuse_if_held()
            if versions.step == SWITCHING:
                why = "another new version of it is being made the current one"
                raise candidate.refusal(why, "deploy the script of that version first")
        version = uuid.uuid4().hex[:8]
        self.change(candidate, versions, _with(versions, version, candidate))
        remove_outdated(old.folder)
        with self.home(candidate, version) as new:
            self._begin(candidate, old, new, whole)
        return version

    def _begin(
        self, candidate: Deployable, old: QueryHome, new: QueryHome, whole: Callable[[Sequence[str]], Sequence[int]]
    ) -> None:
        draft, env = candidate.draft, candidate.env
        if draft.script.ticks_apart:
            new.write_first_tick()
        with self._settings(candidate):
            sources = self.scripts.first_batch(draft, new, env, CHECKPOINT).sources
        reached = ReachedBatch(old, old.last_batch())
        first = first_cut(reached) if candidate.fills_by_cuts else reached
        plan_first(first, new, sources, env.settings.get("sqlext.clock"), whole(first_ends(new)))
        # Last: without it the folder is no version, and the next deployment begins anew.
        new.begin(QueryRun(uuid.uuid4().hex, draft.prints))

    def advance(self, candidate: Deployable, version: str, old: ReachedBatch | None = None) -> None:
        """Run the micro-batches that are planned.

        Args:
            old: what it has read since is read, too, and what it has closed is closed; it must not run then.
        """
        # An old version that runs is not chased: it may be the faster one.
        home = self.home(candidate, looks=True)
        there = old or ReachedBatch(home, home.last_batch())
        while self._is_planned(candidate, version, old, there):
            self._run_planned(candidate, version)

    def _is_planned(self, candidate: Deployable, version: str, old: ReachedBatch | None, there: ReachedBatch) -> bool:
        with self.home(candidate, version) as new:
            if new.repeats_a_batch() or (candidate.fills_by_cuts and self._is_cut(candidate, new, there)):
                return True
            if old is None:
                return False
            run = old.home.run()
            alike = run is not None and candidate.has_time_of(run)
            behind = not candidate.follows and plan_next(old, new)
            if behind or plan_watermark(new, old if alike else None):
                return True
            if alike:
                keep_watermark(new, old)
            return False

    def _is_cut(self, candidate: Deployable, new: QueryHome, old: ReachedBatch) -> bool:
        """Plan a micro-batch as the old version had it; return whether there is one that is left."""
        run = old.home.run()
        alike = run is not None and candidate.has_time_of(run)
        cut = next_cut(old, new, alike=alike)
        if cut is not None:
            plan_as(cut, new, watermark=alike)
        return cut is not None

    def _run_planned(self, candidate: Deployable, version: str) -> None:
        """Run one micro-batch, which stands in the checkpoint."""
        home = self.home(candidate, version)
        try:
            run = home.run()
            assert run is not None
            with self._settings(candidate):
                part = self._part(candidate, Place(home, run))
                job = Job(self.spark_session, part.name, [part], _PLANNED, lambda: self._settings(candidate), JobLog())
        except BaseException:
            home.close()
            raise
        job.start().await_termination()  # the job gives the folder free

    def _part(self, candidate: Deployable, place: Place) -> JobPart:
        draft, env = candidate.draft, candidate.env
        opened = self.scripts.of_query(draft.script, env, place.home, draft.insert.span)
        replacement = self.replacement(candidate, place)
        spec = replacement.beside(rows_of(place.home))
        sink = open_sink(self.spark_session, spec, replacement.context)
        # A name of its own: the old version may run in this very session.
        name = f"{draft.name} (new version)"
        part = JobPart(name, draft.insert.span, opened.rows, sink, (name,), draft.script.output_mode, place)
        return self.scripts.scripted(part, lambda: opened, draft.script, draft.insert.plan, env)

    def replacement(self, candidate: Deployable, place: Place | None = None) -> Replacement:
        """Return how the rows of a query's sink are replaced by those of a version, or that they stay.

        Args:
            place: of the version; None where nothing is written.
        """
        table, context = candidate.draft.insert.table, sink_context(candidate.draft, place, candidate.env)
        found = replacement_of(table, context)
        if candidate.keeps_rows:
            spec = connector_of(table).write_spec(table)
            spec = connector_of(table).growing(spec) if candidate.redefines else spec
            return UntouchedRows(spec, context, found)
        assert found is not None, "a sink without is refused before"
        return found

    def replacement_in(self, candidate: Deployable, home: QueryHome) -> Replacement:
        """Return how the rows of a query's sink are replaced by those of the version in a folder that has begun."""
        run = home.run()
        assert run is not None
        return self.replacement(candidate, Place(home, run))

    def _settings(self, candidate: Deployable) -> AbstractContextManager[None]:
        return self.scripts.settings(candidate.env, [candidate.draft.script])


def _with(versions: Versions, version: str, candidate: Deployable) -> Versions:
    """Return versions with a new one beside the current one."""
    return replace(versions, beside=version, keeps=candidate.keeps_rows, follows=bool(candidate.follows))


def rows_of(home: QueryHome) -> str:
    """Return where the rows of a new version lie."""
    return f"{home.location.for_spark}/{ROWS}"

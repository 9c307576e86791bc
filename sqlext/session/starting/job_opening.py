"""Open the sources and sinks of INSERTs that are one job on Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from sqlext.analysis.names.environment import Environment
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.jobs.parts import JobPart, Place
from sqlext.jobs.renewal import refit
from sqlext.rewrite.script.real_time import asked_for
from sqlext.session.drafts import Draft, fed, reads_of, shared_by
from sqlext.session.local_plans import small_result, written_otherwise
from sqlext.session.places import sink_context
from sqlext.session.reached import sinks_of
from sqlext.session.starting.scripts import SparkScripts, targets_of, told_of
from sqlext.sinks.opening import open_sink, require_sink
from sqlext.sinks.small_results import SmallResult
from sqlext.spark.reading.shared_rows import PackedTables
from sqlext.spark.reading.views import Opened, handing_on


@dataclass(frozen=True)
class JobOpening:
    """The INSERTs of a job.

    Attributes:
        scripts: opens what they read.
        env: what their texts may name.
        drafts: the INSERTs.
        places: where each keeps its place; None for one that is no stream.
        runs: whether the job has no end.
    """

    scripts: SparkScripts
    env: Environment
    drafts: Sequence[Draft]
    places: Sequence[Place | None]
    runs: bool

    def renew(self) -> None:
        """Give each query whose checkpoint does not fit as it is one that does.

        Raises:
            SqlExtError: RUN-... where Spark cannot go on.
        """
        clock = self.env.settings.get("sqlext.clock")
        for draft, place in zip(self.drafts, self.places, strict=True):
            if place is None:
                continue
            sources = partial(self.scripts.first_batch, draft, place.home, self.env, runs=self.runs)
            try:
                refit(place.home, place.run, clock, sources, reads_of(draft.script), at_once=draft.script.at_once)
            except SqlExtError as error:
                raise error.at(draft.insert.span) from error.__cause__

    @cached_property
    def shared(self) -> PackedTables:
        """The tables that queries read together; whoever has asked for them closes them."""
        drafts, zone = self.drafts, self.env.zone
        common = [d.script.common_arguments(self.env.functions) for d in drafts]
        handed = [handing_on(d.script, zone, of) for d, of in zip(drafts, common, strict=True)]
        scripts = [of.script if of is not None else d.script for d, of in zip(drafts, handed, strict=True)]
        reads = shared_by(drafts, self.places, scripts)
        return PackedTables(self.scripts.spark(), reads, common, handed)

    def parts(self) -> list[JobPart]:
        """Return the parts of the job: no sink makes its table before all is accepted.

        Raises:
            SqlExtError: as ``SparkScripts.opened``, SINK-... for a sink that cannot be opened.
        """
        # Of a query that is finished here Spark gets no views, unless there is more of its rows than is thought.
        here = [self._small(number) for number in range(len(self.drafts))]
        late = [waits or here[number] is not None for number, waits in enumerate(fed(self.drafts))]
        early = [None if waits else self._opened(number) for number, waits in enumerate(late)]
        queries = zip(self.drafts, self.places, strict=True)
        sinks = [(draft, sink) for draft, place in queries for sink in sinks_of(draft, place, self.env)]
        for draft, sink in sinks if len(sinks) > 1 else ():  # one alone refuses as it is opened
            told_of(partial(require_sink, self.scripts.spark(), *sink), draft.insert.span)
        return [
            self._part(number, found or partial(self._opened, number), of)
            for number, (found, of) in enumerate(zip(early, here, strict=True))
        ]

    def _opened(self, number: int) -> Opened:
        draft, place = self.drafts[number], self.places[number]
        home, shared = place.home if place else None, self.shared.of(number)
        return self.scripts.of_query(draft.script, self.env, home, draft.insert.span, runs=self.runs, shared=shared)

    def _small(self, number: int) -> SmallResult | None:
        """Return how a query is finished in this process, where it is."""
        draft, place = self.drafts[number], self.places[number]
        if not draft.script.at_once:
            return None
        span = draft.insert.span
        found = told_of(lambda: small_result(draft, place, self.shared.of(number), self.env), span)
        if found is not None:
            self.scripts.require_able(draft.script, self.env, place.home if place else None, span)
        return found

    def _part(self, number: int, rows: Opened | Callable[[], Opened], small: SmallResult | None) -> JobPart:
        """Return what runs an INSERT.

        Args:
            number: of the query.
            rows: its rows, or what opens them.
            small: how it is finished in this process, where it is.
        """
        draft, place, env, scripts = self.drafts[number], self.places[number], self.env, self.scripts
        insert, script = draft.insert, draft.script
        context = sink_context(draft, place, env)
        spec = connector_of(insert.table).write_spec(insert.table)
        # Opened before the job begins: a refusal then leaves no run behind.
        sink = told_of(partial(open_sink, scripts.spark(), spec, context), insert.span)
        sink = scripts.with_sides(sink, script, context, insert.span, env, spec.primary_key)
        targets = targets_of(insert.table.name.plain, script)
        if small is not None and not isinstance(rows, Opened):
            assert place is not None
            tick = scripts.tick(place)
            part = JobPart(draft.name, insert.span, tick, sink, targets, script.output_mode, place, other=small)
            return scripts.scripted(part, rows, script, insert.plan, env)
        opened = rows if isinstance(rows, Opened) else rows()
        part = JobPart(draft.name, insert.span, opened.rows, sink, targets, script.output_mode, place)
        part = replace(part, real_time=asked_for(env.settings))
        if place is not None and script.at_once:
            part = replace(part, other=written_otherwise(scripts.spark(), draft, place, sink, opened))
        return scripts.scripted(part, lambda: opened, script, insert.plan, env)

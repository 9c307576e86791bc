"""Compute a query in this process micro-batch by micro-batch, with the clocks that a run of Spark had."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import pyarrow as pa

from sqlext.local.engine import gathered
from sqlext.rewrite.arrow.in_process import LocalScript, Operated, Queried
from sqlext.rewrite.script.model import OperatorView, ReadView
from sqlext_udfs.kernel.clock import Clock, behind
from sqlext_udfs.windows.policy_json import policy_from_json
from sqlext_udfs.windows.triggers.rules import uses_watermark


@dataclass(frozen=True)
class BatchInput:
    """A micro-batch.

    Attributes:
        rows: of each table's view what came, by the view's name; nothing for views without rows.
        watermark, late: that of the micro-batch and that of the one before, in ms since 1970, or ``Clock.END``; None
            before the first one.
        clock: processing time in ms since 1970 UTC.
    """

    rows: Mapping[str, pa.Table]
    watermark: int | None
    late: int | None
    clock: int | None


class Steps(Protocol):
    """Steps the operators of a query, and keeps their state."""

    def step(self, operated: Operated, rows: pa.Table | None, clock: Clock) -> pa.Table:
        """Return what comes out of an operator in a micro-batch; nothing has no columns.

        Args:
            operated: the operator.
            rows: what ``gathered`` gives; None where nothing comes.
            clock: what time it is.
        """


def steps_taken(script: LocalScript, batches: Iterable[BatchInput]) -> Iterator[pa.Table]:
    """Yield what comes out of a query in each micro-batch.

    Raises:
        SqlExtError: RUN-... for rows that cannot be computed.
    """
    run = StepwiseRun(script, _Held())
    for batch in batches:
        yield run.batch(batch)


@dataclass
class _Held:
    """States that are held as they are."""

    _states: dict[str, Any] = field(default_factory=dict)

    def step(self, operated: Operated, rows: pa.Table | None, clock: Clock) -> pa.Table:
        operator = operated.operator.operator
        state = self._states.get(operated.view)
        done = operator.step(operator.empty() if state is None else state, rows, clock)
        self._states[operated.view] = done.state
        return done.out


@dataclass
class StepwiseRun:
    """A query on its way from micro-batch to micro-batch.

    Attributes:
        script: the query.
        steps: what steps its operators.
        begun: whether there has been a micro-batch before.
    """

    script: LocalScript
    steps: Steps
    begun: bool = False

    @cached_property
    def times(self) -> Mapping[str, ToldTime]:
        """What each operator is told of time, by its view."""
        views = (step for step in self.script.script.steps if isinstance(step, OperatorView))
        return {view.view: ToldTime.of(view) for view in views}

    def batch(self, batch: BatchInput) -> pa.Table:
        """Return what comes out of a micro-batch."""
        tables: dict[str, pa.Table] = {}
        for step in self.script.steps:
            if isinstance(step, ReadView):
                found = batch.rows.get(step.view)
                tables[step.view] = found if found is not None else _empty(step)
            elif isinstance(step, Queried):
                tables[step.view] = step.query.run(tables)
            else:
                assert isinstance(step, Operated), "packed rows are of a query that is one batch"
                tables[step.view] = self._operated(step, tables[step.input], batch)
        self.begun = True
        return self.script.query.run(tables)

    def _operated(self, step: Operated, rows: pa.Table, batch: BatchInput) -> pa.Table:
        operator, _, columns = step.operator
        schema = pa.schema(list(columns))
        clock = self.times[step.view].clock(batch, first=not self.begun)
        out = self.steps.step(step, gathered(operator, rows) if rows.num_rows else None, clock)
        return out.rename_columns(schema.names).cast(schema) if out.num_columns else schema.empty_table()


@dataclass(frozen=True)
class ToldTime:
    """What an operator is told of time, as ``spark.bucket_steps`` does.

    Attributes:
        event_time: whether it goes by the watermark.
        lag: by how many ms its rows are older than the watermark says.
    """

    event_time: bool
    lag: int

    @classmethod
    def of(cls, view: OperatorView) -> ToldTime:
        """Return that of a view."""
        arguments: Mapping[str, Any] = dict(view.arguments)
        if view.function == "window":
            return cls(uses_watermark(policy_from_json(arguments["policy"])), arguments.get("lag", 0))
        return cls(bool(arguments.get("event_time")), arguments.get("lag", 0))

    def clock(self, batch: BatchInput, *, first: bool) -> Clock:
        """Return what time it is for the operator."""
        watermark, late = batch.watermark, batch.late
        if not self.event_time:
            return Clock(watermark if watermark == Clock.END else None, None, batch.clock)
        before = Clock.BEGIN if first and late is None else late or 0
        return Clock(behind(watermark or 0, self.lag), behind(before, self.lag), batch.clock)


def _empty(step: ReadView) -> pa.Table:
    columns: Any = step.columns
    return pa.schema(list(columns)).empty_table()

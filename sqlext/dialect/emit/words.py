"""Say an EMIT clause in words, sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlext.dialect.ast.expressions import Node
from sqlext.dialect.emit import nodes
from sqlext.dialect.emit.printing import emit_text
from sqlext.errors import counted

_MODES = {
    "ACCUMULATING": "Each result is of all rows so far.",
    "DISCARDING": "Each result is of the rows since the one before.",
    "RETRACTING": "Each result is of all rows so far, and takes back the one before.",
}
_PANES = {
    "ALWAYS": "A result comes out, be there new rows or not,",
    "IF NOT EMPTY": "A result comes out, if there are new rows,",
    "NEVER": "No result comes out",
}
_UNITS = {"day": 86_400_000, "hour": 3_600_000, "minute": 60_000, "second": 1000, "millisecond": 1}


def in_words(clause: nodes.EmitClause) -> list[str]:
    """Return sentences that say when results come out, of which rows, and what becomes of late ones."""
    return list(_sentences(clause))


def _sentences(clause: nodes.EmitClause) -> Iterator[str]:
    once = " once, and the group is closed then" if clause.once else ""
    yield f"A result comes out {_when(clause.trigger)}{once}."
    if clause.output == "CHANGELOG" and clause.mode is None:
        yield "Each result takes back the one before."
    if clause.mode is not None:
        yield _MODES[clause.mode]
    if clause.lateness is not None:
        yield f"A window takes rows that are up to {_time(clause.lateness)} late."
    if clause.late_table is not None:
        yield f"Rows that are later go to {'.'.join(clause.late_table.parts)}."
    if clause.drop_late:
        yield "Rows that are later are dropped."
    if clause.evictor is not None:
        yield f"{_kept(clause.evictor)} {'before' if clause.evictor.before else 'after'} each result."
    if clause.on_time_pane is not None:
        yield f"{_PANES[clause.on_time_pane]} when the watermark passes a window's end."
    if clause.final_pane is not None:
        yield f"{_PANES[clause.final_pane]} when a window is closed."
    if clause.pane_timestamp is not None:
        yield f"The time of a result is its {clause.pane_timestamp.lower()}."
    if clause.options:
        yield f"It behaves as another engine does in {', '.join(name for name, _ in clause.options)}."
    yield f"In one spelling: {emit_text(clause)}"


def _kept(evictor: nodes.Evictor) -> str:
    if isinstance(evictor, nodes.KeepRows):
        return f"Only the last {evictor.n} rows stay"
    if isinstance(evictor, nodes.KeepDuration):
        return f"Only the rows of the last {_time(evictor.ms)} stay"
    if isinstance(evictor, nodes.KeepDelta):
        distance = "a distance" if evictor.absolute else "a difference"
        return f"Only rows with {distance} of {evictor.expression.span.one_line} below {evictor.threshold} stay"
    return f"The class {evictor.name} says which rows stay"


def _when(trigger: nodes.Trigger) -> str:
    """Return when a trigger fires, to stand behind `a result comes out`."""
    return _WORDS[type(trigger)](trigger)


def _time(ms: int) -> str:
    """Return a duration as one speaks: ``90 seconds``, ``1 hour``."""
    unit, size = next((u, size) for u, size in _UNITS.items() if ms % size == 0)
    return counted(ms // size, unit)


def _rows(count: nodes.AfterCount) -> str:
    rows = counted(count.n, "row")
    return f"after at least {rows}, looked at in each micro-batch" if count.at_least else f"after {rows}"


def _moved(transforms: tuple[nodes.Transform, ...]) -> str:
    steps = []
    for step in transforms:
        if isinstance(step, nodes.Delay):
            steps.append(f"{_time(step.ms)} later")
        else:
            offset = f" and {_time(step.offset)}" if step.offset else ""
            steps.append(f"at the next multiple of {_time(step.period)}{offset}")
    return ", then ".join(steps)


def _after_delay(trigger: nodes.AfterDelay) -> str:
    first = "the first new row"
    return (
        f"by the clock: {_moved(trigger.transforms)}, counted from {first}" if trigger.transforms else f"with {first}"
    )


def _every_period(trigger: nodes.EveryPeriod) -> str:
    moved = f", {_moved(trigger.transforms)}" if trigger.transforms else ""
    return f"every {_time(trigger.ms)} of the clock from the first row on{moved}, also without new rows"


def _every_aligned(trigger: nodes.EveryAligned) -> str:
    return f"at each multiple of {_time(trigger.ms)} of the clock{_also(trigger.repeat)}"


def _every_event_time(trigger: nodes.EveryEventTime) -> str:
    when = f"when the watermark passes a multiple of {_time(trigger.ms)}"
    return f"{when}, and at the window's end{_also(trigger.repeat)}"


def _also(repeat: bool) -> str:
    return ", also without new rows" if repeat else ", if there are new rows"


def _after_idle(trigger: nodes.AfterIdle) -> str:
    whose = "the query" if trigger.of_query else "the group"
    return f"when {whose} got no row for {_time(trigger.ms)}"


def _after_delta(trigger: nodes.AfterDelta) -> str:
    distance = "moved" if trigger.absolute else "grown"
    return f"when {trigger.expression.span.one_line} has {distance} by more than {trigger.threshold}"


def _case(trigger: nodes.CaseTrigger) -> str:
    branches = (f"{b.action.lower()} where {b.condition.span.one_line}" for b in trigger.branches)
    return f"as each row says: {', '.join(branches)}, else {trigger.otherwise.lower()}"


def _after_watermark(trigger: nodes.AfterWatermark) -> str:
    early = f", before that {_repeated(trigger.early)}" if trigger.early is not None else ""
    late = f", and for late rows {_repeated(trigger.late)}" if trigger.late is not None else ""
    return f"when the watermark passes the window's end{_held_back(trigger)}{early}{late}"


def _repeated(trigger: nodes.Trigger) -> str:
    """Return when a trigger fires that is repeated in any case."""
    if isinstance(trigger, nodes.AfterCount) and not trigger.at_least:
        return f"every {counted(trigger.n, 'row')}"
    # These say themselves that they go on.
    goes_on = isinstance(trigger, nodes.Repeat | nodes.EveryRow | nodes.Never)
    return _when(trigger) if goes_on else f"again and again {_when(trigger)}"


def _window_close(trigger: nodes.WindowClose) -> str:
    return f"once, when the window is closed: at its end and the lateness behind it{_held_back(trigger)}"


def _held_back(trigger: nodes.AfterWatermark | nodes.WindowClose) -> str:
    delay = "" if trigger.delay is None else f" and {_time(trigger.delay)} more"
    timeout = "" if trigger.timeout is None else f", or after {_time(trigger.timeout)} of the clock"
    return delay + timeout


def _joined(between: str) -> Callable[[Any], str]:
    return lambda trigger: between.join(map(_when, trigger.parts))


def _repeat(trigger: nodes.Repeat) -> str:
    return _repeated(trigger.of)


def _timeout(trigger: nodes.Timeout) -> str:
    since = "last" if trigger.since_last_row else "first"
    kept = ", and its state is kept" if trigger.keep_state else ""
    return f"{_when(trigger.of)}, at the latest {_time(trigger.ms)} after the {since} row{kept}"


_WORDS: dict[type[Node], Callable[[Any], str]] = {
    nodes.AfterCount: _rows,
    nodes.EveryRow: lambda t: "in each micro-batch that changed the group",
    nodes.AfterDelay: _after_delay,
    nodes.EveryPeriod: _every_period,
    nodes.EveryAligned: _every_aligned,
    nodes.EveryEventTime: _every_event_time,
    nodes.AfterIdle: _after_idle,
    nodes.AfterDelta: _after_delta,
    nodes.When: lambda t: f"when {t.condition.span.one_line} holds for the group",
    nodes.CaseTrigger: _case,
    nodes.UsingTrigger: lambda t: f"when the class {t.name} says so",
    nodes.AfterWatermark: _after_watermark,
    nodes.WindowClose: _window_close,
    nodes.Never: lambda t: "only when the window is closed",
    nodes.AllOf: _joined(", and "),
    nodes.AnyOf: _joined(", or "),
    nodes.EachOf: _joined(", then "),
    nodes.Until: lambda t: f"{_when(t.main)}, for the last time {_when(t.until)}",
    nodes.Repeat: _repeat,
    nodes.Timeout: _timeout,
    nodes.Purging: lambda t: f"{_when(t.of)}, and the group is emptied then",
    nodes.DefaultTrigger: lambda t: "as it does without EMIT",
    nodes.ContinueTrigger: lambda t: "as the EMIT of the input asks",
}

"""Print an EMIT clause in our own spelling; what is printed reads as the same clause.

Sub-expressions are their source text, names and durations are written anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sqlext.dialect.ast.expressions import Node
from sqlext.dialect.emit import nodes, triggers
from sqlext.dialect.emit.quantities import duration_text
from sqlext.types import quote

# How tightly a trigger's text binds; an operand is put in parentheses if it binds less than its place wants.
_ANY, _UNTIL, _THEN, _OR, _AND, _POSTFIX, _PRIMARY = range(7)

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def emit_text(clause: nodes.EmitClause) -> str:
    """Return a clause from EMIT on, on one line where its sub-expressions are."""
    return " ".join(("EMIT", *_parts(clause)))


def trigger_text(trigger: nodes.Trigger) -> str:
    """Return a trigger alone."""
    return _text(trigger, _ANY)


def _parts(clause: nodes.EmitClause) -> Iterator[str]:
    if clause.output is not None:
        yield clause.output
    if clause.once:
        yield "ONCE"
    yield trigger_text(clause.trigger)
    if clause.mode is not None:
        yield clause.mode
    if clause.lateness is not None:
        yield f"ALLOW LATENESS {duration_text(clause.lateness)}"
    if clause.late_table is not None:
        yield f"LATE DATA TO {'.'.join(map(_name, clause.late_table.parts))}"
    if clause.drop_late:
        yield "DROP LATE DATA"
    if clause.evictor is not None:
        yield _evictor(clause.evictor)
    if clause.on_time_pane is not None:
        yield f"ON TIME PANE {clause.on_time_pane}"
    if clause.final_pane is not None:
        yield f"FINAL PANE {clause.final_pane}"
    if clause.pane_timestamp is not None:
        yield f"PANE TIMESTAMP {clause.pane_timestamp}"
    if clause.fill is not None:
        yield _fill(clause.fill)
    if clause.options:
        options = (f"{name} = '{value}'" for name, value in clause.options)
        yield f"OPTIONS ({', '.join(options)})"


def _fill(fill: nodes.Fill) -> str:
    values = (f"{_name(v.column)} = {v.kind if v.value is None else v.value.span.text}" for v in fill.values)
    keys = "" if fill.table is None else f"EACH KEY OF {'.'.join(map(_name, fill.table.parts))}"
    return f"FILL FOR {keys or duration_text(fill.ms or 0)}" + (f" WITH ({', '.join(values)})" if fill.values else "")


def _evictor(evictor: nodes.Evictor) -> str:
    when = "" if evictor.before else " AFTER FIRING"
    if isinstance(evictor, nodes.KeepRows):
        return f"KEEP LAST {evictor.n} ROWS{when}"
    if isinstance(evictor, nodes.KeepDuration):
        return f"KEEP LAST {duration_text(evictor.ms)}{when}"
    if isinstance(evictor, nodes.KeepDelta):
        return f"KEEP {_delta(evictor)} < {evictor.threshold}{when}"
    return f"EVICT USING {_registered(evictor)}{when}"


def _text(trigger: nodes.Trigger, place: int) -> str:
    """Return a trigger as it is written in a place that wants it to bind so tightly."""
    binding, printer = _PRINTERS[type(trigger)]
    text = printer(trigger)
    if isinstance(trigger, nodes.AfterWatermark) and (trigger.early is not None or trigger.late is not None):
        binding = _UNTIL  # EARLY and LATE want parentheses beside any operator
    # It has parentheses of its own.
    elif isinstance(trigger, nodes.AllOf) and text.startswith("ALL OF"):
        binding = _PRIMARY
    return f"({text})" if binding < place else text


def _delta(delta: nodes.AfterDelta | nodes.KeepDelta) -> str:
    return f"{'ABS ' if delta.absolute else ''}DELTA OF ({delta.expression.span.text})"


def _registered(used: nodes.UsingTrigger | nodes.EvictUsing) -> str:
    return f"{_name(used.name)}({', '.join(a.span.text for a in used.arguments)})"


def _name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quote(name)


def _rows(count: nodes.AfterCount) -> str:
    return f"{'AT LEAST ' if count.at_least else ''}{count.n} ROW{'' if count.n == 1 else 'S'}"


def _transforms(transforms: Iterable[nodes.Transform]) -> str:
    return "".join(map(_transform, transforms))


def _transform(transform: nodes.Transform) -> str:
    if isinstance(transform, nodes.Delay):
        return f" DELAY {duration_text(transform.ms)}"
    offset = f" OFFSET {duration_text(transform.offset)}" if transform.offset else ""
    return f" ALIGNED TO {duration_text(transform.period)}{offset}"


def _after_delay(trigger: nodes.AfterDelay) -> str:
    # AFTER DELAY begins with a delay; AFTER PROCESSING TIME may begin with ALIGNED TO, or have nothing.
    plain = trigger.transforms and isinstance(trigger.transforms[0], nodes.Delay)
    return f"AFTER{'' if plain else ' PROCESSING TIME'}{_transforms(trigger.transforms)}"


def _every_period(trigger: nodes.EveryPeriod) -> str:
    return f"EVERY {duration_text(trigger.ms)}{_transforms(trigger.transforms)} REPEAT"


def _repeating(trigger: nodes.EveryAligned | nodes.EveryEventTime) -> str:
    kind = "ALIGNED" if isinstance(trigger, nodes.EveryAligned) else "OF EVENT TIME"
    return f"EVERY {duration_text(trigger.ms)} {kind}{' REPEAT' if trigger.repeat else ''}"


def _after_idle(trigger: nodes.AfterIdle) -> str:
    return f"{'TIMEOUT' if trigger.of_query else 'AFTER IDLE'} {duration_text(trigger.ms)}"


def _case(trigger: nodes.CaseTrigger) -> str:
    branches = " ".join(f"WHEN {b.condition.span.text} THEN {b.action}" for b in trigger.branches)
    otherwise = "" if trigger.otherwise == "CONTINUE" else f" ELSE {trigger.otherwise}"
    return f"CASE {branches}{otherwise} END"


def _held_back(trigger: nodes.AfterWatermark | nodes.WindowClose) -> str:
    delay = "" if trigger.delay is None else f" WITH DELAY {duration_text(trigger.delay)}"
    timeout = "" if trigger.timeout is None else f" AND TIMEOUT {duration_text(trigger.timeout)}"
    return delay + timeout


def _after_watermark(trigger: nodes.AfterWatermark) -> str:
    early = "" if trigger.early is None else f" EARLY {_text(trigger.early, _POSTFIX)}"
    late = "" if trigger.late is None else f" LATE {_text(trigger.late, _POSTFIX)}"
    return f"AFTER WATERMARK{_held_back(trigger)}{early}{late}"


def _join(word: str, place: int) -> Callable[[Any], str]:
    def text(trigger: nodes.EachOf | nodes.AnyOf) -> str:
        # One tighter: an operand of the same kind keeps its parentheses, so that the same tree is read.
        return f" {word} ".join(_operand(part, place + 1) for part in trigger.parts)

    return text


def _all_of(trigger: nodes.AllOf) -> str:
    # With AND it would be refused when it is read (EMIT-012).
    if triggers.ambiguous(trigger.parts):
        return f"ALL OF ({', '.join(_operand(part, _ANY) for part in trigger.parts)})"
    return " AND ".join(_operand(part, _POSTFIX) for part in trigger.parts)


def _operand(trigger: nodes.Trigger, place: int) -> str:
    """Return an operand; an EVERY under AND or OR would be read as AFTER."""
    return _explicit_repeat(trigger) if isinstance(trigger, nodes.Repeat) else _text(trigger, place)


def _repeat(trigger: nodes.Repeat) -> str:
    of = trigger.of
    if isinstance(of, nodes.AfterCount):
        return f"EVERY {_rows(of)}"
    if isinstance(of, nodes.AfterDelay) and of.transforms:
        first, *others = of.transforms
        # EVERY takes no zero (EMIT-004), AFTER DELAY does.
        if isinstance(first, nodes.Delay) and first.ms:
            return f"EVERY {duration_text(first.ms)}{_transforms(others)}"
    return _explicit_repeat(trigger)


def _explicit_repeat(trigger: nodes.Repeat) -> str:
    return f"REPEAT ({_text(trigger.of, _ANY)})"


def _timeout(trigger: nodes.Timeout) -> str:
    since = " SINCE LAST ROW" if trigger.since_last_row else ""
    keeping = " KEEPING STATE" if trigger.keep_state else ""
    return f"{_text(trigger.of, _POSTFIX)} TIMEOUT {duration_text(trigger.ms)}{since}{keeping}"


def _until(trigger: nodes.Until) -> str:
    # UNTIL does not chain (EMIT-010): another one on either side needs parentheses.
    return f"{_text(trigger.main, _THEN)} UNTIL {_text(trigger.until, _THEN)}"


_PRINTERS: dict[type[Node], tuple[int, Callable[[Any], str]]] = {
    nodes.AfterCount: (_PRIMARY, lambda t: f"AFTER {_rows(t)}"),
    nodes.EveryRow: (_PRIMARY, lambda t: "EVERY ROW"),
    nodes.AfterDelay: (_PRIMARY, _after_delay),
    nodes.EveryPeriod: (_PRIMARY, _every_period),
    nodes.EveryAligned: (_PRIMARY, _repeating),
    nodes.EveryEventTime: (_PRIMARY, _repeating),
    nodes.AfterIdle: (_PRIMARY, _after_idle),
    nodes.AfterDelta: (_PRIMARY, lambda t: f"AFTER {_delta(t)} > {t.threshold}"),
    nodes.When: (_PRIMARY, lambda t: f"WHEN ({t.condition.span.text})"),
    nodes.CaseTrigger: (_PRIMARY, _case),
    nodes.UsingTrigger: (_PRIMARY, lambda t: f"USING TRIGGER {_registered(t)}"),
    nodes.AfterWatermark: (_PRIMARY, _after_watermark),
    nodes.WindowClose: (_PRIMARY, lambda t: f"ON WINDOW CLOSE{_held_back(t)}"),
    nodes.Never: (_PRIMARY, lambda t: "NEVER"),
    nodes.AllOf: (_AND, _all_of),
    nodes.AnyOf: (_OR, _join("OR", _OR)),
    nodes.EachOf: (_THEN, _join("THEN", _THEN)),
    nodes.Until: (_UNTIL, _until),
    nodes.Repeat: (_PRIMARY, _repeat),
    nodes.Timeout: (_POSTFIX, _timeout),
    nodes.Purging: (_POSTFIX, lambda t: f"{_text(t.of, _POSTFIX)} PURGING"),
    nodes.DefaultTrigger: (_PRIMARY, lambda t: "DEFAULT"),
    nodes.ContinueTrigger: (_PRIMARY, lambda t: "CONTINUE"),
}

"""Each recorded case as EMIT text, with the options that reproduce its engine (EMIT.md, end of section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Tree = dict[str, Any]

_OUR_NAMES = {
    "FIRE_ALWAYS": "ALWAYS",
    "FIRE_IF_NON_EMPTY": "IF NOT EMPTY",
    "END_OF_WINDOW": "END OF WINDOW",
    "EARLIEST": "EARLIEST",
    "LATEST": "LATEST",
}
_BEAM_OPTIONS = (
    "OPTIONS (deadline = 'after', late_check = 'before_merge', session_gap = 'exclusive', early_composite = 'sticky')"
)
_FLINK_OPTIONS = "OPTIONS (window_end = 'last_ms', missed_firings = 'each')"


def render_emit(case: Tree) -> str:
    """Return a case's EMIT clause."""
    return _beam_clause(case) if "window_fn" in case else _flink_clause(case)


# Beam.


def _beam_clause(case: Tree) -> str:
    lateness = case["allowed_lateness"]
    trigger = case["trigger"]
    words = ["EMIT", *(["ONCE"] if beam_finishes(trigger) else []), _beam(trigger, late_rows=lateness > 0)]
    words += [case["accumulation_mode"].replace("_FIRED_PANES", "")]
    words += [f"ALLOW LATENESS {lateness} ms"] if lateness else []
    words += [f"ON TIME PANE {_OUR_NAMES[case['on_time_behavior']]}"]
    words += [f"FINAL PANE {_OUR_NAMES[case['closing_behavior']]}"]
    words += [f"PANE TIMESTAMP {_OUR_NAMES[case['timestamp_combiner']]}", _BEAM_OPTIONS]
    return " ".join(words)


def beam_finishes(tree: Tree) -> bool:
    """Return whether a trigger of Beam finishes, so that its window is closed: that takes ONCE."""
    kind = tree["t"]
    if kind in ("AfterAll", "AfterEach"):
        return all(beam_finishes(part) for part in tree["of"])
    if kind == "AfterFirst":
        return any(beam_finishes(part) for part in tree["of"])
    if kind == "OrFinally":
        return beam_finishes(tree["main"]) or beam_finishes(tree["until"])
    if kind == "AfterWatermark":
        return tree.get("late") is None
    return kind in ("AfterCount", "AfterProcessingTime", "AfterSynchronizedProcessingTime")


def _beam(tree: Tree, *, late_rows: bool) -> str:
    def text(of: Tree) -> str:
        return _beam(of, late_rows=late_rows)

    kind = tree["t"]
    if kind in ("AfterAll", "AfterFirst", "AfterEach"):
        word = {"AfterAll": "ALL OF", "AfterFirst": "ANY OF", "AfterEach": "EACH OF"}[kind]
        return f"{word} ({', '.join(text(part) for part in tree['of'])})"
    if kind == "Repeatedly":
        return f"REPEAT ({text(tree['of'])})"
    if kind == "OrFinally":
        return f"({text(tree['main'])}) UNTIL ({text(tree['until'])})"
    if kind == "AfterWatermark":
        early = f" EARLY ({text(tree['early'])})" if tree.get("early") else ""
        # Without lateness no row is late; LATE is then refused (EMIT-021) and would do nothing.
        late = f" LATE ({text(tree['late'])})" if tree.get("late") and late_rows else ""
        return f"AFTER WATERMARK{early}{late}"
    return _beam_leaf(tree)


def _beam_leaf(tree: Tree) -> str:
    kind = tree["t"]
    if kind == "AfterCount":
        return f"AFTER AT LEAST {tree['n']} ROWS"
    if kind == "AfterProcessingTime":
        return "AFTER PROCESSING TIME" + "".join(map(_transform, tree["transforms"]))
    return {
        "Default": "AFTER WATERMARK",
        "Never": "NEVER",
        # Within the same micro-batch (M12).
        "AfterSynchronizedProcessingTime": "AFTER AT LEAST 1 ROW",
    }[kind]


def _transform(of: dict[str, int]) -> str:
    if "delay" in of:
        return f" DELAY {of['delay']} ms"
    return f" ALIGNED TO {of['align']} ms" + (f" OFFSET {of['offset']} ms" if of.get("offset") else "")


# Flink.


def _flink_clause(case: Tree) -> str:
    assigner, trigger, lateness = case["assigner"]["type"], case["trigger"], case["allowed_lateness"]
    kinds = {tree["t"] for tree in _tree(trigger)}
    end_of_stream = assigner.endswith("end_of_stream") or "EndOfStream" in kinds
    words = ["EMIT", _flink(trigger, assigner)]
    words += [f"ALLOW LATENESS {lateness} ms"] if lateness and assigner.endswith("_event") else []
    words += ["LATE DATA TO late_rows"] if case["side_output_late"] else []
    words += [_evictor(case["evictor"])] if case["evictor"] else []
    words += [f"ON TIME PANE {'IF NOT EMPTY' if 'Purging' in kinds else 'ALWAYS'}"]
    # At the end of a window of the clock ContinuousProcessingTimeTrigger fires; at that of event time it does not.
    at_end = "ContinuousProcessingTime" in kinds and assigner.endswith("_processing")
    leftovers = end_of_stream or at_end or "ProcessingTimeout" in kinds
    words += [f"FINAL PANE {'IF NOT EMPTY' if leftovers else 'NEVER'}", _FLINK_OPTIONS]
    return " ".join(words)


def _tree(trigger: Tree) -> Iterator[Tree]:
    yield trigger
    if "of" in trigger:
        yield from _tree(trigger["of"])


def _flink(tree: Tree, assigner: str) -> str:
    kind = tree["t"]
    if kind == "Purging":
        return f"({_flink(tree['of'], assigner)}) PURGING"
    if kind == "ProcessingTimeout":
        since = " SINCE LAST ROW" if tree["reset_on_new_record"] else ""
        keeping = "" if tree["clear_on_timeout"] else " KEEPING STATE"
        return f"({_flink(tree['of'], assigner)}) TIMEOUT {tree['timeout']} ms{since}{keeping}"
    if kind == "assigner_default":
        return "NEVER" if assigner.startswith("global") else "DEFAULT"
    return _flink_leaf(tree)


def _flink_leaf(tree: Tree) -> str:
    kind = tree["t"]
    if kind == "Count":
        return f"EVERY {tree['n']} ROWS"
    if kind == "ContinuousEventTime":
        return f"EVERY {tree['interval']} ms OF EVENT TIME REPEAT"
    if kind == "ContinuousProcessingTime":
        return f"EVERY {tree['interval']} ms ALIGNED REPEAT"
    if kind == "Delta":
        return f"AFTER DELTA OF (value) > {tree['threshold']}"
    if kind == "Script":
        actions = ("CONTINUE", "FIRE", "PURGE", "FIRE AND PURGE")
        return f"CASE {' '.join(f'WHEN value = {i} THEN {a}' for i, a in enumerate(actions))} END"
    return {"EventTime": "AFTER WATERMARK", "ProcessingTime": "DEFAULT", "Never": "NEVER", "EndOfStream": "NEVER"}[kind]


def _evictor(evictor: dict[str, Any]) -> str:
    when = f"{evictor['when'].upper()} FIRING"
    if evictor["type"] == "count":
        return f"KEEP LAST {evictor['n']} ROWS {when}"
    if evictor["type"] == "time":
        return f"KEEP LAST {evictor['size']} ms {when}"
    return f"KEEP DELTA OF (value) < {evictor['threshold']} {when}"

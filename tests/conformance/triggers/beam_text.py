"""A trigger as Beam prints it."""

from __future__ import annotations

from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterWatermark,
    AllOf,
    AnyOf,
    EachOf,
    Never,
    Repeat,
    SameBatch,
    Trigger,
    Until,
)


def beam_text(trigger: Trigger) -> str:
    """Return the text of a continuation, in which there are no delays."""
    match trigger:
        case AfterCount():
            return f"AfterPane.elementCountAtLeast({trigger.n})"
        case SameBatch():
            return "AfterSynchronizedProcessingTime.pastFirstElementInPane()"
        case AllOf() | AnyOf() | EachOf():
            name = {AllOf: "AfterAll.of", AnyOf: "AfterFirst.of", EachOf: "AfterEach.inOrder"}[type(trigger)]
            return f"{name}({', '.join(map(beam_text, trigger.of))})"
        case Repeat():
            return f"Repeatedly.forever({beam_text(trigger.of)})"
        case Until():
            return f"{beam_text(trigger.main)}.orFinally({beam_text(trigger.until)})"
        case AfterWatermark():
            early = f".withEarlyFirings({beam_text(trigger.early)})" if trigger.early else ""
            late = f".withLateFirings({beam_text(trigger.late)})" if trigger.late else ""
            return f"AfterWatermark.pastEndOfWindow(){early}{late}"
        case Never():
            return "Never"
    raise TypeError(f"Beam has no {trigger!r}")

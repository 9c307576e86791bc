"""A recorded case as a script: one SELECT with an EMIT clause over the table of ``tests/stepped_queries.py``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tests.stepped_queries import TIMED

from . import exceptions
from .clauses import Tree, render_emit

#: Spark's watermark begins at 1970, so times are moved away from there.
_FAR = 1_000_000_000
#: Years that a TIMESTAMP can have, in milliseconds: 9999 stands for the end of time.
_YEARS = 250_000_000_000_000
_LATE = """CREATE TABLE late_rows (key STRING, `value` BIGINT, ts TIMESTAMP(3))
WITH ('connector' = 'delta', 'path' = '${OUT}');
"""
_META = "PANE_INDEX(), PANE_NON_SPECULATIVE_INDEX(), PANE_TIMING(), PANE_IS_FIRST(), PANE_IS_LAST(), PANE_TIMESTAMP()"


def unsayable(case: Tree) -> str | None:
    """Return why a case cannot be run on Spark; None if it can."""
    if case["name"] in exceptions.FLINK:
        return exceptions.FLINK[case["name"]]
    steps = case["steps"]
    times = ("to",) if by_clock(case) else ("to", "ts")
    if any(abs(n) > _YEARS for step in steps for n in _numbers([step.get(t) for t in times])):
        return "its times are outside of the years that Spark knows"
    if not _is_global(case):
        return None
    if any(step["op"] == "watermark" and step["to"] != "MAX" and step["expected"] for step in steps):
        return "a GROUP BY without window has no watermark on Spark"
    if any(step["op"] == "watermark" and step["expected"] for step in steps):
        return "the end of time of a GROUP BY without window is the end of its input, and this input has none"
    return None


def shift(case: Tree) -> int:
    """Return what is added to all times of a case: a multiple of whatever windows and triggers are aligned to."""
    sizes = [case.get("window_fn"), case.get("assigner"), case["trigger"]]
    unit = math.lcm(*(abs(n) for n in _numbers(sizes) if n))
    return -(-_FAR // unit) * unit


def script(case: Tree) -> str:
    """Return a case as a script."""
    window = _window(case)
    bounds = ", window_start, window_end" if window else ""
    rows = window or "input"
    # Of Flink's panes only the time is known. Whoever asks for more makes the operator keep it of emptied groups.
    meta = f", {_META}" if "window_fn" in case else ", PANE_TIMESTAMP()" if window else ""
    late = _LATE if case.get("side_output_late") else ""
    return (
        f"{TIMED}{late}"
        f"SELECT key{bounds}, COLLECT_LIST(`value`){meta} FROM {rows}\n"
        f"WHERE key IS NOT NULL GROUP BY key{bounds}\n{render_emit(case)};"
    )


def _numbers(of: Any) -> Iterator[int]:
    if isinstance(of, dict | list):
        for part in of.values() if isinstance(of, dict) else of:
            yield from _numbers(part)
    elif isinstance(of, int) and not isinstance(of, bool):
        yield of


def by_clock(case: Tree) -> bool:
    """Return whether a case's windows are of processing time: then its rows have no time that counts."""
    return bool(_of(case)["type"].endswith("_processing"))


def _of(case: Tree) -> Tree:
    return dict(case.get("window_fn") or case["assigner"])


def _is_global(case: Tree) -> bool:
    return bool(_of(case)["type"].startswith("global"))


def _window(case: Tree) -> str | None:
    """Return a case's window function; None for a GROUP BY without window."""
    of = _of(case)
    kind, time = of["type"], "p" if by_clock(case) else "ts"
    offset = f", {_ms(of['offset'])}" if of.get("offset") else ""
    rows = f"TABLE input, DESCRIPTOR({time})"
    if kind.startswith("global"):
        return None
    if "session" in kind:
        gap = _ms(of["gap"]) if "gap" in of else "gap"
        return f"TABLE(SESSION(TABLE input PARTITION BY key, DESCRIPTOR({time}), {gap}))"
    if kind.startswith("sliding"):
        return f"TABLE(HOP({rows}, {_ms(of.get('period') or of['slide'])}, {_ms(of['size'])}{offset}))"
    return f"TABLE(TUMBLE({rows}, {_ms(of['size'])}{offset}))"


def _ms(n: int) -> str:
    return f"INTERVAL '{n / 1000:.3f}' SECOND"

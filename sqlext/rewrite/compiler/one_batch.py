"""Decide whether a bounded query runs as one batch that keeps no state.

A stream writes state, and the end of time is a micro-batch of its own. If each window gives one pane, of all its rows,
one batch gives the same rows for less. Spark has this as batch mode. Here the text, the name, the place and the
exactly-once writing stay those of a stream.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.plan.base import PlanNode, walk
from sqlext.plan.stateful import Stateful
from sqlext.rewrite.script.model import ArrowView, SourceView, Step
from sqlext.sources.tables import reader_of


def fits_at_once(plan: PlanNode) -> bool:
    """Return whether a rewritten plan gives as one batch what it gives as a stream, if Arrow reads all its streams.

    So it does where whatever keeps rows gives each of its rows once, when the watermark says so.
    """
    keeping = [node for node in walk(plan) if isinstance(node, Stateful)]
    return plan.streaming and bool(keeping) and all(node.waits for node in keeping)


def reads_at_once(sources: Sequence[SourceView], steps: Sequence[Step]) -> bool:
    """Return whether Arrow reads all streams of a script, and nobody limits what is taken at a time.

    Who sets a limit says how many rows fit into memory.
    """
    if any(source.streaming for source in sources):
        return False
    views = (step for step in steps if isinstance(step, ArrowView))
    return all(reader_of(view.table).limit(view.table) is None for view in views)

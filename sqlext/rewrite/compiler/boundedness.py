"""Decide whether a query has an end, how its input ends, and whether one batch without state answers it.

A stream writes state, and the end of time is a micro-batch of its own. If each window gives one pane, of all its rows,
one batch gives the same rows for less. Spark has this as batch mode. Here the text, the name, the place and the
exactly-once writing stay those of a stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlext.analysis.inserts.bound import FINAL_STATE, BoundInsert
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.plan.base import PlanNode, walk
from sqlext.plan.nodes import Scan
from sqlext.plan.stateful import Stateful
from sqlext.rewrite.script.model import ArrowView, SourceView, Step
from sqlext.sources.tables import reader_of
from sqlext.stores.files import holds_bytes

_TEXT = frozenset({"csv", "json"})
#: Formats that give all they have in one micro-batch unless a limit is set.
_WHOLE = frozenset({"csv", "json", "parquet", "orc", "text"})
#: Up to how many bytes of a table, as text and as parquet, operators hold as rows in one batch. Of more a stream keeps
#: them in its state. A task holds the rows of one bucket.
MOST_HELD, MOST_HELD_PARQUET = 1 << 32, 1 << 29
_LIMITS = ("maxFilesPerTrigger", "maxBytesPerTrigger")


def streaming_scans(plan: PlanNode) -> Iterator[Scan]:
    """Yield the scans that are read as streams."""
    if isinstance(plan, Scan) and plan.is_stream:
        yield plan
    for node in plan.inputs:
        yield from streaming_scans(node)


def is_bounded(plan: PlanNode) -> bool:
    """Whether every stream that a query reads has an end."""
    return all(connector_of(s.table).bounded(s.table) for s in streaming_scans(plan))


def closes_late(plan: PlanNode, zone: str) -> bool:
    """Whether the row that ends the input must wait until the data is through.

    A source that comes in one micro-batch can have it beside its data: the watermark counts from the next batch on.
    """
    return not all(_in_one_batch(s, zone) for s in streaming_scans(plan))


def _in_one_batch(scan: Scan, zone: str) -> bool:
    # Other formats cut what is there into several micro-batches: Delta takes 1,000 files in one by default.
    spec = connector_of(scan.table).read_spec(scan.table, zone)
    limits = {k for k, _ in (*spec.options, *spec.stream_options)}
    return spec.format in _WHOLE and not any(limit in limits for limit in _LIMITS)


def refuse_endless_final_state(insert: BoundInsert, bounded: bool) -> None:
    """Refuse to keep changes for an end that never comes (SINK-008)."""
    if insert.mode == FINAL_STATE and not bounded:
        raise SqlExtError(
            "SINK-008",
            f"`{insert.table.name.name}` would get the final rows at the end of the input, and this input has none",
            span=insert.span,
            hint="write to a delta table with a PRIMARY KEY, or read sources that end",
        )


def fits_at_once(plan: PlanNode) -> bool:
    """Return whether a rewritten plan gives as one batch what it gives as a stream, if Arrow reads all its streams.

    A stream of all that is there takes it in one micro-batch. So it does where no row depends on how that is cut.
    """
    kept = [node for node in walk(plan) if isinstance(node, Stateful)]
    return plan.streaming and bool(kept) and all(node.settles for node in kept)


def holds_rows(plan: PlanNode) -> bool:
    """Return whether an operator of a rewritten plan keeps rows as they come: one batch takes all of them at once."""
    return not all(node.waits for node in walk(plan) if isinstance(node, Stateful))


def fits_into_memory(plan: PlanNode) -> bool:
    """Return whether the tables of a plan are known to have so little that a worker can hold a part of their rows."""
    for table in (scan.table for scan in streaming_scans(plan)):
        most = MOST_HELD if table.option("format") in _TEXT else MOST_HELD_PARQUET
        path = table.option("path") or table.option("table-path")
        if not connector_of(table).in_files or holds_bytes(path, most):
            return False
    return True


def fits_in_process(plan: PlanNode, *, latest: bool) -> bool:
    """Return whether a rewritten plan gives in one step, at the end of its input, what it gives on Spark.

    Args:
        latest: whether only what stands at the end is looked at.
    """
    kept = [node for node in walk(plan) if isinstance(node, Stateful)]
    return all(node.settles if latest else node.appends for node in kept)


def reads_at_once(sources: Sequence[SourceView], steps: Sequence[Step]) -> bool:
    """Return whether Arrow reads all streams of a script, and nobody limits what is taken at a time.

    Who sets a limit says how many rows fit into memory.
    """
    if any(source.streaming for source in sources):
        return False
    views = (step for step in steps if isinstance(step, ArrowView))
    return all(reader_of(view.table).limit(view.table) is None for view in views)

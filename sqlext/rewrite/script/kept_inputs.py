"""Inputs of a query without end: what is observed of them, and the heartbeats that move their watermarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.analysis.inserts.fingerprint import Fingerprint
from sqlext.connectors.registry import connector_of
from sqlext.plan.columns import Part
from sqlext.plan.nodes import Scan
from sqlext.plan.timing import Timing
from sqlext.rewrite.script.model import ObservedView, SparkScript, SqlView
from sqlext.watermarks.inputs import ROWTIME, Input

if TYPE_CHECKING:
    from sqlext.rewrite.script.renderer import Renderer


@dataclass(frozen=True, slots=True)
class KeptInput:
    """An input that the time keeper watches.

    Attributes:
        view: the view of its heartbeats: one column ``value``, a timestamp's text.
        source: the view of its table.
    """

    input: Input
    view: str
    source: str


def heartbeats(script: SparkScript) -> Fingerprint:
    """Return a part for the heartbeats of a script's inputs: their folders are sources, which a checkpoint counts."""
    return {"heartbeats": ("of each input", "1")} if script.kept else {}


def has_splits(scan: Scan) -> bool:
    """Whether parts of an input have a time of their own, and its rows say of which they are."""
    return scan.own_reader and connector_of(scan.table).has_splits(scan.table)


def kept_rows(scan: Scan, rows: str, column: str, delay: int, renderer: Renderer) -> tuple[KeptInput, str]:
    """Return an input and the view of its rows, observed: the largest value of ``column``, and how many."""
    timing = scan.timing or Timing()
    number = sum(k.input.name.split("#")[0] == scan.table.name.name for k in renderer.kept)
    declared = Input(
        name=f"{scan.table.name.name}#{number + 1}" if number else scan.table.name.name,
        delay=delay,
        idle=timing.idle,
        closes=timing.closes,
        alignment=timing.alignment,
        interval=timing.interval,
        by_rows=timing.interval == 0 and not has_splits(scan),
        bounded=timing.bounded,
        ends=scan.ends,
        zone=_zone(scan, renderer),
        measure=ROWTIME if scan.marks is None else scan.marks.span.one_line,
    )
    kept = KeptInput(declared, f"sqlext_time_{len(renderer.kept)}", scan.view)
    renderer.kept.append(kept)
    view = renderer.add_step(lambda name: SqlView(name, rows))
    return kept, renderer.add_step(lambda name: ObservedView(name, view, declared.name, column, scan.view, scan.packed))


def _zone(scan: Scan, renderer: Renderer) -> str:
    """Return whose wall clock shows the times of a rowtime: without a zone they are instants of UTC's."""
    rowtime = next(c for c in scan.columns if c.physical == scan.rowtime)
    return "UTC" if rowtime.part is Part.INSTANT else renderer.zone

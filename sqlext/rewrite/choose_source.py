"""Which path reads a table: Arrow or Spark. ``'sqlext.source'`` as an option of the table, else as SET, else ``auto``.

arrow   Arrow where a grouping's first part can be done in it, exactly as Spark would; Spark everywhere else
auto    the same where it pays: where enough lies there to make up for the Python processes that must be started, and,
        if Spark's own operators could keep the windows, of a format that Arrow decodes faster than Spark
spark   never Arrow
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlext.catalog.model import Table
from sqlext.connectors.paths import holds_bytes
from sqlext.plan import nodes
from sqlext.plan.explain import walk

if TYPE_CHECKING:
    from sqlext.rewrite.pushdown import Pushed
    from sqlext.rewrite.renderer import Renderer


#: Formats that Arrow decodes several times faster than Spark. Of parquet Spark's own reader is as fast.
_FASTER = frozenset({"csv", "json"})
#: Connectors whose rows lie in files that Arrow can read.
_IN_FILES = frozenset({"filesystem", "delta"})
#: A million rows, roughly, as text and as parquet: what Spark reads in the two seconds that the Python processes take
#: to start.
ENOUGH_BYTES, ENOUGH_PARQUET = 32 << 20, 8 << 20
#: The same for windows that Spark could keep: our operator's micro-batches cost more than Spark's, whatever is in them.
ENOUGH_FOR_WINDOWS = 256 << 20


def pays(node: nodes.Aggregate, renderer: Renderer) -> bool:
    """Whether windows that Spark can keep are better kept by our operator, above rows that Arrow reads."""
    scan = _only_scan(node)
    if scan is None:
        return False
    wanted = _wanted(scan, renderer)
    if node.below_ours:  # Python works anyway, and our operator keeps many groups better than Spark's: as any of ours
        return wanted != "spark"
    if wanted == "auto" and scan.table.option("format") not in _FASTER:
        renderer.read_by_spark[scan.table.name.name] = "its windows over this format are as fast"
        return False
    if wanted == "auto" and not holds_bytes(_path(scan.table), ENOUGH_FOR_WINDOWS):
        renderer.read_by_spark[scan.table.name.name] = _few(ENOUGH_FOR_WINDOWS)
        return False
    return wanted != "spark"


def chosen_input(
    below: nodes.PlanNode, texts: Sequence[str], where: str | None, keys: int, renderer: Renderer
) -> Pushed | None:
    """Return the input of an operator as a program of the Arrow path; None: Spark makes it.

    Args:
        below: the relation that the operator stands over.
        texts: Spark SQL of the operator's columns, over that relation; the keys first.
        where: of the condition that its rows meet.
        keys: how many keys there are.
    """
    scan = _only_scan(below)
    wanted = _wanted(scan, renderer) if scan is not None else "spark"
    if scan is None or wanted == "spark":
        return None
    enough = ENOUGH_BYTES if scan.table.option("format") in _FASTER else ENOUGH_PARQUET
    if wanted == "auto" and not holds_bytes(_path(scan.table), enough):
        renderer.read_by_spark[scan.table.name.name] = _few(enough)
        return None
    from sqlext.rewrite.arrow_text import Unsuited  # these need Arrow, which few statements do
    from sqlext.rewrite.pushdown import pushed_input
    from sqlext.sources.table_files import Unread

    try:
        return pushed_input(below, texts, where, keys, renderer)
    except (Unsuited, Unread) as reason:
        renderer.read_by_spark[scan.table.name.name] = f"Arrow is not known to do the same: {reason}"
        return None


def _few(enough: int) -> str:
    return f"less than {enough >> 20} MB lie there, too few to make up for the Python processes"


def _only_scan(node: nodes.PlanNode) -> nodes.Scan | None:
    scans = [n for n in walk(node) if isinstance(n, nodes.Scan)]
    return scans[0] if len(scans) == 1 and scans[0].table.option("connector") in _IN_FILES else None


def _path(table: Table) -> str | None:
    return table.option("path") or table.option("table-path")


def _wanted(scan: nodes.Scan, renderer: Renderer) -> str:
    return renderer.readers.wanted(scan.table)

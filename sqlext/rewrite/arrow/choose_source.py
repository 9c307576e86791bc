"""Choose a table's path: Arrow or Spark.

The table's option ``'sqlext.source'`` decides, else the setting of that name, else ``auto``.

arrow   Arrow, where it can do a grouping's first part exactly as Spark would; Spark elsewhere
auto    Arrow, where it also pays: enough data lies there to make up for starting Python processes
spark   never Arrow

``auto`` is stricter for windows that Spark's own operators could keep, unless the query is one batch (``at_once``):

CSV or JSON in files      Arrow, from more data on
CSV or JSON in topics     Arrow, if the input has an end
other formats, TUMBLE     Spark
other formats, others     Arrow, if the input has an end; from more data on
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlext.capabilities import ADMISSION, has, missing
from sqlext.connectors.readers import Unread
from sqlext.connectors.registry import connector_of
from sqlext.locations import is_remote
from sqlext.plan import nodes
from sqlext.plan.base import walk
from sqlext.plan.grouping import Aggregate, Combining
from sqlext.plan.nodes import WindowKind
from sqlext.rewrite.relations.operator_input import OperatorInput
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.stores.access import are_reached
from sqlext.stores.files import holds_bytes
from sqlext_catalog.model import Table

if TYPE_CHECKING:
    from sqlext.rewrite.arrow.pushdown import Pushed


#: Formats that Arrow decodes several times faster than Spark. Of parquet Spark's own reader is as fast.
_FASTER = frozenset({"csv", "json"})
#: A million rows, roughly, as text and as parquet: what Spark reads in the two seconds that the Python processes take
#: to start.
ENOUGH_BYTES, ENOUGH_PARQUET = 32 << 20, 8 << 20
#: The same where all is one batch: it saves the state, which costs a stream of few rows 2 to 4 seconds. Our operators
#: need the Python processes in any case, so any row is enough.
ENOUGH_AT_ONCE = 1
#: The same for windows that Spark could keep: our operator's micro-batches cost more than Spark's, whatever is in them.
ENOUGH_FOR_WINDOWS = 256 << 20
#: Sessions cost Spark most: of 220 MB it takes 19 seconds, our operator 11.
ENOUGH_FOR_SESSIONS = 64 << 20
#: Parquet for windows that cost Spark more than reading: 4,000,000 rows (20 MB) in HOP of five windows a row take it
#: 12.0 seconds and ours 7.6, in SESSION 9.3 and 4.2; TUMBLE is as fast either way.
ENOUGH_PARQUET_FOR_WINDOWS = 16 << 20
#: The largest weight of a table that is told from larger ones.
_HEAVIEST = 20


def pays(node: Aggregate, renderer: Rendering) -> bool:
    """Whether groups that Spark can keep are better kept by our operator, above rows that Arrow reads."""
    if node.firing is None:
        return False
    if renderer.local:  # there is no other
        return True
    if node.combining is Combining.NEVER or (node.combining is Combining.AT_ONCE and not renderer.at_once):
        return False
    below = grouped_below(node)
    if below is not None:  # what comes out of our operator is grouped by ours, where its rows are
        return pays(below, renderer)
    scan = _only_scan(node)
    if scan is None:
        return False
    wanted = _wanted(scan, renderer)
    if node.combining is Combining.BELOW_OURS:  # Python works anyway, and our operator keeps many groups better
        return wanted != "spark"
    if wanted != "auto":
        return wanted == "arrow"
    # One batch keeps no state, so what micro-batches of ours cost (``ENOUGH_FOR_WINDOWS``) does not count.
    if renderer.at_once:
        return _lies_there(scan.table, _enough(scan.table), renderer)
    assign = node.assignment()
    kind = assign.spec.kind if assign is not None else WindowKind.TUMBLE
    text = _format(scan.table) in _FASTER
    if not text and kind is WindowKind.TUMBLE:
        renderer.read_by_spark[scan.table.name.name] = "Spark combines rows of this format as fast"
        return False
    as_text_in_files = text and connector_of(scan.table).in_files
    if not as_text_in_files and not connector_of(scan.table).bounded(scan.table):
        renderer.read_by_spark[scan.table.name.name] = "it costs Spark less while little comes at a time"
        return False
    enough = ENOUGH_FOR_SESSIONS if kind is WindowKind.SESSION else ENOUGH_FOR_WINDOWS
    return _lies_there(scan.table, enough if text else ENOUGH_PARQUET_FOR_WINDOWS, renderer)


def grouped_below(node: Aggregate) -> Aggregate | None:
    """Return the grouping whose rows a grouping takes in the end, None where there is none."""
    return next((n for n in walk(node.input) if isinstance(n, Aggregate)), None)


def chosen_input(of: OperatorInput, keys: int, renderer: Rendering) -> Pushed | None:
    """Return the input of an operator as a program of the Arrow path; None: Spark makes it.

    Args:
        of: the rows that go in.
        keys: how many keys there are.
    """
    if not renderer.packs:  # rows are looked at one by one
        return None
    scan = _only_scan(of.below)
    wanted = _wanted(scan, renderer) if scan is not None else "spark"
    if scan is None or wanted == "spark":
        return None
    enough = ENOUGH_AT_ONCE if renderer.at_once else _enough(scan.table)
    if wanted == "auto" and not _lies_there(scan.table, enough, renderer):
        return None
    from sqlext.rewrite.arrow.pushdown import pushed_input
    from sqlext.rewrite.arrow.translation import Unsuited  # these need Arrow, which few statements do

    try:
        return pushed_input(of, keys, renderer)
    except (Unsuited, Unread) as reason:
        renderer.read_by_spark[scan.table.name.name] = f"Arrow is not known to do the same: {reason}"
        return None


def chosen_rows(of: OperatorInput, renderer: Rendering) -> Pushed | None:
    """Return all rows of a query that keeps none as a program of the Arrow path; None: Spark reads them.

    Nothing is combined, so it pays where Arrow decodes faster than Spark.
    """
    scan = _only_scan(of.below)
    wanted = _wanted(scan, renderer) if scan is not None else "spark"
    if scan is None or wanted == "spark" or not connector_of(scan.table).in_files:
        return None
    if wanted == "auto" and (_format(scan.table) not in _FASTER or not holds_bytes(_path(scan.table), ENOUGH_BYTES)):
        return None
    from sqlext.rewrite.arrow.pushdown import pushed_input
    from sqlext.rewrite.arrow.translation import Unsuited  # these need Arrow, which few statements do

    try:
        return pushed_input(of, 0, renderer)
    except (Unsuited, Unread) as reason:
        renderer.read_by_spark[scan.table.name.name] = f"Arrow is not known to do the same: {reason}"
        return None


def left_to_spark(below: nodes.PlanNode, reason: str, renderer: Rendering) -> None:
    """Note for EXPLAIN why Spark reads the only table of an operator's input."""
    scan = None if renderer.local else _only_scan(below)
    if scan is not None:
        renderer.read_by_spark[scan.table.name.name] = reason


def chosen_inputs(inputs: Sequence[OperatorInput], keys: int, renderer: Rendering) -> list[Pushed] | None:
    """Return all inputs of an operator as programs of the Arrow path, a table that is read twice as one; else None."""
    found = [chosen_input(i, keys, renderer) for i in inputs]
    pushed = [p for p in found if p is not None]
    reason = "what it is joined with is not read by Arrow"
    if pushed and len(pushed) == len(found):
        from sqlext.rewrite.arrow.pushdown import alike, read_once
        from sqlext.rewrite.arrow.translation import Unsuited  # it needs Arrow, which few statements do

        try:
            return read_once(alike(pushed))
        except Unsuited as unsuited:
            reason = f"Arrow is not known to do the same: {unsuited}"
    for one in pushed:
        renderer.read_by_spark.setdefault(one.scan.table.name.name, reason)
    return None


def chosen_beside(first: Pushed, other: OperatorInput, keys: int, renderer: Rendering) -> list[Pushed] | None:
    """Return an input that Arrow reads and another one, however small that is, as ``chosen_inputs`` does."""
    from sqlext.rewrite.arrow.pushdown import alike, pushed_input, read_once
    from sqlext.rewrite.arrow.translation import Unsuited  # these need Arrow, which few statements do

    scan = _only_scan(other.below)
    reason = "what is read beside it is not read by Arrow"
    if scan is not None and _wanted(scan, renderer) != "spark":
        try:
            return read_once(alike([first, pushed_input(other, keys, renderer)]))
        except (Unsuited, Unread) as unsuited:
            reason = f"Arrow is not known to do the same: {unsuited}"
    renderer.read_by_spark.setdefault(first.scan.table.name.name, reason)
    return None


def is_large(scan: nodes.Scan, renderer: Rendering) -> bool:
    """Whether work on a table's rows is better done where they are read, in a query that runs in this process."""
    wanted = renderer.readers.wanted(scan.table)
    if not renderer.packs or wanted == "spark":
        return False
    return wanted == "arrow" or weight(scan.table) > 0


def weight(table: Table) -> int:
    """Return how much lies there: 0 for little, and one more for each time that it is twice as much as that."""
    if not connector_of(table).in_files:
        return 1
    found = 0
    while found < _HEAVIEST and holds_bytes(_path(table), _enough(table) << found):
        found += 1
    return found


def _enough(table: Table) -> int:
    return ENOUGH_BYTES if _format(table) in _FASTER else ENOUGH_PARQUET


def _lies_there(table: Table, enough: int, renderer: Rendering) -> bool:
    """Whether there is enough to make up for the Python processes; those of a topic run in any case."""
    there = not connector_of(table).in_files or holds_bytes(_path(table), enough)
    if not there:
        few = f"less than {enough >> 20} MB lie there, too few to make up for the Python processes"
        few = few if enough > 1 else "nothing lies there"
        unseen = is_remote(_path(table) or "") and not are_reached()
        renderer.read_by_spark[table.name.name] = "it is not looked at without a Spark session" if unseen else few
    return there


def _format(table: Table) -> str:
    return table.option("format") or table.option("value.format") or ""


def _only_scan(node: nodes.PlanNode) -> nodes.Scan | None:
    scans = [n for n in walk(node) if isinstance(n, nodes.Scan)]
    # A program reads one table. A join has one for each side, which ``read_once`` may put together.
    return scans[0] if len(scans) == 1 and connector_of(scans[0].table).decodes else None


def _path(table: Table) -> str | None:
    return table.option("path") or table.option("table-path")


def _wanted(scan: nodes.Scan, renderer: Rendering) -> str:
    wanted = renderer.readers.wanted(scan.table)
    if wanted == "spark" or renderer.at_once or not scan.is_stream or has(ADMISSION):
        return wanted
    if wanted == "arrow":
        raise missing(ADMISSION)
    renderer.read_by_spark[scan.table.name.name] = f"this Spark has no {ADMISSION.name}"
    return "spark"

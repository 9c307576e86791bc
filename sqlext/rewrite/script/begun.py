"""Keep what a query began with: its readers, its number of buckets, whether it is one batch.

The setting ``sqlext.source`` says which reader is wanted; a table's option of that name comes first. A query that goes
on keeps its readers, unless another one is asked for by name and its state is the same under that one
(``can_hand_over``). It keeps the number of buckets, unless ``SET 'sqlext.state.buckets'`` asks for another one and its
state can be divided (``can_divide``). So these choices are parts of its fingerprint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from sqlext.analysis.inserts.fingerprint import (
    AGGREGATES,
    BUCKETS,
    CLOCK,
    HERE,
    Fingerprint,
    grouped,
    kept,
    kept_by_spark,
)
from sqlext.analysis.scans.tables import wanted_source
from sqlext.capabilities import ADMISSION, require
from sqlext.connectors.registry import connector_of
from sqlext.plan.base import walk
from sqlext.plan.grouping import ANY_TRIGGER
from sqlext.plan.nodes import PlanNode, Scan
from sqlext.plan.stateful import Stateful
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.script.model import ArrowView, OperatorView, ReadView, SparkScript
from sqlext.settings import Settings
from sqlext_catalog.model import Table

_SETTING = "sqlext.state.buckets"
_PREFIX = "reader of "
#: Arguments of operators that say how rows come to them.
_OF_FORM = ("packed", "name")
#: What a fingerprint says of a table: as text, and compared.
_ARROW = ("Arrow", "arrow 1")
#: The same of one that also tells the time where the query has no end: heartbeats and ticks are no sources then.
_ARROW_WITH_TIME = ("Arrow", "arrow 2")
_OWN = ("sqlext's own", "own")
#: Of a fingerprint: that the query is one batch.
AT_ONCE = "reads all at once"
_HERE = ("this process", "1")


@dataclass(frozen=True, slots=True)
class Begun:
    """The tables that readers of ours read when a query began; Spark read the others.

    Attributes:
        arrow: those whose rows Arrow combines where it reads them.
        silent: those of them whose readers do not tell the time: heartbeats and ticks are sources of their own.
        own: those of our own sources.
        buckets: how many the state of its operators has; None where that is not known.
        at_once: whether it is one batch without state.
        says_trigger: whether the state of its windows says under which trigger it was written.
        here: whether it runs without Spark, micro-batch by micro-batch.
    """

    arrow: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    buckets: int | None = None
    at_once: bool = False
    says_trigger: bool = True
    here: bool = False

    def could_be_local(self, tables: Iterable[Table]) -> bool:
        """Whether a query that began so can go on without Spark: so it began, or as one batch that Arrow reads."""
        return self.here or (self.at_once and all(table.name.name in self.arrow for table in tables))

    @classmethod
    def of(cls, prints: Fingerprint) -> Begun:
        """Return what a fingerprint says."""
        says = any(part.startswith(ANY_TRIGGER) for part in prints)
        silent = _tables(prints, _ARROW)
        arrow = silent | _tables(prints, _ARROW_WITH_TIME)
        return cls(arrow, silent, _tables(prints, _OWN), _buckets(prints), AT_ONCE in prints, says, HERE in prints)


#: For who has no folder in which readers of ours could keep their place.
BY_SPARK = Begun()


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads the tables of one script.

    Attributes:
        settings: the session's.
        begun: who reads whatever is wanted; None for a query that begins.
    """

    settings: Settings
    begun: Begun | None = None

    def wanted(self, table: Table) -> str:
        """Return ``arrow``, ``auto`` or ``spark``."""
        if self.begun is not None:
            return "arrow" if table.name.name in self.begun.arrow else "spark"
        return wanted_source(table, self.settings)

    def tells_time(self, table: Table) -> bool:
        """Whether a reader of ours that reads a table tells the time with its rows."""
        return self.begun is None or table.name.name not in self.begun.silent

    def at_once(self, end: InputEnd) -> bool:
        """Whether a query may be one batch: it has an end, and was one when it began."""
        return end is InputEnd.FINISH and (self.begun is None or self.begun.at_once)

    def settled(self, plan: PlanNode) -> PlanNode:
        """Return the plan with sources of our own where they are to read, and nowhere else.

        Raises:
            SqlExtError: ENV-014 where they are to read a stream, and Spark has no admission control for them.
        """

        def settle(node: PlanNode) -> PlanNode:
            if not isinstance(node, Scan):
                return node
            own = self._own(node)
            if own and node.is_stream:
                require(ADMISSION)
            return replace(node, own_reader=own)

        return plan.transform(settle)

    def _own(self, scan: Scan) -> bool:
        if connector_of(scan.table).only_own_reader(scan.table):
            return True
        if self.begun is None or scan.table.name.name in self.begun.arrow:
            return scan.own_reader and wanted_source(scan.table, self.settings) != "spark"
        if scan.table.name.name in self.begun.own:  # also where nothing asks for it any more
            return scan.is_stream and not connector_of(scan.table).no_own_reader(scan.table)
        aligned = scan.timing is not None and scan.timing.alignment is not None  # which Spark's source cannot be
        return scan.own_reader and aligned


def readers(script: SparkScript) -> Fingerprint:
    """Return a part for each table that a reader of ours reads; Spark's own sources need none."""
    own = ((source.table, _OWN) for source in script.sources if source.own)
    # What this process reads Spark's workers read by the same readers: either goes on where the other has begun.
    arrow = ((step.table, _of_arrow(step)) for step in script.steps if isinstance(step, (ArrowView, ReadView)))
    found = {f"{_PREFIX}{table.name.name}": who for table, who in (*own, *arrow)}
    if script.local and not script.at_once:
        return {**found, HERE: _HERE}
    return {**found, AT_ONCE: ("yes", "1")} if script.at_once else found


def _of_arrow(step: ArrowView | ReadView) -> tuple[str, str]:
    return _ARROW_WITH_TIME if isinstance(step, ArrowView) and step.tells_time else _ARROW


def kept_readers(script: SparkScript, anew: SparkScript, why: str) -> tuple[str, ...]:
    """Return what is said of tables that another reader would read if the query began now, a line each.

    Args:
        anew: the script of the query as it would begin.
        why: they stay.
    """
    now, wanted = (Begun.of(readers(of)).arrow for of in (script, anew))
    named = [(name, "Spark") for name in sorted(wanted - now)] + [(name, "Arrow") for name in sorted(now - wanted)]
    return tuple(f"{who} reads `{name}`, as when the query began: {why}" for name, who in named)


def asked_readers(settings: Settings, begun: Begun, tables: Iterable[Table]) -> Begun:
    """Return the readers of a query that goes on, with those that somebody asks for by name."""
    asked = {table.name.name: wanted_source(table, settings) for table in tables}
    by_us = {name for name, who in asked.items() if who == "arrow"}
    by_spark = {name for name, who in asked.items() if who == "spark"}
    return replace(begun, arrow=(begun.arrow | by_us) - by_spark, own=begun.own - by_spark)


def can_hand_over(script: SparkScript, other: SparkScript, plan: PlanNode) -> bool:
    """Whether a query can go on as another script, in which other readers read its tables: its state is the same."""
    keeping = Counter(node.function for node in walk(plan) if isinstance(node, Stateful) and node.keeps_state)
    operators, others = ([step for step in s.steps if isinstance(step, OperatorView)] for s in (script, other))
    ours = keeping == Counter(step.function for step in operators)
    alone = all(connector_of(table).table_places() is not None for table in (*script.streams, *other.streams))
    same = [_of_state(step) for step in operators] == [_of_state(step) for step in others]
    # One reader may read a table once for all its sides.
    tables = [[table.name for table in s.streams] for s in (script, other)]
    sides = len(tables[0]) == len(tables[1]) or len({*tables[0], *tables[1]}) == 1
    return ours and same and alone and sides and not script.at_once and not other.at_once


def _of_state(step: OperatorView) -> tuple[str, list[tuple[str, object]]]:
    """Return what an operator does: neither its name nor the form in which rows come to it is in its state."""
    return step.function, [(name, value) for name, value in step.arguments if name not in _OF_FORM]


def _tables(prints: Fingerprint, who: tuple[str, str]) -> frozenset[str]:
    return frozenset(p.removeprefix(_PREFIX) for p, said in prints.items() if p.startswith(_PREFIX) and said == who)


def _buckets(prints: Fingerprint) -> int | None:
    return int(prints[BUCKETS][1]) if BUCKETS in prints else None


def wanted_buckets(settings: Settings) -> int:
    """Return how many buckets a new query has."""
    return int(settings.get(_SETTING) or 0)


def other_buckets(settings: Settings, begun: Begun) -> int | None:
    """Return how many buckets are asked for where a query began with another number; None where none are.

    A default asks for nothing: it may be another one where the query began.
    """
    asked = wanted_buckets(settings) if settings.has_any(_SETTING) else begun.buckets
    return asked if begun.buckets is not None and asked != begun.buckets else None


def can_divide(script: SparkScript, plan: PlanNode) -> bool:
    """Whether the state of a query can be cut into another number of buckets: operators of ours keep all of it.

    Each must stand on the one before: then it is known as which one Spark counts it.
    """
    operators = [step.function for step in script.steps if isinstance(step, OperatorView)]
    states = [node for node in walk(plan) if isinstance(node, Stateful) and node.keeps_state]
    chained = all(any(node is lower for node in walk(upper)) for upper, lower in pairwise(states))
    return chained and not script.at_once and [s.function for s in reversed(states)] == operators


def state_buckets(script: SparkScript) -> Fingerprint:
    """Return the part of a fingerprint that keeps the number of buckets, if an operator has a state."""
    # In this process all keys are one bucket.
    operators = not script.local and any(isinstance(step, OperatorView) for step in script.steps)
    return {BUCKETS: (str(script.buckets),) * 2} if operators else {}


def kept_state(script: SparkScript, plan: PlanNode) -> Fingerprint:
    """Return the parts that let what stands above a query's topmost state change (``ChangeKind.ABOVE``)."""
    operators = [step for step in script.steps if isinstance(step, OperatorView)]
    if not operators:
        return kept_by_spark(plan)
    states = (node.function for node in walk(plan) if isinstance(node, Stateful) and node.keeps_state)
    # Where Spark keeps some of the state, it keeps what is asked above, and no more.
    if Counter(states) != Counter(step.function for step in operators):
        return {}
    # Groups that Spark would keep have an operator of ours in this process, which knows what Spark would know.
    by_spark = kept_by_spark(plan) if script.local else {}
    return {**kept(plan), **_kept_aggregates(operators[-1], plan), **by_spark}


def _kept_aggregates(operator: OperatorView, plan: PlanNode) -> Fingerprint:
    rows = grouped(plan)
    found = dict(operator.arguments).get("aggregates")
    if not rows or not isinstance(found, tuple):
        return {}
    names = "; ".join(str(name) for *_, name in found)
    return {**rows, AGGREGATES: (names, names)}


def heartbeats(script: SparkScript) -> Fingerprint:
    """Return a part for the heartbeats of a script's inputs: their folders are sources, which a checkpoint counts."""
    return {"heartbeats": ("of each input", "1")} if script.kept else {}


def clock(script: SparkScript) -> Fingerprint:
    """Return a part for whether a script asks for the batch clock: ticks are a source, which a checkpoint counts."""
    if script.at_once or not script.streaming:
        return {}
    return {CLOCK: ("asked for", "1") if script.ticks else ("not asked for", "0")}


def has_splits(scan: Scan) -> bool:
    """Whether parts of an input have a time of their own, and its rows say of which they are."""
    return scan.own_reader and connector_of(scan.table).has_splits(scan.table)

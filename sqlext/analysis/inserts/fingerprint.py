"""Describe a query part by part, to compare it with the query that made a checkpoint.

The parts come from the plan: white space, comments, aliases and names of tables do not count, nor does the SQL that
this version of sqlext makes. Each part has a text for people and a digest of its normal form; digests are compared.
``changes`` tells which parts may differ.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import partial

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.types.calls import is_aggregate
from sqlext.connectors.base import written_columns
from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Node
from sqlext.plan import nodes
from sqlext.plan.base import walk
from sqlext.plan.changelog_functions import FromChangelog, ToChangelog
from sqlext.plan.grouping import ANY_TRIGGER, OPEN_WINDOWS, Aggregate
from sqlext.plan.normal_form import (
    column_form,
    columns_by_name,
    condition_parts,
    expression_form,
    names_in,
    option_parts,
    value_form,
)
from sqlext.plan.stateful import Stateful
from sqlext.plan.unnest import Unnested
from sqlext.secrets import redact_forms

#: Part -> its text, and the digest of its normal form.
Fingerprint = dict[str, tuple[str, str]]

#: Raised when the Spark SQL of a plan changes so that Spark cannot read its old state.
STATE_LAYOUT = 1
#: A part for the rows that go into the only operator of a query, and how it groups them.
GROUPED = "rows that are grouped"
#: A part for the aggregates that this operator keeps.
AGGREGATES = "aggregates in state"
#: A part for the rows that come out of the topmost operator with state, and for all that they depend on.
KEPT = "rows that state gives"
#: The same where Spark keeps the groups: then aggregates must be the same ones, in the same order.
KEPT_BY_SPARK = "groups that Spark keeps"
#: A part for all that reads columns, by their names: it stays while columns come and go that the query does not read.
READ = "columns that are read"
#: A part for the number of buckets into which the state of each operator of ours is cut.
BUCKETS = "state buckets"
#: A part for whether the query asks for the batch clock.
CLOCK = "batch clock"
#: Of the parts of a grouping: what is made of its groups.
_OF_AGGREGATES = ("SELECT", "HAVING")
_SOURCE_COLUMNS = "source columns"
#: Of a query without an end that runs without Spark: who runs it.
HERE = "engine"
#: Parts that the first versions did not have: nothing is known of them where they are not there.
ADDED_LATER = frozenset(
    {
        "rowtime",
        "pace of the watermark",
        "largest rowtime",
        BUCKETS,
        GROUPED,
        AGGREGATES,
        KEPT,
        KEPT_BY_SPARK,
        READ,
        OPEN_WINDOWS,
        ANY_TRIGGER,
        CLOCK,
    }
)
#: Summaries of other parts.
SUMMARIES = (GROUPED, KEPT, KEPT_BY_SPARK, READ, OPEN_WINDOWS, ANY_TRIGGER)
#: Parts of time, which a checkpoint bears whatever they say (``changes``).
_OF_TIME = ("watermark", "pace of the watermark", "rowtime NULL handling", "largest rowtime")
_SHOWN = 160


def fingerprint(insert: BoundInsert, zone: str, mode: str, end: str) -> Fingerprint:
    """Return the parts of an INSERT that its state and its place depend on.

    Args:
        zone: the session's time zone.
        mode: whose meaning expressions have.
        end: how its input ends: ``finish``, ``catch-up`` or ``none``.
    """
    parts = _Parts()
    parts.add("state layout", str(STATE_LAYOUT))
    parts.add("time zone", zone)
    parts.add("sqlext.expressions", mode)
    parts.add("end of input", end)
    _add_sink(parts, insert)
    _add_node(parts, insert.plan)
    parts.add("steps", _shape(insert.plan))
    return {**parts.found, **_read(insert)}


def grouped(plan: nodes.PlanNode) -> Fingerprint:
    """Return a part for all that the state of a query's topmost operator depends on, but for which aggregates it keeps.

    Empty where that is no grouping of ours, or where it must remember the rows that it gave.
    """
    node = topmost(plan)
    if not isinstance(node, Aggregate) or node.kept is None:
        return {}
    if node.kept.policy.mode == "RETRACTING" or node.ttl is not None or node.input.changelog:
        return {}
    return {GROUPED: ("as the query below the aggregates says", digest(_without_summaries(_grouped_parts(node))))}


def kept(plan: nodes.PlanNode) -> Fingerprint:
    """Return a part for the rows that a query's topmost operator gives; empty where these rows are changes.

    Steps above it have no state. Of a changelog they must stay: they would leave out what takes a row back.
    """
    node = topmost(plan)
    if node is None or node.changelog or node.updating:
        return {}
    parts = _Parts()
    _add_node(parts, node)
    parts.add("steps", _shape(node))
    return {KEPT: ("as the query up to its topmost state says", _without_time(parts.found))}


def kept_by_spark(plan: nodes.PlanNode) -> Fingerprint:
    """Return a part for the groups that Spark keeps for a whole query; empty where it has other state, or none.

    Spark keeps the aggregates that SELECT and HAVING name, each once, in their order. A condition on keys in HAVING
    counts whole: Spark keeps no group that it leaves out.
    """
    node = plan
    while isinstance(node, nodes.Aliased):
        node = node.input
    if not isinstance(node, Aggregate) or node.kept is not None or node is not topmost(plan):
        return {}
    if any(state is not node for state in _states(plan)):
        return {}
    forms = dict.fromkeys(repr(expression_form(call, node.scope)) for call in _calls_of(node))
    found = (_without_time(_grouped_parts(node)), list(forms), _on_keys(node))
    return {KEPT_BY_SPARK: ("as GROUP BY and the aggregates say", _digest(repr(found)))}


def topmost(plan: nodes.PlanNode) -> Stateful | None:
    """Return the operator with state above which there is none, None where there are several or none."""
    states = _states(plan)
    below = {id(node) for node in walk(states[0])} if states else set()
    return states[0] if states and all(id(state) in below for state in states) else None


def _states(plan: nodes.PlanNode) -> list[Stateful]:
    return [node for node in walk(plan) if isinstance(node, Stateful) and node.keeps_state]


def _grouped_parts(node: Aggregate) -> Fingerprint:
    parts = _Parts()
    _add_all(parts, (part for part in node.parts() if part[0] not in _OF_AGGREGATES))
    _add_node(parts, node.input)
    parts.add("steps", _shape(node.input))
    return parts.found


def _without_time(found: Fingerprint) -> str:
    return digest({n: part for n, part in _without_summaries(found).items() if not n.startswith(_OF_TIME)})


def _without_summaries(found: Fingerprint) -> Fingerprint:
    """Return what was summed up before there was a summary of EMIT: digests of then must stay the same."""
    return {name: part for name, part in found.items() if not name.startswith(OPEN_WINDOWS)}


def _calls_of(node: Aggregate) -> list[Call]:
    """Return the aggregates of SELECT and HAVING, in the order of the text."""
    expressions = (*(output.expr for output in node.outputs), node.having)
    found = (part for e in expressions if e is not None for part in _outermost(e, node.scope.mode))
    return [part for part in found if isinstance(part, Call)]


def _on_keys(node: Aggregate) -> object:
    """Return what HAVING says of keys, None where it asks aggregates alone."""
    having, mode = node.having, node.scope.mode
    if having is None or not any(isinstance(part, ColumnRef) for part in _outermost(having, mode)):
        return None
    return expression_form(having, node.scope)


def _outermost(expr: Node, mode: str) -> Iterator[Node]:
    """Yield the aggregates in an expression, and the columns beside them."""
    if isinstance(expr, ColumnRef) or (isinstance(expr, Call) and is_aggregate(expr, mode)):
        yield expr
    else:
        for part in expr.children():
            yield from _outermost(part, mode)


def _read(insert: BoundInsert) -> Fingerprint:
    """Return a part for what a query without state reads of tables whose columns are found by name; empty of others.

    State may have rows whole, with all their columns.
    """
    steps = list(walk(insert.plan))
    if not all(isinstance(step, _READ_BY_NAME) for step in steps):
        return {}
    parts, read = _Parts(), {name.casefold() for step in steps for name in _names_in(step)}
    with columns_by_name():
        _add_sink(parts, insert)
        _add_node(parts, insert.plan)
    for scan in (step for step in steps if isinstance(step, nodes.Scan)):
        if not connector_of(scan.table).can_alter:
            return {}
        columns = [c for c in scan.table.columns if c.name.casefold() in read and c.kind != "computed"]
        parts.add("read", "", sorted((c.name, c.type.flink() if c.type else "", c.metadata_key) for c in columns))
    found = {name: part for name, part in parts.found.items() if not name.startswith(_SOURCE_COLUMNS)}
    return {READ: ("as the other parts say", digest(found))}


def _names_in(step: nodes.PlanNode) -> Iterator[str]:
    """Yield the names in what a step does, apart from those of the steps below it and of the columns that it has."""
    own = (getattr(step, field.name) for field in fields(step) if field.name != "columns")
    yield from (name for value in own if not isinstance(value, nodes.PlanNode) for name in names_in(value))


def digest(prints: Fingerprint) -> str:
    """Return a whole fingerprint as one short text."""
    return _digest(repr(sorted((k, v[1]) for k, v in prints.items())))


class _Parts:
    """Parts under their names; one that comes again gets a number."""

    def __init__(self) -> None:
        self.found: Fingerprint = {}
        self._counts: Counter[str] = Counter()

    def add(self, name: str, text: str, form: object = None) -> None:
        self._counts[name] += 1
        number = self._counts[name]
        # It is kept in the checkpoint, and digests alone are compared.
        plain = redact_forms(text)
        shown = plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 3]}..."
        key = name if number == 1 else f"{name} ({number})"
        self.found[key] = (shown, _digest(repr(form if form is not None else text)))


def _digest(text: str) -> str:
    # A text may hold a lone surrogate, which utf-8 alone cannot write.
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _add_sink(parts: _Parts, insert: BoundInsert) -> None:
    table = insert.table
    _add_all(parts, option_parts("sink", table))
    parts.add("sink columns", ", ".join(f"{c.name} {c.type.flink()}" for c in written_columns(table)))
    key = table.primary_key.columns if table.primary_key else ()
    parts.add("sink primary key", ", ".join(key) or "none")
    parts.add("sink partitions", ", ".join(table.partitioned_by) or "none")
    parts.add("sink mode", insert.mode)
    parts.add("not-null enforcer", insert.enforce_not_null)
    columns = [
        (
            a.target.name,
            column_form(a.source, insert.plan.columns) if a.source else None,
            expression_form(a.constant, insert.scope) if a.constant else None,
        )
        for a in insert.assignments
    ]
    shown = (
        f"{a.target.name} = {_source_text(a.source.name if a.source else None, a.constant)}" for a in insert.assignments
    )
    parts.add("inserted columns", ", ".join(shown), columns)


def _source_text(name: str | None, constant: Expr | None) -> str:
    return name or (_text(constant) if constant is not None else "NULL")


def _add_all(parts: _Parts, found: Iterable[tuple[str, str, object]]) -> None:
    for name, text, form in found:
        parts.add(name, text, form)


def _add_node(parts: _Parts, node: nodes.PlanNode) -> None:
    if isinstance(node, Stateful):
        _add_all(parts, node.parts())
        if node.ttl is not None:
            parts.add("time to live", f"{node.ttl} ms", node.ttl)
    else:
        _ADDERS.get(type(node), _add_nothing)(parts, node)
    for below in node.inputs:
        _add_node(parts, below)


def _add_nothing(parts: _Parts, node: nodes.PlanNode) -> None:
    """Its place in the shape says all."""


def _add_scan(parts: _Parts, node: nodes.Scan) -> None:
    table = node.table
    _add_all(parts, option_parts("source", table))
    physical = [c for c in table.columns if c.kind != "computed"]
    texts = (
        f"{c.name} {c.type.flink() if c.type else '?'}{' METADATA' if c.kind == 'metadata' else ''}" for c in physical
    )
    keys = [c.metadata_key for c in physical]
    names = ", ".join(texts)
    parts.add(_SOURCE_COLUMNS, names, (names, keys, table.partitioned_by))
    for output in node.computed:
        if output.expr is not None:
            parts.add(
                f"computed column {output.physical}", _text(output.expr), expression_form(output.expr, node.scope)
            )
    if node.rowtime is not None:
        marks = f"{node.delay} ms behind" if node.delay is not None else _text(node.marks)
        form = node.delay if node.delay is not None else expression_form(node.marks, node.scope)
        parts.add("watermark", f"{node.rowtime}, {marks}", (node.rowtime, form))
        parts.add("rowtime NULL handling", node.null_handling)
        # Also apart from "watermark": so `changes` can tell another delay from another rowtime.
        parts.add("rowtime", node.rowtime)
        parts.add("pace of the watermark", str(node.timing or "") or "with the rows")
        parts.add("largest rowtime", "any" if node.future is None else f"{node.future} ms ahead of the clock")


def _add_length(name: str, parts: _Parts, node: nodes.ComputeMillis) -> None:
    parts.add(name, _text(node.length), (expression_form(node.length, node.scope), node.interval))


def _add_join(parts: _Parts, node: nodes.Join) -> None:
    sides = {r.alias: i for i, r in enumerate(node.scope.relations)}
    equal = [
        (sides.get(a), column_form(x, node.left.columns), sides.get(b), column_form(y, node.right.columns))
        for a, x, b, y in node.equal
    ]
    shown = ", ".join(x for _, x, _, _ in node.equal)
    parts.add("JOIN", f"{node.kind}{f' USING ({shown})' if shown else ''}", (node.kind, equal))
    _add_all(parts, condition_parts("ON", node.condition, node.scope))
    if node.sought:
        texts = ", ".join(_text(one) for one, _ in node.sought)
        parts.add("IN", texts, [[expression_form(e, node.scope) for e in pair] for pair in node.sought])


def _add_unnested(parts: _Parts, node: Unnested) -> None:
    parts.add("UNNEST", node.what, (value_form(node.source, node.scope), node.outer))


def _add_ordered(parts: _Parts, node: nodes.Ordered) -> None:
    form = [value_form(v, node.scope) for v in (node.order_by, node.limit, node.offset)]
    parts.add("ORDER BY", ", ".join(_text(o) for o in node.order_by) or "nothing", form)


def _add_values(parts: _Parts, node: nodes.ValuesRows) -> None:
    text = ", ".join(f"({', '.join(_text(e) for e in row)})" for row in node.rows)
    parts.add("VALUES", text, value_form(node.rows, node.scope))


def _add_changelog(parts: _Parts, node: ToChangelog | FromChangelog) -> None:
    codes = ", ".join(f"{a} = {b}" for a, b in node.codes)
    parts.add(f"{node.step} of", codes, (column_form(node.op, node.input.columns), node.codes))


#: Steps without state: where there are no others, only what is read and what becomes of it counts.
_READ_BY_NAME = (nodes.Scan, nodes.Aliased, nodes.Project)
_ADDERS: dict[type[nodes.PlanNode], Callable[..., None]] = {
    nodes.Scan: _add_scan,
    nodes.AssignWindows: lambda parts, node: parts.add(*node.window_part()),
    nodes.ComputeGap: partial(_add_length, "session gap"),
    nodes.ComputeOffset: partial(_add_length, "window offset"),
    nodes.Project: lambda parts, node: _add_all(parts, node.selected_parts()),
    nodes.Join: _add_join,
    Unnested: _add_unnested,
    nodes.Ordered: _add_ordered,
    nodes.ValuesRows: _add_values,
    ToChangelog: _add_changelog,
    FromChangelog: _add_changelog,
    nodes.SetQuery: lambda parts, node: parts.add("set operation", node.op),
    nodes.SparkTable: lambda parts, node: parts.add("Spark table", node.text),
    nodes.SystemRows: lambda parts, node: parts.add("system view", node.view),
}


def _shape(node: nodes.PlanNode) -> str:
    """Return which steps stand on which: names of tables and sub-queries are no steps."""
    if isinstance(node, nodes.Aliased):
        return _shape(node.input)
    below = ", ".join(_shape(i) for i in node.inputs)
    # A stream that is read as a static table changes which joins keep state.
    stream = "" if not isinstance(node, nodes.Scan) or node.is_stream else " of what is there"
    return f"{node.step}{stream}{f'({below})' if below else ''}"


def _text(node: object) -> str:
    span = getattr(node, "span", None)
    return span.one_line if span is not None else str(node)

"""Decide whether a grouping needs an operator of ours, and what that operator does.

Spark's own operators are used wherever they give the same rows. Every reason against them is named here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from sqlext.analysis.emit import rules
from sqlext.analysis.emit.late_tables import check_single, late_letters, late_rows
from sqlext.analysis.emit.phases import by_settings, of_batch, phases_of
from sqlext.analysis.emit.policy import clause_policy
from sqlext.analysis.emit.rules import Used, check_clause, check_using
from sqlext.analysis.emit.settings import KEYS as EMIT_SETTINGS
from sqlext.analysis.emit.settings import settings_policy
from sqlext.analysis.functions.panes import PANE_COLUMNS
from sqlext.analysis.grouping.group_by import Grouped
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.names.registered import check_mergeable
from sqlext.analysis.relations.state_ttl import ttl_of
from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast.expressions import ColumnRef, Expr, Node
from sqlext.dialect.emit.nodes import EmitClause, LateTable
from sqlext.dialect.emit.printing import emit_text
from sqlext.plan import nodes
from sqlext.plan.base import walk
from sqlext.plan.firing import Firing, LateRows, Phases, trigger_name
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import WindowKind, WindowSpec
from sqlext.plan.scope import Scope, own_parts
from sqlext.plan.stateful import Operator, Stateful
from sqlext.plan.windows.session_rows import SessionRows
from sqlext_udfs.windows.policy import (
    Cumulate,
    Global,
    Hop,
    LimitedSession,
    Policy,
    Session,
    Tumble,
    default_trigger,
)
from sqlext_udfs.windows.policy import WindowKind as CoreWindow
from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterDelay,
    AfterDelta,
    AfterIdle,
    AfterWatermark,
    AllOf,
    AnyOf,
    When,
    WindowClose,
    tree,
)

#: An aggregate of these is the same with DISTINCT and without.
_SAME_DISTINCT = ("MIN", "MAX")
_LIMITED = "SESSION with a maximum length"
_FILL = "EMIT FILL"
#: The option of a table, and of SET for all: the table that takes late rows.
_LATE_TABLE = "sqlext.late-rows.table"


def find_firing(grouped: Grouped, env: Environment) -> Firing:
    """Return what an operator of ours does for a grouping of a stream, or would do where Spark's own does.

    Raises:
        SqlExtError: EMIT-... for a clause or settings that mean nothing here.
    """
    values: list[Node] = []

    def number(node: Node) -> int:
        if node not in values:
            values.append(node)
        return values.index(node)

    spec = grouped.assign.spec if grouped.assign is not None else None
    window = windows_of(spec) if spec is not None else Global()
    processing = spec is not None and spec.processing
    clause = grouped.select.emit
    given = spec is not None and _is_given(grouped)
    late = kept_late_rows(clause, grouped, given and not _is_cut_by_sql(grouped), env)
    notes: tuple[str, ...] = ()
    using: Used = ()
    phases: Phases | None = None
    if clause is not None:
        policy = clause_policy(clause, grouped.node, window, number, grouped.scope, processing_time=processing)
        check_clause(clause, policy, _watermarked(grouped))
        using = check_using(clause, window, env.functions)
        notes = tuple(rules.notes(clause, policy, _ordered(grouped.node)))
    else:
        policy = Policy(window, default_trigger(window), processing_time=processing)
        if spec is not None and env.settings.has_any(EMIT_SETTINGS):
            by_set = settings_policy(env, window, grouped)
            policy, phases = by_set or policy, by_settings() if by_set is not None else None
    if late is not None and given:
        check_single(late, grouped, policy)
    if env.functions.names("aggregate"):
        check_mergeable(grouped.aggregates(), window)
    why = [*of_policy(policy, clause), *_of_aggregates(grouped), *_of_windows(grouped), *_of_panes(grouped)]
    why += _of_input(grouped)
    # Spark drops late rows and shows only how many (numRowsDroppedByWatermark).
    if late is not None and clause is None:
        why.append("late rows kept")
    if spec is not None and not processing and nodes.future_limit(grouped.node) is not None:
        why.append("rows from the future left out")
    ttl = _ttl(grouped, env)
    if ttl is not None or (grouped.node.changelog and spec is None):
        policy = replace(policy, mode="RETRACTING")
    asked = set(_of_panes(grouped)) - {"ROW_KIND()"}
    return Firing(
        replace(policy, keep_index=bool(asked)),
        given,
        tuple(dict.fromkeys(why)),
        panes=_panes(policy, grouped),
        values=tuple(values),
        late=late,
        notes=notes,
        using=using,
        ttl=ttl,
        emit=emit_text(clause) if clause is not None else "",
        phases=phases or phases_of(clause, policy),
    )


def static_firing(grouped: Grouped) -> Firing | None:
    """Return what an operator of ours does for a grouping of rows that stand still: FILL, sessions with a maximum."""
    clause, assign = grouped.select.emit, grouped.assign
    given = assign is not None and _is_given(grouped)
    limited = assign is not None and assign.spec.limit is not None and not given
    filled = clause is not None and clause.fill is not None
    if not limited and not filled:
        return None
    window = windows_of(assign.spec) if assign is not None else Global()
    why = (*([_FILL] if filled else []), *([_LIMITED] if limited else []))
    return Firing(
        Policy(window, default_trigger(window)),
        given,
        why,
        emit=emit_text(clause) if clause and filled else "",
        phases=of_batch(),
    )


def are_rows_of_sessions(grouped: Grouped) -> bool:
    """Whether rows must be told which session they are in before they are grouped by it: something looks at that.

    ``session_window`` of Spark knows the session when it has grouped the rows. It has no maximum either.
    """
    assign = grouped.assign
    if assign is None:  # behind a join
        return any(isinstance(n, nodes.AssignWindows) and n.spec.limit is not None for n in walk(grouped.node))
    if assign.spec.kind is not WindowKind.SESSION or isinstance(assign, SessionRows):
        return False
    if any(_looks_at(e, assign, grouped.scope) for e in _inputs(grouped)):
        return True
    return assign.spec.limit is not None and _is_given(grouped)


def kept_late_rows(clause: EmitClause | None, grouped: Grouped, given: bool, env: Environment) -> LateRows | None:
    """Return how the late rows of a grouping are kept: by its clause, by an option of its source, or by SET.

    The options are for the windows right above the sources: there rows can be late.

    Args:
        given: whether rows have their windows before the operator, and the query looks at them.

    Raises:
        SqlExtError: EMIT-114, EMIT-118 and OPT-038 as of ``late_tables``.
    """
    if clause is not None and clause.late_table is not None:
        return late_rows(clause.late_table, grouped, given, env)
    windows = grouped.assign is not None and not grouped.assign.spec.processing
    if not windows or any(isinstance(n, Aggregate) for n in walk(grouped.node)):
        return None
    name = _table_of_late_rows(grouped.node, env)
    if name:
        table = LateTable(grouped.select.span, tuple(p.strip("`") for p in name.split(".")))
        return late_rows(table, grouped, given, env)
    letters = env.settings.dead_letters("late")
    return late_letters(letters, grouped, given, env) if letters else None


def _table_of_late_rows(node: nodes.PlanNode, env: Environment) -> str | None:
    """Return the table that an option of a source, or SET, names for late rows of the windows above it."""
    scans = (n for n in walk(node) if isinstance(n, nodes.Scan) and n.is_stream)
    options = (scan.table.option(_LATE_TABLE) for scan in scans)
    return next((o for o in options if o), None) or env.settings.get(_LATE_TABLE) or None


def _ttl(grouped: Grouped, env: Environment) -> int | None:
    """Return how long groups without a window live (ms); an EMIT clause says itself what it keeps."""
    if grouped.grouping.window is not None or grouped.select.emit is not None:
        return None
    return ttl_of(grouped.scope.relations, grouped.select.hints, env)


def of_policy(policy: Policy, clause: EmitClause | None) -> Iterator[str]:
    """Yield why a policy gives other results than one at the end of each window, which Spark's own operators give."""
    plain = Policy(policy.window, default_trigger(policy.window), processing_time=policy.processing_time)
    # ON WINDOW CLOSE asks for what Spark's append mode does anyway, so it is no reason against it.
    at_the_end = isinstance(policy.trigger, WindowClose) and policy.trigger == WindowClose()
    trigger = plain.trigger if at_the_end and not policy.lateness else policy.trigger
    if replace(policy, trigger=trigger) != plain:
        yield f"EMIT {trigger_name(policy)}"
    if clause is not None and clause.fill is not None:
        yield _FILL
    if clause is not None and (clause.late_table is not None or clause.output == "CHANGELOG"):
        yield "LATE DATA TO" if clause.late_table is not None else "EMIT CHANGELOG"


def _of_input(grouped: Grouped) -> Iterator[str]:
    """Yield why Spark cannot group the rows that come: it refuses updates above another operator with state."""
    if grouped.node.changelog:
        yield "GROUP BY of rows that change"
    below = walk(grouped.node)
    if grouped.grouping.window is None:
        if any(isinstance(n, Stateful) and n.keeps_state for n in below):
            yield "GROUP BY without a window over another operator with state"
    elif any(isinstance(n, Operator) for n in below):
        yield "a window over another operator with state"
    elif grouped.node.lag:
        yield "a window over TIMESTAMP and TIMESTAMP_LTZ rowtimes in one column"


def _of_panes(grouped: Grouped) -> Iterator[str]:
    yield from (f"{call.function}()" for call in grouped.calls() if call.function in PANE_COLUMNS)


def _panes(policy: Policy, grouped: Grouped) -> Literal["one", "each", "last"]:
    if is_single(policy) or _closes_at_once(policy):
        return "one"
    shown = set(_of_panes(grouped))
    if policy.mode == "DISCARDING" or shown & {"PANE_INDEX()", "ROW_KIND()"}:
        return "each"
    return "last"


def _closes_at_once(policy: Policy) -> bool:
    """Whether ONCE closes a key and window at its first pane. A session that has grown is another window."""
    finishing = (AfterCount, AfterDelay, AfterIdle, AfterDelta, When, AllOf, AnyOf)
    every = all(isinstance(t, finishing) for t in tree(policy.trigger))
    return policy.once and every and not isinstance(policy.window, Session)


def is_single(policy: Policy) -> bool:
    """Whether a policy gives a key and window one pane at most."""
    if policy.processing_time and not isinstance(policy.window, Global):
        return policy.trigger == AfterWatermark() and policy.evictor is None
    return policy.gives_one_pane


def _watermarked(grouped: Grouped) -> str | None:
    """Return the rowtime by which a grouping's rows have a watermark, None without one."""
    if grouped.assign is not None and grouped.assign.time.is_rowtime:
        return grouped.assign.time.name
    return next((c.name for c in grouped.node.columns if c.is_rowtime), None)


def _ordered(node: nodes.PlanNode) -> bool:
    """Whether the rows of a micro-batch come in an order that a retry repeats: those of one source do."""
    scans = [n for n in walk(node) if isinstance(n, nodes.Scan) and n.is_stream]
    return len(scans) == 1 and connector_of(scans[0].table).keeps_order


def _of_aggregates(grouped: Grouped) -> Iterator[str]:
    for call in grouped.aggregates():
        # Spark refuses distinct aggregations of streaming DataFrames.
        if call.distinct and call.function not in _SAME_DISTINCT:
            yield f"{call.function}(DISTINCT ...)"
        if call.registered is not None:
            yield f"{call.registered.name}(...) in Python"


def _of_windows(grouped: Grouped) -> Iterator[str]:
    spec = grouped.assign.spec if grouped.assign is not None else None
    if spec is None:
        return
    if spec.kind is WindowKind.CUMULATE and not _is_given(grouped):
        yield "CUMULATE"
    if spec.processing:
        yield "windows of processing time"
    if spec.gap is not None and not _is_given(grouped):
        yield "SESSION with a gap of each row"
    if spec.limit is not None and not _is_given(grouped):
        yield _LIMITED
    if any(isinstance(n, nodes.RestoreTime) for n in walk(grouped.node)):
        yield "a window of times that Spark does not follow through a join or a grouping"


def windows_of(spec: WindowSpec) -> CoreWindow:
    """Return the windows that an operator gives rows by their time."""
    if spec.kind is WindowKind.SESSION:
        gap = None if spec.gap is not None else spec.size
        return Session(gap) if spec.limit is None else LimitedSession(gap, spec.limit)
    if spec.kind is WindowKind.HOP:
        return Hop(spec.size, spec.slide, spec.offset)
    if spec.kind is WindowKind.CUMULATE:
        return Cumulate(spec.size, spec.slide, spec.offset)
    return Tumble(spec.size, spec.offset)


def _is_given(grouped: Grouped) -> bool:
    """Whether rows must have their windows before the operator: someone looks at them, or SQL alone makes them.

    Rows that may be taken back have theirs too: the operator of changes makes sessions and windows of the clock alone.
    """
    assign = grouped.assign
    assert assign is not None
    makes_its_own = assign.spec.processing or assign.spec.kind is WindowKind.SESSION
    if isinstance(assign, SessionRows) or (grouped.node.changelog and not makes_its_own):
        return True
    # The operator's windows are so many ms long, but days of a zone with summer time differ: SQL makes those windows,
    # and those with an offset of each row.
    if assign.spec.aligned or assign.spec.row_offset is not None:
        return True
    return _are_looked_at(grouped, assign)


def _is_cut_by_sql(grouped: Grouped) -> bool:
    """Whether SQL makes the windows, and the query does not look at them before it groups by them."""
    assign = grouped.assign
    if assign is None or isinstance(assign, SessionRows) or grouped.node.changelog:
        return False
    return _is_given(grouped) and not _are_looked_at(grouped, assign)


def _are_looked_at(grouped: Grouped, assign: nodes.AssignWindows) -> bool:
    """Whether something looks at the windows of the rows before these are grouped."""
    below = grouped.node.input if isinstance(grouped.node, nodes.Aliased) else grouped.node
    return below is not assign or any(_looks_at(e, assign, grouped.scope) for e in _inputs(grouped))


def _inputs(grouped: Grouped) -> Iterator[Expr]:
    """Yield the expressions that are computed from the rows, before the operator."""
    if grouped.select.where is not None:
        yield grouped.select.where
    yield from grouped.grouping.expressions
    for call in grouped.aggregates():
        yield from (a for a in call.args if isinstance(a, Expr))
        if call.filter is not None:
            yield call.filter


def _looks_at(expr: Expr, assign: nodes.AssignWindows, scope: Scope) -> bool:
    refs: Iterable[ColumnRef] = (p for p in own_parts(expr) if isinstance(p, ColumnRef))
    return any(scope.has(r) and scope.find(r).column.physical == assign.physical for r in refs)

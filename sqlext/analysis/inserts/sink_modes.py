"""Choose how a result reaches its sink, and refuse results that the sink cannot take."""

from __future__ import annotations

from sqlext.analysis.inserts.bound import APPEND, FINAL_STATE, UPSERT, Mode
from sqlext.analysis.names.environment import Environment
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.plan.base import walk
from sqlext.plan.cautions import WHOLE_WINDOW, half_window
from sqlext.plan.nodes import PlanNode, Scan
from sqlext.plan.panes import as_changelog, last_firings, merged_sessions_removed, readable, untold, visible_key
from sqlext.plan.stateful import Operator
from sqlext.source import Span
from sqlext_catalog.model import Table
from sqlext_udfs.windows.policy import Global, Session


def sink_mode(plan: PlanNode, table: Table, env: Environment, span: Span) -> tuple[PlanNode, Mode]:
    """Return how the rows of a plan reach a table, and the plan that gives the rows needed for that.

    Raises:
        SqlExtError: EMIT-107 for several panes into a sink that cannot tell them apart, EMIT-108 for rows that are
            taken back into a sink that cannot delete, SINK-004 for other updates that a sink cannot take.
    """
    connector = connector_of(table)
    if connector.takes_updates:
        return as_changelog(plan), APPEND
    if connector.takes_changes(table):
        return readable(as_changelog(plan)), APPEND
    # After the sinks that take every change: a key must not reduce what they are given.
    keyed = connector.merges(table)
    if plan.changelog:
        return plan, _mode_of_changes(plan, table, env, span, keyed=keyed)
    if not plan.updating:
        _check_panes(plan, table, keyed, span)
        return plan, UPSERT if keyed else APPEND
    # A Delta MERGE compares any columns, so the query's own key serves where the table declares none.
    if keyed or (connector.merges_any_key and visible_key(plan)):
        return merged_sessions_removed(plan), UPSERT
    if env.settings.get("sqlext.sink.updates") == FINAL_STATE:
        return merged_sessions_removed(plan), FINAL_STATE
    if connector.adds_updates(table) and _only_grows(plan):
        return as_changelog(plan), APPEND
    raise _only_appends(plan, table, span)


def _mode_of_changes(plan: PlanNode, table: Table, env: Environment, span: Span, *, keyed: bool) -> Mode:
    if keyed:
        return UPSERT
    if env.settings.get("sqlext.sink.updates") == FINAL_STATE:
        return FINAL_STATE
    raise SqlExtError(
        "SINK-004",
        f"`{table.name.name}` ({table.option('connector')}) only appends, but {_changing(plan)} changes rows that it "
        "has already given out",
        span=span,
        hint="write to a delta table with a PRIMARY KEY, or SET 'sqlext.sink.updates' = 'final-state' to write the "
        "final rows of a bounded job at its end",
    )


def _only_grows(plan: PlanNode) -> bool:
    """Return whether rows change and never go away: groups without a window, of rows that stay."""
    whole = all(isinstance(firing.policy.window, Global) for firing in last_firings(plan))
    return whole and not any(node.changelog for node in walk(plan))


def _changing(plan: PlanNode) -> str:
    """Return what changes rows in a plan that is a changelog, as a message calls it."""
    top = next(n for n in walk(plan) if n.changelog and not any(i.changelog for i in n.inputs))
    if isinstance(top, Scan):
        return f"`{top.table.name.name}`"
    return f"this {top.what}" if isinstance(top, Operator) else "this GROUP BY"


def _check_panes(plan: PlanNode, table: Table, keyed: bool, span: Span) -> None:
    """Check panes that come as rows of their own: a key takes the last one, but no session that is merged away."""
    for firing in untold(plan, "ROW_KIND"):
        # A session that grows is another window, so perhaps another key: its older row would stay for ever.
        replaced = keyed and not isinstance(firing.policy.window, Session)
        if firing.policy.mode == "RETRACTING" and not replaced:
            raise _no_retractions(table, span)
    if not keyed and any(untold(plan, "ROW_KIND", "PANE_INDEX")):
        raise _several_panes(table, span)


def _only_appends(plan: PlanNode, table: Table, span: Span) -> SqlExtError:
    firings = list(last_firings(plan))
    if any(f.policy.mode == "RETRACTING" for f in firings):
        return _no_retractions(table, span)
    if any(not isinstance(f.policy.window, Global) for f in firings):
        return _several_panes(table, span)
    half = next(filter(None, map(half_window, walk(plan))), None)
    if half is not None:
        message = (
            f"`{table.name.name}` ({table.option('connector')}) only appends, and without {half[1]} this is no window"
        )
        return SqlExtError("SINK-004", message, span=half[0].span, hint=WHOLE_WINDOW)
    return SqlExtError(
        "SINK-004",
        f"`{table.name.name}` ({table.option('connector')}) only appends, but this GROUP BY without a window changes "
        "rows that it has already given out",
        span=span,
        hint="group by a window, write to a delta table with a PRIMARY KEY, or "
        "SET 'sqlext.sink.updates' = 'final-state' to write the final rows of a bounded job at its end",
    )


def _several_panes(table: Table, span: Span) -> SqlExtError:
    return SqlExtError(
        "EMIT-107",
        f"sink `{table.name.name}` only appends, but this EMIT can write a window more than once; add PANE_INDEX() to "
        "the key, declare a PRIMARY KEY, or use ON WINDOW CLOSE",
        span=span,
        hint="PANE_INDEX() in the select list makes each pane a row of its own; a delta table takes the last pane",
    )


def _no_retractions(table: Table, span: Span) -> SqlExtError:
    return SqlExtError(
        "EMIT-108",
        f"sink `{table.name.name}` cannot take retractions",
        span=span,
        hint="write to a delta table with a PRIMARY KEY, or add ROW_KIND() to the select list to keep the changelog",
    )

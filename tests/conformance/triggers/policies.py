"""A case's policy: its window, and its EMIT text through the parser and the binder."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.emit import policy as emit_policy
from sqlext.dialect.ast.expressions import Node
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.emit import nodes
from sqlext.dialect.emit.clause import parse_emit
from sqlext.plan.scope import Scope
from sqlext.source import SourceText
from sqlext_udfs.windows.policy import Global, Hop, Policy, Session, Tumble, WindowKind

from .clauses import Tree, render_emit

#: Nothing in these clauses is looked up by name.
_NAMES = Scope((), "flink", "UTC")


def value_column(computed: Node) -> int:
    """Return the column of what a clause computes from a row: always the value, which is also CASE's action."""
    assert isinstance(computed, nodes.CaseTrigger) or computed.span.text == "value"
    return 0


def parse(text: str) -> nodes.EmitClause:
    """Return the clause of a text."""
    cursor = Cursor.over(SourceText.of(text).span(0, len(text)))
    clause = parse_emit(cursor)
    assert cursor.at_end, text
    return clause


def policy_of(case: Tree) -> Policy:
    """Return a case's policy."""
    clause = parse(render_emit(case))
    if "window_fn" in case:
        return emit_policy.policy_of(clause, _beam_window(case["window_fn"]), value_column, _NAMES)
    by_clock = case["assigner"]["type"].endswith("_processing")
    window = _flink_window(case["assigner"])
    policy = emit_policy.policy_of(clause, window, value_column, _NAMES, processing_time=by_clock)
    # Flink has no pane index, so it keeps nothing of an emptied group.
    return replace(policy, keep_index=False)


def _beam_window(of: Tree) -> WindowKind:
    kind = of["type"]
    if kind == "fixed":
        return Tumble(of["size"], of.get("offset", 0))
    if kind == "sliding":
        return Hop(of["size"], of["period"], of.get("offset", 0))
    return Session(of["gap"]) if kind == "sessions" else Global()


def _flink_window(of: Tree) -> WindowKind:
    kind = of["type"]
    if kind.startswith("tumbling"):
        return Tumble(of["size"], of.get("offset", 0))
    if kind.startswith("sliding"):
        return Hop(of["size"], of["slide"], of.get("offset", 0))
    if kind.startswith("dynamic_session"):
        return Session(None)
    return Session(of["gap"]) if kind.startswith("session") else Global()

"""Bind UNION, INTERSECT, EXCEPT and DISTINCT of streams as groupings by all columns.

``a INTERSECT b`` keeps the groups that have rows of both sides. ``a EXCEPT b`` keeps those with rows of the first side
alone. With ALL, the counts of the sides tell how many copies of its row a group gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.relations.binding import Binding, Block
from sqlext.analysis.relations.materialisation import materialised
from sqlext.analysis.relations.state_ttl import setting_ttl
from sqlext.dialect.ast.queries import Select
from sqlext.dialect.queries.whole import parse_query_at, parse_query_text
from sqlext.plan import nodes
from sqlext.plan.columns import PlanColumn
from sqlext.plan.distinct import Distinct
from sqlext.plan.panes import readable
from sqlext.plan.scope import Scope, ScopeRelation
from sqlext.plan.unnest import Elements, Unnested
from sqlext.source import Span
from sqlext.types import INT, array

_SIDE = "side"
# Counts, not flags: a side may take rows back, and its count then falls to zero again.
_HAVING = {
    "UNION": "",
    "INTERSECT": f"HAVING COUNT(*) FILTER (WHERE {_SIDE} = 0) > 0 AND COUNT(*) FILTER (WHERE {_SIDE} = 1) > 0",
    "EXCEPT": f"HAVING COUNT(*) FILTER (WHERE {_SIDE} = 0) > 0 AND COUNT(*) FILTER (WHERE {_SIDE} = 1) = 0",
}
_ALIAS = "__set"
_COUNT, _COPY = "copies", "__copy"


def each_once(binding: Binding, op: str, branches: Sequence[nodes.PlanNode], span: Span) -> nodes.PlanNode:
    """Return each different row of a set operation once.

    Args:
        binding: binds the grouping.
        op: ``UNION`` (of one branch: DISTINCT), ``INTERSECT`` or ``EXCEPT``.
        branches: of plain columns, the same in all.
        span: where the operation stands.
    """
    whole, names = _tagged(binding, branches, span)
    node = _bound(binding, f"SELECT {names} FROM x GROUP BY {names} {_HAVING[op]}", whole, span)
    return _named_as(branches[0], node)


def distinct_rows(binding: Binding, node: nodes.PlanNode, reason: str, span: Span) -> nodes.PlanNode:
    """Return the rows of a relation once each; their time attributes are ordinary values then, for ``reason``."""
    node = readable(node)
    plain = materialised(node, binding.env, reason, span)
    # Distinct gives each row when it first comes and takes none back; a grouping counts how often it is there.
    if node.changelog:
        return each_once(binding, "UNION", [plain], span)
    ttl = setting_ttl(binding.env) if plain.streaming else None
    return Distinct(plain.columns, plain, ttl)


def each_as_often(binding: Binding, op: str, branches: Sequence[nodes.PlanNode], span: Span) -> nodes.PlanNode:
    """Return the rows of ``INTERSECT ALL`` or ``EXCEPT ALL``: each as often as the counts of the branches say.

    Args:
        binding: binds the grouping.
        op: ``INTERSECT`` (as often as where it is least) or ``EXCEPT`` (what is left of the first branch).
        branches: of plain columns, the same in all.
        span: where the operation stands.
    """
    whole, names = _tagged(binding, branches, span)
    counts = [f"COUNT(*) FILTER (WHERE {_SIDE} = {i})" for i in range(len(branches))]
    copies = f"LEAST({', '.join(counts)})" if op == "INTERSECT" else f"GREATEST({' - '.join(counts)}, 0)"
    grouped = _bound(binding, f"SELECT {names}, {copies} AS {_COUNT} FROM x GROUP BY {names}", whole, span)
    repeated = _repeated(readable(grouped), binding)
    return _named_as(branches[0], _bound(binding, f"SELECT {names} FROM x", repeated, span))


def _repeated(node: nodes.PlanNode, binding: Binding) -> nodes.PlanNode:
    """Return each row as often as its last column says."""
    # Spark's meaning in both modes: Flink has no ARRAY_REPEAT.
    body = parse_query_text(f"SELECT ARRAY_REPEAT(1, CAST({_COUNT} AS INT)) FROM x", "spark", "copies").body
    assert isinstance(body, Select)
    relation = ScopeRelation(_ALIAS, (), node.columns)
    scope = Scope((relation,), "spark", binding.env.zone)
    made = PlanColumn(_COPY, INT, _COPY)
    elements = Elements(body.items[0].expr, array(INT.not_null()), ordinality=False)
    below = nodes.Aliased(node.columns, node, _ALIAS)
    return Unnested((*node.columns, made), below, elements, scope, "__copies", (made,))


def _tagged(binding: Binding, branches: Sequence[nodes.PlanNode], span: Span) -> tuple[nodes.PlanNode, str]:
    """Return the rows of all branches, each with its side, and the names of their columns but that."""
    tagged = [_with_side(b, i, binding, span) for i, b in enumerate(branches)]
    columns = tagged[0].columns
    whole = nodes.SetQuery(columns, "UNION ALL", tuple(tagged)) if len(tagged) > 1 else tagged[0]
    return whole, ", ".join(c.name for c in columns[:-1])


def _named_as(first: nodes.PlanNode, node: nodes.PlanNode) -> nodes.PlanNode:
    """Return a relation whose columns are called as those of the first branch."""
    pairs = zip(node.columns, first.columns, strict=True)
    return replace(node, columns=tuple(replace(c, name=own.name, type=own.type) for c, own in pairs))


def _with_side(branch: nodes.PlanNode, side: int, binding: Binding, span: Span) -> nodes.PlanNode:
    """Return a branch's columns as c0, c1, ... and, last, which side it is."""
    # A branch may name two columns alike, and the generated SELECT groups by name.
    renamed = tuple(replace(c, name=f"c{i}") for i, c in enumerate(branch.columns))
    names = ", ".join(c.name for c in renamed)
    return _bound(binding, f"SELECT {names}, {side} AS {_SIDE} FROM x", replace(branch, columns=renamed), span)


def _bound(binding: Binding, text: str, below: nodes.PlanNode, span: Span) -> nodes.PlanNode:
    """Return a SELECT over a relation, which the text calls x."""
    body = parse_query_at(span.source.reworded(span, text), binding.env.mode).body
    assert isinstance(body, Select)
    scope = Scope((ScopeRelation(_ALIAS, (), below.columns),), binding.env.mode, binding.env.zone)
    return binding.bind_block(Block(replace(body, from_=None), nodes.Aliased(below.columns, below, _ALIAS), scope))

"""Find the versions that a relation gives.

It is a table with a primary key and a watermark, or a deduplication that keeps the last row (Flink's docs, "Versioned
tables", "Versioned views").
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.columns import PlanColumn
from sqlext.plan.current_rows import CurrentRows
from sqlext.plan.ranking import Rank
from sqlext.source import Span
from sqlext_udfs.ranking.specification import Ranking


@dataclass(frozen=True)
class Versions:
    """A relation whose rows are versions.

    Attributes:
        node: gives each version: without the deduplication, which would give the last one of a micro-batch alone.
        keys: physical columns of the key.
        time: from when on a version is in force.
    """

    node: nodes.PlanNode
    keys: tuple[str, ...]
    time: PlanColumn


@dataclass(frozen=True)
class _Found:
    node: nodes.PlanNode
    keys: tuple[str, ...]
    time: str


def versions_of(node: nodes.PlanNode, span: Span) -> Versions:
    """Return the versions that a relation gives.

    Raises:
        SqlExtError: JOIN-010 if it has no primary key, JOIN-011 if it has no rowtime, or its rows are no stream.
    """
    found = _found(node, span)
    if found is None:
        raise SqlExtError(
            "JOIN-010",
            "a temporal join needs a primary key on its right side",
            span=span,
            hint="declare PRIMARY KEY (k) NOT ENFORCED and a WATERMARK on the table, or join a view of its last rows: "
            "ROW_NUMBER() OVER (PARTITION BY k ORDER BY rowtime DESC) = 1",
        )
    time = next((c for c in found.node.columns if c.physical == found.time and c.is_rowtime), None)
    if time is None or not found.node.streaming:
        raise SqlExtError(
            "JOIN-011",
            "a temporal join by event time needs a stream with a rowtime on its right side",
            span=span,
            hint="declare WATERMARK FOR t AS t - INTERVAL '5' SECOND on its table, and select that column",
        )
    return Versions(found.node, found.keys, time)


def _found(node: nodes.PlanNode, span: Span) -> _Found | None:
    if isinstance(node, nodes.Aliased):
        below = _found(node.input, span)
        return replace(below, node=replace(node, input=below.node)) if below is not None else None
    if isinstance(node, nodes.Project):
        return _shown(node, span)
    if isinstance(node, Rank):
        return _last_rows(node)
    # Below it each record is a version; above it only the last one of a micro-batch is left.
    if isinstance(node, CurrentRows):
        return _found(node.sources[0], span)
    if isinstance(node, nodes.Scan) and node.table.primary_key is not None:
        return _Found(node, node.table.primary_key.columns, node.rowtime or "")
    return None


def _shown(node: nodes.Project, span: Span) -> _Found | None:
    """Return the versions below a SELECT, if it shows their key and time."""
    below = _found(node.input, span)
    if below is None:
        return None
    # A filter would hide versions, and the one before would seem to be still in force.
    if node.where is not None and any(True for _ in _ranks(node)):
        message = "a versioned view can only ask for the last row of each key"
        raise SqlExtError("JOIN-010", message, span=node.where.span, hint="put the other conditions behind the join")
    names = {_source(o, node): o.physical for o in node.outputs}
    if not all(k in names for k in below.keys):
        return None
    return _Found(node.with_inputs((below.node,)), tuple(names[k] for k in below.keys), names.get(below.time, ""))


def _source(output: nodes.Output, node: nodes.Project) -> str:
    if output.handed_on is not None:
        return output.handed_on.physical
    found = node.scope.bare(output.expr) if output.expr is not None else None
    return found.column.physical if found is not None else ""


def _last_rows(rank: Rank) -> _Found | None:
    """Return the rows that a deduplication is of, in its place: each one is a version from its time on."""
    # Flink's docs, Versioned Views: only a deduplication that keeps the last row gives versions.
    if not rank.latest_first or (rank.first, rank.last) != (1, 1) or rank.ranking is not Ranking.ROW_NUMBER:
        return None
    if rank.window is not None:
        return None
    keys = [rank.scope.bare(e) for e in rank.partition]
    time = rank.scope.bare(rank.order[0].expr) if len(rank.order) == 1 else None
    if time is None or not keys or None in keys:
        return None
    (below,) = rank.sources
    handed_on = [nodes.Output(p, None, PlanColumn(p, None, p)) for p in below.physical_columns()]
    number = nodes.Output(rank.number, parse_expression_text("1", rank.scope.mode, "the number of the last row"))
    node = nodes.Project(rank.columns, below, rank.scope, (*handed_on, number))
    return _Found(node, tuple(k.column.physical for k in keys if k is not None), time.column.physical)


def _ranks(node: nodes.PlanNode) -> list[Rank]:
    while isinstance(node, (nodes.Aliased, nodes.Project)):
        node = node.input
    return [node] if isinstance(node, Rank) else []

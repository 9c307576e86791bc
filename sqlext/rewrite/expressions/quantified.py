"""Render comparisons with ANY, SOME and ALL, which Spark has not."""

from __future__ import annotations

from sqlext.dialect.ast import expressions as e
from sqlext.quoting import identifier
from sqlext.rewrite.expressions.protocols import Texts

#: What shows that a value is not on that side of all others: a comparison with the least or the greatest of them.
_BROKEN = {
    ">": "{0} <= {high}",
    ">=": "{0} < {high}",
    "<": "{0} >= {low}",
    "<=": "{0} > {low}",
    "=": "({0} <> {low} OR {0} <> {high})",
}
#: ``x > ANY`` is the opposite of ``x <= ALL``.
_OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "<>": "="}
#: The names that Spark sees of a ROW without names.
_FIELDS = {"flink": tuple(f"EXPR${i}" for i in range(4)), "spark": tuple(f"col{i}" for i in range(1, 5))}


def in_query(node: e.InQuery, texts: Texts) -> str | None:
    """Return ``x = ANY (SELECT ...)`` as IN, None for what is written as IN."""
    if not node.quantified:
        return None
    return f"({texts.atom(node.operand)} {'NOT ' if node.negated else ''}IN ({texts.text(node.query)}))"


def list_comparison(node: e.ListComparison, texts: Texts) -> str:
    """Return the comparisons with each value, connected."""
    operand = texts.atom(node.operand)
    return f"({(' AND ' if node.every else ' OR ').join(f'{operand} {node.op} {texts.atom(i)}' for i in node.items)})"


def query_comparison(node: e.QueryComparison, texts: Texts) -> str:
    """Return what the least and the greatest value of the query say; a NULL among its values leaves some cases open."""
    summary = node.summary
    row = f"({texts.text(summary.query)})" if isinstance(summary, e.ScalarQuery) else texts.text(summary)
    low, high, rows, values = (f"{row}.{identifier(name)}" for name in _FIELDS[texts.mode])
    broken = _BROKEN[node.op if node.every else _OPPOSITE[node.op]].format(texts.atom(node.operand), low=low, high=high)
    every = f"CASE WHEN {rows} = 0 THEN TRUE WHEN {broken} THEN FALSE WHEN {rows} = {values} THEN NOT {broken} END"
    return f"({every})" if node.every else f"(NOT {every})"

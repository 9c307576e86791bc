"""UNNEST and table functions as text: Spark's generators, which Spark puts into one step with the rows beside them.

Spark's LEFT JOIN LATERAL of a generator drops the rows of which nothing is made, without a word; its ``_outer``
generators do not, and neither do table functions made for it (``udfs.table_functions``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlext.plan.nodes import OneRow
from sqlext.plan.unnested import Elements, TableCall, Unnested
from sqlext.rewrite.columns import held
from sqlext.rewrite.quoting import identifier
from sqlext.rewrite.script import TableFunction

if TYPE_CHECKING:
    from sqlext.rewrite.renderer import Renderer

_PLACE, _KEY, _VALUE = "__place", "__key", "__value"


def unnested_relation(node: Unnested, renderer: Renderer) -> str:
    """Return the node as it stands in FROM: the aliases of its input are seen beside its own."""
    columns = ", ".join(identifier(c.physical) for c in node.made)
    made = f"{_rows(node, renderer)} AS {identifier(node.alias)}({columns})"
    if isinstance(node.input, OneRow):
        return made
    return f"{renderer.relation(node.input)} CROSS JOIN LATERAL {made}"


def unnested_query(node: Unnested, renderer: Renderer) -> str:
    """Return the node as a query of all its columns."""
    columns = [held(c, r.alias) for r in node.scope.relations for c in r.columns if c.physical]
    columns += [held(c, node.alias) for c in node.made]
    return f"SELECT {', '.join([*columns, *node.hidden])} FROM {unnested_relation(node, renderer)}"


def _rows(node: Unnested, renderer: Renderer) -> str:
    source = node.source
    if isinstance(source, TableCall):
        arguments = ", ".join(renderer.expr(a, node.scope) for a in source.arguments)
        function = TableFunction(source.function, source.implementation, node.outer)
        renderer.table_functions[function.view] = function
        return f"{identifier(function.view)}({arguments})"
    return _elements(source, renderer.expr(source.operand, node.scope), "_outer" if node.outer else "")


def _elements(source: Elements, text: str, outer: str) -> str:
    root, element = source.type.root, source.type.children[0]
    if root == "MULTISET":
        text = f"flatten(transform(map_entries({text}), e -> array_repeat(e.key, e.value)))"
    if not source.ordinality:
        generator = "inline" if root != "MAP" and element.root == "ROW" else "explode"
        return f"{generator}{outer}({text})"
    names = (_PLACE, _KEY, _VALUE) if root == "MAP" else (_PLACE, _VALUE)
    fields = [f"{_VALUE}.{identifier(f.name)}" for f in element.fields] if root != "MAP" else []
    values = fields or names[1:]
    return f"(SELECT {', '.join(values)}, {_PLACE} + 1 FROM posexplode{outer}({text}) AS __e({', '.join(names)}))"

"""Render UNNEST and table functions as Spark's generators.

Spark puts a generator into one step with the rows beside it. Its LEFT JOIN LATERAL of a generator silently drops rows
of which nothing is made. Its ``_outer`` generators keep them, and so do our table functions made for it.
"""

from __future__ import annotations

from sqlext.plan.nodes import OneRow
from sqlext.plan.unnest import Elements, TableCall, Unnested
from sqlext.quoting import identifier
from sqlext.rewrite.expressions.columns import held
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.rewrite.script.model import UserTableFunction
from sqlext.types import LogicalType

_PLACE, _KEY, _VALUE = "__place", "__key", "__value"


def unnested_relation(node: Unnested, renderer: Rendering) -> str:
    """Return the node as it stands in FROM: the aliases of its input are seen beside its own."""
    columns = ", ".join(identifier(c.physical) for c in node.made)
    made = f"{_rows(node, renderer)} AS {identifier(node.alias)}({columns})"
    if isinstance(node.input, OneRow):
        return made
    return f"{renderer.relation(node.input)} CROSS JOIN LATERAL {made}"


def unnested_query(node: Unnested, renderer: Rendering) -> str:
    """Return the node as a query of all its columns."""
    columns = [held(c, r.alias) for r in node.scope.relations for c in r.columns if c.physical]
    columns += [held(c, node.alias) for c in node.made]
    return f"SELECT {', '.join([*columns, *node.hidden])} FROM {unnested_relation(node, renderer)}"


def _rows(node: Unnested, renderer: Rendering) -> str:
    source = node.source
    if isinstance(source, TableCall):
        arguments = ", ".join(renderer.expr(a, node.scope) for a in source.arguments)
        function = UserTableFunction(source.function, source.implementation, node.outer)
        renderer.table_functions[function.view] = function
        return f"{identifier(function.view)}({arguments})"
    return _elements(source, renderer.expr(source.operand, node.scope), "_outer" if node.outer else "")


def _elements(source: Elements, text: str, outer: str) -> str:
    root, element = source.type.root, source.type.children[0]
    if root == "MULTISET":
        # A multiset is a map from the element to how often it is there.
        text = f"flatten(transform(map_entries({text}), e -> array_repeat(e.key, e.value)))"
    if root != "MAP" and element.root == "ROW":
        return (
            _numbered_rows(element, text, outer) if source.ordinality else f"inline{outer}({_present(text, element)})"
        )
    if not source.ordinality:
        return f"explode{outer}({text})"
    names = ", ".join((_KEY, _VALUE) if root == "MAP" else (_VALUE,))
    return f"(SELECT {names}, {_PLACE} + 1 FROM posexplode{outer}({text}) AS __e({_PLACE}, {names}))"


def _present(text: str, element: LogicalType, path: str = "") -> str:
    """Return an array of rows without those that are NULL: of these Spark's ``inline`` would make rows of NULLs."""
    return f"filter({text}, e -> e{path} IS NOT NULL)" if element.nullable else text


def _numbered_rows(element: LogicalType, text: str, outer: str) -> str:
    numbered = f"transform({text}, (e, i) -> named_struct('e', e, 'i', i + 1))"
    fields = ", ".join(f"{_VALUE}.{identifier(f.name)}" for f in element.fields)
    rows = f"inline{outer}({_present(numbered, element, '.e')})"
    return f"(SELECT {fields}, {_PLACE} FROM {rows} AS __e({_VALUE}, {_PLACE}))"

"""Render functions OVER rows in the order of a value: rows go in, and come out with their results."""

from __future__ import annotations

from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Expr, Star
from sqlext.plan.nodes import KIND
from sqlext.plan.over import Framed, RunningOver
from sqlext.quoting import identifier
from sqlext.rewrite.operators.ranking import sort_key
from sqlext.rewrite.operators.step import SpecifiedStep
from sqlext.rewrite.relations.operator_input import InputColumns, OperatorInput
from sqlext.rewrite.relations.rendering import Rendering

#: The fields of ``sqlext_udfs.ranking.running.RunningCall``.
_Fields = tuple[str, "int | None", bool, int, "int | None"]


def running_sql(node: RunningOver, renderer: Rendering) -> str:
    """Return the query of the rows with their results."""
    (below,) = node.sources
    rows = InputColumns()
    rows.texts += [renderer.expr(e, node.scope) for e in node.partition]
    keys = len(rows.texts)
    names = tuple(c for c in below.physical_columns() if c != KIND)
    out = tuple(rows.place(identifier(c)) for c in names)
    order = (sort_key(node.order, rows, node.scope, renderer),)
    functions: list[_Fields] = []
    results = [_result(f, functions, rows, node, renderer) for f in node.functions]
    specification = (
        ("keys", keys),
        ("out", out),
        ("order", order),
        ("kind", rows.place(KIND) if below.changelog else None),
        ("ttl", node.ttl),
        ("functions", tuple(functions)),
    )
    made = tuple(_name(i) for i in range(len(functions)))
    step = SpecifiedStep(node, specification, (*names, *made, "__number"))
    operated = step.over(renderer, OperatorInput(below, rows.texts))
    shown = [*(identifier(c) for c in names), *results, KIND]
    return f"SELECT {', '.join(shown)} FROM {operated}"


def _result(
    framed: Framed, functions: list[_Fields], rows: InputColumns, node: RunningOver, renderer: Rendering
) -> str:
    """Return the column of a result; adds to ``functions`` what it is made of."""
    call = framed.call
    type_ = infer(call, node.scope)
    argument = next((a for a in call.args[:1] if isinstance(a, Expr) and not isinstance(a, Star)), None)
    text = renderer.expr(argument, node.scope) if argument is not None else None
    if call.filter is not None:
        text = f"CASE WHEN {renderer.expr(call.filter, node.scope)} THEN {text or '1'} END"
    place = rows.place(text) if text is not None else None

    def added(name: str) -> str:
        default = call.args[2] if name == "LAG" and len(call.args) > 2 else None
        of = rows.place(renderer.expr(default, node.scope)) if isinstance(default, Expr) else None
        fields: _Fields = (name, place, framed.frame.unit == "ROWS", framed.offset if name == "LAG" else 1, of)
        if fields not in functions:
            functions.append(fields)
        return _name(functions.index(fields))

    if call.function == "AVG":
        total, count = added("SUM"), added("COUNT")
        divide = "DIV" if type_ is not None and type_.is_integer else "/"
        value = f"({total} {divide} nullif({count}, 0))"
    else:
        value = added(call.function)
    cast = f"CAST({value} AS {type_.spark()})" if type_ is not None else value
    return f"{cast} AS {identifier(framed.physical)}"


def _name(index: int) -> str:
    return f"__running_{index}"

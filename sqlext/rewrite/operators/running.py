"""Render functions OVER rows in the order of a value: rows go in, and come out with their results."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.functions.rendering import wrapped
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Call, Expr, Star
from sqlext.plan.nodes import KIND
from sqlext.plan.over import Framed, RunningOver
from sqlext.quoting import identifier
from sqlext.rewrite.operators.ranking import sort_key
from sqlext.rewrite.operators.step import SpecifiedStep
from sqlext.rewrite.relations.operator_input import InputColumns, OperatorInput
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.types import LogicalType

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
        ("checked", node.scope.mode == "spark"),
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
    text = _argument(call, type_, node, renderer)
    if call.filter is not None:
        text = f"CASE WHEN {renderer.expr(call.filter, node.scope)} THEN {text or '1'} END"
    place = rows.place(text) if text is not None else None

    def added(name: str) -> str:
        default = call.args[2] if name == "LAG" and len(call.args) > 2 else None
        of = None
        if isinstance(default, Expr):
            otherwise = renderer.expr(default, node.scope)
            of = rows.place(f"CAST({otherwise} AS {type_.spark()})" if type_ is not None else otherwise)
        fields: _Fields = (name, place, framed.frame.unit == "ROWS", framed.offset if name == "LAG" else 1, of)
        if fields not in functions:
            functions.append(fields)
        return _name(functions.index(fields))

    if call.function == "AVG":
        total, count = _total(added("SUM"), call, node), added("COUNT")
        divide = "DIV" if type_ is not None and type_.is_integer else "/"
        value = f"({total} {divide} nullif({count}, 0))"
    else:
        value = added(call.function)
    return f"{_typed(value, call, type_, node.scope.mode)} AS {identifier(framed.physical)}"


def _argument(call: Call, type_: LogicalType | None, node: RunningOver, renderer: Rendering) -> str | None:
    """Return what the operator looks at; None for COUNT(*)."""
    of = call.args if call.function == "COUNT" else call.args[:1]
    texts = [renderer.expr(a, node.scope) for a in of if isinstance(a, Expr) and not isinstance(a, Star)]
    if len(texts) > 1:
        known = " AND ".join(f"({t}) IS NOT NULL" for t in texts)
        return f"CASE WHEN {known} THEN 1 END"
    if call.function == "AVG" and type_ is not None and type_.root == "DOUBLE":
        return f"CAST({texts[0]} AS DOUBLE)"  # Spark's AVG of integers adds DOUBLEs, which do not overflow.
    return texts[0] if texts else None


def _total(text: str, call: Call, node: RunningOver) -> str:
    """Return the sum of an AVG: the digits of a DECIMAL set those of the quotient."""
    type_ = infer(replace(call, name="SUM"), node.scope)
    return f"CAST({text} AS {type_.spark()})" if type_ is not None and type_.root == "DECIMAL" else text


def _typed(value: str, call: Call, type_: LogicalType | None, mode: str) -> str:
    if type_ is None:
        return value
    if mode == "flink" and call.function == "SUM" and type_.is_integer:
        return wrapped(value, type_)  # as SUM in GROUP BY
    return f"CAST({value} AS {type_.spark()})"


def _name(index: int) -> str:
    return f"__running_{index}"

"""Render functions OVER windows: rows go in, the same rows come out with their results."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Expr, Literal, Node
from sqlext.plan.base import KIND, LATE
from sqlext.plan.over import Framed, Over, WindowedOver
from sqlext.plan.windows.slides import Slide
from sqlext.quoting import identifier
from sqlext.rewrite.expressions.accumulators import Accumulators, Parameters
from sqlext.rewrite.expressions.columns import instant
from sqlext.rewrite.expressions.context import ScopeContext
from sqlext.rewrite.expressions.grouped import accumulated
from sqlext.rewrite.expressions.renderer import ExpressionRenderer
from sqlext.rewrite.operators.ranking import sort_key
from sqlext.rewrite.operators.step import SpecifiedStep
from sqlext.rewrite.relations.operator_input import InputColumns, OperatorInput
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.rewrite.script.side_rows import LATE_COLUMNS, late_column, row_struct, unless_late
from sqlext_udfs.over.specification import OverFrame

_NUMBERS = ("ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE")
_SHARES = ("PERCENT_RANK", "CUME_DIST")


def over_sql(node: Over, renderer: Rendering) -> str:
    """Return the query of the rows with their results.

    Aggregates are finished by Spark from what the operator's accumulators give, as those of groups are.
    """
    (below,) = node.sources
    accumulators = Accumulators()
    expressions = ExpressionRenderer(ScopeContext(node.scope, renderer.sub_query))
    results = [f"{_result(f, node, expressions, accumulators)} AS {identifier(f.physical)}" for f in node.functions]
    rows = InputColumns()
    rows.texts += [expressions.text(e) for e in node.partition]
    time = rows.place(f"unix_millis({instant(node.time)})") if node.time is not None else None
    columns = [identifier(c) for c in below.physical_columns()]
    calls = _calls(accumulators, rows)
    specification = (
        ("keys", len(node.partition)),
        ("time", time),
        ("values", tuple(rows.place(c) for c in columns)),
        ("calls", calls),
        ("ttl", node.ttl),
    )
    step = SpecifiedStep(node, specification, (*below.physical_columns(), *accumulators.result_names()))
    operated = step.over(renderer, OperatorInput(below, rows.texts))
    alias = node.scope.relations[0].alias
    return f"SELECT {', '.join([*columns, *results])} FROM {operated} AS {identifier(alias)}"


def slide_sql(node: Slide, renderer: Rendering) -> str:
    """Return the query of the windows of SLIDE: keys, time, results."""
    (below,) = node.sources
    accumulators = Accumulators()
    expressions = ExpressionRenderer(ScopeContext(node.scope, renderer.sub_query))
    computed = [_result(f, node, expressions, accumulators) for f in node.functions]
    results = [f"{r} AS {identifier(f.physical)}" for r, f in zip(computed, node.functions, strict=True)]
    rows = InputColumns()
    rows.texts += [expressions.text(e) for e in node.by]
    time = rows.place(f"unix_millis({instant(node.time)})")
    keys = [identifier(c.physical) for c in node.columns[: len(node.by)]]
    at = node.columns[len(node.by)]
    specification: tuple[tuple[str, object], ...] = (
        ("keys", len(node.by)),
        ("time", time),
        ("values", (*range(len(node.by)), time)),
        ("calls", _calls(accumulators, rows)),
        ("once", True),
    )
    names = (*(c.physical for c in node.columns[: len(node.by)]), "__ms", *accumulators.result_names())
    shown = [*keys, f"timestamp_millis(__ms) AS {identifier(at.physical)}"]
    if node.late is None:
        step = SpecifiedStep(node, specification, names)
        operated = step.over(renderer, OperatorInput(below, rows.texts))
        return f"SELECT {', '.join([*shown, *results])} FROM {operated}"
    specification += (("row", rows.place(row_struct(node.late, renderer.zone, "false"))),)
    # Programs of the Arrow path cannot keep rows whole.
    step = SpecifiedStep(node, specification, (*names, *(c for c in LATE_COLUMNS if c != KIND)))
    operated = step.add(renderer, OperatorInput(below, rows.texts).query(renderer))
    found = f"(SELECT *, {late_column()} AS {LATE} FROM {operated})"
    shown += [f"{unless_late(r)} AS {identifier(f.physical)}" for r, f in zip(computed, node.functions, strict=True)]
    return f"SELECT {', '.join([*shown, LATE])} FROM {found}"


def windowed_over_sql(node: WindowedOver, renderer: Rendering) -> str:
    """Return the query of the rows of windows that are over, with their results."""
    (below,) = node.sources
    expressions = ExpressionRenderer(ScopeContext(node.scope, renderer.sub_query))
    rows = InputColumns()
    rows.texts += [expressions.text(e) for e in node.partition]
    window = identifier(node.window.physical)
    rows.texts += [f"unix_millis({window}.start)", f"unix_millis({window}.end)"]
    keys = len(rows.texts)
    # What functions of one order keep is told apart from that of another by the names of its results.
    sorts: dict[tuple[object, ...], Accumulators] = {}
    results = []
    for function in node.functions:
        assert function.call.over is not None
        order = tuple(sort_key(o, rows, node.scope, renderer) for o in function.call.over.order_by)
        into = sorts.setdefault(order, Accumulators(prefix=f"__o{len(sorts)}_"))
        results.append(f"{_result(function, node, expressions, into)} AS {identifier(function.physical)}")
    columns = [identifier(c) for c in below.physical_columns()]
    values = tuple(rows.place(c) for c in columns)
    calls = [_calls(a, rows) for a in sorts.values()]
    specification = (
        ("keys", keys),
        ("end", keys - 1),
        ("values", values),
        ("calls", tuple(c for of in calls for c in of)),
        ("orders", tuple(sorts)),
        ("order_of", tuple(i for i, of in enumerate(calls) for _ in of)),
    )
    names = [name for a in sorts.values() for name in a.result_names()]
    operated = SpecifiedStep(node, specification, (*below.physical_columns(), *names)).over(
        renderer, OperatorInput(below, rows.texts)
    )
    alias = node.scope.relations[0].alias
    return f"SELECT {', '.join([*columns, *results])} FROM {operated} AS {identifier(alias)}"


def _calls(accumulators: Accumulators, rows: InputColumns) -> tuple[object, ...]:
    """Return what the operator is told of each function; its inputs become columns."""
    inputs = [rows.place(text) for text in accumulators.inputs]
    return tuple(
        (a.function, tuple(inputs[i] for i in a.inputs), _frame(a.frame), a.distinct, a.parameters)
        for a in accumulators.accumulators
        if a.frame is not None
    )


def _result(
    function: Framed, node: Over | WindowedOver | Slide, expressions: ExpressionRenderer, accumulators: Accumulators
) -> str:
    call, into = function.call, replace(accumulators, frame=function.frame)
    if call.function in _NUMBERS:
        parameters: Parameters = (("n", _count(call.args[0])),) if call.function == "NTILE" else ()
        number = into.one(call.function.lower(), parameters=parameters)
        type_ = infer(call, node.scope)
        return number if type_ is None or type_.root == "BIGINT" else f"CAST({number} AS {type_.spark()})"
    if call.function in _SHARES:
        return into.one(call.function.lower())
    if call.function == "NTH_VALUE":
        return into.one("nth_value", expressions.text(call.args[0]), parameters=(("n", _count(call.args[1])),))
    if call.function in ("LAG", "LEAD"):
        return _other_row(function, expressions, into)
    return accumulated(replace(call, over=None), expressions, into)


def _count(literal: Node) -> int:
    assert isinstance(literal, Literal)
    return int(literal.value)


def _frame(frame: OverFrame) -> tuple[object, ...]:
    """Return the fields of a frame; checkpoints hold those without the last one where it ends with the row."""
    fields = (frame.unit, frame.preceding)
    return (*fields, frame.following) if frame.following else fields


def _other_row(function: Framed, expressions: ExpressionRenderer, into: Accumulators) -> str:
    """Return LAG or LEAD: the default stands where there is no row, not for a row's NULL.

    Where the default cannot be NULL, Flink 2.3 takes the result for NOT NULL, and writes such a NULL as -1 or ''.
    """
    name = function.call.function.lower()
    parameters = (("offset", function.offset),) if name == "lag" else ()
    value, *more = function.call.args
    text, default = expressions.text(value), more[1] if len(more) > 1 else None
    if not isinstance(default, Expr):
        return into.one(name, text, parameters=parameters)
    otherwise = expressions.text(default)
    row = into.one(name, f"struct({text} AS v)", parameters=parameters)
    return f"CASE WHEN {row} IS NULL THEN {otherwise} ELSE {row}.v END"

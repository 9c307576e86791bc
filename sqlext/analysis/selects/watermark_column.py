"""Bind ``CURRENT_WATERMARK(rowtime)`` in a SELECT over a stream: an operator below it adds the watermark to each row.

The SELECT reads a column in place of each call. The rows of a query have one watermark, whatever their rowtimes. A call
has the type of its rowtime and is no time attribute, as in Flink.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlext.analysis.names.substitution import substitute
from sqlext.analysis.over.calls import Prepared, aliased, prepared
from sqlext.analysis.relations.binding import Binding, Block
from sqlext.analysis.windows.sessions import session_rows
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Node
from sqlext.dialect.ast.queries import Select
from sqlext.errors import SqlExtError
from sqlext.plan.columns import Part, PlanColumn
from sqlext.plan.panes import readable
from sqlext.plan.scope import Scope, Shape, own_parts, shape
from sqlext.plan.watermark_column import WATERMARK, WatermarkColumn

CURRENT_WATERMARK = "CURRENT_WATERMARK"
_RESULT = "__watermark_{}"
_STILL = "a table that stands still has no watermark; in batch mode all tables do"


def with_current_watermark(block: Block, _: Binding) -> Block:
    """Return a block that reads a column where it called the function.

    Raises:
        SqlExtError: TIME-005 for an argument that is no rowtime of a stream.
    """
    select, node, scope = block.select, block.node, block.scope
    calls = list(_calls(select))
    if not calls:
        return block
    for call in calls:
        _rowtime(call, scope, streaming=node.streaming)
    # Not filtered yet: WHERE may ask for the watermark too.
    rows = prepared(session_rows(node), scope, select, filtered=False)
    below = readable(aliased(rows))
    known: dict[Shape, PlanColumn] = {}
    for call in calls:
        time = _rowtime(call, rows.scope, streaming=True)
        # Equal calls share a column; all columns hold the query's one watermark, shown in the type of each rowtime.
        known.setdefault(shape(call, rows.scope), _result(time, len(known)))
    columns = (*below.columns, *known.values())
    time = _rowtime(calls[0], rows.scope, streaming=True)
    stamped = WatermarkColumn(columns, (below,), below.changelog, time=time, span=calls[0].span)
    read = _read(select, {key: column.name for key, column in known.items()}, rows.scope)
    found = Prepared(stamped, rows.scope).with_results(stamped, tuple(known.values()))
    return Block(read, aliased(found), found.scope)


def _calls(select: Select) -> Iterator[Call]:
    parts = own_parts(replace(select, from_=None))
    yield from (p for p in parts if isinstance(p, Call) and p.function == CURRENT_WATERMARK)


def _rowtime(call: Call, scope: Scope, *, streaming: bool) -> PlanColumn:
    argument = call.args[0] if len(call.args) == 1 else None
    found = scope.bare(argument) if isinstance(argument, Expr) else None
    if found is None or not found.column.is_rowtime or not streaming:
        shown = argument.span.one_line if isinstance(argument, Expr) else "nothing"
        hint = f"{CURRENT_WATERMARK}(ts), where WATERMARK FOR ts is declared" if streaming else _STILL
        message = f"the argument of {CURRENT_WATERMARK} must be a rowtime of a stream, and `{shown}` is none"
        raise SqlExtError("TIME-005", message, span=call.span, hint=hint)
    return found.column


def _result(time: PlanColumn, number: int) -> PlanColumn:
    part = Part.INSTANT if time.type is not None and time.type.root == "TIMESTAMP" else Part.VALUE
    return PlanColumn(_RESULT.format(number), time.type.as_nullable() if time.type else None, WATERMARK, part)


def _read(select: Select, names: dict[Shape, str], scope: Scope) -> Select:
    def rule(node: Node) -> Node | None:
        if not isinstance(node, Call) or node.function != CURRENT_WATERMARK:
            return None
        return ColumnRef(node.span, (Prepared.RESULTS, names[shape(node, scope)]))

    items = tuple(
        replace(item, alias=f"EXPR${i}") if item.alias is None and isinstance(item.expr, Call) else item
        for i, item in enumerate(select.items)
    )
    changed = substitute(replace(select, from_=None, items=items), rule)
    return replace(changed, from_=select.from_)

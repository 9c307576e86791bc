"""Feed dead letters back: which of a query can come back, as rows of which table, and what REPLAY changes in them.

A row comes back where its table is read. So it must be a row of that table: one of a join, of windows over a view or of
the sink is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlext.analysis import functions
from sqlext.analysis.inserts.binding import stores_in_spark
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.analysis.types.calls import is_aggregate
from sqlext.analysis.types.coercion import can_implicitly_cast
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast import expressions as e
from sqlext.dialect.ast.statements import Replay
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.bad_rows import LETTER, REPLAYED
from sqlext.plan.base import walk
from sqlext.plan.columns import PlanColumn
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import Aliased, AssignWindows, ComputeMillis, PlanNode, Project, Scan
from sqlext.plan.scope import Scope, ScopeRelation
from sqlext.settings import DEAD_LETTERS
from sqlext.source import Span
from sqlext.types import LogicalType
from sqlext_catalog.model import Column, ObjectName, Table

#: What REPLAY must know of a dead letter.
NEEDED = (LETTER, "query_name", "cause", "source", "text")
#: Causes whose rows are none of a table that is read, and why they are not.
_NO_ROWS = {
    "sink": "its rows are those that the query gave, behind all its steps",
    REPLAYED: "such a row says of a dead letter that it was fed back",
}
_INSERTED = "INSERT such a row into the sink itself, unless its key has a newer one"
#: In the expressions of SET: before the name of a column of the dead letter.
OF_LETTER = "__letter_"


@dataclass(frozen=True)
class BoundReplay:
    """A REPLAY: the table of dead letters, and the plan of those that are meant."""

    statement: Replay
    letters: Table
    plan: PlanNode


@dataclass(frozen=True)
class ComesBack:
    """Dead letters that can come back as rows of a table that the query reads.

    Attributes:
        table: the table.
        letters: keeps the dead letters.
        causes: of which ones.
    """

    table: Table
    letters: Table
    causes: tuple[str, ...]


def comes_back(plan: PlanNode) -> tuple[ComesBack, ...]:
    """Return which dead letters of a query can come back; none where their table has no column ``LETTER``."""
    found: dict[ObjectName, ComesBack] = {}
    for scan, letters, causes in _causes(plan):
        named = any(c.name == LETTER for c in letters.columns)
        if named and scan.is_stream and not scan.hidden and all(_survives(c.type) for c in row_columns(scan.table)):
            known = found.get(scan.table.name, ComesBack(scan.table, letters, ()))
            every = tuple(dict.fromkeys((*known.causes, *causes)))
            found[scan.table.name] = replace(known, causes=every)
    return tuple(found.values())


def row_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns that a row of a table has as it is read; the others are computed of them."""
    return tuple(c for c in table.columns if c.kind != "computed")


def _causes(plan: PlanNode) -> Iterator[tuple[Scan, Table, tuple[str, ...]]]:
    """Yield scans, the table of their dead letters, and causes of which these are rows of the scans' tables."""
    read = [node.table.name for node in walk(plan) if isinstance(node, Scan)]
    for node in walk(plan):
        if isinstance(node, Scan) and node.bad is not None and node.bad.letters:
            yield node, node.bad.table, ("decode",)
        late = node.kept.late if isinstance(node, Aggregate) and node.kept is not None else None
        if late is not None and late.letters_of is not None:
            yield from ((scan, late.table, ("late", "future")) for scan in _scan_below(node))
        # The rows of all steps above it are those of the first one.
        if isinstance(node, Project) and node.letters is not None:
            letters = node.letters.table
            # Elsewhere a query may have used the row already: it would be there twice.
            only = (scan for scan in _scan_below(node) if read.count(scan.table.name) == 1)
            yield from ((scan, letters, ("expression",)) for scan in only)


def _scan_below(step: PlanNode) -> Iterator[Scan]:
    """Yield the scan whose rows reach a step as they are, if there is one."""
    (node,) = step.inputs
    while isinstance(node, (Aliased, AssignWindows, ComputeMillis)):
        node = node.input
    if isinstance(node, Scan):
        yield node


def _survives(type_: LogicalType | None) -> bool:
    """Whether JSON can carry values of a type there and back."""
    if type_ is None or type_.root == "MULTISET" or (type_.root == "MAP" and not type_.children[0].is_text):
        return False
    return all(map(_survives, (*type_.children, *(f.type for f in type_.fields))))


def bind_replay(statement: Replay, env: Environment) -> BoundReplay:
    """Return what a REPLAY means.

    Raises:
        SqlExtError: NAME-002 if there is no such table, DDL-044 if it does not tell one dead letter from another,
            or is a view, DDL-045 for a cause whose rows cannot come back, DDL-046 for a SET that is not computed of
            one row, NAME-006 for a column that is set twice.
    """
    found = _letters(statement, env)
    missing = [name for name in NEEDED if all(c.name != name for c in found.columns)]
    if missing:
        raise SqlExtError(
            "DDL-044",
            f"`{found.name.name}` has no column {', '.join(f'`{name}`' for name in missing)}: its rows cannot be fed "
            "back",
            span=statement.name_span,
            hint=f"declare {', '.join(f'{name} STRING' for name in missing)} in a table for '{DEAD_LETTERS}', before "
            "the query starts",
        )
    for cause, span in _asked_for(statement.where, "cause"):
        if cause in _NO_ROWS:
            raise SqlExtError(
                "DDL-045",
                f"dead letters of cause '{cause}' cannot be fed back: {_NO_ROWS[cause]}",
                span=span,
                hint=_INSERTED if cause == "sink" else "ask for other causes",
            )
    _refuse_twice(statement)
    for change in statement.changes:
        _refuse_many_rows(change.value, env)
    # What there is now, whole; a row that cannot be used is no new dead letter.
    settings = env.settings.without(DEAD_LETTERS).with_value("execution.runtime-mode", "batch")
    plan = QueryBinder(replace(env, settings=settings)).bind_whole(statement.letters)
    return BoundReplay(statement, found, plan)


def _letters(statement: Replay, env: Environment) -> Table:
    found = env.catalog.lookup(statement.name)
    if isinstance(found, Table):
        return found
    name = ".".join(statement.name)
    if found is not None:
        of_view = "REPLAY the table below it; WHERE chooses among its rows"
        message = f"`{name}` is a view: dead letters are fed back from their table"
        raise SqlExtError("DDL-044", message, span=statement.name_span, hint=of_view)
    hint = did_you_mean(statement.name[-1], env.catalog.candidates())
    raise SqlExtError("NAME-002", f"there is no table `{name}`", span=statement.name_span, hint=hint)


def _refuse_many_rows(value: e.Expr, env: Environment) -> None:
    """Refuse an expression of SET that is not computed of the one row alone."""
    for node in value.walk():
        found = _of_many_rows(node, env)
        if found is not None:
            message = f"SET of a REPLAY is computed of one row, and {found}"
            hint = "compute the value before, and write it as a literal"
            raise SqlExtError("DDL-046", message, span=node.span, hint=hint)


def _of_many_rows(node: e.Node, env: Environment) -> str | None:
    """Return what an expression is that takes or gives many rows, None for another one."""
    if isinstance(node, (e.ScalarQuery, e.Exists, e.InQuery, e.QueryComparison)):
        return "a sub-query reads others"
    if not isinstance(node, e.Call):
        return None
    if node.over is not None:
        return f"{node.name} OVER is of many"
    if is_aggregate(node, env.mode) or env.functions.find("aggregate", node.name) is not None:
        return f"{node.name} is of many"
    return f"{node.name} gives many" if functions.gives_rows(node.name) else None


def source_asked_for(statement: Replay, env: Environment) -> Table | None:
    """Return the table that all dead letters come from that a REPLAY asks for; None where WHERE does not name one."""
    names = {name for name, _ in _asked_for(statement.where, "source")}
    found = env.catalog.lookup(tuple(next(iter(names)).split("."))) if len(names) == 1 else None
    return found if isinstance(found, Table) and found.name.plain in names else None


def _refuse_twice(statement: Replay) -> None:
    names = [change.column for change in statement.changes]
    for number, change in enumerate(statement.changes):
        if change.column in names[:number]:
            message = f"column `{change.column}` is set twice"
            raise SqlExtError("NAME-006", message, span=change.column_span, hint="set each column once")


def _asked_for(where: e.Expr | None, name: str) -> Iterator[tuple[str, Span]]:
    """Yield the values that a condition asks for in a column, with their places."""
    match where:
        case e.Binary(op="AND"):
            yield from _asked_for(where.left, name)
            yield from _asked_for(where.right, name)
        case e.Paren():
            yield from _asked_for(where.operand, name)
        case (
            e.Binary(op="=", left=e.ColumnRef() as column, right=e.Literal(kind="STRING") as value)
            | e.Binary(op="=", left=e.Literal(kind="STRING") as value, right=e.ColumnRef() as column)
        ):
            if column.parts[-1] == name:
                yield value.value, value.span
        case e.InList(operand=e.ColumnRef() as column, negated=False):
            for item in where.items if column.parts[-1] == name else ():
                if isinstance(item, e.Literal):
                    yield item.value, item.span


def scope_of_changes(table: Table, letters: Table, env: Environment) -> Scope:
    """Return the names of SET: the columns of the row, and those of the dead letter."""
    row = tuple(PlanColumn(c.name, c.type, c.name) for c in row_columns(table))
    own = tuple(PlanColumn(c.name, c.type, f"{OF_LETTER}{c.name}") for c in letters.columns)
    # Without aliases: the names of columns tell them apart.
    return Scope(
        (ScopeRelation("", tuple(table.name), row), ScopeRelation("", tuple(letters.name), own)), env.mode, env.zone
    )


def check_changes(statement: Replay, table: Table, letters: Table, env: Environment) -> None:
    """Refuse a SET that a table's rows cannot take.

    Raises:
        SqlExtError: NAME-003 for a column that they do not have, SINK-002 for a value of another type.
    """
    scope = scope_of_changes(table, letters, env)
    columns = {c.name: c for c in row_columns(table)}
    for change in statement.changes:
        if change.column not in columns:
            raise SqlExtError(
                "NAME-003",
                f"the rows of `{table.name.name}` have no column `{change.column}`",
                span=change.column_span,
                hint=did_you_mean(change.column, columns),
            )
        from_, to = infer(change.value, scope), columns[change.column].type
        if from_ is None or to is None or can_implicitly_cast(from_, to):
            continue
        if scope.mode == "spark" and stores_in_spark(from_, to):
            continue
        message = f"`{change.value.span.one_line}` is {from_}, column `{change.column}` of `{table.name.name}` is {to}"
        hint = f"CAST({change.value.span.one_line} AS {to.flink()})"
        raise SqlExtError("SINK-002", message, span=change.value.span, hint=hint)

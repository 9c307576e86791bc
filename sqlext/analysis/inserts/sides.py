"""Bind the INSERTs beside a query: of its late rows, and of rows that its sources cannot decode."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlext.analysis.expressions.failing import judged
from sqlext.analysis.inserts.bound import BAD_ROWS, LATE_ROWS, Assignment, BoundInsert, side_insert
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.relations.kept_rows import BAD_ROWS as KEPT
from sqlext.analysis.relations.kept_rows import LETTERS, kept_columns, kept_in, refuse_read, source_of
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.plan.bad_rows import LETTER, BadRows
from sqlext.plan.base import walk
from sqlext.plan.columns import PlanColumn
from sqlext.plan.firing import LateColumn, LateRows
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import Aliased, AssignWindows, PlanNode, Project, Scan
from sqlext.plan.windows.slides import Slide
from sqlext.settings import DEAD_LETTER_CAUSES, DEAD_LETTERS
from sqlext.source import Span
from sqlext_catalog.model import Table


@dataclass(frozen=True, slots=True)
class Into:
    """The sink of a query, what fills its columns, and the statement that writes to it."""

    table: Table
    assignments: tuple[Assignment, ...]
    span: Span

    @property
    def may_refuse(self) -> bool:
        """Whether it may refuse a row: when it is written, for a NULL, or for a value that does not fit."""
        key = self.table.primary_key.columns if self.table.primary_key else ()
        return connector_of(self.table).tells_refused(self.table) or any(
            a.source is not None
            and a.target.type is not None
            and (a.target.name in key or not a.target.type.nullable or judged(a.source.type, a.target.type))
            for a in self.assignments
        )


def side_inserts(plan: PlanNode, env: Environment, into: Into | None = None) -> tuple[BoundInsert, ...]:
    """Return where rows go that a query keeps beside its own: the late ones first.

    Raises:
        SqlExtError: EMIT-118 if late rows cannot reach the end of the query, OPT-035 and OPT-038 for a table that the
            query reads; as ``refused_insert``.
    """
    late = late_insert(plan, env)
    refused = refused_insert(plan, env, into) if into is not None else None
    found = (*((late,) if late is not None else ()), *bad_inserts(plan, env, refused))
    read = [node.table for node in walk(plan) if isinstance(node, Scan) and node.is_stream]
    for side in found:
        if side.letters or side.side == BAD_ROWS:
            refuse_read(side.table, read, LETTERS if side.letters else KEPT, side.span)
    return found


def refused_insert(plan: PlanNode, env: Environment, into: Into) -> BoundInsert | None:
    """Return where the rows go that a sink refuses when it writes them, None if they end the query.

    Raises:
        SqlExtError: OPT-038 for a table that is none of dead letters.
    """
    name = env.settings.dead_letters("expression")
    if name is None or not plan.streaming or not into.may_refuse:
        return None
    try:
        table = kept_in(name, LETTERS, env, into.span)
    except SqlExtError as error:
        raise (error if error.span is not None else error.at(into.span)) from None
    side = side_insert(BAD_ROWS, table, plan, _assigned(table), into.span, env)
    return replace(side, letters=True, refused_of=tables_of(plan))


def tables_of(node: PlanNode) -> str:
    """Return the names of the tables that a step reads."""
    return ", ".join(dict.fromkeys(n.table.name.plain for n in walk(node) if isinstance(n, Scan)))


def late_insert(plan: PlanNode, env: Environment) -> BoundInsert | None:
    """Return where the late rows of a query go, None if it keeps none.

    Late rows travel to the end of the query beside its own. Only SELECT and WHERE can let them pass.

    Raises:
        SqlExtError: EMIT-118 if another step stands above the grouping that finds rows late.
    """
    found = [late for node in walk(plan) if (late := _late(node)) is not None]
    if not found:
        return None
    top = plan
    # Only these let late rows pass beside the query's own.
    while isinstance(top, (Project, Aliased)) or (isinstance(top, AssignWindows) and isinstance(top.input, Slide)):
        top = top.input
    if len(found) > 1 or _late(top) is None:
        raise SqlExtError(
            "EMIT-118",
            f"{_keeps(found[0])} must stand in the last grouping of a query: no join, set operation or grouping above "
            "it",
            span=found[0].span,
            hint="INSERT the grouping's rows into a table, and read that in a query of its own"
            + (f"; or SET '{DEAD_LETTER_CAUSES}' = 'decode, expression'" if found[0].letters_of is not None else ""),
        )
    late = found[0]
    if late.letters_of is not None:
        return replace(side_insert(LATE_ROWS, late.table, plan, _assigned(late.table), late.span, env), letters=True)
    columns = {c.name: c for c in late.table.columns}
    assignments = tuple(Assignment(columns[c.name], _carried(c)) for c in late.columns)
    return side_insert(LATE_ROWS, late.table, plan, assignments, late.span, env)


def finds_late(plan: PlanNode) -> str:
    """Return what EXPLAIN calls the step of a query that finds the rows late that it keeps."""
    return next(node.step for node in walk(plan) if _late(node) is not None)


def bad_inserts(plan: PlanNode, env: Environment, refused: BoundInsert | None = None) -> tuple[BoundInsert, ...]:
    """Return an INSERT for each table that keeps rows of a query that it cannot use, in the order of ``bad_scans``.

    Args:
        refused: that of the rows that its sink refuses.
    """
    # First: its number among the tables is 0, which the rows say.
    made = {refused.table.name: refused} if refused is not None else {}
    for letters in letters_of(plan)[: 0 if made else 1]:
        side = side_insert(BAD_ROWS, letters.table, plan, _assigned(letters.table), letters.span, env)
        made[letters.table.name] = replace(side, letters=True)
    for late in filter(None, map(_late, walk(plan))):
        if late.letters_of is not None and any(c.name == LETTER for c in late.table.columns):
            # Which of them are fed back is said there, too.
            side = side_insert(BAD_ROWS, late.table, plan, _assigned(late.table), late.span, env)
            made.setdefault(late.table.name, replace(side, letters=True))
    for scan in bad_scans(plan):
        assert scan.bad is not None
        table, span = scan.bad.table, scan.bad.span
        side = side_insert(BAD_ROWS, table, plan, _assigned(table), span, env)
        made.setdefault(table.name, replace(side, letters=scan.bad.letters))
    return tuple(made.values())


def letters_of(plan: PlanNode) -> tuple[BadRows, ...]:
    """Return what takes rows for which expressions fail: one and the same for all steps that have them."""
    return tuple(n.letters for n in walk(plan) if isinstance(n, Project) and n.letters is not None)


def bad_scans(plan: PlanNode) -> tuple[Scan, ...]:
    """Return the scans whose bad rows are kept: of a table that is read several times the first one."""
    found: dict[object, Scan] = {}
    for node in walk(plan):
        if isinstance(node, Scan) and node.bad is not None:
            # Each scan of a table meets the same bad rows, which are to be kept once.
            found.setdefault((node.table.name, node.bad.table.name), node)
    return tuple(found.values())


def _assigned(table: Table) -> tuple[Assignment, ...]:
    return tuple(Assignment(c, source_of(c)) for c in kept_columns(table))


def _keeps(late: LateRows) -> str:
    """Return what asks for late rows."""
    return "LATE DATA TO" if late.letters_of is None else f"the windows whose late rows '{DEAD_LETTERS}' takes"


def _late(node: PlanNode) -> LateRows | None:
    if isinstance(node, Slide):
        return node.late
    return node.kept.late if isinstance(node, Aggregate) and node.kept is not None else None


def _carried(column: LateColumn) -> PlanColumn:
    """Return the column of a late row on its way: under the name that the late table has for it."""
    return column.source if column.relation is None else replace(column.source, physical=column.name)

"""Find what ends the state of a join: bounds of rowtimes in its conditions, or windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlext.analysis.relations.join_names import JoinNames
from sqlext.analysis.types.literals import interval_millis
from sqlext.dialect.ast.expressions import Binary, Expr, Interval, Paren, Unary
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.grouping import window_function
from sqlext.plan.joins import JoinBound, JoinTime, NearestMatch, Pair
from sqlext.plan.nodes import WindowSpec
from sqlext.plan.scope import Found, Scope
from sqlext.source import Span

_MONTHS = ("MONTH", "YEAR", "QUARTER")


@dataclass(frozen=True)
class JoinBounds:
    """How long rows of a join can match.

    Attributes:
        bound: what kind of join it is.
        left, right: the time of each side's rows.
        hold: by how many ms a row of the result can be older than those of the inputs.
        match: of an as-of join.
    """

    bound: JoinBound = JoinBound.NONE
    left: JoinTime | None = None
    right: JoinTime | None = None
    hold: int = 0
    match: NearestMatch | None = None


@dataclass(frozen=True)
class _Line:
    """A time attribute plus a constant number of ms."""

    found: Found
    plus: int


def interval_bounds(pairs: Sequence[Pair], names: JoinNames) -> JoinBounds | None:
    """Return the bounds that comparisons give the time attribute of each side by that of the other; None without both.

    Right rows lie between ``left + lower`` and ``left + upper``.
    """
    lower: dict[tuple[str, str], int] = {}
    upper: dict[tuple[str, str], int] = {}
    times: dict[tuple[str, str], tuple[Found, Found]] = {}
    for pair in pairs:
        left, right = _line(pair.left, names.left), _line(pair.right, names.right)
        # The wall clock of a TIMESTAMP and the instant of a TIMESTAMP_LTZ are no fixed distance apart.
        if left is None or right is None or _root(left.found) != _root(right.found):
            continue
        # Rowtime against processing time is no bound: the watermark ends one kind of state, the clock the other.
        if left.found.column.time is not right.found.column.time:
            continue
        columns = (left.found.column.name, right.found.column.name)
        times[columns] = (left.found, right.found)
        distance = left.plus - right.plus
        # A bound only says when state can go, so `<` counts as `<=`: pairs of rowtimes are still compared.
        if pair.operator in ("=", "<", "<="):
            lower[columns] = max(distance, lower.get(columns, distance))
        if pair.operator in ("=", ">", ">="):
            upper[columns] = min(distance, upper.get(columns, distance))
    # Of one pair of columns: a lower bound of one pair and an upper bound of another limit no state.
    both = next((c for c in times if c in lower and c in upper), None)
    if both is None:
        return None
    left_time, right_time = times[both]
    by_arrival = not left_time.column.is_rowtime
    return JoinBounds(
        JoinBound.ARRIVAL if by_arrival else JoinBound.INTERVAL,
        JoinTime(left_time.column, left_time.relation.alias, upper[both]),
        JoinTime(right_time.column, right_time.relation.alias, -lower[both]),
        # Flink holds its watermark back as far: RowTimeIntervalJoin.getMaxOutputDelay.
        0 if by_arrival else max(upper[both], -lower[both], 0),
    )


def without_arrivals(pairs: Sequence[Pair], names: JoinNames) -> tuple[Pair, ...]:
    """Return comparisons without those of processing times: what their bounds say is asked by the clock."""
    return tuple(p for p in pairs if not (_is_arrival(p.left, names.left) and _is_arrival(p.right, names.right)))


def _is_arrival(expr: Expr, scope: Scope) -> bool:
    line = _line(expr, scope)
    return line is not None and not line.found.column.is_rowtime


def window_bounds(
    keys: Sequence[Pair], names: JoinNames, sources: tuple[nodes.PlanNode, nodes.PlanNode], span: Span
) -> JoinBounds | None:
    """Return the windows that both sides are in, where both bounds are equated; None if they are not.

    As in Flink, windows of another kind or size on both sides make it a regular join.

    Raises:
        SqlExtError: JOIN-003 for windows of processing time.
    """
    # Flink's docs, Window Join: both the starts and the ends must be equated.
    specs = _comparable([_spec(s) for s in sources])
    if None in specs or specs[0] != specs[1]:
        return None
    pairs = list(_window_pairs(keys, names))
    starts = {(a.column.physical, b.column.physical) for a, b in pairs if a.column.window_bound == "start"}
    ends = [(a, b) for a, b in pairs if a.column.window_bound == "end"]
    found = next(((a, b) for a, b in ends if (a.column.physical, b.column.physical) in starts), None)
    if found is None:
        return None
    # Flink: "Processing time Window Join is not supported yet."
    if specs[0] is not None and specs[0].processing:
        raise SqlExtError("JOIN-003", "a window join needs windows of event time", span=span)
    left, right = (JoinTime(f.column, f.relation.alias) for f in found)
    return JoinBounds(JoinBound.WINDOW, left, right)


def _window_pairs(keys: Sequence[Pair], names: JoinNames) -> Iterator[tuple[Found, Found]]:
    for key in keys:
        left, right = names.left.bare(key.left), names.right.bare(key.right)
        if key.operator == "=" and left is not None and right is not None:
            bound = left.column.window_bound
            if bound is not None and bound == right.column.window_bound:
                yield left, right


def _spec(node: nodes.PlanNode) -> WindowSpec | None:
    assign = window_function(node)
    # Which columns PARTITION BY names differs from side to side, and does not make the windows differ.
    return replace(assign.spec, session_keys=()) if assign is not None else None


def _comparable(specs: Sequence[WindowSpec | None]) -> list[WindowSpec | None]:
    """Return windows without their offsets where rows have their own: those of both sides may be equal then."""
    if all(s is None or s.row_offset is None for s in specs):
        return list(specs)
    return [replace(s, offset=0, row_offset=None) if s is not None else None for s in specs]


def _line(expr: Expr, scope: Scope) -> _Line | None:
    """Return a time attribute with a constant added or taken away, None for anything else."""
    while isinstance(expr, Paren):
        expr = expr.operand
    if isinstance(expr, Binary) and expr.op in ("+", "-"):
        line, plus = _line(expr.left, scope), _millis(expr.right)
        if line is None and expr.op == "+":
            line, plus = _line(expr.right, scope), _millis(expr.left)
        if line is None or plus is None:
            return None
        return replace(line, plus=line.plus + (plus if expr.op == "+" else -plus))
    found = scope.bare(expr)
    return _Line(found, 0) if found is not None and found.column.time is not None else None


def _millis(expr: Expr) -> int | None:
    """Return an interval in ms; months have no fixed length."""
    inner = expr
    while isinstance(inner, (Paren, Unary)):
        inner = inner.operand
    # Asked first, as interval_millis refuses months; here they only give no bound.
    if isinstance(inner, Interval) and inner.unit.upper().rstrip("S") in _MONTHS:
        return None
    return interval_millis(expr)


def _root(found: Found) -> str | None:
    return found.column.type.root if found.column.type else None

"""Joins in plain Python: what the operator must give, whatever the micro-batches are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from sqlext_udfs.joins.operator import JoinOperator
from sqlext_udfs.joins.specification import Comparison, JoinKind
from sqlext_udfs.kernel.operator import Clock, StepResult
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_BEFORE

#: Key, side, left value, right value, a time, row kind.
TYPES = [pa.int64(), pa.int8(), pa.int64(), pa.int64(), pa.int64(), pa.int8()]
KEY, SIDE, LEFT_VALUE, RIGHT_VALUE, TIME, KIND = range(6)


class Row(NamedTuple):
    """A row of either side."""

    key: int | None
    side: int
    value: int | None
    time: int = 0
    kind: int = INSERT


def table(rows: Iterable[Row]) -> pa.Table:
    """Return rows as the operator takes them."""
    made = [(r.key, r.side, *((r.value, None) if r.side == 0 else (None, r.value)), r.time, r.kind) for r in rows]
    columns = list(zip(*made, strict=True)) if made else [()] * len(TYPES)
    return pa.table([pa.array(c, t) for c, t in zip(columns, TYPES, strict=True)], [f"c{i}" for i in range(len(TYPES))])


def partial(operator: JoinOperator, rows: pa.Table) -> pa.Table:
    """Return what partial work makes of rows, twice, as the adapter may do."""
    bucket = pa.array([0] * rows.num_rows, pa.int16())
    worked = operator.partial(operator.partial(rows.append_column("bucket", bucket)))
    return worked.remove_column(worked.num_columns - 1)


def rows_of(out: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of a table."""
    return list(zip(*(c.to_pylist() for c in out.columns), strict=True)) if out.num_columns else []


def steps(operator: JoinOperator, batches: Sequence[tuple[Sequence[Row] | None, Clock]]) -> list[StepResult[Any]]:
    """Return the steps of micro-batches; the state goes through bytes between them."""
    state, done = operator.empty(), []
    for rows, clock in batches:
        arrived = None if rows is None else partial(operator, table(rows))
        step = operator.step(state, arrived, clock)
        done.append(step)
        state = operator.decode(operator.encode(step.state))
    return done


def folded(outs: Iterable[pa.Table]) -> Counter[tuple[Any, ...]]:
    """Return the rows that a changelog leaves; retractions of rows that are not there are an error."""
    result: Counter[tuple[Any, ...]] = Counter()
    for out in outs:
        for *row, kind in rows_of(out):
            result[tuple(row)] += -1 if kind in (DELETE, UPDATE_BEFORE) else 1
        assert all(n >= 0 for n in result.values()), "a row was taken back that was not out"
    return +result


def model(
    rows: Iterable[Row],
    join: JoinKind,
    conditions: Sequence[Comparison] = (),
    *,
    null_safe: bool = False,
    extra: Callable[[int | None, int | None], bool] = lambda left, right: True,
) -> Counter[tuple[Any, ...]]:
    """Return the join of all rows that are there in the end: left value, right value (if any)."""
    sides: list[Counter[tuple[int | None, int | None, int]]] = [Counter(), Counter()]
    for row in rows:
        sides[row.side][row.key, row.value, row.time] += -1 if row.kind in (DELETE, UPDATE_BEFORE) else 1
    left, right = (list((+s).elements()) for s in sides)
    result: Counter[tuple[Any, ...]] = Counter()
    met: set[int] = set()
    for a in left:
        matches = [i for i, b in enumerate(right) if _match(a, b, conditions, null_safe) and extra(a[1], b[1])]
        met.update(matches)
        if join.pairs:
            result.update((a[1], right[i][1]) for i in matches)
            if not matches and join.pads_left:
                result[a[1], None] += 1
        elif bool(matches) == (join is JoinKind.SEMI):
            result[(a[1],)] += 1
    if join.pads_right:
        result.update((None, b[1]) for i, b in enumerate(right) if i not in met)
    return result


def _match(a: Any, b: Any, conditions: Sequence[Comparison], null_safe: bool) -> bool:
    if (a[0] is None and not null_safe) or a[0] != b[0]:
        return False
    left, right = {LEFT_VALUE: a[1], TIME: a[2]}, {RIGHT_VALUE: b[1], TIME: b[2]}
    return all(_holds(left[c.left], c.operator, right[c.right], c) for c in conditions)


def _holds(a: int | None, operator: str, b: int | None, of: Comparison) -> bool:
    if a is None or b is None:
        return of.null_aware
    return {"=": a == b, "<>": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]

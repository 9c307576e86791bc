"""Conditions of DEFINE as functions of a match in the making.

A condition is asked with the link of the row that is to be taken: that row counts as one of its variable already.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlext_udfs.expressions import row_by_row
from sqlext_udfs.expressions import trees as e
from sqlext_udfs.expressions.numbers import Policy, fit
from sqlext_udfs.matching.links import Link, PartitionRows

Evaluate = row_by_row.Evaluate[Link, PartitionRows]


class Conditions(row_by_row.RowByRow[Link, PartitionRows]):
    """Makes functions of expressions.

    Args:
        wraps: as ``MatchSpecification.wraps``.
    """

    def __init__(self, *, wraps: bool) -> None:
        # Flink compares as Java does, where NaN equals nothing; Spark takes NaN for the largest number.
        super().__init__(Policy("DEFINE", wraps=wraps, nan_is_largest=not wraps))
        self._totals: dict[e.Running, int] = {}

    def cell(self, of: e.Cell) -> Evaluate:
        """Return the function that gives a value of a row of the match; of one that is not there it is NULL."""
        value, group, shift = of.value, of.group, of.shift
        if not of.first and not of.offset and not shift:

            def current(link: Link, rows: PartitionRows) -> Any:
                found = link.last[group]
                return None if found is None else rows.value(value, found.row)

            return current

        def navigated(link: Link, rows: PartitionRows) -> Any:
            found = link.find(group, first=of.first, offset=of.offset)
            return None if found is None else rows.value(value, found.row + shift)

        return navigated

    def running(self, of: e.Running) -> Evaluate:
        """Return the function that gives an aggregate; each link keeps its own."""
        number = self._totals.setdefault(of, len(self._totals))
        step, group, value, result, policy = _STEPS[of.function], of.group, of.value, of.result, self.policy
        start = 0 if of.function == "count" else None

        def running(link: Link, rows: PartitionRows) -> Any:
            pending: list[Link] = []
            at = link.last[group]
            # A loop and no recursion: a match may have more rows than Python has stack.
            while at is not None and number not in at.totals:
                pending.append(at)
                at = at.previous(group)
            total = start if at is None else at.totals[number]
            while pending:
                at = pending.pop()
                more = True if value is None else rows.value(value, at.row)
                total = total if more is None else step(total, more)
                at.totals[number] = total
            # Only what is shown is fitted to the type: a sum that leaves it on the way may come back.
            return total if result is None else fit(total, result, policy)

        return running


_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "count": lambda total, value: total + 1,
    "sum": lambda total, value: value if total is None else total + value,
    "min": lambda total, value: value if total is None or value < total else total,
    "max": lambda total, value: value if total is None or value > total else total,
}

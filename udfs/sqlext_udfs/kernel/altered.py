"""Wrap an operator and change only its output."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import table_of
from sqlext_udfs.kernel.dividing import Wanted
from sqlext_udfs.kernel.operator import BucketOperator, Clock, State, StepResult, Wakeup


class Altered(BucketOperator[State]):
    """Delegate to an operator and alter its output; state and steps stay the same.

    Args:
        operator: the one that works.
    """

    def __init__(self, operator: BucketOperator[State]) -> None:
        self._operator = operator

    @abstractmethod
    def altered(self, out: pa.Table) -> pa.Table:
        """Return what comes out of a step in place of the operator's rows."""

    @property
    def separable(self) -> bool:
        """Whether keys go their own way in the operator."""
        return self._operator.separable

    @property
    def reads_levels(self) -> bool:
        """Whether the operator's state may be in levels."""
        return self._operator.reads_levels

    @property
    def takes_rows(self) -> bool:
        """Whether the operator takes them."""
        return self._operator.takes_rows

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return what the operator does."""
        return self._operator.partial(rows)

    def for_each(self, leaving: pa.Table) -> pa.Table | None:
        """Return what the operator does."""
        return self._operator.for_each(leaving)

    def gathered(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Return what the operator makes of them."""
        return self._operator.gathered(tables)

    def empty(self) -> State:
        """Return the operator's empty state."""
        return self._operator.empty()

    def step(self, state: State, rows: pa.Table | None, clock: Clock) -> StepResult[State]:
        """Return the operator's step with what comes out of it altered."""
        step = self._operator.step(state, rows, clock)
        return replace(step, out=self.altered(step.out))

    def next_wakeup(self, state: State) -> Wakeup:
        """Return the operator's next deadlines."""
        return self._operator.next_wakeup(state)

    def encode(self, state: State) -> bytes:
        """Return the operator's state as bytes."""
        return self._operator.encode(state)

    def decode(self, data: bytes) -> Any:
        """Return the operator's state."""
        return self._operator.decode(data)

    def of_encoded(self, data: bytes, wanted: Wanted) -> State:
        """Return what the operator's bytes know of some keys."""
        return self._operator.of_encoded(data, wanted)

    def is_current(self, data: bytes) -> bool:
        """Return whether the operator would write it so."""
        return self._operator.is_current(data)

    def open_groups(self, state: State) -> int:
        """Return how many the operator counts."""
        return self._operator.open_groups(state)

    def of_keys(self, state: State, wanted: Wanted) -> State:
        """Return what the operator's state knows of some keys."""
        return self._operator.of_keys(state, wanted)

    def together(self, states: Sequence[State]) -> State:
        """Return the operator's states as one."""
        return self._operator.together(states)


class Selected(Altered[State]):
    """Give only some columns: what nobody reads need not travel back to Spark.

    Args:
        operator: the one that works.
        places: positions of the columns that come out, in their order.
    """

    def __init__(self, operator: BucketOperator[State], places: Sequence[int]) -> None:
        super().__init__(operator)
        self._places = list(places)

    def altered(self, out: pa.Table) -> pa.Table:
        """Return the columns."""
        # A step with nothing to give may return a table without columns.
        return table_of(out.select(self._places).columns) if out.num_columns else out

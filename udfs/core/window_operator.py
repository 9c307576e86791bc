"""Windows as a bucket operator: rows into windows, partial results into state, panes out.

Policies that give each key and window one pane run on whole columns (single_pane.py, single_session.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext.udfs.core.aggregation import Aggregation
from sqlext.udfs.core.bucket_state import WindowState, decode, encode
from sqlext.udfs.core.horizon import single_pane_horizon
from sqlext.udfs.core.operators import Clock, Step, Wakeup
from sqlext.udfs.core.pane_table import PaneTable
from sqlext.udfs.core.policy import Session
from sqlext.udfs.core.single_pane import SinglePaneEngine
from sqlext.udfs.core.single_session import SessionRules, SingleSessionEngine
from sqlext.udfs.core.window_columns import Layout
from sqlext.udfs.core.window_pieces import GivenPieces, Pieces, SlicePieces, slicing_of
from sqlext.udfs.core.window_specification import WindowSpecification, output_types

_BOUNDS = 2


class Engine(Protocol):
    """What the two engines have in common."""

    def partial(self, rows: pa.Table) -> pa.Table:
        """Do what can be done before rows travel."""

    def step(self, state: WindowState, rows: pa.Table | None, clock: Clock) -> Step[WindowState]:
        """Do a micro-batch."""


class WindowOperator:
    """A bucket operator.

    Args:
        specification: what is computed.
        types: of the columns that go in.

    Raises:
        SqlExtError: FUNC-022 for aggregates that there are not.
    """

    def __init__(self, specification: WindowSpecification, types: Sequence[pa.DataType]) -> None:
        self._panes = PaneTable(output_types(specification, types), specification.keys)
        pieces = _pieces(specification)
        alone = pieces is not None and not pieces.shared
        self._aggregation = Aggregation(specification.aggregates, types, places=not alone)
        self._horizon = single_pane_horizon(specification.policy)
        self._engine = self._make(specification)

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return rows, or partial results of them; the bucket stays the last column."""
        return self._engine.partial(rows)

    def empty(self) -> WindowState:
        """Return the state without windows."""
        return WindowState()

    def step(self, state: WindowState, rows: pa.Table | None, clock: Clock) -> Step[WindowState]:
        """Do a micro-batch."""
        return self._engine.step(state, rows, clock)

    def process(self, state: WindowState, rows: pa.Table | None, clock: Clock) -> tuple[WindowState, pa.Table]:
        """Do a micro-batch, and return only the state and the rows that come out."""
        step = self.step(state, rows, clock)
        return step.state, step.out

    def next_wakeup(self, state: WindowState) -> Wakeup:
        """Return when there is something to do without rows."""
        if self._horizon is not None and state.wakeup is not None:
            return Wakeup(self._horizon.watermark(state.wakeup))
        return Wakeup()

    def encode(self, state: WindowState) -> bytes:
        """Return a state as bytes."""
        return encode(state)

    def decode(self, data: bytes) -> WindowState:
        """Return the state of bytes."""
        return decode(data)

    def _make(self, of: WindowSpecification) -> Engine:
        pieces, rules = _pieces(of), _session_rules(of)
        if self._horizon is None or (pieces is None and rules is None):
            raise SqlExtError("LATER-002", "this policy has no engine yet")
        if rules is not None:
            layout = Layout(of.keys, _BOUNDS, self._aggregation)
            return SingleSessionEngine(rules, layout, self._horizon, self._panes, of.row)
        assert pieces is not None
        layout = Layout(of.keys, pieces.columns, self._aggregation)
        return SinglePaneEngine(pieces, layout, self._horizon, self._panes, of.row)


def _session_rules(of: WindowSpecification) -> SessionRules | None:
    window, options = of.policy.window, of.policy.options
    if not isinstance(window, Session) or of.time is None or of.start is not None:
        return None
    own_window = options.late_check == "before_merge"
    return SessionRules(of.time, of.gap, window.gap, options.session_gap == "inclusive", own_window)


def _pieces(of: WindowSpecification) -> Pieces | None:
    if of.start is not None and of.end is not None:
        return GivenPieces(of.start, of.end)
    slicing = slicing_of(of.policy.window)
    return SlicePieces(slicing, of.time) if slicing is not None and of.time is not None else None

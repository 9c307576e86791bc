"""Run aggregate functions of users (``aggregates.hooks``), row by row in Python.

Whatever they raise is reported with the function's name (RUN-038).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.aggregates.accumulator import Accumulator, AggregateCall, Columns, Types
from sqlext_udfs.aggregates.hooks import State, UserAggregate
from sqlext_udfs.aggregates.lists import Collect
from sqlext_udfs.kernel.groups import Bools, Groups, Ints

# The function of an ``AggregateCall`` that is a user's; its name is a parameter.
PYTHON = "python"
#: Parameters of an aggregate ``python``: its name, whether its call has arguments, and, where it is to run, its class
#: and the Arrow type that this returns.
NAME, BARE, CLASS, RETURNS = "name", "bare", "class", "arrow_type"


def of_python(aggregate: AggregateCall, types: Types, *, places: bool) -> Accumulator:
    """Return the accumulator of a user's aggregate: of states that merge, or of the rows themselves.

    Raises:
        SqlExtError: FUNC-023 if the aggregate is not registered here, RUN-038 for what its class raises.
    """
    function = _Function(aggregate)
    if hasattr(function.hooks, "merge"):
        return Folded(function)
    return FoldedRows(function, types, places=places)


class _Function:
    """A user's aggregate with everything that it raises in the user's terms."""

    def __init__(self, aggregate: AggregateCall) -> None:
        self.name = aggregate.parameter(NAME)
        self.bare = bool(aggregate.parameter(BARE))
        self.returns = cast(pa.DataType, aggregate.parameter(RETURNS))
        made = aggregate.parameter(CLASS)
        self.hooks: Any = self.told(made) if made is not None else _missing(self.name)

    def told(self, hook: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a hook does.

        Raises:
            SqlExtError: RUN-038 for whatever it raises.
        """
        try:
            return hook(*arguments)
        except Exception as error:
            where = getattr(hook, "__name__", "it")
            what = f"{type(error).__name__}: {error}"
            raise SqlExtError("RUN-038", f"aggregate `{self.name}` failed in {where}: {what}") from error

    def folded(self, state: State, rows: Iterable[tuple[Any, ...]]) -> State:
        """Return a state with more rows."""
        hooks: UserAggregate = self.hooks

        def add(state: State, rows: Iterable[tuple[Any, ...]]) -> State:
            for values in rows:
                state = hooks.add(state, *values)
            return state

        return self.told(add, state, rows)

    def results(self, states: Iterable[State]) -> pa.Array:
        """Return the results of some states."""
        found = [self.told(self.hooks.finish, s) for s in states]
        try:
            return pa.array(found, self.returns)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
            message = f"aggregate `{self.name}` gives what is no {self.returns}: {error}"
            raise SqlExtError("RUN-038", message, hint="say what it returns in `returns`") from error

    def encoded(self, state: State) -> bytes:
        """Return a state as bytes."""
        if hasattr(self.hooks, "encode"):
            data = self.told(self.hooks.encode, state)
            return data.encode() if isinstance(data, str) else bytes(data)
        try:
            return json.dumps(state, separators=(",", ":")).encode()
        except (TypeError, ValueError) as error:
            message = f"the state of aggregate `{self.name}` is none that JSON can say: {error}"
            raise SqlExtError("RUN-038", message, hint="give the class encode(state) and decode(data)") from error

    def decoded(self, data: bytes) -> State:
        """Return the state of bytes."""
        if hasattr(self.hooks, "encode"):
            return self.told(self.hooks.decode, data)
        return json.loads(data)

    def rows(self, inputs: Columns) -> tuple[list[tuple[Any, ...]], Bools]:
        """Return the rows that it sees, and which those are: not those whose arguments are all NULL."""
        present = np.logical_or.reduce([np.asarray(c.is_valid()) for c in inputs])
        kept = [c.filter(pa.array(present)).to_pylist() for c in inputs]
        rows = list(zip(*kept, strict=True))
        # A call without arguments has the constant 1 for its input, so that rows can be counted.
        return ([()] * len(rows) if self.bare else rows), present


class Folded(Accumulator):
    """An aggregate with ``merge``: a partial result is a state as bytes, NULL without rows."""

    def __init__(self, function: _Function) -> None:
        super().__init__((pa.binary(),), (function.returns,))
        self._function = function

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return the state of each group's rows."""
        rows, present = self._function.rows(inputs)
        members = _members(groups.filter(present))
        function, zero = self._function, self._function.hooks.zero
        made = [
            function.encoded(function.folded(function.told(zero), [rows[i] for i in m])) if len(m) else None
            for m in members
        ]
        return [pa.array(made, pa.binary())]

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return each group's states as one."""
        data = partials[0].to_pylist()
        return [pa.array([self._merged([data[i] for i in m]) for m in _members(groups)], pa.binary())]

    def finish(self, partials: Columns) -> list[pa.Array]:
        """Return the results; of no rows that of ``zero``."""
        function = self._function
        data = partials[0].to_pylist()
        states = (function.told(function.hooks.zero) if d is None else function.decoded(d) for d in data)
        return [function.results(states)]

    def _merged(self, parts: list[bytes | None]) -> bytes | None:
        there = [p for p in parts if p is not None]
        # One state alone need not be decoded.
        if len(there) < 2:
            return there[0] if there else None
        function = self._function
        state = function.decoded(there[0])
        for part in there[1:]:
            state = function.told(function.hooks.merge, state, function.decoded(part))
        return function.encoded(state)


class FoldedRows(Accumulator):
    """An aggregate without ``merge``: rows are kept, and folded in the order of arrival for each result."""

    def __init__(self, function: _Function, types: Types, *, places: bool) -> None:
        row = pa.struct([pa.field(f"v{i}", t) for i, t in enumerate(types)])
        self._rows = Collect(row, places=places)
        super().__init__(self._rows.partial_types, (function.returns,), ordered=True)
        self._function = function
        self._type = row

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return each group's rows."""
        present = np.logical_or.reduce([np.asarray(c.is_valid()) for c in inputs])
        # A row whose arguments are all NULL becomes a NULL, which COLLECT_LIST leaves out.
        rows = pa.StructArray.from_arrays(list(inputs), fields=list(self._type), mask=pa.array(~present))
        return self._rows.start([rows], groups, positions)

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return each group's rows as one list."""
        return self._rows.merge(partials, groups)

    def finish(self, partials: Columns) -> list[pa.Array]:
        """Return the results."""
        return [self._function.results(self._states(partials[0].to_pylist()))]

    def _states(self, lists: list[list[dict[str, Any]] | None]) -> Iterator[State]:
        function = self._function
        for rows in lists:
            values = (() if function.bare else tuple(r.values()) for r in rows or ())
            yield function.folded(function.told(function.hooks.zero), values)


def _members(groups: Groups) -> list[Ints]:
    """Return the places of each group's rows, in their order."""
    return np.split(groups.order(), np.cumsum(groups.sizes())[:-1]) if groups.count else []


def _missing(name: str) -> Any:
    raise SqlExtError("FUNC-023", f"aggregate `{name}` is not registered here", hint="session.register_aggregate(...)")

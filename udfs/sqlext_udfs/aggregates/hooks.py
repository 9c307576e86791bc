"""Define what users write for an aggregate function of their own; ``aggregates.python`` calls it."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, TypeAlias

#: What JSON can say; anything, of a class with ``encode`` and ``decode``.
State: TypeAlias = Any


class UserAggregate(Protocol):
    """An aggregate function called by its name: a class, made without arguments. It keeps nothing itself.

    A row whose arguments are all NULL is skipped, as by SQL's own aggregates. In other rows NULL is None. A class may
    also have

    * ``merge(one, other)``: returns the state of two parts of the rows. Without it the rows themselves are kept, in
      the order of arrival, and sessions and overlapping windows are refused (EMIT-116).
    * ``encode(state)`` to bytes (or to text, which is stored as UTF-8) and ``decode(data)`` of those bytes: for a
      state that JSON cannot express. JSON turns tuples into lists, and keys of a dict into text.

    Attributes:
        returns: the type of the result, as Spark writes it (``DOUBLE``, ``ARRAY<STRING>``).
    """

    returns: ClassVar[str]

    def zero(self) -> State:
        """Return the state of no rows."""

    def add(self, state: State, *values: Any) -> State:
        """Return the state with one row more: the values of the call's arguments."""

    def finish(self, state: State) -> Any:
        """Return the result."""

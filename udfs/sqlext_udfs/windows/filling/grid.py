"""Number the windows of a grid: each has a number, the next one has the next number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sqlext_udfs.kernel.clock import AFTER_ALL, Clock
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.windows.filling.specification import Filling
from sqlext_udfs.windows.filling.wall_clock import WallClock

# No window has a number beyond these.
NEVER, ALWAYS = -(1 << 60), 1 << 60


class WindowGrid:
    """The windows of a specification. A wall is what the clock shows that cuts the windows; UTC without a zone.

    Args:
        filling: says which windows there are.
    """

    def __init__(self, filling: Filling) -> None:
        self._size, self._step, self._offset = filling.size, filling.step, filling.offset
        self._cumulates = filling.cumulates
        self._clock = WallClock(filling.zone) if filling.zone is not None else None

    def numbers(self, ends: Ints) -> Ints:
        """Return the numbers of windows that end at these walls."""
        return (ends - self._offset - self._first) // self._step

    def walls(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Return the walls at which windows begin and end."""
        ends = numbers * self._step + self._offset + self._first
        if not self._cumulates:
            return ends - self._size, ends
        return ends - self._step - (ends - self._step - self._offset) % self._size, ends

    def bounds(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Return the instants at which windows begin and end. A window that the clock leaves out has no length."""
        starts, ends = self.walls(numbers)
        if self._clock is None:
            return starts, ends
        return _each(starts, self._clock.first), _each(ends, self._clock.last)

    def last_until(self, until: int) -> int:
        """Return the number of the last window that ends up to an instant."""
        # Also ``Clock.BEGIN``, less a delay: no clock shows such times.
        if until <= Clock.BEGIN // 2:
            return NEVER
        if until >= AFTER_ALL // 2:
            return ALWAYS
        if self._clock is None:
            return int(self.numbers(np.array([until]))[0])
        number = int(self.numbers(np.array([self._clock.shown(until) + self._clock.moves(until)]))[0])
        while self.end(number) > until:
            number -= 1
        return number

    def end(self, number: int) -> int:
        """Return the instant at which a window ends."""
        return int(self.bounds(np.array([number]))[1][0])

    @property
    def _first(self) -> int:
        """The end of the window with the number 0, without the offset."""
        return self._step if self._cumulates else self._size


def _each(values: Ints, of: Callable[[int], int]) -> Ints:
    """Return a function of each value, computed once for equal ones."""
    different, places = np.unique(values, return_inverse=True)
    return np.array([of(int(v)) for v in different], np.int64)[places.reshape(-1)]

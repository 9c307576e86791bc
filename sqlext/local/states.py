"""Keep the state of a query's operators between the micro-batches of this process: encoded, as Spark's state has it.

So a step is that of ``kernel.levelled``, which reads and writes what a micro-batch touches. All keys are one bucket.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext.local.sealed import sealed, unsealed
from sqlext.rewrite.arrow.in_process import Operated
from sqlext.stores.location import Location
from sqlext_udfs.kernel.levelled import (
    KeptLevels,
    LevelEntry,
    Levelled,
    LevelRules,
    StepTimes,
    damaged_level,
    is_due,
    is_levelled,
)
from sqlext_udfs.kernel.levels import Hashes, Level
from sqlext_udfs.kernel.operator import Clock, Wakeup

_NEVER = Wakeup()


@dataclass(frozen=True, slots=True)
class KeptState:
    """What is kept of an operator after a micro-batch.

    Attributes:
        data: its state, encoded; None while it has seen nothing.
        wakeup: when it has something to do although no rows come.
        now: the clock of the last micro-batch, in ms.
        open_groups: how many keys and windows it holds.
    """

    data: bytes | None = None
    wakeup: Wakeup = _NEVER
    now: int | None = None
    open_groups: int = 0

    @property
    def size(self) -> int:
        """How many bytes it has."""
        if self.data is None:
            return 0
        return KeptLevels.decoded(self.data).size if is_levelled(self.data) else len(self.data)


class KeptStates:
    """Steps the operators of a query (``stepwise.Steps``).

    Args:
        place: a folder for the levels of large states.
        operators: those of the query, in their order. A query that changes above its state has other views.
        kept: what was kept of each.
        rules: when state is kept in levels.

    Attributes:
        kept: what is kept of each.
        dropped: rows that they did not take: late ones, and those for groups that ONCE had closed.
    """

    def __init__(
        self,
        place: Location,
        operators: Sequence[Operated],
        kept: Sequence[KeptState] = (),
        rules: LevelRules | None = None,
    ) -> None:
        self._numbers = {operated.view: number for number, operated in enumerate(operators)}
        self.kept = [*kept, *[KeptState()] * (len(operators) - len(kept))]
        self.dropped = 0
        self._rules = rules or LevelRules()
        self._levels = StoredLevels(place)
        self._levels.keep_only(self._named())
        self._steppers: dict[str, Levelled[Any]] = {}

    def step(self, operated: Operated, rows: pa.Table | None, clock: Clock) -> pa.Table:
        """Return what comes out of an operator in a micro-batch; see ``stepwise.Steps``.

        Raises:
            SqlExtError: from its step, RUN-030 and RUN-031 if its state cannot be read.
        """
        number = self._numbers[operated.view]
        kept = self.kept[number]
        # Nothing to do: the state stays as it is.
        if rows is None and not is_due(kept.wakeup, clock.watermark, clock.now):
            return pa.table({})
        done = self._stepper(operated).step(kept.data, rows, StepTimes(clock, kept.now), self._levels)
        data = kept.data if done.kept is None else done.kept
        self.kept[number] = KeptState(data, done.wakeup, clock.now, done.open_groups)
        self.dropped += done.step.dropped_late + done.step.dropped_closed
        return done.step.out

    def are_due(self, clocks: Mapping[str, Clock]) -> bool:
        """Return whether an operator has something to do although no rows come.

        Args:
            clocks: what time it is for each, by its view.
        """
        found = ((self.kept[self._numbers[view]], clock) for view, clock in clocks.items())
        return any(is_due(kept.wakeup, clock.watermark, clock.now) for kept, clock in found)

    def committed(self) -> None:
        """Forget what only the micro-batch before has named: this one stands."""
        self._levels.forget()

    def _stepper(self, operated: Operated) -> Levelled[Any]:
        found = self._steppers.get(operated.view)
        if found is None:
            operator, keys, _ = operated.operator
            found = self._steppers[operated.view] = Levelled(operator, keys, self._rules)
        return found

    def _named(self) -> set[str]:
        states = (kept.data for kept in self.kept if kept.data is not None and is_levelled(kept.data))
        return {entry.id for data in states for entry in KeptLevels.decoded(data).entries}


@dataclass
class StoredLevels:
    """The levels of large states (a ``LevelStore``): each in a file, and as it is in memory.

    A file is removed only once no micro-batch that may be run again names it.
    """

    place: Location
    _known: dict[str, Level] = field(default_factory=dict)
    _gone: list[str] = field(default_factory=list)

    def load(self, entry: LevelEntry) -> Level | None:
        """Return a level, if it is at hand."""
        return self._known.get(entry.id)

    def read(self, entry: LevelEntry) -> tuple[bytes, Hashes]:
        """Return a level from its file.

        Raises:
            SqlExtError: RUN-031 if it is not there, or damaged.
        """
        found = self.place.store.read(entry.id)
        if found is None:
            raise damaged_level(entry, "it is not there")
        try:
            (data, gone), _ = unsealed(found.data)
        except ValueError as error:
            raise damaged_level(entry, str(error)) from error
        return bytes(data), np.frombuffer(gone, np.uint64)

    def write(self, entry: LevelEntry, level: Level) -> None:
        """Keep a level."""
        self.place.store.write(entry.id, sealed([bytes(level.data), level.gone.tobytes()], {}))
        self.remember(entry, level)

    def remember(self, entry: LevelEntry, level: Level) -> None:
        """Have a level at hand from now on."""
        self._known[entry.id] = level

    def remove(self, entry: LevelEntry) -> None:
        """Forget a level, whose file stays until ``forget``."""
        self._known.pop(entry.id, None)
        self._gone.append(entry.id)

    def forget(self) -> None:
        """Remove the files of levels that were removed."""
        for name in self._gone:
            self.place.store.delete(name)
        self._gone = []

    def keep_only(self, named: Iterable[str]) -> None:
        """Remove the files that a micro-batch has left that did not come to its end."""
        for name in set(self.place.names()) - set(named):
            self.place.store.delete(name)
